// SPDX-License-Identifier: Apache-2.0
#include "file_system.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <simgrid/s4u.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "counters/counters.hpp"
#include "counters/heap.hpp"
#include "machine.hpp"

namespace thalweg::scale {

namespace {

namespace sg4 = simgrid::s4u;

/// A resource that serves requests one after another.
struct Station {
    double free = 0;  ///< time at which all requests so far are served
    /// Adds a request.
    /// @return time at which it is served
    double take(double seconds) {
        free = std::max(free, sg4::Engine::get_clock()) + seconds;
        return free;
    }
};

/// The data that a writer has sent and that targets have not stored yet.
class Flight {
public:
    void add(double bytes, double done) {
        bytes_ += bytes;
        writes_.emplace_back(bytes, done);
    }
    /// Waits until at most `most` bytes are not stored.
    void wait(double most) {
        double until = 0;
        while (!writes_.empty() && bytes_ > most) {
            bytes_ -= writes_.front().first;
            until = std::max(until, writes_.front().second);
            writes_.pop_front();
        }
        if (until > sg4::Engine::get_clock()) sg4::this_actor::sleep_until(until);
    }

private:
    double bytes_ = 0;
    /// Size of each write in bytes, and the time at which targets will have stored it.
    std::deque<std::pair<double, double>> writes_;
};

/// The lock of a stripe, which one node has at a time. All waiting ranks of a node get it together.
class Lock {
public:
    /// @param locks server that passes the lock from node to node
    /// @return time at which the node has the lock
    double ask(const sg4::Host* node, Station& locks, double seconds) {
        const double now = sg4::Engine::get_clock();
        while (grants_.size() > 1 && grants_[1].second <= now) grants_.pop_front();
        // A node keeps the lock while no other node waits for it.
        for (std::size_t i = 0; i < grants_.size(); ++i) {
            const auto& [holder, at] = grants_[i];
            if (holder == node && (at > now || grants_.size() == 1)) return at;
        }
        const double at = grants_.empty() ? now : locks.take(seconds);
        grants_.emplace_back(node, at);
        return at;
    }

private:
    std::deque<std::pair<const sg4::Host*, double>> grants_;
};

struct Target {
    sg4::Host* server = nullptr;
    Station disk;
    Station locks;  ///< lock server, which passes locks from node to node
};

/// State of the storage. All ranks, which are contexts of one thread, share it.
struct Servers {
    std::vector<Target> targets;
    std::map<std::string, Station> clients;  ///< writes and reads of each node, by the node's name
    Station metadata;
    std::map<long, Flight> flights;  ///< flight of each process
    StorageCounts& counts = *scale_storage();
    std::map<std::string, Striping> striping;                    ///< striping of each file, by its
                                                                 ///< name
    std::map<std::pair<std::string, std::int64_t>, Lock> locks;  ///< lock of each file's stripe

    Servers() {
        const Machine& m = machine();
        const int hosts = static_cast<int>(m.servers);
        for (int t = 0; hosts > 0 && t < static_cast<int>(m.targets); ++t)
            targets.push_back({sg4::Host::by_name("server-" + std::to_string(t % hosts)), {}, {}});
    }
};

Servers& servers() {
    static Servers all;
    return all;
}

/// Returns the name of a file without its folder, so that simulated times do not depend on the
/// folder.
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

/// Returns the target of the first stripe, which depends on the file's name.
std::size_t first_target(const std::string& name) {
    std::uint64_t hash = 14695981039346656037U;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return static_cast<std::size_t>(hash % servers().targets.size());
}

}  // namespace

bool keeps_data() {
    static const bool keeps = [] {
        const char* const text = std::getenv("SCALE_DATA");
        return text != nullptr && std::string_view(text) == "keep";
    }();
    return keeps;
}

void stripe_file(const std::string& path, const Striping& striping) {
    const HeapPause pause;
    const std::string name = name_of(path);
    servers().striping[name] = striping;
    std::erase_if(servers().locks, [&](const auto& lock) { return lock.first.first == name; });
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

/// Lets the simulated time pass that the transfer of a batch takes. Reads need no locks.
void transfer(const std::string& path, const Batch& batch, bool writing) {
    const HeapPause pause;
    const Machine& m = machine();
    Servers& s = servers();
    double total = 0;
    for (const auto& [stripe, bytes] : batch.stripes) total += static_cast<double>(bytes);
    if (s.targets.empty() || batch.stripes.empty()) {
        sg4::this_actor::sleep_for(m.call * static_cast<double>(batch.calls));
        return;
    }
    sg4::this_actor::sleep_for(m.call * static_cast<double>(batch.calls) + total / m.writer);

    const std::string name = name_of(path);
    const Striping striping = striping_of(name);
    const std::size_t first = first_target(name);
    sg4::Host* const me = sg4::Host::current();
    std::map<std::size_t, double> of_target;
    // Key by the name of the server, because the order of addresses would differ from run to run.
    std::map<std::string, double> of_server;
    double ready = sg4::Engine::get_clock();
    for (const auto& [stripe, bytes] : batch.stripes) {
        const std::size_t target =
            (first + static_cast<std::size_t>(stripe % striping.count)) % s.targets.size();
        const auto n = static_cast<double>(bytes);
        of_target[target] += n;
        of_server[s.targets[target].server->get_name()] += n;
        if (!writing) continue;
        ready = std::max(ready, s.locks[{name, stripe}].ask(me, s.targets[target].locks, m.lock));
    }
    sg4::this_actor::sleep_until(ready);
    std::vector<sg4::CommPtr> flows;
    for (const auto& [server, bytes] : of_server) {
        sg4::Host* const there = sg4::Host::by_name(server);
        flows.push_back(sg4::Comm::sendto_async(writing ? me : there, writing ? there : me,
                                                static_cast<std::uint64_t>(bytes)));
    }
    for (const auto& flow : flows) flow->wait();
    double done = s.clients[me->get_name()].take(total / m.client);
    for (const auto& [target, bytes] : of_target)
        done = std::max(done, s.targets[target].disk.take(bytes / m.target));
    done += m.rpc;
    s.counts.settled = std::max(s.counts.settled, done);
    Flight& flight = s.flights[sg4::this_actor::get_pid()];
    flight.add(total, done);
    flight.wait(writing ? m.flight : 0);
}

}  // namespace

void write_batch(const std::string& path, const Batch& batch) { transfer(path, batch, true); }
void read_batch(const std::string& path, const Batch& batch) { transfer(path, batch, false); }

void ask_metadata() {
    const HeapPause pause;
    const Machine& m = machine();
    Servers& s = servers();
    ++s.counts.metadata;
    const double done = m.metadata > 0 ? s.metadata.take(1 / m.metadata) : sg4::Engine::get_clock();
    sg4::this_actor::sleep_until(done + m.rpc);
}

void ask_server() {
    const HeapPause pause;
    servers().flights[sg4::this_actor::get_pid()].wait(0);
    sg4::this_actor::sleep_for(machine().rpc);
}

}  // namespace thalweg::scale
