// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <new>

#include "comm/comm.hpp"
#include "comm/waiting.hpp"

namespace thalweg {

namespace {

/// Where nothing more is known of a wait.
constexpr const char* all_ranks = "all ranks to make this call";

/// MPI counts are int: longer transfers go in parts of this size.
constexpr std::size_t part_bytes = std::size_t(1) << 30;

/// Largest part of a packet in Comm::exchange.
constexpr std::size_t exchange_bytes = std::size_t(1) << 20;

/// Tags of Comm::exchange. A rank can be one exchange ahead of another, so they alternate.
constexpr int exchange_tags[2] = {1, 3};

class Window final : public Memory {
public:
    Window() = default;
    /// @note Collective
    void allocate(MPI_Comm comm, std::size_t bytes, bool leader) {
        void* base = nullptr;
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", "false");
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        const int status = MPI_Win_allocate_shared(
            leader ? static_cast<MPI_Aint>(bytes + alignment) : 0, 1, info, comm, &base, &window_);
        MPI_Info_free(&info);
        if (status != MPI_SUCCESS) {
            window_ = MPI_WIN_NULL;
            return;
        }
        MPI_Aint size = 0;
        int unit = 1;
        MPI_Win_shared_query(window_, 0, &size, &unit, &base);
        // Segments are mapped at page boundaries, so all ranks round by the same amount.
        const auto address = reinterpret_cast<std::uintptr_t>(base);
        data_ = static_cast<char*>(base) + (alignment - address % alignment) % alignment;
        size_ = bytes;
    }
    ~Window() override {
        const Waiting all(all_ranks);
        if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
    }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

private:
    static constexpr std::size_t alignment = 64;
    MPI_Win window_ = MPI_WIN_NULL;
};

/// Packets of which parts arrive.
struct Incoming {
    std::vector<Packet> packets;
    std::map<int, std::size_t> begun;  ///< those that are not complete, by sender

    char* room(int from, int bytes) {
        const auto [open, first] = begun.try_emplace(from, packets.size());
        if (first) packets.push_back({from, {}});
        std::vector<char>& to = packets[open->second].bytes;
        const std::size_t at = to.size();
        to.resize(at + static_cast<std::size_t>(bytes));
        if (static_cast<std::size_t>(bytes) < exchange_bytes) begun.erase(open);
        return to.data() + at;
    }
};

class MpiComm final : public Comm {
public:
    /// Takes ownership.
    explicit MpiComm(MPI_Comm comm) : comm_(comm), spill_(make_private_memory(exchange_bytes)) {
        if (!spill_) throw std::bad_alloc();
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &size_);
    }
    ~MpiComm() override { MPI_Comm_free(&comm_); }
    MpiComm(const MpiComm&) = delete;
    MpiComm& operator=(const MpiComm&) = delete;

    MPI_Comm handle() const override { return comm_; }

    void barrier() override {
        const Waiting all(all_ranks);
        MPI_Barrier(comm_);
    }

    void all_reduce(std::span<std::int64_t> values, Reduce op) override {
        const Waiting all(all_ranks);
        static const std::map<Reduce, MPI_Op> ops{{Reduce::sum, MPI_SUM},
                                                  {Reduce::min, MPI_MIN},
                                                  {Reduce::max, MPI_MAX},
                                                  {Reduce::bit_or, MPI_BOR}};
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T,
                      ops.at(op), comm_);
    }

    std::int64_t sum_before(std::int64_t value) override {
        const Waiting all(all_ranks);
        std::int64_t sum = 0;
        MPI_Exscan(&value, &sum, 1, MPI_INT64_T, MPI_SUM, comm_);
        return rank_ == 0 ? 0 : sum;
    }

    void broadcast(void* data, std::size_t bytes, int root) override {
        const Waiting all(all_ranks);
        auto* at = static_cast<char*>(data);
        for (std::size_t done = 0; done < bytes; done += part_bytes)
            MPI_Bcast(at + done, static_cast<int>(std::min(part_bytes, bytes - done)), MPI_BYTE,
                      root, comm_);
    }

    std::vector<std::vector<char>> gather(std::span<const char> bytes, int root) override {
        const Waiting all(all_ranks);
        const auto mine = static_cast<int>(bytes.size());
        std::vector<int> counts, starts;
        std::vector<char> together;
        std::vector<std::vector<char>> result;
        const auto make_room = [&](auto&& room) {
            bool have = rank_ != root || alone([&]() -> Status {
                                             room();
                                             return {};
                                         }).ok();
            broadcast(&have, sizeof have, root);
            if (!have) throw std::bad_alloc();
        };
        make_room([&] { counts.resize(static_cast<std::size_t>(size_)); });
        MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, root, comm_);
        make_room([&] {
            int total = 0;
            for (const int n : counts) {
                starts.push_back(total);
                total += n;
                result.emplace_back(static_cast<std::size_t>(n));
            }
            together.resize(static_cast<std::size_t>(total));
        });
        MPI_Gatherv(bytes.data(), mine, MPI_BYTE, together.data(), counts.data(), starts.data(),
                    MPI_BYTE, root, comm_);
        for (std::size_t r = 0; r < result.size(); ++r)
            std::copy_n(together.begin() + starts[r], counts[r], result[r].begin());
        return result;
    }

    /// Synchronous sends and a non-blocking barrier (Hoefler, Siebert and Lumsdaine 2010,
    /// "Scalable communication protocols for dynamic sparse data exchange"): a rank enters the
    /// barrier when its sends were received, so the barrier's end says that nothing is under way.
    std::vector<Packet> exchange(const std::vector<Packet>& packets) override {
        const Waiting all(all_ranks);
        const int tag = exchange_tags[exchanges_++ % 2];
        std::vector<MPI_Request> sends;
        Incoming incoming;
        bool have = alone([&]() -> Status {
                        std::size_t parts = 0;
                        for (const Packet& packet : packets)
                            parts += packet.bytes.size() / exchange_bytes + 1;
                        sends.reserve(parts);
                        return {};
                    }).ok();
        for (const Packet& packet : packets) {
            if (!have) break;
            // The last part is the one that is shorter than the others; it may be empty.
            const std::size_t size = packet.bytes.size();
            for (std::size_t at = 0; at <= size; at += exchange_bytes) {
                sends.emplace_back();
                MPI_Issend(packet.bytes.data() + at,
                           static_cast<int>(std::min(exchange_bytes, size - at)), MPI_BYTE,
                           packet.rank, tag, comm_, &sends.back());
            }
        }
        MPI_Request closing = MPI_REQUEST_NULL;
        bool in_barrier = false;
        for (int done = 0; !done;) {
            int arrived = 0;
            MPI_Status status;
            MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &arrived, &status);
            if (arrived) {
                int n = 0;
                MPI_Get_count(&status, MPI_BYTE, &n);
                char* to = spill_->data();  // what there is no memory for is received, too
                have = have && alone([&]() -> Status {
                                   to = incoming.room(status.MPI_SOURCE, n);
                                   return {};
                               }).ok();
                MPI_Recv(to, n, MPI_BYTE, status.MPI_SOURCE, tag, comm_, MPI_STATUS_IGNORE);
            }
            if (in_barrier) {
                MPI_Test(&closing, &done, MPI_STATUS_IGNORE);
            } else {
                int sent = 0;
                MPI_Testall(static_cast<int>(sends.size()), sends.data(), &sent,
                            MPI_STATUSES_IGNORE);
                if (sent) {
                    MPI_Ibarrier(comm_, &closing);
                    in_barrier = true;
                }
            }
        }
        if (!all_have(have)) throw std::bad_alloc();
        std::stable_sort(incoming.packets.begin(), incoming.packets.end(),
                         [](const Packet& a, const Packet& b) { return a.rank < b.rank; });
        return std::move(incoming.packets);
    }

    std::unique_ptr<Comm> split(int color, int key) override {
        const Waiting all(all_ranks);
        MPI_Comm part = MPI_COMM_NULL;
        MPI_Comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, key, &part);
        if (part == MPI_COMM_NULL) return nullptr;
        return std::make_unique<MpiComm>(part);
    }

    std::unique_ptr<Comm> split_shared() override {
        const Waiting all(all_ranks);
        MPI_Comm part = MPI_COMM_NULL;
        MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part);
        return std::make_unique<MpiComm>(part);
    }

    std::unique_ptr<Memory> share(std::size_t bytes) override {
        const Waiting all(all_ranks);
        if (size_ == 1) return make_private_memory(bytes);
        std::unique_ptr<Window> window(new (std::nothrow) Window);
        if (!all_have(window != nullptr)) return nullptr;
        window->allocate(comm_, bytes, rank_ == 0);
        if (!all_have(window->data() != nullptr)) return nullptr;
        return window;
    }

    MPI_Request start_send(const void* data, std::size_t bytes, int to, int tag) override {
        MPI_Request request;
        MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, comm_, &request);
        return request;
    }

    void finish(std::vector<MPI_Request>& requests) override {
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        requests.clear();
    }

    std::size_t receive(void* data, std::size_t capacity, int from, int tag) override {
        MPI_Status status;
        MPI_Recv(data,
                 static_cast<int>(std::min(capacity, std::size_t(std::numeric_limits<int>::max()))),
                 MPI_BYTE, from, tag, comm_, &status);
        int n = 0;
        MPI_Get_count(&status, MPI_BYTE, &n);
        return static_cast<std::size_t>(n);
    }

    void progress() override {
        int arrived = 0;
        for (int i = 0; i < 4; ++i)
            MPI_Iprobe(MPI_ANY_SOURCE, exchange_tags[0], comm_, &arrived, MPI_STATUS_IGNORE);
    }

private:
    MPI_Comm comm_;
    std::unique_ptr<Memory> spill_;
    unsigned exchanges_ = 0;
};

}  // namespace

std::unique_ptr<Comm> make_mpi_comm(MPI_Comm comm) {
    const Waiting all(all_ranks);
    MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
    return std::make_unique<MpiComm>(copy);
}

}  // namespace thalweg
