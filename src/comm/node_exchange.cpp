// SPDX-License-Identifier: Apache-2.0
#include "comm/node_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/status.hpp"

namespace thalweg::detail {

namespace {

/// Head of a packet in a bundle.
struct Label {
    std::int64_t from = 0, to = 0;  ///< ranks in the team
    std::int64_t bytes = 0;
};

void append(std::vector<char>& bundle, const Label& label, const char* bytes) {
    const std::size_t at = bundle.size(), n = label.bytes;
    bundle.resize(at + sizeof label + n);
    std::memcpy(bundle.data() + at, &label, sizeof label);
    if (n > 0) std::memcpy(bundle.data() + at + sizeof label, bytes, n);
}

template <class Visit>
void for_packets(const std::vector<Packet>& bundles, Visit&& visit) {
    for (const Packet& bundle : bundles) {
        const std::vector<char>& bytes = bundle.bytes;
        for (std::size_t at = 0; at < bytes.size();) {
            Label label;
            std::memcpy(&label, bytes.data() + at, sizeof label);
            at += sizeof label;
            visit(label, bytes.data() + at);
            at += label.bytes;
        }
    }
}

/// Packets on their way. A rank without memory takes part in the messages.
class Passage {
public:
    Passage(Team& team, const std::vector<Packet>& packets) {
        guarded([&] {
            std::vector<char> own;
            for (const Packet& p : packets)
                append(own, {team.rank(), p.rank, std::ssize(p.bytes)}, p.bytes.data());
            passed_.push_back({team.rank(), std::move(own)});
        });
    }

    /// Sends each packet on. @param where  returns the rank of `comm` that gets the packet to `to`
    template <class Where>
    void pass(Comm& comm, Where&& where) {
        std::vector<Packet> out;
        guarded([&] {
            std::map<int, std::vector<char>> bundles;
            for_packets(passed_, [&](const Label& label, const char* bytes) {
                append(bundles[where(static_cast<int>(label.to))], label, bytes);
            });
            for (auto& [to, bytes] : bundles) out.push_back({to, std::move(bytes)});
        });
        if (!have_) out.clear();
        bool have = true;
        passed_ = comm.exchange(out, have);
        have_ = have_ && have;
    }

    std::vector<Packet> end(bool& have) {
        std::vector<Packet> packets;
        guarded([&] {
            for_packets(passed_, [&](const Label& label, const char* bytes) {
                packets.push_back({static_cast<int>(label.from), {bytes, bytes + label.bytes}});
            });
        });
        have = have_;
        std::stable_sort(packets.begin(), packets.end(),
                         [](const Packet& a, const Packet& b) { return a.rank < b.rank; });
        return packets;
    }

private:
    template <class Work>
    void guarded(Work&& work) {
        have_ = have_ && catch_errors(work).ok();
    }

    std::vector<Packet> passed_;  ///< bundles of packets
    bool have_ = true;
};

}  // namespace

std::vector<Packet> exchange_by_nodes(Team& team, const std::vector<Packet>& packets, bool& have,
                                      const CombineLimits& limits) {
    const Topology& topology = team.topology();
    if (topology.nodes == 1 || topology.nodes == team.size() || limits.most < limits.packets)
        return team.world().exchange(packets, have);
    std::int64_t sums[] = {0, std::ssize(packets)};
    for (const Packet& p : packets) sums[0] += p.bytes.size();
    team.all_reduce(sums, Reduce::sum);
    if (sums[1] < limits.packets * team.size() || sums[0] >= limits.bytes * sums[1])
        return team.world().exchange(packets, have);
    const auto node_of = [&](int rank) { return topology.node_of[rank]; };
    const auto place_of = [&](int rank) -> int {
        const auto& members = topology.members;
        return std::find(members.begin(), members.end(), rank) - members.begin();
    };
    Passage passage(team, packets);
    // To the rank of this node that forwards to the packet's node, or to its own rank in this node.
    passage.pass(team.node(), [&](int to) {
        return node_of(to) == topology.node
                   ? place_of(to)
                   : node_of(to) % static_cast<int>(topology.members.size());
    });
    // To the rank of the other node that receives from this node.
    passage.pass(team.world(), [&](int to) {
        const int node = node_of(to);
        if (node == topology.node) return team.rank();  // it has already reached its rank
        return topology.rank_of(node, topology.node % topology.sizes[node]);
    });
    passage.pass(team.node(), place_of);
    return passage.end(have);
}

}  // namespace thalweg::detail
