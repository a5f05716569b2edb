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
    // by `reply`, except for the last one:
    open_file,    ///< description of a file
    finish_file,  ///< answered when all marks so far are passed
    count_file,   ///< publish the record count; sent to all only if each has a file of its own
    close_file,
    end_session,
    // From a server and those below it to the one above, or to the first model rank:
    reply,
    // Data:
    unit_parts,  ///< a unit of some ranks
    accepted,    ///< back to a rank that sent unit parts: a unit of it was written
    // Between servers:
    report,  ///< to the one above: units written by this one and those below it, and their places
    room,    ///< to the first one: bytes of the file that are needed; back: their place
    turn,    ///< to those below: see OpenOrder
    // To all servers, and to the ranks that share memory with none; from any of them:
    failed,  ///< a file has failed
    meets,   ///< a Deadlock
};

struct Message {
    int from = -1;
    MessageKind kind = MessageKind::reply;
    std::int64_t file = 0;  ///< number of the file
    std::vector<char> body;
};

/// Messages between addresses. Two messages from one address to another arrive in the order in
/// which they were sent.
class Transport {
public:
    virtual ~Transport() = default;
    virtual int address() const = 0;
    /// Sends a message. Uses the reserve if there is no other memory; std::bad_alloc leaves
    /// everything unchanged.
    virtual void send(int to, MessageKind kind, std::int64_t file, std::vector<char> body) = 0;
    /// Returns the next message, if one has arrived. If there is no memory for it, it stays.
    virtual bool receive(Message& message) = 0;
    /// Tests if all sent messages have left.
    virtual bool idle() = 0;
    /// Ends the transport: remaining messages, of failed files, are received and dropped, so that
    /// they can leave.
    /// @note Collective over the addresses
    void finish();
    /// Begins the end, for callers with other work: call the result until it returns true (all have
    /// finished), and then no more.
    virtual std::function<bool()> begin_finish() {
        return [] { return true; };
    }
};

/// @param comm  must outlive the transport
std::unique_ptr<Transport> make_mpi_transport(MPI_Comm comm);

/// Makes `n` connected ends within one process. Any threads.
std::vector<std::unique_ptr<Transport>> make_local_transports(int n);

}  // namespace thalweg::detail
