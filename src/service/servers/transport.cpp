// SPDX-License-Identifier: Apache-2.0
#include "service/servers/transport.hpp"

#include <cstring>
#include <list>

#include "base/clock.hpp"
#include "base/waiting.hpp"
#include "comm/barrier.hpp"

namespace thalweg::detail {

namespace {

constexpr int tag = 7;
constexpr std::size_t message_head_words = 3;  // kind, file, bytes of the body

/// Messages by MPI. Counts are in words of 8 bytes, so that one message can have 16 GiB.
class MpiTransport final : public Transport {
public:
    explicit MpiTransport(MPI_Comm comm) : comm_(comm) { MPI_Comm_rank(comm, &rank_); }
    ~MpiTransport() override {
        for (Sent& s : sent_) MPI_Wait(&s.request, MPI_STATUS_IGNORE);
    }
    MpiTransport(const MpiTransport&) = delete;
    MpiTransport& operator=(const MpiTransport&) = delete;

    int address() const override { return rank_; }

    void send(int to, MessageKind kind, std::int64_t file, std::vector<char> body) override {
        Sent& s = sent_.emplace_back(message_head_words + (body.size() + 7) / 8);
        s.words[0] = static_cast<std::int64_t>(kind);
        s.words[1] = file;
        s.words[2] = body.size();
        if (!body.empty())
            std::memcpy(s.words.data() + message_head_words, body.data(), body.size());
        MPI_Isend(s.words.data(), s.words.size(), MPI_INT64_T, to, tag, comm_, &s.request);
        (void)idle();
    }

    bool receive(Message& message) override {
        (void)idle();
        int arrived = 0;
        MPI_Status status;
        // Only this thread receives here, so the message that was probed is the one that is
        // received.
        MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &arrived, &status);
        if (!arrived) return false;
        int n = 0;
        MPI_Get_count(&status, MPI_INT64_T, &n);
        // If there is not enough memory, a later call can receive the message.
        std::vector<std::int64_t> words(n);
        message.body.reserve((words.size() - message_head_words) * sizeof words[0]);
        MPI_Recv(words.data(), n, MPI_INT64_T, status.MPI_SOURCE, tag, comm_, MPI_STATUS_IGNORE);
        message.from = status.MPI_SOURCE;
        message.kind = static_cast<MessageKind>(words[0]);
        message.file = words[1];
        const char* body = reinterpret_cast<const char*>(words.data() + message_head_words);
        message.body.assign(body, body + words[2]);
        return true;
    }

    bool idle() override {
        for (auto s = sent_.begin(); s != sent_.end();) {
            int done = 0;
            MPI_Test(&s->request, &done, MPI_STATUS_IGNORE);
            s = done ? sent_.erase(s) : std::next(s);
        }
        return sent_.empty();
    }

    /// A rank with nothing left to send enters the barrier, which ends when all ranks have entered
    /// it.
    std::function<bool()> begin_finish() override {
        return [this, closed = std::function<bool()>()]() mutable {
            drop_messages();
            if (!closed) {
                if (!idle()) return false;
                closed = begin_barrier(comm_);
            }
            if (!closed()) return false;
            drop_messages();
            return true;
        };
    }

private:
    void drop_messages() {
        Message dropped;
        while (receive(dropped)) {
        }
    }

    struct Sent {
        explicit Sent(std::size_t n) : words(n) {}
        std::vector<std::int64_t> words;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    MPI_Comm comm_;
    int rank_ = 0;
    std::list<Sent> sent_;
};

}  // namespace

void Transport::finish() {
    const Waiting waiting("the servers and all ranks to finish");
    const std::function<bool()> finished = begin_finish();
    while (!finished()) sleep_seconds(50e-6);
}

std::unique_ptr<Transport> make_mpi_transport(MPI_Comm comm) {
    return std::make_unique<MpiTransport>(comm);
}

}  // namespace thalweg::detail
