// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>

#include "comm/comm.hpp"
#include "comm/waiting.hpp"

namespace thalweg {

namespace {

/// Where nothing more is known of a wait.
constexpr const char* all_ranks = "all ranks to make this call";

/// MPI counts are int: longer transfers go in parts of this size.
constexpr std::size_t part_bytes = std::size_t(1) << 30;

/// Tags of Comm::exchange. A rank can be one exchange ahead of another, so they alternate.
constexpr int exchange_tags[2] = {1, 3};

class Window final : public Memory {
public:
    Window(MPI_Comm comm, std::size_t bytes, bool leader) {
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

class MpiComm final : public Comm {
public:
    /// Takes ownership.
    explicit MpiComm(MPI_Comm comm) : comm_(comm) {
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
        std::vector<int> counts(rank_ == root ? static_cast<std::size_t>(size_) : 0);
        MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, root, comm_);
        std::vector<int> starts;
        std::vector<char> together;
        if (rank_ == root) {
            int total = 0;
            for (int n : counts) {
                starts.push_back(total);
                total += n;
            }
            together.resize(static_cast<std::size_t>(total));
        }
        MPI_Gatherv(bytes.data(), mine, MPI_BYTE, together.data(), counts.data(), starts.data(),
                    MPI_BYTE, root, comm_);
        std::vector<std::vector<char>> result;
        for (std::size_t r = 0; r < counts.size(); ++r)
            result.emplace_back(together.begin() + starts[r],
                                together.begin() + starts[r] + counts[r]);
        return result;
    }

    /// Synchronous sends and a non-blocking barrier (Hoefler, Siebert and Lumsdaine 2010,
    /// "Scalable communication protocols for dynamic sparse data exchange"): a rank enters the
    /// barrier when its sends were received, so the barrier's end says that nothing is under way.
    std::vector<Packet> exchange(const std::vector<Packet>& packets) override {
        const Waiting all(all_ranks);
        const int tag = exchange_tags[exchanges_++ % 2];
        std::vector<MPI_Request> sends;
        for (const Packet& packet : packets) {
            // The last part is the one that is shorter than the others; it may be empty.
            const std::size_t size = packet.bytes.size();
            for (std::size_t at = 0; at <= size; at += part_bytes) {
                sends.emplace_back();
                MPI_Issend(packet.bytes.data() + at,
                           static_cast<int>(std::min(part_bytes, size - at)), MPI_BYTE, packet.rank,
                           tag, comm_, &sends.back());
            }
        }
        std::map<int, std::size_t> begun;  // packets of which parts are still to come, by sender
        std::vector<Packet> received;
        MPI_Request closing = MPI_REQUEST_NULL;
        bool in_barrier = false;
        for (int done = 0; !done;) {
            int arrived = 0;
            MPI_Status status;
            MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &arrived, &status);
            if (arrived) {
                int n = 0;
                MPI_Get_count(&status, MPI_BYTE, &n);
                const int from = status.MPI_SOURCE;
                const auto [open, first] = begun.try_emplace(from, received.size());
                if (first) received.push_back({from, {}});
                std::vector<char>& bytes = received[open->second].bytes;
                const std::size_t at = bytes.size();
                bytes.resize(at + static_cast<std::size_t>(n));
                MPI_Recv(bytes.data() + at, n, MPI_BYTE, from, tag, comm_, MPI_STATUS_IGNORE);
                if (static_cast<std::size_t>(n) < part_bytes) begun.erase(open);
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
        std::stable_sort(received.begin(), received.end(),
                         [](const Packet& a, const Packet& b) { return a.rank < b.rank; });
        return received;
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
        std::unique_ptr<Memory> memory;
        if (size_ == 1) {
            memory = make_private_memory(bytes);
        } else {
            memory = std::make_unique<Window>(comm_, bytes, rank_ == 0);
        }
        std::int64_t have = memory != nullptr && memory->data() != nullptr;
        all_reduce({&have, 1}, Reduce::min);
        if (!have) return nullptr;
        return memory;
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
