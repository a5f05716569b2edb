// Messages between model ranks and servers: by MPI, or within one process for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "comm/comm.hpp"

namespace thalweg::detail {

enum class MessageKind : std::int64_t {
    // From the first model rank to servers, answered by `reply` but for the last
    open_file,    ///< what a file is
    finish_file,  ///< answer when all marks so far are passed
    count_file,   ///< to the first server: publish the record count
    close_file,
    end_session,
    // From servers to the first model rank
    reply,
    // Data
    parcels,   ///< a unit of some ranks
    accepted,  ///< back to a rank that sent parcels: a unit of it was written
    // Between servers, and to ranks that no server shares memory with
    report,  ///< to the first server: units written, failures
    failed,  ///< from the first server: a file has failed
    meets,   ///< a Standstill: to a server; by way of the first one to all that may have to know
    turn,    ///< from the first server: see Turns
};

struct Message {
    int from = -1;
    MessageKind kind = MessageKind::reply;
    std::int64_t file = 0;  ///< serial
    std::vector<char> body;
};

/// Messages between two addresses arrive in the order in which they were sent.
class Transport {
public:
    virtual ~Transport() = default;
    virtual int address() const = 0;
    virtual void send(int to, MessageKind kind, std::int64_t file, std::vector<char> body) = 0;
    /// The next message, if one has arrived.
    virtual bool receive(Message& message) = 0;
    /// Whether all that was sent has left.
    virtual bool idle() = 0;
    /// At the end: what still comes, of files that failed, is received and dropped, so that it can
    /// leave. @note Collective over the addresses
    void finish();
    /// The same for who has other things to do meanwhile: to be called until it says that all have
    /// finished, and then no more.
    virtual std::function<bool()> begin_finish() {
        return [] { return true; };
    }
};

/// @param comm  outlives the transport
std::unique_ptr<Transport> make_mpi_transport(MPI_Comm comm);

/// `n` ends of one switchboard, in one process. Any threads.
std::vector<std::unique_ptr<Transport>> make_local_transports(int n);

}  // namespace thalweg::detail
