// A driver that stores nothing.
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "base/trace.hpp"
#include "storage/classic/header.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

class MemoryStorage final : public Storage {
public:
    StorageTraits traits() const override { return {.name = "memory"}; }
    bool collective() const override { return false; }
    Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                  const StorageOptions& options, bool, FileMap& map) override {
        throttle_ = Throttle(options.rate);
        IgnoreSigxfsz guard;
        Status status;
        if (comm.rank() == 0) status = create_classic_header(path, definitions, options, true, map);
        status = agree(comm, status);
        if (status.ok()) broadcast(comm, map, 0);
        return status;
    }
    Status open(Comm&, const std::string&, const Definitions&, const StorageOptions& options, bool,
                FileMap&) override {
        throttle_ = Throttle(options.rate);
        return {};
    }
    Status write(std::span<const Chunk> chunks) override {
        Stopwatch watch(counts_.seconds);
        for (const Chunk& c : chunks) {
            Span span("write");
            span.bytes(c.bytes);
            throttle_.begin();
            counts_.count(c.bytes);
            throttle_.moved(c.bytes);
        }
        return {};
    }
    Status set_records(std::int64_t, bool) override { return {}; }
    Status sync() override { return {}; }
    Status close(std::int64_t, const LateAttributes&) override { return {}; }
};

}  // namespace

std::unique_ptr<Storage> make_memory_storage() { return std::make_unique<MemoryStorage>(); }

}  // namespace thalweg::detail
