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
    // From the first model rank to the first server, which passes them on to the others; answered
    // by `reply` but for the last
    open_file,    ///< what a file is
    finish_file,  ///< answer when all marks so far are passed
    count_file,   ///< publish the record count; to all only where each has a file of its own
    close_file,
    end_session,
    // From a server and those below it to the one above, or to the first model rank
    reply,
    // Data
    parcels,   ///< a unit of some ranks
    accepted,  ///< back to a rank that sent parcels: a unit of it was written
    // Between servers
    report,  ///< to the one above: units written by this one and those below it, and their places
    room,    ///< to the first one: bytes of the file that are needed; back: where they begin
    turn,    ///< to those below: see Turns
    // To all servers, and to the ranks with which no server shares memory; from any of them
    failed,  ///< a file has failed
    meets,   ///< a Standstill
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
    /// Takes the reserve if there is no other memory; std::bad_alloc leaves everything as it was.
    virtual void send(int to, MessageKind kind, std::int64_t file, std::vector<char> body) = 0;
    /// The next message, if one has arrived. Where there is no memory for it, it stays.
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
