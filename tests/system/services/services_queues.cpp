// Tests queues that are too small, and disks that are too slow.
//
// SPDX-License-Identifier: Apache-2.0
#include "services.hpp"

#include <filesystem>
#include <set>

namespace services {

namespace {

/// Returns the names of the memory that this process shares with others.
std::set<std::string> shared_memory() {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
        if (target.find("memfd:thalweg-") != std::string::npos) found.insert(target);
    }
    return found;
}

}  // namespace

// Tests that the memory of a file's queue is reused for the next file. The model writes one file
// for each output, and new memory for each would cost more than copying data into it.
void memory_of_the_next_file() {
    with_services([](Model& model, const std::string& settings) {
        std::set<std::string> first;
        for (int k = 0; k < 3; ++k) {
            History h(model, path_of(check::text("file_{}.nc", k)), settings, 64, 64, k);
            h.step(0);
            if (k == 0) first = shared_memory();
            CHECK_TEXT(shared_memory() == first, "file {} has other memory", k);
            h.put("h", -1);
            h.close_and_look(1, true);
        }
    });
}

// Tests a step that is larger than the queue: it is written in parts.
void small_queue() {
    with_services([](Model& model, const std::string& settings) {
        constexpr std::int64_t queue = 32 << 10;
        History h(model, path_of("parts.nc"), settings + "; queue=32KiB", 200, 300 * model.size);
        h.put("h", -1);
        for (int r = 0; r < 3; ++r) h.step(r);
        h.put("T", 3);  // the close ends this step
        h.close_and_look(4, true);
        // With "background" on several nodes, the file is written inline, without a queue.
        if (model.entry("parts.nc", "service").starts_with("\"inline")) return;
        const double most = model.figure("parts.nc", "queue_bytes");
        CHECK_TEXT(most > 0 && most <= queue, "queue_bytes {} of {}", most, queue);
    });
}

// Tests a disk that is slower than the model.
void slow_disk() {
    with_services([](Model& model, const std::string& settings) {
        // takes a quarter of a second in total
        const std::int64_t rows = 128, columns = 1024, steps = 10;
        History h(model, path_of("slow.nc"), settings + "; bandwidth=20MiB; piece=64KiB", rows,
                  columns);
        const double begin = MPI_Wtime();
        for (std::int64_t r = 0; r < steps; ++r) h.step(r);
        const double waits = model.figure("slow.nc", "queue_waits");
        // A sanitizer may make the model slower than the disk.
        const double stepping = MPI_Wtime() - begin;
        CHECK_TEXT(waits > 0 || stepping > 0.15, "{} waits in {} s", waits, stepping);
        h.close_and_look(static_cast<std::size_t>(steps), false);
        const double seconds = MPI_Wtime() - begin;
        CHECK_TEXT(seconds > 0.15, "{} s", seconds);
        // two steps with their descriptors
        const std::int64_t step = (rows + model.size - 1) / model.size * columns * 4;
        const double most = model.figure("slow.nc", "queue_bytes");
        CHECK_TEXT(most <= static_cast<double>(std::max<std::int64_t>(4 * step + 8192, 256 << 10)),
                   "queue_bytes {}", most);
    });
}

// Tests that, after a sync, the data are in the file, however slow the disk is.
void sync_with_slow_disk() {
    with_services([](Model& model, const std::string& settings) {
        History h(model, path_of("synced.nc"),
                  settings + "; publish=live; bandwidth=4MiB; piece=16KiB", 64, 256);
        int record = 0;
        for (const int steps : {3, 2}) {
            for (int k = 0; k < steps; ++k) h.step(record++);
            CHECK_TEXT(tw_sync(h.file, 0) == TW_OK, model.error());
            if (model.rank == 0) {
                const std::string wrong = h.look(static_cast<std::size_t>(record), false);
                CHECK_TEXT(wrong.empty(), wrong);
            }
            MPI_Barrier(model.comm);
        }
        h.close_and_look(static_cast<std::size_t>(record), false);
    });
}

// Tests that a sync within a step keeps the data that were put so far, however often it is called.
void syncs_within_a_step() {
    with_services([](Model& model, const std::string& settings) {
        for (const std::string queue : {"auto", "8KiB"}) {
            History h(model, path_of("syncs.nc"), settings + "; queue=" + queue, 23, 11);
            for (int r = 0; r < 2; ++r) {
                h.put("T", r);
                for (int k = 0; k < 60; ++k) {
                    if (k % 3 == 0) h.put("h", -1);
                    CHECK_TEXT(tw_sync(h.file, 0) == TW_OK, "sync {}: {}", k, model.error());
                }
                CHECK_TEXT(tw_end_step(h.file) == TW_OK, model.error());
            }
            h.close_and_look(2, true);
        }
    });
}

}  // namespace services
