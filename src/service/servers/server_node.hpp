// The place of a server: among the servers of its session, on its node, and in the tree. Sends its
// news to its neighbours in the tree and to model ranks that share memory with no server.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

#include "comm/segment.hpp"
#include "comm/wait.hpp"
#include "service/servers/server_roles.hpp"
#include "service/servers/transport.hpp"

namespace thalweg::detail {

/// Shared memory with the word on which the servers of a node sleep, and with the names of the
/// ranks' regions for the file being created. No rank creates another file before all servers have
/// answered.
class NodeTable {
public:
    static std::size_t bytes(int ranks) { return slot_at(ranks); }
    /// @param memory  zeroed; must outlive this object
    explicit NodeTable(const Memory& memory) : memory_(memory.data()) {}

    Futex& doorbell() const { return *reinterpret_cast<Futex*>(memory_); }
    /// Writes the name of the region of a rank, given by its place in the node, before the servers
    /// learn of the file.
    void write(int place, std::int64_t file, const SegmentName& name) const {
        Slot& slot = slot_of(place);
        slot.name = name;
        slot.file.store(file, std::memory_order_release);
    }
    /// Reads a rank's name, on a server. @return false if that rank has written none for the file
    bool read(int place, std::int64_t file, SegmentName& name) const {
        const Slot& slot = slot_of(place);
        if (slot.file.load(std::memory_order_acquire) != file) return false;
        name = slot.name;
        return true;
    }

private:
    struct alignas(64) Slot {
        std::atomic<std::int64_t> file;
        SegmentName name;
    };
    static std::size_t slot_at(int place) { return sizeof(Slot) * (place + std::size_t(1)); }
    Slot& slot_of(int place) const { return *reinterpret_cast<Slot*>(memory_ + slot_at(place)); }

    char* memory_;
};

struct ServerNode {
    ServerNode(const ServerRoles& server_roles, int writer, Transport& transport, Comm& peers,
               const NodeTable& node_table);

    bool is_first() const { return writer == 0; }
    /// Replaces the server's number in an error by its rank in the session's communicator.
    Status named(Status status) const;
    /// Runs the local part of a server's work. @return the same on every server
    /// @note Collective over the servers
    template <class Act>
    Status all_do(Act&& act) const {
        return agree(peers, named(act()));
    }
    /// Returns this server's own contribution to an answer.
    Answer answer(const Status& status) const;

    void send_below(MessageKind kind, std::int64_t file, const std::vector<char>& body) const;
    /// Notes a command for a file. @param number  number of servers whose answers are joined
    void expect(std::int64_t file, std::size_t number) {
        pending_.insert_or_assign(file, Pending{{}, number});
    }
    /// Adds an answer to a command. After the last one, sends the joined answer to the server
    /// above.
    void join(std::int64_t file, Answer answer);
    /// Sends news to the neighbours in the tree and to this server's model ranks, but not to the
    /// sender; so it reaches everyone once.
    /// @param from  address of the sender; -1: this server
    void spread(MessageKind kind, std::int64_t file, const std::vector<char>& body, int from) const;

    const ServerRoles& server_roles;
    int writer;
    Transport& transport;
    Comm& peers;
    NodeTable node_table;
    int node;
    /// Address of the server above this one in the tree; for the first server, of the first model
    /// rank.
    int above;
    std::vector<int> below;  ///< addresses of the servers below, to which it passes commands
    std::vector<int> told;   ///< addresses of all recipients of spread()
    std::vector<int> fed;    ///< writers on other nodes to which this server sends its node's data

private:
    struct Pending {
        Answer joined;
        std::size_t missing = 0;  ///< number of answers to come
    };
    std::map<std::int64_t, Pending> pending_;  ///< commands that are not answered yet, by file
};

}  // namespace thalweg::detail
