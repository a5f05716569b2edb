// A writer's work on one unit: its share of what the parcels hold, piece by piece into the file.
// Knows neither threads nor messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "exchange/pieces.hpp"
#include "index/ranges.hpp"
#include "service/queue/parcel.hpp"
#include "storage/spaces.hpp"

namespace thalweg::detail {

/// Has something to do between two pieces.
class BetweenPieces {
public:
    virtual ~BetweenPieces() = default;
    virtual void between_pieces() {}
};

class Composer {
public:
    /// @param definitions  decompositions need to tell only whether they are whole
    /// @param pause        told between pieces; may be null
    Composer(const Definitions& definitions, const Spaces& spaces, const Layout& layout, int writer,
             Storage& storage, std::int64_t piece, BetweenPieces* pause, Existing existing = {});

    /// Writes this writer's share of a unit of which every rank's parcel is there. Steps advance
    /// the records.
    Status write(std::span<const Parcel> parcels);
    /// Writes this writer's share of some parcels of any kind: each entry into its own record.
    /// Units are written like this from the first boxes on; end_boxes() advances the records.
    Status write_boxes(std::span<const Parcel> parcels);
    /// Goes on in a file of which others have written so many records, the fixed-size variables
    /// that are `filled` and the variables of the next record that are `written`.
    void go_on(std::int64_t records, std::vector<char> filled, std::vector<char> written);
    /// Others have written all of a variable (of a record). From here on it goes on with boxes.
    void note_written(int variable, std::int64_t record);
    /// Others have completed all records before this one.
    void note_records(std::int64_t records);
    /// With boxes: all ranks have ended their step, or are at a `mark`; records without data are
    /// filled.
    Status end_boxes(std::int64_t records, bool mark);
    /// With boxes, at the end: fills what was never written of the fixed-size variables.
    Status fill_fixed();
    std::int64_t records() const { return records_; }
    bool boxed() const { return boxed_; }

private:
    Status write_step(std::span<const Parcel> parcels);
    Status write_fixed(std::span<const Parcel> parcels, bool last);
    Status write_part(std::span<const Parcel> parcels);
    Status pass(const Space& space, bool records, std::int64_t record,
                std::span<const Action> actions, const Share& share, std::vector<Extent> wanted);
    void pack(const Space& space, std::int64_t record, std::span<const Action> actions,
              const Share& share, Extent piece);
    void collect(std::span<const Parcel> parcels);
    bool was_put(int variable) const;
    void copy_parts(const Share& share, Extent piece, std::size_t place, ElementRange range,
                    std::span<const HeldBox> held, char* to);

    // Boxes (composer_boxes.cpp)
    void begin_boxes();
    struct Group {
        int variable;
        std::int64_t record, step;
        auto operator<=>(const Group&) const = default;
    };
    Status write_group(const Group& group, std::span<const Parcel::Entry* const> boxes);
    Status write_stretches(const Group& group, std::span<const ElementRange> stretches, bool fresh,
                           std::span<const Parcel::Entry* const> boxes);
    void keep_later(const Group& group, const Share& share, Extent piece, ElementRange range);
    Status fill_untouched(int variable, std::int64_t record);

    const Definitions& definitions_;
    const Spaces& spaces_;
    const Layout& layout_;
    int writer_;
    Storage& storage_;
    std::int64_t piece_;
    BetweenPieces* pause_;
    std::vector<FillValue> fill_;
    Existing existing_;
    std::vector<char> filled_;  ///< fixed-size variables that were written, or are there
    std::vector<char> parted_;  ///< variables of the current record that came in parts
    std::vector<std::int64_t> put_;
    std::vector<const Parcel::Entry*> entries_;
    std::vector<std::vector<HeldBox>> held_;  ///< of each variable; block is an index of entries_
    std::vector<char> buffer_;
    std::int64_t records_;
    bool boxed_ = false;  ///< the file is written by boxes
    /// Of a variable and record written by boxes: the elements that were written or filled.
    std::map<std::pair<int, std::int64_t>, Ranges> touched_;
    std::int64_t step_ = 0;  ///< the first one that not all ranks have ended since the last mark
    std::map<Group, std::vector<HeldBox>> ahead_;  ///< what ranks that are ahead have written
    std::vector<char> before_;                     ///< a piece as the file has it
};

}  // namespace thalweg::detail
