// An existing file that is being read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reading/read_box.hpp"
#include "reading/read_caches.hpp"
#include "reading/read_plans.hpp"

namespace thalweg::detail {

class Reader {
public:
    /// @param serial  number of the file in its session, the same on every rank
    Reader(Team& team, SessionResources& session, std::string path, int serial,
           FileOptions options);
    int serial() const { return file_.serial; }

    /// Returns the contents of an open file.
    const Source& contents() const { return *file_.source; }
    /// Hides the records from number `records` on until the next refresh, because the file is being
    /// written. Local.
    void show(std::int64_t records) { file_.source->show(records); }
    /// Returns this rank's figures so far.
    ReadFigures figures();
    /// Finds the number of a variable. @return TW_OK, TW_ENOTFOUND
    Status find(const std::string& name, int& variable) const { return file_.find(name, variable); }

    /// Opens the file.
    /// @note Collective, as are all functions below except get_deferred()
    Status open();
    Status get(const GetArguments& arguments);
    Status get_deferred(const GetArguments& arguments);  ///< local
    Status get_box(const GetBoxArguments& arguments);
    /// @param mine  error of this rank so far
    /// @note Collective
    Status read(const Status& mine = {});
    Status prefetch();
    Status sync();
    Status refresh();  ///< the caller must have made the ranks agree on this call
    Status close();
    /// Closes the file without an agreement of the ranks, on all of them, because some rank has
    /// given it up.
    void leave();

private:
    Status choose_readers(const Status& mine);
    Status perform(Call call, std::span<const ReadRequest> requests, Status mine);

    ReadContext file_;
    ReadPlans plans_;
    ReadCaches read_caches_;
    std::vector<ReadRequest> deferred_;
    /// Numbers of deferred requests at which prefetch() was called.
    std::vector<std::size_t> prefetched_;
};

}  // namespace thalweg::detail
