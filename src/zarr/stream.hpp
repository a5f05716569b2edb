// References to all files of a stream, joined along their record dimension, which grow file by file
// without a look at the files that are in it already.
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

/// With this the references of a stream begin. What follows tells what is needed to add to them;
/// readers skip it.
inline constexpr std::string_view stream_begin = "{\"version\":1,\"stream\":";

/// A file of a stream. One that is about to be replaced keeps its place, with no records.
struct StreamedFile {
    std::string name;  ///< as the references call it
    std::int64_t records = 0;
    /// Of the record dimension's own variable; NaN where there is none.
    double first = 0, last = 0;
};

struct StreamVariable {
    std::string name;
    bool record = false;
    bool copied = false;  ///< its data are in the references
    Decisive decisive;
};

/// What stream_begin is followed by, up to the references.
std::string stream_text(const std::string& dimension, const std::string& fixed,
                        const std::vector<StreamedFile>& files,
                        const std::vector<StreamVariable>& variables);

class ReferenceStream {
public:
    ReferenceStream();
    ~ReferenceStream();
    ReferenceStream(ReferenceStream&&) noexcept;
    ReferenceStream& operator=(ReferenceStream&&) noexcept;

    /// Takes what text() gave, or make_references() with `grows`.
    /// @param path  for messages. @return TW_OK, TW_EFORMAT
    static Status parse(const std::string& path, const std::string& text, ReferenceStream& stream);

    const std::vector<StreamedFile>& files() const { return files_; }
    std::int64_t records() const;
    bool has(const std::string& name) const;
    /// The file to which variables without records refer; empty: that is gone, and text() would be
    /// wrong.
    const std::string& fixed() const { return fixed_; }

    /// Takes the records of a file out, and what else refers to it.
    void drop(const std::string& name);
    /// Variables without records refer to this file from now on.
    void take_fixed(ReferenceStream&& one);
    /**
     * Adds a file, by the times in it, or, if it has none, in the place that it has, or as the
     * last one.
     * @param one   of this file alone
     * @param path  what messages call it
     * @param said  receives a warning if times do not increase
     * @return TW_OK; TW_EDIFFERENT (from the other files); TW_EUNSUPPORTED (its records end inside
     *         a chunk, too many references). After an error the stream is of no more use
     */
    Status add(ReferenceStream&& one, const std::string& path, std::string& said);

    /// The references.
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
    std::map<std::string, std::size_t> at_;  ///< of an array, by its name
};

}  // namespace thalweg::detail
