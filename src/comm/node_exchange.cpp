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

/// Packets that are sent together, by destination.
using Bundles = std::map<int, std::vector<char>>;

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

/// One exchange of packets. A rank without memory takes part in its messages.
class Passage {
public:
    explicit Passage(Team& team) : team_(team), topology_(team.topology()) {}

    /// Sends each packet to the rank of this node that forwards to the packet's node. Packets for
    /// this node go to their own rank.
    void leave(const std::vector<Packet>& packets) {
        guarded([&] {
            for (const Packet& p : packets) {
                const int node = node_of(p.rank);
                const int place = node == topology_.node
                                      ? place_of(p.rank)
                                      : node % static_cast<int>(topology_.members.size());
                append(bundles_[place], {team_.rank(), p.rank, std::ssize(p.bytes)},
                       p.bytes.data());
            }
        });
        pass(team_.node());
    }

    /// Sends packets to the rank of the other node that receives from this node.
    void cross() {
        regroup([&](const Label& label) {
            const int node = node_of(static_cast<int>(label.to));
            if (node == topology_.node) return team_.rank();  // it has already reached its rank
            return topology_.rank_of(node, topology_.node % topology_.sizes[node]);
        });
        pass(team_.world());
    }

    /// Sends packets to their final rank.
    void arrive() {
        regroup([&](const Label& label) { return place_of(label.to); });
        pass(team_.node());
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
    int node_of(int rank) const { return topology_.node_of[rank]; }
    int place_of(int rank) const {
        const auto& members = topology_.members;
        return std::find(members.begin(), members.end(), rank) - members.begin();
    }

    template <class Work>
    void guarded(Work&& work) {
        have_ = have_ && catch_errors(work).ok();
    }

    template <class Where>
    void regroup(Where&& where) {
        guarded([&] {
            for_packets(passed_, [&](const Label& label, const char* bytes) {
                append(bundles_[where(label)], label, bytes);
            });
        });
        passed_.clear();
    }

    void pass(Comm& comm) {
        std::vector<Packet> out;
        guarded([&] {
            out.reserve(bundles_.size());
            for (auto& [to, bytes] : bundles_) out.push_back({to, std::move(bytes)});
        });
        bundles_.clear();
        if (!have_) out.clear();
        bool have = true;
        passed_ = comm.exchange(out, have);
        have_ = have_ && have;
    }

    Team& team_;
    const Topology& topology_;
    Bundles bundles_;
    std::vector<Packet> passed_;
    bool have_ = true;
};

}  // namespace

std::vector<Packet> exchange_by_nodes(Team& team, const std::vector<Packet>& packets, bool& have,
                                      const CombineLimits& limits) {
    const int nodes = team.topology().nodes;
    if (nodes == 1 || nodes == team.size() || limits.most < limits.packets)
        return team.world().exchange(packets, have);
    std::int64_t sums[] = {0, std::ssize(packets)};
    for (const Packet& p : packets) sums[0] += p.bytes.size();
    team.all_reduce(sums, Reduce::sum);
    if (sums[1] < limits.packets * team.size() || sums[0] >= limits.bytes * sums[1])
        return team.world().exchange(packets, have);
    Passage passage(team);
    passage.leave(packets);
    passage.cross();
    passage.arrive();
    return passage.end(have);
}

}  // namespace thalweg::detail
