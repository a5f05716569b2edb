// References to all files of a stream, joined along their record dimension. Files are added without
// reading those that are included already.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarr/arrays.hpp"

namespace thalweg::detail {

/// The beginning of a stream's references. The library's own data follow, which are needed to add
/// files; readers of the references ignore them.
inline constexpr std::string_view stream_begin = "{\"version\":1,\"stream\":";

/// A file of a stream. If a file is about to be replaced, it keeps its position but has no records.
struct StreamedFile {
    std::string name;  ///< name by which the references refer to the file
    std::int64_t records = 0;
    /// First and last value of the record dimension's coordinate variable; NaN if there is none.
    double first = 0, last = 0;
};

struct StreamVariable {
    std::string name;
    bool record = false;
    bool copied = false;  ///< its data are copied into the references
    Decisive decisive;
};

/// Formats the library's own data, which come between stream_begin and the references.
std::string stream_text(const std::string& dimension, const std::string& fixed,
                        const std::vector<StreamedFile>& files,
                        const std::vector<StreamVariable>& variables);

class ReferenceStream {
public:
    ReferenceStream();
    ~ReferenceStream();
    ReferenceStream(ReferenceStream&&) noexcept;
    ReferenceStream& operator=(ReferenceStream&&) noexcept;

    /// Parses a text that text() has returned, or make_references() with the option `grows`.
    /// @param path  path of the references, for messages
    /// @return TW_OK, TW_EFORMAT
    static Status parse(const std::string& path, const std::string& text, ReferenceStream& stream);

    const std::vector<StreamedFile>& files() const { return files_; }
    std::int64_t records() const;
    bool has(const std::string& name) const;
    /// Returns the file to which variables without records refer. Empty if this file was dropped;
    /// in this case, take_fixed() must be called before text().
    const std::string& fixed() const { return fixed_; }

    /// Removes all references to a file.
    void drop(const std::string& name);
    /// Makes variables without records refer to the file of `one`.
    void take_fixed(ReferenceStream&& one);
    /**
     * Adds a file at the position given by its times. A file without times gets its former
     * position, or the last one.
     * @param one   references of this file only
     * @param path  path of the references, for messages
     * @param said  receives a warning if times do not increase
     * @return TW_OK; TW_EDIFFERENT (the file differs from the others); TW_EUNSUPPORTED (the file's
     *     records end inside a chunk, or there are too many references). After an error the stream
     *     must not be used
     */
    Status add(ReferenceStream&& one, const std::string& path, std::string& said);

    /// Returns the text of the references.
    std::string text() const;

private:
    struct Array;

    std::size_t place_of(const StreamedFile& file) const;
    Status check(const ReferenceStream& one, const std::string& path) const;
    Status check_array(const Array& mine, const Array& other, const std::string& path) const;
    Status check_chunks(const std::string& path) const;
    void erase(std::size_t at);
    void insert(ReferenceStream& one, std::size_t at);
    static std::int64_t chunks_of(const StreamedFile& file, const Array& a);
    void take_reference(const std::string& key, const void* value);
    void share_data();
    void add_array(const Array& a, std::string& text) const;
    std::string dimension_, fixed_;
    std::string group_, attributes_;  ///< texts of .zgroup and .zattrs
    std::vector<StreamedFile> files_;
    std::vector<Array> arrays_;
    std::map<std::string, std::size_t> at_;  ///< index of each array, by name
};

}  // namespace thalweg::detail
