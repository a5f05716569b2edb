// A writer's chunks that are written whole: filtered, and given to ChunkPlacer. What comes in parts
// is kept unpacked until its records count.
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

namespace thalweg::detail {

/// How the chunks of a file's variables are stored, of each variable.
struct ChunkLayout {
    std::vector<ChunkGrid> grids;
    std::vector<std::vector<StoredFilter>> filters;
    std::vector<char> whole;       ///< it is written in whole chunks
    std::vector<FillValue> fills;  ///< of what was never written

    bool any_whole() const { return std::find(whole.begin(), whole.end(), 1) != whole.end(); }
};

class ChunkStore {
public:
    /// Reads bytes of the file.
    using Read = std::function<Status(char* to, std::int64_t bytes, std::int64_t address)>;

    ChunkStore(ChunkPlacer& placer, Read read, std::string path, const Definitions& definitions,
               const ChunkLayout& layout, Wording wording);

    /// Several writers write together from now on.
    /// @param writers  of which this one is a member; the first is the keeper
    void join(std::unique_ptr<Comm> writers) { writers_ = std::move(writers); }
    /// They do not any more.
    void leave() { writers_.reset(); }
    /// From now on any parts of chunks come, in any order.
    void begin_boxes() { boxes_ = layout_.any_whole(); }
    bool boxes() const { return boxes_; }

    /// Takes a piece of a variable that is written in whole chunks. Without boxes, the pieces of a
    /// band come in order.
    Status write(const Chunk& piece);
    /// What was given to write(), or is in the file.
    Status read(const Chunk& piece, char* to);
    /// With several writers, after each piece of any variable; `mine` is what became of it.
    /// @note Collective over the writers
    Status end_piece(Status mine);
    /// All of a step was given to write(). @note Collective over the writers, if there are several
    Status complete();
    /// Packs what has come in parts, of fixed-size variables and of chunks with records before
    /// `records`, and writes what has a place. @note Collective over the writers, if they write
    /// together
    Status place(std::int64_t records);
    /// Does the same where writers do not meet: all of a unit was given to write(), and everything
    /// of the records before `records`. At a `mark` earlier records may have changed.
    Status end_unit(std::int64_t records, bool mark);

    /// Chunks that the file has, as the keeper knows them.
    /// @note Collective over the writers, if there are several
    Status know(std::vector<PlacedChunk> chunks);
    /// Writes chunks of a variable that have records before and from `records` on anew, without the
    /// latter.
    Status cut(int variable, std::int64_t records);
    /// Takes those that were written and not taken yet: of fixed-size variables, and with records
    /// before `records`. In the order of the index, the latest of each. On the keeper; any thread.
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
    Packer packer_;
    /// What Packer calls for each chunk.
    Packer::Take take_ = [this](int variable, std::int64_t record, std::int64_t number,
                                const FilteredChunk& chunk) {
        return put(variable, record, number, chunk);
    };
    bool groups_ = false;                   ///< some chunks have several records
    bool boxes_ = false;                    ///< chunks come in any parts
    bool move_ = false;                     ///< no chunk is changed where it is
    std::unique_ptr<UnpackedBands> bands_;  ///< those
    std::optional<Decompressor> unpacker_;  ///< of chunks that are changed
    std::vector<char> raw_, before_;
    std::unique_ptr<Comm> writers_;  ///< null unless several write together
    std::int64_t pieces_ = 0;        ///< given to write
    std::int64_t ended_ = 0;         ///< records before it are packed, if writers do not meet
    Status failed_;                  ///< of this rank, while it still joins the others
};

}  // namespace thalweg::detail
