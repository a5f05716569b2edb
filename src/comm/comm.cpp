// SPDX-License-Identifier: Apache-2.0
#include "comm/comm.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/system/system_words.hpp"

namespace thalweg::detail {

void combine(std::int64_t* into, const std::int64_t* from, std::size_t n, Reduce op) {
    if (op == Reduce::row) {
        constexpr std::size_t any = std::tuple_size_v<decltype(RowOfWords::any)>;
        constexpr std::size_t most = std::tuple_size_v<decltype(RowOfWords::most)>;
        combine(into, from, any, Reduce::bit_or);
        combine(into + any, from + any, most, Reduce::max);
        combine(into + any + most, from + any + most, n - any - most, Reduce::sum);
        return;
    }
    for (std::size_t i = 0; i < n; ++i) {
        switch (op) {
            case Reduce::sum: into[i] += from[i]; break;
            case Reduce::min: into[i] = std::min(into[i], from[i]); break;
            case Reduce::max: into[i] = std::max(into[i], from[i]); break;
            case Reduce::bit_or: into[i] |= from[i]; break;
            case Reduce::row: break;
        }
    }
}

void Comm::broadcast(std::vector<char>& bytes, int root) {
    struct {
        std::int64_t size = 0;
        std::array<char, 2040> first{};
    } head;
    head.size = std::ssize(bytes);
    const std::size_t most = head.first.size();
    if (rank_ == root) std::copy_n(bytes.begin(), std::min(most, bytes.size()), head.first.begin());
    broadcast(&head, sizeof head, root);
    const std::size_t size = head.size;
    if (size <= most) {
        bytes.assign(head.first.begin(), head.first.begin() + head.size);
        return;
    }
    const Status room = catch_errors([&] { bytes.resize(size); });
    if (!all_have(room.ok())) throw std::bad_alloc();
    broadcast(bytes.data(), size, root);
}

bool Comm::all_have(bool mine) {
    std::int64_t have = mine ? 1 : 0;
    all_reduce({&have, 1}, Reduce::min);
    return have == 1;
}

Status no_shared_memory(std::string text) {
    const int fd = ::open("/", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        ::close(fd);
    else
        text += fmt::format(" ({})", std::strerror(errno));
    return {TW_ENOMEM, text + size_limit_words()};
}

namespace {

/// Adds the rank that failed, unless the error has a rank.
void name_rank(const Comm& comm, int rank, Status& status) {
    if (comm.size() > 1 && status.place.rank < 0)
        reword(status, "{} (rank {})", status.text, OfRank{comm.shown_rank(rank)});
}

}  // namespace

Status outcome_of(const Comm& comm, const Status& mine, std::vector<char>& bytes, int root,
                  const std::function<void(std::vector<char>&)>& broadcast) {
    constexpr std::size_t head = sizeof mine.code;
    std::vector<char> told(head);
    std::memcpy(told.data(), &mine.code, head);
    const std::string error = mine.ok() ? std::string() : packed(mine);
    if (mine.ok())
        told.insert(told.end(), bytes.begin(), bytes.end());
    else
        told.insert(told.end(), error.begin(), error.end());
    broadcast(told);
    Status status;
    std::memcpy(&status.code, told.data(), head);
    if (status.ok())
        bytes.assign(told.begin() + head, told.end());
    else
        status = unpacked(status.code, {told.data() + head, told.size() - head});
    if (!status.ok()) name_rank(comm, root, status);
    return status;
}

Status broadcast_outcome(Comm& comm, const Status& mine, std::vector<char>& bytes, int root) {
    const auto broadcast = [&](std::vector<char>& told) { comm.broadcast(told, root); };
    return outcome_of(comm, mine, bytes, root, std::ref(broadcast));
}

Status agree(Comm& comm, const Status& mine) {
    std::int64_t failing = mine.ok() ? comm.size() : comm.rank();
    comm.all_reduce({&failing, 1}, Reduce::min);
    if (failing == comm.size()) return {};
    std::vector<char> nothing;
    return broadcast_outcome(comm, mine, nothing, static_cast<int>(failing));
}

namespace {

class PrivateMemory : public Memory {
public:
    explicit PrivateMemory(std::size_t bytes) {
        void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) return;
        madvise(p, bytes, MADV_HUGEPAGE);
        data_ = static_cast<char*>(p);
        size_ = bytes;
    }
    ~PrivateMemory() override {
        if (data_ != nullptr) munmap(data_, size_);
    }
    PrivateMemory(const PrivateMemory&) = delete;
    PrivateMemory& operator=(const PrivateMemory&) = delete;
};

class SerialComm final : public Comm {
public:
    MPI_Comm handle() const override { return mpi_is_running() ? MPI_COMM_SELF : MPI_COMM_NULL; }
    void barrier() override {}
    void all_reduce(std::span<std::int64_t>, Reduce) override {}
    void reduce(std::span<std::int64_t>, Reduce, int) override {}
    std::int64_t sum_before(std::int64_t) override { return 0; }
    void broadcast(void*, std::size_t, int) override {}
    std::vector<std::vector<char>> gather(std::span<const char> bytes, int) override {
        return {{bytes.begin(), bytes.end()}};
    }
    std::vector<Packet> exchange(const std::vector<Packet>& packets, bool& have) override {
        std::vector<Packet> received;
        have = catch_errors([&] { received = packets; }).ok();
        return received;
    }
    std::unique_ptr<Comm> split(int color, int) override {
        return color < 0 ? nullptr : make_serial_comm();
    }
    std::unique_ptr<Comm> split_shared() override { return make_serial_comm(); }
    std::vector<int> ranks_in(const Comm&) const override { return {0}; }
    std::unique_ptr<Memory> share(std::size_t bytes) override { return make_private_memory(bytes); }
    MPI_Request start_send(const void*, std::size_t, int, int) override { return MPI_REQUEST_NULL; }
    void finish(std::vector<MPI_Request>&) override {}
    std::size_t receive(void*, std::size_t, int, int) override { return 0; }
    void progress() override {}
};

}  // namespace

std::unique_ptr<Memory> make_private_memory(std::size_t bytes) {
    std::unique_ptr<PrivateMemory> memory(new (std::nothrow) PrivateMemory(bytes));
    if (!memory || memory->data() == nullptr) return nullptr;
    return memory;
}

std::unique_ptr<Comm> make_serial_comm() { return std::make_unique<SerialComm>(); }

std::unique_ptr<Comm> make_own_comm() {
    return mpi_is_running() ? make_mpi_comm(MPI_COMM_SELF) : make_serial_comm();
}

}  // namespace thalweg::detail
