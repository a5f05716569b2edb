// The simulated file system: how long writing and reading take. It keeps no data.
//
// A file's stripes go round its targets. What one call of a driver writes is handed over at the
// rate of a rank, goes over the network to the servers of its targets, not faster than its node can
// write, and onto their disks. The rank goes on when the network has it, but does not have more
// under way than it may. A target writes what it is given in the order in which it comes. Stripes
// belong to the node that wrote them last; a target hands over one at a time, and the rank waits
// for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace thalweg::scale {

/// Whether elements are copied and written (SCALE_DATA=keep), or only take their time.
bool keeps_data();

/// Stripes of a file; 0: the machine's.
struct Striping {
    std::int64_t count = 0;
    std::int64_t size = 0;
};

/// Ranges that go into a file together.
struct Batch {
    std::int64_t calls = 0;
    std::map<std::int64_t, std::int64_t> stripes{};  ///< bytes, by the number of the stripe
};

/// Sets the stripes of a new file.
void stripe_file(const std::string& path, const Striping& striping);
std::int64_t stripe_bytes(const std::string& path);

void add_range(const std::string& path, Batch& batch, std::int64_t offset, std::int64_t bytes);
/// Takes the time of writing it, or of reading it.
void write_batch(const std::string& path, const Batch& batch);
void read_batch(const std::string& path, const Batch& batch);
/// Takes the time of creating, opening or closing a file.
void ask_metadata();
/// Takes the time of a request to a server.
void ask_server();

}  // namespace thalweg::scale
