// The simulated machine as a platform of SimGrid, loaded by smpirun. Compute nodes and storage
// servers are leaves of one fat tree: a router as gateway to a zone of servers would bypass the
// links of the tree.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <simgrid/s4u.hpp>

#include "machine.hpp"

namespace sg4 = simgrid::s4u;
using thalweg::scale::Machine;

namespace {

sg4::Host* make_host(sg4::NetZone* zone, const Machine& m, int id) {
    const int nodes = static_cast<int>(m.nodes);
    if (id >= nodes) return zone->create_host("server-" + std::to_string(id - nodes), 1e9);
    auto* host = zone->create_host("node-" + std::to_string(id), 1e9);
    host->set_core_count(static_cast<int>(m.cores));
    return host;
}

/// Prints the numbers of the machine if the user wants them.
void tell(const Machine& m) {
    const char* const path = std::getenv("SCALE_NUMBERS");
    if (path == nullptr) return;
    std::ofstream file(path);
    file.precision(15);
    const char* comma = "{";
    for (const auto& [name, value] : thalweg::scale::numbers_of(m)) {
        file << comma << '"' << name << "\": " << value;
        comma = ", ";
    }
    file << "}\n";
}

/// Makes nodes without a network, for a machine whose messages take no time.
void load_nodes(const Machine& m, int hosts) {
    sg4::NetZone* const zone = sg4::create_empty_zone("cluster");
#if SIMGRID_VERSION_MAJOR >= 4  // older versions of SimGrid have only the root zone
    zone->set_parent(sg4::Engine::get_instance()->get_netzone_root());
#endif
    for (int id = 0; id < hosts; ++id) make_host(zone, m, id)->seal();
    zone->seal();
}

}  // namespace

extern "C" void load_platform(const sg4::Engine&) {
    const Machine& m = thalweg::scale::machine();
    tell(m);
    const int leaf = static_cast<int>(m.leaf);
    const int hosts = static_cast<int>(m.nodes + m.servers);
    const auto leaves = static_cast<unsigned>((hosts + leaf - 1) / leaf);
    const auto uplinks = static_cast<unsigned>(m.uplinks);
    const auto host = [&m](sg4::NetZone* zone, const std::vector<unsigned long>&,
                           unsigned long id) {
        sg4::Host* made = make_host(zone, m, static_cast<int>(id));
        made->seal();
        return std::make_pair(made->get_netpoint(),
                              static_cast<simgrid::kernel::routing::NetPoint*>(nullptr));
    };
    const auto loopback = [&m](sg4::NetZone* zone, const std::vector<unsigned long>&,
                               unsigned long id) -> sg4::Link* {
        return zone->create_link("loopback-" + std::to_string(id), m.loopback)
            ->set_latency(0.2e-6)
            ->seal();
    };
    if (m.link == 0) return load_nodes(m, hosts);
    const sg4::FatTreeParams shape(2, {static_cast<unsigned>(leaf), leaves}, {1U, uplinks},
                                   {1U, 1U});
    sg4::create_fatTree_zone("cluster", nullptr, shape, {host, loopback, {}}, m.link, m.hop,
                             sg4::Link::SharingPolicy::SPLITDUPLEX)
        ->seal();
}
