// SPDX-License-Identifier: Apache-2.0
#include "storage/variables/variables.hpp"

#include <algorithm>
#include <map>

#include "storage/posix/paths.hpp"

namespace thalweg::detail {

namespace {

class FolderStorage final : public Storage {
public:
    StorageTraits traits() const override { return {.name = variable_storage}; }
    bool collective() const override { return false; }

    Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                  const StorageOptions& options, bool writer, FileMap& map) override {
        StorageOptions own = options;
        own.rate = 0;  // the rate is limited for all files together, not for each one
        map = plain_map(definitions);
        throttle_ = Throttle(options.rate);
        holders_.resize(definitions.variables.size());
        for (VariableFile& file : files_of_variables(definitions)) add(std::move(file), path);
        Status status;
        for (Part& part : parts_) {
            status =
                part.storage->create(comm, part.path, part.file.definitions, own, writer, part.map);
            if (!status.ok()) return status;
        }
        if (options.durable && comm.rank() == 0) status = sync_folder_of(parts_.front().path);
        return agree(comm, status);
    }

    Status write(std::span<const Chunk> chunks) override {
        std::map<std::size_t, std::vector<Chunk>> of_part;
        for (const Chunk& c : chunks)
            if (c.elements > 0)  // not only padding
                for (const Holder& h : holders(c)) of_part[h.part].push_back(placed(c, h));
        Status status;
        for (const auto& [at, own] : of_part) {
            Storage& storage = *parts_[at].storage;
            const std::int64_t before = storage.counts().bytes;
            throttle_.begin();
            status = storage.write(own);
            throttle_.moved(storage.counts().bytes - before);
            if (!status.ok()) break;
        }
        counts_ = {};
        for (const Part& part : parts_) counts_.add(part.storage->counts());
        return status;
    }

    void begin_boxes() override {
        for (Part& part : parts_) part.storage->begin_boxes();
    }
    void complete_records() override {
        for (Part& part : parts_) part.storage->complete_records();
    }
    Status end_unit(std::int64_t records, bool mark) override {
        return each([&](Part& p) { return p.storage->end_unit(records, mark); });
    }

    Status read(const Chunk& chunk, char* to) override {
        const Holder& own = holders(chunk).back();
        return parts_[own.part].storage->read(placed(chunk, own), to);
    }

    Status set_records(std::int64_t records, bool durable) override {
        return each([&](Part& p) { return p.storage->set_records(records, durable); });
    }
    Status sync() override {
        return each([](Part& p) { return p.storage->sync(); });
    }

    Status close(std::int64_t records, const LateAttributes& late) override {
        return each([&](Part& p) {
            LateAttributes own;
            for (const auto& [variable, attribute] : late) {
                const auto at = std::find(p.file.of.begin(), p.file.of.end(), variable);
                if (variable < 0) own.emplace_back(-1, attribute);
                if (variable >= 0 && at != p.file.of.end())
                    own.emplace_back(static_cast<int>(at - p.file.of.begin()), attribute);
            }
            return p.storage->close(records, own);
        });
    }

private:
    struct Part {
        VariableFile file;
        std::string path;
        std::unique_ptr<Storage> storage;
        FileMap map;
    };
    /// A file that contains a variable, and the variable's number in that file. The last holder of
    /// a variable is its own file.
    struct Holder {
        std::size_t part, variable;
    };

    void add(VariableFile file, const std::string& path) {
        for (std::size_t k = 0; k < file.of.size(); ++k) {
            auto& of = holders_[file.of[k]];
            of.insert(k + 1 == file.of.size() ? of.end() : of.begin(), {parts_.size(), k});
        }
        Part part;
        part.path = variable_path(path, file.name);
        part.file = std::move(file);
        part.storage = make_posix_storage();
        parts_.push_back(std::move(part));
    }

    const std::vector<Holder>& holders(const Chunk& c) const { return holders_[c.variable]; }

    /// Converts a chunk of the whole data set to its position in one file, where other padding
    /// follows it.
    Chunk placed(Chunk c, const Holder& h) const {
        const Part& part = parts_[h.part];
        const Variable& v = part.file.definitions.variables[h.variable];
        c.variable = h.variable;
        c.bytes = c.elements * v.element();
        c.offset = part.map.offset[h.variable] + (v.record ? c.record * part.map.record_bytes : 0) +
                   (c.box != nullptr ? 0 : c.first * v.element());
        return c;
    }

    /// Calls act() for each file, even after a failure.
    /// @return the first error
    template <class Do>
    Status each(Do&& act) {
        Status first;
        for (Part& part : parts_)
            if (Status status = act(part); first.ok()) first = std::move(status);
        return first;
    }

    std::vector<Part> parts_;
    std::vector<std::vector<Holder>> holders_;  ///< for each variable, all files that contain it
};

}  // namespace

std::unique_ptr<Storage> make_variable_storage() { return std::make_unique<FolderStorage>(); }

}  // namespace thalweg::detail
