// SPDX-License-Identifier: Apache-2.0
#include "service/servers/server_roles.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace thalweg::detail {

std::vector<int> servers_below(int server, std::size_t servers) {
    std::vector<int> result;
    for (const int b : {2 * server + 1, 2 * server + 2})
        if (b < static_cast<int>(servers)) result.push_back(b);
    return result;
}

ServerRoles::ServerRoles(Topology topology, std::vector<int> servers)
    : topology_(std::move(topology)),
      servers_(std::move(servers)),
      by_node_(servers_.size()),
      first_(topology_.nodes + 1) {
    std::iota(by_node_.begin(), by_node_.end(), 0);
    const auto node = [&](int server) { return node_of(servers_[server]); };
    std::stable_sort(by_node_.begin(), by_node_.end(),
                     [&](int a, int b) { return node(a) < node(b); });
    for (const int s : by_node_) ++first_[node(s) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
}

bool ServerRoles::serves(int address) const {
    return std::binary_search(servers_.begin(), servers_.end(), address);
}

int ServerRoles::number_of(int address) const {
    const auto at = std::lower_bound(servers_.begin(), servers_.end(), address);
    const int before = at - servers_.begin();
    return at != servers_.end() && *at == address ? before : address - before;
}

int ServerRoles::model(int number) const {
    // Each server ranked before the model rank shifts its address by one.
    std::size_t low = 0, high = servers_.size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (servers_[middle] - static_cast<int>(middle) <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return number + static_cast<int>(low);
}

int ServerRoles::place_of(int address) const {
    const int node = node_of(address);
    const auto ranks = topology_.by_place.subspan(topology_.first[node], topology_.sizes[node]);
    return std::lower_bound(ranks.begin(), ranks.end(), address) - ranks.begin();
}

std::span<const int> ServerRoles::servers_of(int node) const {
    return std::span(by_node_).subspan(first_[node], first_[node + 1] - first_[node]);
}

std::vector<int> ServerRoles::models_of(int node) const {
    std::vector<int> result;
    for (int place = 0; place < topology_.sizes[node]; ++place)
        if (const int address = topology_.rank_of(node, place); !serves(address))
            result.push_back(address);
    return result;
}

bool ServerRoles::has_models(int node) const {
    return topology_.sizes[node] > first_[node + 1] - first_[node];
}

std::vector<int> ServerRoles::senders(int w) const {
    std::vector<int> result;
    const int here = node_of(servers_[w]);
    for (int node = 0; node < nodes(); ++node) {
        if (node == here || !has_models(node)) continue;
        if (!servers_of(node).empty()) {
            result.push_back(servers_[forwarder(node, w)]);
            continue;
        }
        const std::vector<int> lone = models_of(node);
        result.insert(result.end(), lone.begin(), lone.end());
    }
    return result;
}

std::vector<int> ServerRoles::ranks_of(int server) const {
    std::vector<int> result;
    for (int node = 0; node < nodes(); ++node) {
        if (!servers_of(node).empty()) continue;
        for (const int address : models_of(node))
            if (contact(number_of(address)) == server) result.push_back(address);
    }
    return result;
}

ServerRoles choose_server_roles(const Topology& topology, int number, bool last) {
    const int ranks = topology.node_of.size();
    std::vector<int> servers;
    if (last) {
        for (int r = ranks - number; r < ranks; ++r) servers.push_back(r);
    } else {
        // In each round, every node provides one more server.
        std::vector<int> given(topology.nodes, 0);
        for (int left = number; left > 0;) {
            for (int node = 0; node < topology.nodes && left > 0; ++node) {
                int& n = given[node];
                if (n == topology.sizes[node]) continue;
                ++n;
                --left;
            }
        }
        for (int node = 0; node < topology.nodes; ++node) {
            const int size = topology.sizes[node];
            for (int i = 0; i < given[node]; ++i)
                servers.push_back(topology.rank_of(node, size - 1 - i));
        }
        std::sort(servers.begin(), servers.end());
    }
    return {topology, std::move(servers)};
}

}  // namespace thalweg::detail
