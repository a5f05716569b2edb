// The simulated file system: the time of writing and reading. It keeps no data.
//
// A file's stripes are dealt out to its targets. The data of one call of a driver leave the rank at
// the rate of a rank, go over the network to the servers of their targets, no faster than the node
// can write, and onto the servers' disks. The rank continues when the network has its data, but
// only a limited amount of its data may be under way. A target writes in the order of arrival. The
// lock of a stripe belongs to the node that wrote it last; a target passes on one lock at a time,
// and the rank waits for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace thalweg::scale {

/// Tests if elements are really copied and written (SCALE_DATA=keep). Otherwise only simulated time
/// passes.
bool keeps_data();

/// Number and size of the stripes of a file; 0: the machine's default.
struct Striping {
    std::int64_t count = 0;
    std::int64_t size = 0;
};

/// Ranges of a file that one call transfers.
struct Batch {
    std::int64_t calls = 0;
    std::map<std::int64_t, std::int64_t> stripes{};  ///< bytes of each stripe, by its number
};

/// Sets the stripes of a new file.
void stripe_file(const std::string& path, const Striping& striping);
std::int64_t stripe_bytes(const std::string& path);

void add_range(const std::string& path, Batch& batch, std::int64_t offset, std::int64_t bytes);
/// write_batch() and read_batch() let the simulated time pass that it takes to write or read a
/// batch.
void write_batch(const std::string& path, const Batch& batch);
void read_batch(const std::string& path, const Batch& batch);
/// Lets the simulated time pass that it takes to create, open or close a file.
void ask_metadata();
/// Lets the simulated time pass that a request to a storage server takes.
void ask_server();

}  // namespace thalweg::scale
