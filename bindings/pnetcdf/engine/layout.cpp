// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/engine/layout.hpp"

#include <netcdf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/system/ignore_sigxfsz.hpp"
#include "nc/base/ranks.hpp"
#include "pnetcdf/engine/codes.hpp"

namespace thalweg::pnetcdf::engine {

using namespace nc;

namespace {

// Returns a setting that keeps the places of data from being those of PnetCDF; null if there is
// none.
const char* setting_of_places() {
    for (const char* const setting : {"THALWEG_FORMAT", "THALWEG_FILES"})
        if (std::getenv(setting) != nullptr) return setting;
    return nullptr;
}

}  // namespace

Places Layout::planned() const {
    return places_of(definitions_.table, number_of(definitions_.format),
                     definitions_.spacing.value_or(detail::HeaderPadding{}));
}

Index Layout::header_size() const { return planned().header; }

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
    if (definitions_.format != Format::cdf1) return;
    for (const Index begin : planned().begin)
        if (begin > INT32_MAX)
            throw Error{NC_EVARSIZE,
                        definitions_.path + ": a variable begins beyond 2 GiB; use CDF-2 or CDF-5"};
}

}  // namespace thalweg::pnetcdf::engine
