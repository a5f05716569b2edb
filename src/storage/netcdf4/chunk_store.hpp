// Filters a writer's chunks that are written whole, and passes them to ChunkPlacer. Chunks that
// come in parts are kept unpacked until their records are counted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/chunked/packer.hpp"
#include "storage/chunked/unpacked_bands.hpp"
#include "storage/netcdf4/chunk_placer.hpp"
#include "storage/sums/writer.hpp"

namespace thalweg::detail {

/// For each variable of a file, how its chunks are stored.
struct ChunkLayout {
    std::vector<ChunkGrid> grids;
    std::vector<std::vector<StoredFilter>> filters;
    std::vector<char> whole;       ///< 1: the variable is written in whole chunks
    std::vector<FillValue> fills;  ///< values of elements never written

    bool any_whole() const { return std::find(whole.begin(), whole.end(), 1) != whole.end(); }
};

class ChunkStore {
public:
    /// Reads bytes from the file.
    using Read = std::function<Status(char* to, std::int64_t bytes, std::int64_t address)>;

    ChunkStore(ChunkPlacer& placer, Read read, std::string path, const Definitions& definitions,
               const ChunkLayout& layout, Wording wording);

    /// Notes the checksums of chunks from now on. @param sums  must outlive this object
    void note_to(SumsWriter& sums) { sums_ = &sums; }
    /// Makes this writer write together with others from now on.
    /// @param writers  communicator of the writers; the first is the keeper
    void join(std::unique_ptr<Comm> writers) { writers_ = std::move(writers); }
    /// Makes this writer independent of the others again; see join().
    void leave() { writers_.reset(); }
    /// Accepts any parts of chunks from now on, in any order.
    void begin_boxes() { boxes_ = layout_.any_whole(); }
    bool boxes() const { return boxes_; }

    /// Writes a piece of a variable that is stored in whole chunks. Unless begin_boxes() was
    /// called, the pieces of a band must come in order.
    Status write(const Chunk& piece);
    /// Reads elements that were passed to write() or are in the file.
    Status read(const Chunk& piece, char* to);
    /// Called after each piece of any variable, if there are several writers.
    /// @param mine  status of the piece on this rank
    /// @note Collective over the writers
    Status end_piece(Status mine);
    /// Completes a step, all of which was passed to write().
    /// @note Collective over the writers, if there are several
    Status complete();
    /// Packs the bands that came in parts, as far as they are complete: those of fixed-size
    /// variables, and those whose chunks have records before `records`. Writes the chunks that have
    /// a place.
    /// @note Collective over the writers, if they write together
    Status place(std::int64_t records);
    /// Does the same as place() for writers that do not wait for each other, when all of a unit,
    /// and everything of the records before `records`, was passed to write(). At a `mark`, earlier
    /// records may have changed.
    Status end_unit(std::int64_t records, bool mark);

    /// Notes the places of the chunks that are in the file.
    /// @param chunks  all of them on the keeper, else empty
    /// @note Collective over the writers, if there are several
    Status know(std::vector<PlacedChunk> chunks);
    /// Rewrites the chunks of a variable that hold records both before `records` and from there on,
    /// without the latter.
    Status cut(int variable, std::int64_t records);
    /// Takes the chunks that were written and not taken yet: those of fixed-size variables, and
    /// those with records before `records`. Returns the latest version of each in the order of the
    /// index. Any thread of the keeper may call it.
    std::vector<PlacedChunk> take_placed(std::int64_t records);

private:
    Status put(int variable, std::int64_t record, std::int64_t number, const FilteredChunk& chunk);
    Status load(const Band& band, char* to);
    Status pack(const Band& band, char* elements);
    Status quantize_changes(const Band& band, char* elements);
    UnpackedBands& bands();
    void fill(int variable, char* to, std::int64_t elements) const;
    Status pack_all(std::int64_t records);
    void write_round();
    void gather_placed();

    ChunkPlacer& placer_;
    Read read_;
    std::string path_;
    const Definitions& definitions_;
    const ChunkLayout& layout_;
    Wording wording_;
    SumsWriter* sums_ = nullptr;
    Packer packer_;
    /// Receives each chunk from the Packer, to place and write it.
    Packer::Take take_ = [this](int variable, std::int64_t record, std::int64_t number,
                                const FilteredChunk& chunk) {
        return put(variable, record, number, chunk);
    };
    bool groups_ = false;  ///< some chunks contain several records
    /// Begin_boxes() was called: parts of chunks come in any order.
    bool boxes_ = false;
    bool move_ = false;                     ///< no chunk may be overwritten in place
    std::unique_ptr<UnpackedBands> bands_;  ///< holds bands that come in parts
    std::optional<Decompressor> unpacker_;  ///< decompresses chunks that are changed
    std::vector<char> raw_, before_;
    /// Communicator of the writers; null unless several write together.
    std::unique_ptr<Comm> writers_;
    std::int64_t pieces_ = 0;  ///< number of pieces passed to write()
    std::int64_t ended_ = 0;   ///< number of records packed by end_unit()
    Status failed_;  ///< error of this rank, after which it still takes part in collective calls
};

}  // namespace thalweg::detail
