// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/engine/layout.hpp"

#include <fcntl.h>
#include <netcdf.h>
#include <pnetcdf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/system/ignore_sigxfsz.hpp"
#include "nc/base/ranks.hpp"
#include "nc/base/types.hpp"
#include "storage/classic/header_reader.hpp"
#include "storage/classic/header_writer.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::pnetcdf::engine {

using namespace nc;

namespace {

// Returns definitions in the library's form, as far as the places of the data depend on them.
detail::Definitions definitions_of(const Table& table) {
    const auto attributes = [](const std::vector<Attribute>& all) {
        detail::NamedList<detail::Attribute> result;
        for (const Attribute& a : all)
            result.push_back({a.name, static_cast<tw_type>(a.type), a.n,
                              std::vector<char>(a.bytes.begin(), a.bytes.end())});
        return result;
    };
    detail::Definitions result;
    for (const Dimension& d : table.dimensions)
        result.dims.push_back({d.name, d.unlimited ? 0 : d.length});
    result.attributes = attributes(table.attributes);
    for (const Variable& v : table.variables) {
        detail::Variable variable;
        variable.name = v.name;
        variable.type = static_cast<tw_type>(v.type);
        variable.dims = v.dims;
        variable.attributes = attributes(v.attributes);
        variable.record = table.is_record(v);
        variable.shape = table.lengths(v);
        if (variable.record) variable.shape.erase(variable.shape.begin());
        result.variables.push_back(std::move(variable));
    }
    return result;
}

Places places_in(const detail::FileMap& map, Index header) {
    const auto first = std::min_element(map.offset.begin(), map.offset.end());
    return {header, first == map.offset.end() ? header : *first, map.record_bytes, map.fixed_end,
            map.offset};
}

// Reads the places from the header of a file.
Places read_places(const std::string& path) {
    const detail::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file < 0) throw Error{errno, path + ": " + std::strerror(errno)};
    std::vector<char> bytes;
    detail::ClassicHeader header;
    if (const auto status = detail::read_classic_header(file, path, bytes, header); !status.ok())
        throw Error{NC_ENOTNC, status.text};
    return places_in(header.map, header.bytes);
}

// Returns a setting that keeps the places of data from being those of PnetCDF; null if there is
// none.
const char* setting_of_places() {
    for (const char* const setting : {"THALWEG_FORMAT", "THALWEG_FILES"})
        if (std::getenv(setting) != nullptr) return setting;
    return nullptr;
}

}  // namespace

Places Layout::planned() const {
    std::vector<char> bytes;
    detail::FileMap map;
    const detail::Status status = detail::compose_header(
        definitions_.path, definitions_of(definitions_.table), definitions_.format,
        definitions_.spacing.value_or(detail::HeaderPadding{}), map, bytes);
    if (!status.ok()) throw Error{NC_EVARSIZE, status.text};
    return places_in(map, static_cast<Index>(bytes.size()));
}

// Places no data, as the length of the header does not depend on where they are.
Index Layout::header_size() const {
    std::vector<char> bytes;
    detail::FileMap nowhere;
    nowhere.offset.resize(definitions_.table.variables.size());
    const detail::Status status = detail::compose_header_for(
        definitions_.path, definitions_of(definitions_.table), definitions_.format, nowhere, bytes);
    if (!status.ok()) throw Error{NC_EVARSIZE, status.text};
    return static_cast<Index>(bytes.size());
}

Places Layout::places() const {
    const std::string& path = definitions_.path;
    if (!placed_by_program_)
        return read_places(access(path.c_str(), R_OK) == 0 ? path : path + ".part");
    if (const char* const setting = setting_of_places())
        throw Error{NC_ENOTSUPPORT,
                    path + ": " + setting +
                        " is set, so that the places of the data are not those of PnetCDF"};
    return definitions_.is_new() || places_.begin.empty() ? planned() : places_;
}

void Layout::laid_out() {
    places_ = planned();
    share(session_.comm(), 0, &places_.extent, 1);
    share(session_.comm(), 0, places_.begin.data(), places_.begin.size());
}

void Layout::extend() const {
    if (places_.begin.empty() || setting_of_places() != nullptr) return;
    on_rank(session_.comm(), 0, [&] {
        const std::string part = definitions_.path + ".part";
        const std::string& path = access(part.c_str(), W_OK) == 0 ? part : definitions_.path;
        struct stat now {};
        const detail::IgnoreSigxfsz guard;
        if (stat(path.c_str(), &now) == 0 && now.st_size < places_.fixed_end &&
            truncate(path.c_str(), places_.fixed_end) != 0)
            throw Error{errno, path + ": " + std::strerror(errno)};
    });
}

void Layout::set(const detail::HeaderPadding& asked, Index vars, Index records) {
    if (!definitions_.is_new()) {
        placed_by_program_ = placed_by_program_ && definitions_.changes.edits.empty();
        return;
    }
    constexpr Index usual = 512;
    const auto first = [](Index a, Index b) { return a > 0 ? a : b; };
    detail::HeaderPadding s = asked;
    s.var_align = first(vars, first(asked.var_align, usual));
    s.record_align = first(records, asked.record_align);
    definitions_.spacing = s;
    if (definitions_.format == Format::cdf1) planned();  // throws if data begin beyond 2 GiB
}

}  // namespace thalweg::pnetcdf::engine
