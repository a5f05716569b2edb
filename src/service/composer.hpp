// A writer's work on one unit: its share of what the parcels hold, piece by piece into the file.
// Knows neither threads nor messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "exchange/pieces.hpp"
#include "index/ranges.hpp"
#include "service/parcel.hpp"
#include "storage/spaces.hpp"

namespace thalweg::detail {

class Composer {
public:
    /// @param definitions  decompositions need to tell only whether they are whole
    /// @param between      called between pieces, may be empty
    Composer(const Definitions& definitions, const Spaces& spaces, const Layout& layout, int writer,
             Storage& storage, std::int64_t piece, std::function<void()> between,
             Existing existing = {});

    /// Writes this writer's share of a unit of which every rank's parcel is there; of boxes, what
    /// is there. Steps advance the records.
    Status write(std::span<const Parcel> parcels);
    /// With boxes: all ranks have ended their step; records without data are filled.
    Status end_boxes(std::int64_t records);
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
    void collect(std::span<const Parcel> parcels);
    bool was_put(int variable) const;
    void copy_parts(const Share& share, Extent piece, std::size_t place, ElementRange range,
                    std::span<const HeldBox> held, char* to);

    // Boxes (composer_boxes.cpp)
    Status write_boxes(std::span<const Parcel> parcels);
    Status write_group(int variable, std::int64_t record,
                       std::span<const Parcel::Entry* const> boxes);
    Status write_stretches(int variable, std::int64_t record,
                           std::span<const ElementRange> stretches, bool fresh,
                           std::span<const Parcel::Entry* const> boxes);
    Status fill_untouched(int variable, std::int64_t record);

    const Definitions& definitions_;
    const Spaces& spaces_;
    const Layout& layout_;
    int writer_;
    Storage& storage_;
    std::int64_t piece_;
    std::function<void()> between_;
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
};

}  // namespace thalweg::detail
