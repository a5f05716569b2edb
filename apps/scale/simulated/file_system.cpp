// SPDX-License-Identifier: Apache-2.0
#include "file_system.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

#include "counters/heap.hpp"
#include "machine.hpp"

namespace thalweg::scale {

namespace {

namespace sg4 = simgrid::s4u;

/// What files have in common. Of all ranks, which are contexts of one thread.
struct Servers {
    std::vector<sg4::Disk*> targets;
    std::vector<double> free;  ///< when a target hands over the next stripe
    double metadata_free = 0;
    std::map<std::string, Striping> striping;  ///< by the file's name
    std::map<std::pair<std::string, std::int64_t>, const sg4::Host*> owners;  ///< of stripes

    Servers() {
        std::map<int, sg4::Disk*> by_number;
        const std::string prefix = "target-";
        for (const sg4::Host* host : sg4::Engine::get_instance()->get_all_hosts())
            for (sg4::Disk* disk : host->get_disks())
                if (disk->get_name().rfind(prefix, 0) == 0)
                    by_number[std::stoi(disk->get_name().substr(prefix.size()))] = disk;
        for (const auto& [number, disk] : by_number) targets.push_back(disk);
        free.assign(targets.size(), 0);
    }
};

Servers& servers() {
    static Servers all;
    return all;
}

/// Without the folder, so that a run's times do not depend on where it is.
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Striping striping_of(const std::string& name) {
    Striping s;
    if (const auto at = servers().striping.find(name); at != servers().striping.end())
        s = at->second;
    const auto all = static_cast<std::int64_t>(servers().targets.size());
    if (s.size <= 0) s.size = static_cast<std::int64_t>(machine().stripe);
    if (s.count <= 0) s.count = static_cast<std::int64_t>(machine().stripes);
    if (s.count <= 0 || s.count > all) s.count = all;
    return s;
}

/// Files begin on different targets.
std::size_t first_target(const std::string& name) {
    std::uint64_t hash = 14695981039346656037U;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return static_cast<std::size_t>(hash % servers().targets.size());
}

}  // namespace

void stripe_file(const std::string& path, const Striping& striping) {
    const HeapPause pause;
    const std::string name = name_of(path);
    servers().striping[name] = striping;
    std::erase_if(servers().owners, [&](const auto& owned) { return owned.first.first == name; });
}

std::int64_t stripe_bytes(const std::string& path) { return striping_of(name_of(path)).size; }

void add_range(const std::string& path, Batch& batch, std::int64_t offset, std::int64_t bytes) {
    const HeapPause pause;
    ++batch.calls;
    const std::int64_t size = stripe_bytes(path);
    while (bytes > 0) {
        const std::int64_t stripe = offset / size;
        const std::int64_t n = std::min(bytes, (stripe + 1) * size - offset);
        batch.stripes[stripe] += n;
        offset += n;
        bytes -= n;
    }
}

namespace {

/// What is read belongs to no node: locks are for writers.
void transfer(const std::string& path, const Batch& batch, bool writing) {
    const HeapPause pause;
    const Machine& m = machine();
    Servers& s = servers();
    sg4::this_actor::sleep_for(m.call * static_cast<double>(batch.calls));
    if (s.targets.empty() || batch.stripes.empty()) return;

    const std::string name = name_of(path);
    const Striping striping = striping_of(name);
    const std::size_t first = first_target(name);
    sg4::Host* const me = sg4::Host::current();
    std::map<std::size_t, double> of_target;
    std::map<std::string, double> of_server;  // by name: addresses differ from run to run
    double total = 0, ready = sg4::Engine::get_clock();
    for (const auto& [stripe, bytes] : batch.stripes) {
        const std::size_t target =
            (first + static_cast<std::size_t>(stripe % striping.count)) % s.targets.size();
        const auto n = static_cast<double>(bytes);
        total += n;
        of_target[target] += n;
        of_server[s.targets[target]->get_host()->get_name()] += n;
        if (!writing) continue;
        const sg4::Host*& owner = s.owners[{name, stripe}];
        if (owner != nullptr && owner != me) {
            s.free[target] = std::max(s.free[target], sg4::Engine::get_clock()) + m.lock;
            ready = std::max(ready, s.free[target]);
        }
        owner = me;
    }
    sg4::this_actor::sleep_until(ready + m.rpc);
    std::vector<sg4::CommPtr> flows;
    std::vector<sg4::IoPtr> disks;
    const auto begin = [&](sg4::Disk* disk, double bytes) {
        const auto n = static_cast<sg_size_t>(bytes);
        disks.push_back(writing ? disk->write_async(n) : disk->read_async(n));
    };
    for (const auto& [server, bytes] : of_server) {
        sg4::Host* const there = sg4::Host::by_name(server);
        flows.push_back(sg4::Comm::sendto_async(writing ? me : there, writing ? there : me,
                                                static_cast<std::uint64_t>(bytes)));
    }
    for (const auto& [target, bytes] : of_target) begin(s.targets[target], bytes);
    for (sg4::Disk* disk : me->get_disks()) begin(disk, total);
    for (const auto& flow : flows) flow->wait();
    for (const auto& disk : disks) disk->wait();
}

}  // namespace

void write_batch(const std::string& path, const Batch& batch) { transfer(path, batch, true); }
void read_batch(const std::string& path, const Batch& batch) { transfer(path, batch, false); }

void ask_metadata() {
    const HeapPause pause;
    const Machine& m = machine();
    double& free = servers().metadata_free;
    if (m.metadata > 0) free = std::max(free, sg4::Engine::get_clock()) + 1 / m.metadata;
    sg4::this_actor::sleep_until(std::max(free, sg4::Engine::get_clock()) + m.rpc);
}

void ask_server() {
    const HeapPause pause;
    sg4::this_actor::sleep_for(machine().rpc);
}

}  // namespace thalweg::scale
