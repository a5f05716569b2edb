// Messages between model ranks and servers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "base/wire.hpp"
#include "comm/comm.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

enum class MessageKind : std::int64_t {
    // Commands from the first model rank to the first server, which passes them on to the others.
    // All but the last kind are answered by `reply`; these come first.
    open_file,    ///< create a file from this description
    finish_file,  ///< wait until the writers have passed all marks so far
    count_file,   ///< publish the record count; passed on only if each server has a file of its own
    close_file,
    end_session,
    // Messages from a server to the one above it in the tree, or to the first model rank.
    reply,
    // Data:
    unit_parts,  ///< a unit of some ranks
    accepted,    ///< to a rank that sent unit parts: one of its units was written
    // Between servers:
    /// To the server above: units written by this server and those below it, and the places of
    /// their chunks.
    report,
    room,  ///< to the first server: request for bytes of the file; its answer: their offset
    turn,  ///< to the servers below: see OpenOrder
    // From any server to all servers, and to the ranks that share memory with none.
    failed,  ///< a file has failed
    call,    ///< a Deadlock
};

struct Message {
    int from = -1;
    MessageKind kind = MessageKind::reply;
    std::int64_t file = 0;  ///< number of the file
    std::vector<char> body;
};

/// Sends and receives messages between addresses. Messages from one address to another arrive in
/// the order in which they were sent.
class Transport {
public:
    virtual ~Transport() = default;
    virtual int address() const = 0;
    /// Sends a message. If there is no memory for it, throws std::bad_alloc, and changes nothing.
    virtual void send(int to, MessageKind kind, std::int64_t file, std::vector<char> body) = 0;
    /// Returns the next message, if one has arrived. If there is no memory for it, it is not
    /// removed.
    virtual bool receive(Message& message) = 0;
    /// Tests if all sent messages have left.
    virtual bool idle() = 0;
    /// Ends the transport. Receives and drops remaining messages, which belong to failed files, so
    /// that their senders can end.
    /// @note Collective over the addresses
    void finish();
    /// Begins the end, for callers that have other work. Call the returned function until it
    /// returns true; then all addresses have finished, and it must not be called again.
    virtual std::function<bool()> begin_finish() {
        return [] { return true; };
    }
};

/// @param comm  must outlive the transport
std::unique_ptr<Transport> make_mpi_transport(MPI_Comm comm);

/// The answer of servers to a command: each server joins those of the servers below it with its
/// own.
struct Answer {
    Status status;             ///< error of the first server that has one
    int failed = INT_MAX;      ///< number of that server
    WriteCounts counts = {};   ///< sum over the servers
    std::int64_t records = 0;  ///< records of the file
    FileMap map = {};          ///< from the first server, if it has the file

    void join(Answer other) {
        counts.add(other.counts);
        records = std::max(records, other.records);
        if (other.failed < failed) {
            status = std::move(other.status);
            failed = other.failed;
        }
        if (map.offset.empty()) map = std::move(other.map);
    }
};

template <class Wire>
void carry(Wire& wire, Carried<Wire, Status> status) {
    auto& place = status.place;
    wire(status.code, status.text, place.file, place.variable, place.record, place.rank,
         place.system);
}

template <class Wire>
void carry(Wire& wire, Carried<Wire, Answer> answer) {
    wire(answer.status, answer.failed, answer.counts, answer.records, answer.map);
}

}  // namespace thalweg::detail
