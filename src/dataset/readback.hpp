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
        : team_(team), session_(session), file_(file), about_(file.about()) {}

    /// Notes that this rank has put data or ended a step since the last tw_sync.
    void note_put() { touched_ = true; }
    /// Makes the data that a successful tw_sync has written readable. @note Collective
    Status synced();

    /// Returns the contents at the last tw_sync; null before the first one.
    const Contents* contents() const { return contents_ ? &*contents_ : nullptr; }

    /// Returns how a variable is stored. Returns nothing before the first tw_sync, or if the format
    /// is not netCDF-4 and nothing was read yet.
    std::optional<VariableStorage> stored(int variable) const;

    /// Requests data for the next read(). Local.
    Status get_deferred(const GetArguments& arguments);
    /// Reads one variable. @note Collective, as are the next two functions
    Status get(const GetArguments& arguments);
    Status get_box(const GetBoxArguments& arguments);
    Status read();
    /// Returns an error: data that are read ahead could become out of date, so only files that are
    /// not written can be prefetched.
    Status prefetch();

    /// Returns this rank's figures, if it has read anything.
    std::optional<ReadFigures> figures();

private:
    /// A request with copies of its arguments, which may be gone when it is served.
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
    void tell();

    Team& team_;
    SessionResources& session_;
    File& file_;
    const FileContext& about_;
    /// For each variable, 1 if all of its elements in the file were put or filled. The same on
    /// every rank.
    std::vector<char> whole_;
    int open_ = 0;          ///< number of variables whose entry in whole_ is 0
    bool touched_ = false;  ///< this rank has put data since the last tw_sync
    /// Definitions that were returned to the model, the latest last. The model may still use names
    /// from all of them.
    std::list<Definitions> told_;
    /// Number of attributes in the latest definitions that the file does not contain yet.
    std::size_t late_ = 0;
    std::optional<Contents> contents_;  ///< contents at the last tw_sync
    bool stale_ = true;                 ///< the reader was not refreshed since the last tw_sync
    std::unique_ptr<Reader> reader_;
    std::vector<Asked> asked_;
};

}  // namespace thalweg::detail
