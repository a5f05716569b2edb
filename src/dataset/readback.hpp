// Reading through the handle that writes a file: what the last tw_sync has made readable, and
// nothing that came later, so that it does not depend on how far a service is.
//
// The data are read from the file, as another program would read them. The file is opened for it
// when it is first read, and looked at again at the first read after each tw_sync.
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
    Readback(Team& team, SessionResources& session, const File& file)
        : team_(team), session_(session), file_(file) {}

    /// A tw_put of this rank that succeeded.
    void note_put(const std::string& variable);
    /// The same of tw_put_record.
    void note_record(const std::string& variable, const Decomposition* decomposition);
    void note_box(const std::string& variable, const std::int64_t* start, const std::int64_t* count,
                  const std::int64_t* stride);
    void note_step() { touched_ = true; }
    /// After a tw_sync that succeeded. @note Collective
    Status synced();

    /// Null before the first tw_sync.
    const Contents* contents() const { return contents_ ? &*contents_ : nullptr; }

    /// What the file says of itself; null before the first tw_sync, and of files of other formats
    /// than netCDF-4, if nothing was read.
    const Source* source() const { return reader_ ? &reader_->contents() : nullptr; }

    /// Asks for what the next read() reads. Local.
    Status get_deferred(const Wish& wish);
    /// @note Collective, as are the next two
    Status get(const Wish& wish);
    Status get_box(const BoxWish& wish);
    Status read();
    /// Refused, as what is read ahead may be written over: for files that are read alone.
    Status prefetch();

    /// This rank's figures, if anything was read.
    std::optional<ReadFigures> figures();

private:
    /// A wish that outlives the call.
    struct Asked {
        Wish wish;
        std::vector<std::int64_t> extent, byte_stride;
    };

    /// What this rank has put of a fixed-size variable.
    struct Put {
        bool by_put = false;     ///< by tw_put
        bool all = false;        ///< it alone has put all of it
        int serial = -1;         ///< of the decomposition that it was put by; the latest
        std::int64_t held = 0;   ///< elements, by that
        std::vector<Box> boxes;  ///< different ones
        bool written = false;    ///< by all ranks, at a tw_sync: all of it
    };

    Status not_synced() const;
    Status supported() const;
    Status readable_now() const;
    bool must_rest() const;
    Status ready(Call call);
    Status look();
    Status open();
    Put* put_of(int variable);
    static void note(Put& put, const Variable& v, const Box& box);
    int find(const std::string& variable);
    Status tell();
    Status find_written(std::span<const std::size_t> open, bool boxed);
    bool boxes_cover(std::size_t variable, Status& status);

    Team& team_;
    SessionResources& session_;
    const File& file_;
    int next_ = 0;                      ///< the variable that is likely to be put next
    std::vector<Put> put_;              ///< of each variable
    bool touched_ = false;              ///< this rank has put something since the last tw_sync
    std::list<Definitions> told_;       ///< the latest last; names of all of them are in use
    std::size_t late_ = 0;              ///< attributes that the latest has beside the file's
    std::optional<Contents> contents_;  ///< as of the last tw_sync
    std::vector<std::string> lacking_;  ///< variables that were not written by then, or not whole
    bool stale_ = true;                 ///< the reader has not looked since then
    std::unique_ptr<Reader> reader_;
    std::vector<Asked> asked_;
};

}  // namespace thalweg::detail
