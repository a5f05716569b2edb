// SPDX-License-Identifier: Apache-2.0
#include "service/servers/crew.hpp"

namespace thalweg::detail {

Crew choose_crew(const Topology& topology, int ranks, int number, bool last) {
    std::vector<char> serves(ranks, 0);
    if (last) {
        std::fill(serves.end() - number, serves.end(), 1);
    } else {
        // Round after round, every node gives one more.
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
            for (int i = 0; i < given[node]; ++i) serves[topology.rank_of(node, size - 1 - i)] = 1;
        }
    }
    Crew crew;
    crew.node_of = topology.node_of;
    for (int r = 0; r < ranks; ++r) (serves[r] ? crew.servers : crew.models).push_back(r);
    return crew;
}

}  // namespace thalweg::detail
