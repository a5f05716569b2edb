// Threads in place of the ranks of a run, with a communicator between them, so that collective code
// is tested in one process, without MPI.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <thread>
#include <tuple>
#include <vector>

#include "comm/comm.hpp"

namespace thalweg::detail {

/// The state that the ranks of one communicator share.
class ThreadGroup {
public:
    explicit ThreadGroup(int size)
        : ids(static_cast<std::size_t>(size)), given_(static_cast<std::size_t>(size)) {
        std::iota(ids.begin(), ids.end(), 0);
    }
    int size() const { return static_cast<int>(given_.size()); }

    std::vector<int> ids;  ///< numbers of the ranks in the group of all ranks

    /// Passes a value of each rank to all others. The values are valid until all ranks have
    /// returned from `look`.
    template <class Look>
    void meet(int rank, const void* mine, Look&& look) {
        given_[static_cast<std::size_t>(rank)] = mine;
        wait();
        look(given_);
        wait();
    }
    void send(int from, int to, int tag, const void* data, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        const auto* begin = static_cast<const char*>(data);
        mail_[{from, to, tag}].emplace_back(begin, begin + bytes);
        changed_.notify_all();
    }
    std::vector<char> receive(int from, int to, int tag) {
        std::unique_lock lock(mutex_);
        auto& box = mail_[{from, to, tag}];
        changed_.wait(lock, [&] { return !box.empty(); });
        std::vector<char> message = std::move(box.front());
        box.erase(box.begin());
        return message;
    }

private:
    void wait() {
        std::unique_lock lock(mutex_);
        const std::int64_t round = round_;
        if (++arrived_ == size()) {
            arrived_ = 0;
            ++round_;
            changed_.notify_all();
        } else {
            changed_.wait(lock, [&] { return round_ != round; });
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<const void*> given_;
    int arrived_ = 0;
    std::int64_t round_ = 0;
    std::map<std::tuple<int, int, int>, std::vector<std::vector<char>>> mail_;
};

class ThreadComm final : public Comm {
public:
    ThreadComm(std::shared_ptr<ThreadGroup> group, int rank) : group_(std::move(group)) {
        rank_ = rank;
        size_ = group_->size();
    }
    MPI_Comm handle() const override { return MPI_COMM_NULL; }

    void barrier() override {
        group_->meet(rank_, nullptr, [](const auto&) {});
    }
    void all_reduce(std::span<std::int64_t> values, Reduce op) override {
        std::vector<std::int64_t> result;
        group_->meet(rank_, values.data(), [&](const std::vector<const void*>& all) {
            result = words(all[0], values.size());
            for (std::size_t r = 1; r < all.size(); ++r) {
                const auto its = words(all[r], values.size());
                combine(result.data(), its.data(), its.size(), op);
            }
        });
        std::copy(result.begin(), result.end(), values.begin());
    }
    void reduce(std::span<std::int64_t> values, Reduce op, int root) override {
        std::vector<std::int64_t> result(values.begin(), values.end());
        all_reduce(result, op);
        if (rank_ == root) std::copy(result.begin(), result.end(), values.begin());
    }
    std::int64_t sum_before(std::int64_t value) override {
        std::int64_t sum = 0;
        group_->meet(rank_, &value, [&](const std::vector<const void*>& all) {
            for (int r = 0; r < rank_; ++r) sum += words(all[static_cast<std::size_t>(r)], 1)[0];
        });
        return sum;
    }
    using Comm::broadcast;
    void broadcast(void* data, std::size_t bytes, int root) override {
        group_->meet(rank_, data, [&](const std::vector<const void*>& all) {
            if (rank_ != root && bytes > 0)
                std::memcpy(data, all[static_cast<std::size_t>(root)], bytes);
        });
    }
    std::vector<std::vector<char>> gather(std::span<const char> bytes, int root) override {
        std::vector<std::vector<char>> result;
        group_->meet(rank_, &bytes, [&](const std::vector<const void*>& all) {
            for (const void* its : all) {
                if (rank_ != root) break;
                const auto& given = *static_cast<const std::span<const char>*>(its);
                result.emplace_back(given.begin(), given.end());
            }
        });
        return result;
    }
    std::vector<Packet> exchange(const std::vector<Packet>& packets, bool&) override {
        std::vector<Packet> received;
        group_->meet(rank_, &packets, [&](const std::vector<const void*>& all) {
            for (std::size_t r = 0; r < all.size(); ++r)
                for (const Packet& p : *static_cast<const std::vector<Packet>*>(all[r]))
                    if (p.rank == rank_) received.push_back({static_cast<int>(r), p.bytes});
        });
        return received;
    }
    std::unique_ptr<Comm> split(int color, int key) override {
        const std::pair<int, int> mine(color, key);
        // groups of all ranks, keyed by their first rank
        std::map<int, std::shared_ptr<ThreadGroup>> groups;
        std::vector<std::pair<int, int>> order;  // pairs of key and rank, for this color
        group_->meet(rank_, &mine, [&](const std::vector<const void*>& all) {
            for (std::size_t r = 0; r < all.size(); ++r) {
                const auto its = *static_cast<const std::pair<int, int>*>(all[r]);
                if (its.first == color) order.emplace_back(its.second, static_cast<int>(r));
            }
        });
        std::sort(order.begin(), order.end());
        std::shared_ptr<ThreadGroup> made;
        if (color >= 0 && order.front().second == rank_)
            made = std::make_shared<ThreadGroup>(static_cast<int>(order.size()));
        for (std::size_t r = 0; made && r < order.size(); ++r)
            made->ids[r] = group_->ids[static_cast<std::size_t>(order[r].second)];
        std::unique_ptr<Comm> comm;
        group_->meet(rank_, &made, [&](const std::vector<const void*>& all) {
            if (color < 0) return;
            const auto first = static_cast<std::size_t>(order.front().second);
            const int at = static_cast<int>(
                std::find(order.begin(), order.end(), std::pair(key, rank_)) - order.begin());
            comm = std::make_unique<ThreadComm>(
                *static_cast<const std::shared_ptr<ThreadGroup>*>(all[first]), at);
        });
        return comm;
    }
    std::vector<int> ranks_in(const Comm& larger) const override {
        const std::vector<int>& all = static_cast<const ThreadComm&>(larger).group_->ids;
        std::vector<int> ranks;
        for (const int id : group_->ids)
            ranks.push_back(static_cast<int>(std::find(all.begin(), all.end(), id) - all.begin()));
        return ranks;
    }
    std::unique_ptr<Comm> split_shared() override { return split(0, rank_); }
    std::unique_ptr<Memory> share(std::size_t bytes) override {
        std::shared_ptr<Memory> memory;
        if (rank_ == 0) memory = make_private_memory(bytes);
        group_->meet(rank_, &memory, [&](const std::vector<const void*>& all) {
            if (rank_ != 0) memory = *static_cast<const std::shared_ptr<Memory>*>(all[0]);
        });
        return std::make_unique<SharedMemory>(std::move(memory));
    }
    MPI_Request start_send(const void* data, std::size_t bytes, int to, int tag) override {
        group_->send(rank_, to, tag, data, bytes);
        return MPI_REQUEST_NULL;
    }
    void finish(std::vector<MPI_Request>& requests) override { requests.clear(); }
    std::size_t receive(void* data, std::size_t capacity, int from, int tag) override {
        const std::vector<char> message = group_->receive(from, rank_, tag);
        std::memcpy(data, message.data(), std::min(capacity, message.size()));
        return message.size();
    }
    void progress() override { std::this_thread::yield(); }

private:
    class SharedMemory final : public Memory {
    public:
        explicit SharedMemory(std::shared_ptr<Memory> memory) : memory_(std::move(memory)) {
            data_ = memory_->data();
            size_ = memory_->size();
        }

    private:
        std::shared_ptr<Memory> memory_;
    };
    static std::vector<std::int64_t> words(const void* data, std::size_t n) {
        const auto* begin = static_cast<const std::int64_t*>(data);
        return {begin, begin + n};
    }

    std::shared_ptr<ThreadGroup> group_;
};

/// Calls act(communicator of the rank) on one thread per rank, and waits for all threads.
template <class Act>
void on_threads(int ranks, Act&& act) {
    auto group = std::make_shared<ThreadGroup>(ranks);
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
        threads.emplace_back([&, r] { act(std::make_unique<ThreadComm>(group, r)); });
    for (std::thread& t : threads) t.join();
}

}  // namespace thalweg::detail
