// The references to one file, or to several that are joined along their record dimension, as one
// JSON file contains them. Files are added to those of a stream without reading the files that are
// included already.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zarr/arrays.hpp"

namespace thalweg::detail {

/// The beginning of a stream's references. The library's own data follow, which are needed to add
/// files; readers of the references ignore them.
inline constexpr std::string_view stream_begin = "{\"version\":1,\"stream\":";

struct JoinedFile {
    std::string name;  ///< name by which the references refer to the file
    /// If a file of a stream is about to be replaced, it keeps its position but has no records.
    std::int64_t records = 0;
    /// First and last value of the record dimension's coordinate variable; NaN if there is none.
    double first = 0, last = 0;
};

/// A Zarr array with its references.
struct JoinedArray {
    /// A chunk in a file: its position along the records (from the beginning of the file), the
    /// other parts of its key, and its place.
    struct Chunk {
        std::int64_t number = 0;
        std::string rest;
        std::int64_t offset = 0, bytes = 0;
    };

    std::string name;
    bool record = false;
    bool copied = false;  ///< its data are copied into the references
    Decisive decisive{};
    ArrayMembers zarray{};
    std::string attributes{};  ///< text of .zattrs
    /// Keys and references of an array without records.
    std::vector<std::pair<std::string, std::string>> fixed{};
    std::vector<std::vector<Chunk>> chunks{};  ///< chunks in each file
    std::vector<std::string> data{};           ///< copied data from each file

    std::int64_t record_bytes() const;
    /// Returns the number of chunks along the records in one file.
    std::int64_t chunks_of(const JoinedFile& file) const;
};

/// Formats data that are copied into the references, as JSON.
std::string copied_text(std::span<const char> data);

struct JoinedReferences {
    std::string dimension;  ///< name of the record dimension
    /// File to which variables without records refer. Empty if this file was dropped; in this case,
    /// take_fixed() must be called before text().
    std::string fixed;
    std::string group, attributes;  ///< texts of .zgroup and .zattrs
    std::vector<JoinedFile> files{};
    NamedList<JoinedArray> arrays{};

    /// Parses the references of a stream, which text(true) has returned.
    /// @param path  path of the references, for messages
    /// @return TW_OK, TW_EFORMAT
    static Status parse(const std::string& path, std::string_view text, JoinedReferences& stream);

    std::int64_t records() const;
    bool has(const std::string& name) const;
    /// Returns a warning if the times in a file are not later than those in the file before it. The
    /// order may be intended, or a mistake: names may have been sorted so that file 10 comes before
    /// file 2.
    /// @param path  path of the file, for the text
    std::string disorder(std::size_t file, const std::string& path) const;

    /// Removes all references to a file.
    void drop(const std::string& name);
    /// Makes variables without records refer to the file of `one`.
    void take_fixed(JoinedReferences&& one);
    /**
     * Adds a file at the position given by its times. A file without times gets its former
     * position, or the last one.
     * @param one   references of this file only
     * @param path  path of the file, for messages
     * @param said  receives a warning if times do not increase
     * @return TW_OK; TW_EDIFFERENT (the file differs from the others); TW_EUNSUPPORTED (the file's
     *     records end inside a chunk, or there are too many references). After an error the
     *     references must not be used
     */
    Status add(JoinedReferences&& one, const std::string& path, std::string& said);

    /// Returns the JSON text.
    /// @param stream  include the data by which parse() can read the text
    std::string text(bool stream) const;

private:
    std::size_t place_of(const JoinedFile& file) const;
    DecisiveOfAll decisive() const;
    Status check(const JoinedReferences& one, const std::string& path) const;
    Status check_array(const JoinedArray& mine, const JoinedArray& other,
                       const std::string& path) const;
    Status check_chunks(const std::string& path) const;
    void share_copies(JoinedArray& a, std::string_view bytes) const;
    std::string begin_stream() const;
    void add_array(const JoinedArray& a, std::string& text) const;
};

}  // namespace thalweg::detail
