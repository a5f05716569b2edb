// An existing file under reading.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reading/read_box.hpp"
#include "reading/read_plans.hpp"
#include "reading/shelves.hpp"

namespace thalweg::detail {

class Reader {
public:
    /// @param serial  of the file in its session, the same on every rank
    Reader(Team& team, SessionResources& session, std::string path, int serial,
           FileOptions options);
    int serial() const { return file_.serial; }

    /// Of an open file.
    const Source& contents() const { return *file_.source; }
    /// Of a file that is being written: as if there were no more records, until it is refreshed.
    /// Local.
    void show(std::int64_t records) { file_.source->show(records); }
    /// This rank's figures so far.
    ReadFigures figures();
    /// TW_ENOTFOUND, or the variable's number.
    Status find(const std::string& name, int& variable) const { return file_.find(name, variable); }

    /// @note Collective, as are the next ones but get_deferred
    Status open();
    Status get(const Wish& wish);
    Status get(const Wish& wish, ReadRequest& request);  ///< tells what the wish means
    Status get_deferred(const Wish& wish);               ///< local
    Status get_box(const BoxWish& wish);
    /// @param mine  this rank's own failure so far
    Status read(const Status& mine = {});
    Status prefetch();
    Status sync();
    Status refresh();  ///< the same without a meeting
    Status close();
    /// The same without a meeting: some rank has given up the file, and all ranks come here.
    void leave();

private:
    Status choose_readers();
    Status perform(Call call, std::span<const ReadRequest> requests, Status mine);

    ReadContext file_;
    ReadPlans plans_;
    Shelves shelves_;
    std::vector<ReadRequest> deferred_;
    std::vector<std::size_t> prefetched_;  ///< numbers of deferred requests before which calls of
                                           ///< prefetch came
};

}  // namespace thalweg::detail
