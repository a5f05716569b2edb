// Reads through the handle that writes a file: returns what the last tw_sync has made readable, and
// nothing later, so that it does not depend on the progress of a service.
//
// The data are read from the file, as another program would read them. The file is opened at the
// first read, and examined again at the first read after each tw_sync.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataset/contents.hpp"
#include "dataset/file.hpp"
#include "reading/reader.hpp"

namespace thalweg::detail {

class Readback {
public:
    Readback(Team& team, SessionResources& session, File& file)
        : team_(team), session_(session), file_(file) {}

    /// Notes that this rank has put something, or ended a step.
    void note_put() { touched_ = true; }
    /// Updates the state after a successful tw_sync. @note Collective
    Status synced();

    /// Returns the contents; null before the first tw_sync.
    const Contents* contents() const { return contents_ ? &*contents_ : nullptr; }

    /// Returns how a variable is stored. Empty before the first tw_sync; also for formats other
    /// than netCDF-4, if nothing was read yet.
    std::optional<VariableStorage> stored(int variable) const;

    /// Requests data for the next read(). Local.
    Status get_deferred(const GetArguments& arguments);
    /// Reads one variable. @note Collective, as are the next two functions
    Status get(const GetArguments& arguments);
    Status get_box(const GetBoxArguments& arguments);
    Status read();
    /// Returns an error: data that are read ahead could be overwritten, so prefetching needs a file
    /// that is only read.
    Status prefetch();

    /// Returns this rank's figures, if anything was read.
    std::optional<ReadFigures> figures();

private:
    /// A request whose arguments are copied, so that they outlive the call.
    struct Asked {
        explicit Asked(const GetArguments& asked) : arguments(asked), array(asked.array) {
            arguments.array = array;
        }
        GetArguments arguments;
        KeptArray array;
    };

    Status not_synced() const;
    Status supported() const;
    Status readable_now() const;
    bool must_rest() const;
    Status ready(Call call, std::span<const std::string* const> names);
    Status fill(std::span<const std::int64_t> wanted);
    Status look();
    Status open();
    Status tell();

    Team& team_;
    SessionResources& session_;
    File& file_;
    /// For each variable, the same on every rank: all of it is in the file, put or filled.
    std::vector<char> whole_;
    int open_ = 0;          ///< number of variables for which whole_ is not set
    bool touched_ = false;  ///< this rank has put something since the last tw_sync
    /// Definitions returned to the model, the latest last; it may still use names in all of them.
    std::list<Definitions> told_;
    /// Number of attributes of the latest definitions that the file lacks.
    std::size_t late_ = 0;
    std::optional<Contents> contents_;  ///< contents at the last tw_sync
    bool stale_ = true;                 ///< the reader was not refreshed after the last tw_sync
    std::unique_ptr<Reader> reader_;
    std::vector<Asked> asked_;
};

}  // namespace thalweg::detail
