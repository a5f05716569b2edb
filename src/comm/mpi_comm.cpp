// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <limits>
#include <map>
#include <new>
#include <numeric>

#include "base/waiting.hpp"
#include "base/work.hpp"
#include "comm/barrier.hpp"
#include "comm/comm.hpp"
#include "comm/launcher.hpp"
#include "comm/segment.hpp"

namespace thalweg::detail {

namespace {

/// Reason for a wait of which nothing more specific is known.
constexpr const char* all_ranks = "all ranks to make this call";

/// Largest part of a transfer in bytes, as MPI counts are int.
constexpr std::size_t part_bytes = std::size_t(1) << 30;

/// Largest part of a packet in Comm::exchange, in bytes.
constexpr std::size_t exchange_bytes = std::size_t(1) << 20;

/// Tags of Comm::exchange. A rank can be one exchange ahead of another, so the tags alternate.
constexpr int exchange_tags[2] = {1, 3};

/// Buffer that receives data for which there is no memory. It is never read, so all communicators
/// share it.
char spill[exchange_bytes];

/// Packets that arrive in parts.
struct Incoming {
    std::vector<Packet> packets;
    std::map<int, std::size_t> begun;  ///< index of each sender's incomplete packet

    char* room(int from, int bytes) {
        const auto [open, first] = begun.try_emplace(from, packets.size());
        if (first) packets.push_back({from, {}});
        std::vector<char>& to = packets[open->second].bytes;
        const std::size_t at = to.size();
        to.resize(at + bytes);
        if (static_cast<std::size_t>(bytes) < exchange_bytes) begun.erase(open);
        return to.data() + at;
    }
};

/// State that a communicator shares with all communicators made from it.
class Family {
public:
    Family() {
        MPI_Type_contiguous(static_cast<int>(RowOfWords::size), MPI_INT64_T, &row_);
        MPI_Type_commit(&row_);
        MPI_Op_create(combine_rows, 1, &combine_);
    }
    ~Family() {
        if (!mpi_is_running()) return;
        MPI_Op_free(&combine_);
        MPI_Type_free(&row_);
    }
    Family(const Family&) = delete;
    Family& operator=(const Family&) = delete;

    MPI_Op op(Reduce op) const {
        switch (op) {
            case Reduce::sum: return MPI_SUM;
            case Reduce::min: return MPI_MIN;
            case Reduce::max: return MPI_MAX;
            case Reduce::bit_or: return MPI_BOR;
            case Reduce::row: return combine_;
        }
        return MPI_OP_NULL;
    }
    MPI_Datatype type(Reduce op) const { return op == Reduce::row ? row_ : MPI_INT64_T; }
    static int number(std::span<const std::int64_t> words, Reduce op) {
        return static_cast<int>(op == Reduce::row ? words.size() / RowOfWords::size : words.size());
    }

    std::atomic<bool> given_up{false};

private:
    static void combine_rows(void* from, void* into, int* n, MPI_Datatype*) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(*n); ++i)
            combine(static_cast<std::int64_t*>(into) + i * RowOfWords::size,
                    static_cast<const std::int64_t*>(from) + i * RowOfWords::size, RowOfWords::size,
                    Reduce::row);
    }

    MPI_Datatype row_ = MPI_DATATYPE_NULL;  ///< type of a row of words, which MPI must not split
    MPI_Op combine_ = MPI_OP_NULL;
};

class MpiComm final : public Comm {
public:
    /// Takes ownership of `comm`.
    MpiComm(MPI_Comm comm, std::shared_ptr<Family> family)
        : comm_(comm), family_(std::move(family)) {
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &size_);
    }
    ~MpiComm() override {
        int over = 0;
        MPI_Finalized(&over);
        if (!over && !family_->given_up) MPI_Comm_free(&comm_);
    }
    MpiComm(const MpiComm&) = delete;
    MpiComm& operator=(const MpiComm&) = delete;

    MPI_Comm handle() const override { return comm_; }
    std::atomic<bool>& given_up() const { return family_->given_up; }

    void barrier() override {
        const Waiting all(all_ranks);
        MPI_Barrier(comm_);
    }

    void all_reduce(std::span<std::int64_t> values, Reduce op) override {
        const Waiting all(all_ranks);
        MPI_Allreduce(MPI_IN_PLACE, values.data(), Family::number(values, op), family_->type(op),
                      family_->op(op), comm_);
    }

    void reduce(std::span<std::int64_t> values, Reduce op, int root) override {
        const Waiting all(all_ranks);
        const bool here = rank_ == root;
        MPI_Reduce(here ? MPI_IN_PLACE : values.data(), here ? values.data() : nullptr,
                   Family::number(values, op), family_->type(op), family_->op(op), root, comm_);
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
            MPI_Bcast(at + done, std::min(part_bytes, bytes - done), MPI_BYTE, root, comm_);
    }

    std::vector<std::vector<char>> gather(std::span<const char> bytes, int root) override {
        const Waiting all(all_ranks);
        const int mine = bytes.size();
        std::vector<int> counts, starts;
        std::vector<char> together;
        std::vector<std::vector<char>> result;
        if (rank_ == root) counts.resize(size_);
        MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, root, comm_);
        const auto make_room = [&] {
            std::int64_t total = 0;
            for (const int n : counts) {
                starts.push_back(static_cast<int>(total));
                total += n;
                if (total > INT_MAX) throw std::bad_alloc();  // MPI counts the bytes in an int
                result.emplace_back(static_cast<std::size_t>(n));
            }
            together.resize(total);
        };
        bool have = rank_ != root || catch_errors(make_room).ok();
        broadcast(&have, sizeof have, root);
        if (!have) throw std::bad_alloc();
        MPI_Gatherv(bytes.data(), mine, MPI_BYTE, together.data(), counts.data(), starts.data(),
                    MPI_BYTE, root, comm_);
        for (std::size_t r = 0; r < result.size(); ++r)
            std::copy_n(together.begin() + starts[r], counts[r], result[r].begin());
        return result;
    }

    /// Synchronous sends and a non-blocking barrier (Hoefler, Siebert and Lumsdaine 2010, "Scalable
    /// communication protocols for dynamic sparse data exchange"): a rank enters the barrier when
    /// its sends were received, so when the barrier ends, no message is in transit.
    std::vector<Packet> exchange(const std::vector<Packet>& packets, bool& have) override {
        const Waiting all(all_ranks);
        const int tag = exchange_tags[exchanges_++ % 2];
        std::vector<MPI_Request> sends;
        Incoming incoming;
        have = catch_errors([&] {
                   std::size_t parts = 0;
                   for (const Packet& packet : packets)
                       parts += packet.bytes.size() / exchange_bytes + 1;
                   sends.reserve(parts);
                   for (const Packet& packet : packets)  // packets to this rank need no message
                       if (packet.rank == rank_) incoming.packets.push_back(packet);
               }).ok();
        for (const Packet& packet : packets) {
            if (!have) break;
            if (packet.rank == rank_) continue;
            // The last part is shorter than the others; it may be empty.
            const std::size_t size = packet.bytes.size();
            for (std::size_t at = 0; at <= size; at += exchange_bytes) {
                sends.emplace_back();
                MPI_Issend(packet.bytes.data() + at, std::min(exchange_bytes, size - at), MPI_BYTE,
                           packet.rank, tag, comm_, &sends.back());
            }
        }
        std::function<bool()> closed;
        int vain = 0;
        for (bool done = false; !done;) {
            int arrived = 0;
            MPI_Status status;
            MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &arrived, &status);
            if (arrived) {
                int n = 0;
                MPI_Get_count(&status, MPI_BYTE, &n);
                char* to = spill;  // receive the part even if there is no memory for it
                have = have && catch_errors([&] { to = incoming.room(status.MPI_SOURCE, n); }).ok();
                MPI_Recv(to, n, MPI_BYTE, status.MPI_SOURCE, tag, comm_, MPI_STATUS_IGNORE);
                vain = 0;
            } else {
                charge_poll(++vain);
            }
            if (closed) {
                done = closed();
            } else {
                int sent = 0;
                MPI_Testall(sends.size(), sends.data(), &sent, MPI_STATUSES_IGNORE);
                if (sent) closed = begin_barrier(comm_);
            }
        }
        if (!have) return {};
        std::stable_sort(incoming.packets.begin(), incoming.packets.end(),
                         [](const Packet& a, const Packet& b) { return a.rank < b.rank; });
        return std::move(incoming.packets);
    }

    std::unique_ptr<Comm> duplicate() override {
        const Waiting all(all_ranks);
        MPI_Comm copy = MPI_COMM_NULL;
        MPI_Comm_dup(comm_, &copy);
        return adopt(copy);
    }

    std::unique_ptr<Comm> split(int color, int key) override {
        const Waiting all(all_ranks);
        MPI_Comm part = MPI_COMM_NULL;
        MPI_Comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, key, &part);
        return adopt(part);
    }

    std::unique_ptr<Comm> split_shared() override {
        const Waiting all(all_ranks);
        MPI_Comm part = MPI_COMM_NULL;
        MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part);
        return adopt(part);
    }

    /// Takes ownership of a new communicator. @param part  MPI_COMM_NULL on ranks without one
    std::unique_ptr<Comm> adopt(MPI_Comm part) {
        if (part == MPI_COMM_NULL) return nullptr;
        return std::make_unique<MpiComm>(part, family_);
    }

    std::vector<int> ranks_in(const Comm& larger) const override {
        std::vector<int> own(size_), there(size_);
        std::iota(own.begin(), own.end(), 0);
        MPI_Group from = MPI_GROUP_NULL, to = MPI_GROUP_NULL;
        MPI_Comm_group(comm_, &from);
        MPI_Comm_group(larger.handle(), &to);
        MPI_Group_translate_ranks(from, size_, own.data(), to, there.data());
        MPI_Group_free(&from);
        MPI_Group_free(&to);
        return there;
    }

    std::unique_ptr<Memory> share(std::size_t bytes) override {
        const Waiting all(all_ranks);
        const auto unite = [&](std::span<std::int64_t> words) {
            all_reduce(words, Reduce::bit_or);
        };
        return share_segment(rank_, size_, bytes, std::ref(unite));
    }

    MPI_Request start_send(const void* data, std::size_t bytes, int to, int tag) override {
        MPI_Request request;
        MPI_Isend(data, bytes, MPI_BYTE, to, tag, comm_, &request);
        return request;
    }

    void finish(std::vector<MPI_Request>& requests) override {
        MPI_Waitall(requests.size(), requests.data(), MPI_STATUSES_IGNORE);
        requests.clear();
    }

    std::size_t receive(void* data, std::size_t capacity, int from, int tag) override {
        MPI_Status status;
        MPI_Recv(data, std::min(capacity, std::size_t(std::numeric_limits<int>::max())), MPI_BYTE,
                 from, tag, comm_, &status);
        int n = 0;
        MPI_Get_count(&status, MPI_BYTE, &n);
        return n;
    }

    void progress() override {
        int arrived = 0;
        for (int i = 0; i < 4; ++i)
            MPI_Iprobe(MPI_ANY_SOURCE, exchange_tags[0], comm_, &arrived, MPI_STATUS_IGNORE);
    }

private:
    MPI_Comm comm_;
    std::shared_ptr<Family> family_;
    unsigned exchanges_ = 0;
};

}  // namespace

bool mpi_is_running() {
    int began = 0, ended = 0;
    MPI_Initialized(&began);
    if (began) MPI_Finalized(&ended);
    return began && !ended;
}

std::unique_ptr<Comm> make_mpi_comm(MPI_Comm comm) {
    const Waiting all(all_ranks);
    MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
    return std::make_unique<MpiComm>(copy, std::make_shared<Family>());
}

namespace {

/// A scope in which MPI returns errors that would otherwise end the program.
class ErrorsReturn {
public:
    ErrorsReturn() {
        for (std::size_t i = 0; i < comms.size(); ++i) {
            MPI_Comm_get_errhandler(comms[i], &before_[i]);
            MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
        }
    }
    ~ErrorsReturn() {
        for (std::size_t i = 0; i < comms.size(); ++i) {
            MPI_Comm_set_errhandler(comms[i], before_[i]);
            MPI_Errhandler_free(&before_[i]);
        }
    }
    ErrorsReturn(const ErrorsReturn&) = delete;
    ErrorsReturn& operator=(const ErrorsReturn&) = delete;

private:
    // MPI reports errors without a valid communicator on one of these two.
    const std::array<MPI_Comm, 2> comms{MPI_COMM_WORLD, MPI_COMM_SELF};
    std::array<MPI_Errhandler, 2> before_{};
};

}  // namespace

bool has_ranks_of(const Comm& comm, MPI_Comm other) {
    int result = MPI_UNEQUAL;
    MPI_Comm_compare(comm.handle(), other, &result);
    return result == MPI_CONGRUENT || result == MPI_IDENT;
}

void give_up(Comm& comm) {
    if (auto* own = dynamic_cast<MpiComm*>(&comm)) own->given_up() = true;
}

bool is_given_up(const Comm& comm) {
    const auto* own = dynamic_cast<const MpiComm*>(&comm);
    return own != nullptr && own->given_up();
}

Status check_communicator(MPI_Comm comm) {
    int began = 0, ended = 0, between = 0;
    MPI_Initialized(&began);
    if (!began)
        return failure(TW_EMPI,
                       "MPI is not initialized: call MPI_Init before tw_init (the MPI of the "
                       "library is {})",
                       mpi_name());
    MPI_Finalized(&ended);
    if (ended) return failure(TW_EMPI, "MPI is finalized: call tw_init before MPI_Finalize");
    if (comm == MPI_COMM_NULL) return failure(TW_EMPI, "the communicator is MPI_COMM_NULL");
    if (Status status = check_launcher(); !status.ok()) return status;
    const ErrorsReturn answers;
    // Open MPI detects a freed handle only by its table of Fortran handles, which no longer
    // contains it.
    if (MPI_Comm_test_inter(comm, &between) != MPI_SUCCESS ||
        MPI_Comm_f2c(MPI_Comm_c2f(comm)) != comm)
        return failure(TW_EMPI, "the communicator is not valid: was it freed?");
    if (between)
        return failure(TW_EMPI,
                       "the communicator is an intercommunicator; a session needs an "
                       "intracommunicator (see MPI_Intercomm_merge)");
    return {};
}

}  // namespace thalweg::detail
