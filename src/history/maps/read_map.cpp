// Reads maps from files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/hash.hpp"
#include "history/maps/map.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::history {

namespace {

using Doubles = std::vector<double>;

/// The names of a format's dimensions and variables.
struct Format {
    const char *weight, *row, *column;
    const char *links, *each;  ///< number of links, and of weights of a link; empty: it is 1
    const char *sources, *targets, *corners;
    const char *centre[2], *corner[2];  ///< latitudes and longitudes
    const char *area, *fraction;
};

/// The formats: that of ESMF, TempestRemap and NCO, and SCRIP's, which CDO and YAC write.
constexpr std::array formats{
    Format{"S", "row", "col", "n_s", "", "n_a", "n_b", "nv_b", "yc_b", "xc_b", "yv_b", "xv_b",
           "area_b", "frac_b"},
    Format{"remap_matrix", "dst_address", "src_address", "num_links", "num_wgts", "src_grid_size",
           "dst_grid_size", "dst_grid_corners", "dst_grid_center_lat", "dst_grid_center_lon",
           "dst_grid_corner_lat", "dst_grid_corner_lon", "dst_grid_area", "dst_grid_frac"}};

/// Elements of a variable.
struct Slab {
    Integers start, count, stride;
};

/// Tests if a number is one of the whole numbers from 1.
bool is_number(double number, std::int64_t most) {
    return number >= 1 && number <= static_cast<double>(most) && number == std::floor(number);
}

/// Reads a map. All functions that return a status are collective, and it is the same on every
/// rank.
class MapReader {
public:
    MapReader(Ranks& ranks, Map& map) : ranks_(ranks), map_(map), path_(map.rules.file) {}
    Status read(int zoom);

private:
    Status read_links(std::vector<MapLink>& links);
    Status cut_rows(const std::vector<MapLink>& links, std::int64_t joined, Integers& first);
    Status take_links(std::vector<MapLink> links, int levels, int zoom);
    Status read_target();
    Status is_rectilinear(bool& is);
    Status add_axis(int which, bool axis);
    Status add_beside(const char* variable, const char* name, const char* units, const char* about);
    /// Adds words to the hash of the map, in any order.
    void add_hash(std::span<const std::int64_t> words) {
        map_.hash = static_cast<std::int64_t>(static_cast<std::uint64_t>(map_.hash) +
                                              detail::hash_of_words(words, 0));
    }

    bool has(const char* variable) const {
        return tw_inq_var(file_, variable, nullptr, nullptr, nullptr) == TW_OK;
    }
    Status length(const char* dim, std::int64_t& length) const {
        if (tw_inq_dim(file_, dim, &length) == TW_OK) return {};
        return failure(TW_EUNSUPPORTED, "{}: it has no dimension '{}'", path_, dim);
    }
    /// Returns an attribute; an empty text if there is none.
    std::string text(const char* variable, const char* name) const {
        tw_type type{};
        std::int64_t n = 0;
        if (tw_inq_att(file_, variable, name, &type, &n) != TW_OK || type != TW_CHAR) return {};
        std::string text(n + 1, '\0');
        (void)tw_get_att_text(file_, variable, name, n + 1, text.data());
        return text.c_str();
    }
    Status read(const char* variable, const Slab& slab, Doubles& to);
    Status read_degrees(const char* variable, const Slab& slab, Doubles& to);

    Ranks& ranks_;
    Map& map_;
    const std::string& path_;
    tw_file file_ = nullptr;
    Format format_{};
    std::int64_t targets_ = 0;
};

Status MapReader::read(const char* variable, const Slab& slab, Doubles& to) {
    int nd = 0;
    if (tw_inq_var(file_, variable, nullptr, &nd, nullptr) == TW_OK && nd != std::ssize(slab.start))
        return failure(TW_EUNSUPPORTED, "{}: '{}' has {} dimensions, not {}", path_, variable, nd,
                       slab.start.size());
    const Status mine = detail::catch_errors([&] { to.resize(volume(slab.count)); });
    if (Status s = ranks_.agree(mine, 0, {}); !s.ok()) return s;
    return ranks_.status(tw_get_box(file_, variable, TW_DOUBLE, slab.start.data(),
                                    slab.count.data(), slab.stride.data(), to.data()));
}

/// Reads this rank's share of the links, and checks them.
Status MapReader::read_links(std::vector<MapLink>& links) {
    std::int64_t n = 0, each = 1;
    if (Status s = length(format_.links, n); !s.ok()) return s;
    if (n == 0) return failure(TW_ESETTING, "{}: it has no links", path_);
    const bool several = format_.each[0] != '\0';
    if (several)
        if (Status s = length(format_.each, each); !s.ok()) return s;
    const std::int64_t first = n * ranks_.rank() / ranks_.size();
    const std::int64_t count = n * (ranks_.rank() + 1) / ranks_.size() - first;
    Doubles rows, columns, weights;
    Status status = read(format_.row, {{first}, {count}, {1}}, rows);
    if (status.ok()) status = read(format_.column, {{first}, {count}, {1}}, columns);
    if (status.ok())
        status = several ? read(format_.weight, {{first, 0}, {count, each}, {1, 1}}, weights)
                         : read(format_.weight, {{first}, {count}, {1}}, weights);
    if (!status.ok()) return status;
    const auto check = [&]() -> Status {
        links.reserve(count);
        for (std::int64_t i = 0; i < count; ++i) {
            const double* const weight = weights.data() + i * each;
            if (!is_number(rows[i], targets_) || !is_number(columns[i], map_.sources) ||
                !std::isfinite(*weight))
                return failure(TW_ESETTING,
                               "{}: link {} of {} leads from element {} of {} to element {} of {}, "
                               "with the weight {}",
                               path_, first + i + 1, n, columns[i], map_.sources, rows[i], targets_,
                               *weight);
            if (std::any_of(weight + 1, weight + each, [](double w) { return w != 0; }))
                return failure(TW_EUNSUPPORTED,
                               "{}: link {} has {} weights, map_method '{}': it needs gradients, "
                               "which a history does not compute; cdo gencon or genbil does not",
                               path_, first + i + 1, each, text("", "map_method"));
            const auto row = static_cast<std::int64_t>(rows[i]);
            const auto column = static_cast<std::int64_t>(columns[i]);
            links.push_back({row - 1, column - 1, *weight});
            const std::int64_t words[] = {first + i, row, column,
                                          std::bit_cast<std::int64_t>(*weight)};
            add_hash(words);
        }
        return {};
    };
    return ranks_.agree(detail::catch_errors(check), 0, {});
}

/// Cuts rows into adjacent ranges with about as many links each.
/// @param joined  number of rows that stay together
/// @param first   receives the first row of each rank, and the number of rows
Status MapReader::cut_rows(const std::vector<MapLink>& links, std::int64_t joined,
                           Integers& first) {
    const std::int64_t groups = targets_ / joined, size = ranks_.size();
    const std::int64_t bins = std::min<std::int64_t>(groups, 16384);
    Integers links_in(bins);
    for (const MapLink& link : links) ++links_in[link.row / joined * bins / groups];
    if (Status status = ranks_.reduce(links_in, detail::Reduce::sum); !status.ok()) return status;
    const std::int64_t all = std::accumulate(links_in.begin(), links_in.end(), std::int64_t{0});
    first.assign(size + 1, targets_);
    std::int64_t before = 0;
    for (std::int64_t bin = 0, next = 0; bin < bins; before += links_in[bin++])
        for (; next < size && before * size >= next * all; ++next)
            first[next] = (bin * groups + bins - 1) / bins * joined;
    return {};
}

/// Sends links to the ranks of their rows, which a pyramid joins.
Status MapReader::take_links(std::vector<MapLink> links, int levels, int zoom) {
    Integers first;
    if (Status s = cut_rows(links, std::int64_t{1} << 2 * levels, first); !s.ok()) return s;
    Letters letters;
    Status mine = detail::catch_errors([&] {
        for (const MapLink& link : links) {
            const auto owner = std::ranges::upper_bound(first, link.row) - first.begin() - 1;
            append(letters[static_cast<int>(owner)], link);
        }
        links = {};
    });
    if (Status s = exchange(ranks_, letters, std::move(mine)); !s.ok()) return s;
    mine = detail::catch_errors([&] {
        std::vector<char> all;
        for (auto& [rank, letter] : letters) {
            all.insert(all.end(), letter.begin(), letter.end());
            letter = {};
        }
        map_.first = first[ranks_.rank()];
        sort_links(values_in<MapLink>(all), first[ranks_.rank() + 1] - map_.first, map_);
        if (zoom < 0) return;
        coarsen(map_, levels);
        describe_healpix(map_, zoom);
    });
    return ranks_.agree(mine, 0, {});
}

Status MapReader::read_degrees(const char* variable, const Slab& slab, Doubles& to) {
    if (Status s = read(variable, slab, to); !s.ok()) return s;
    const std::string units = text(variable, "units");
    if (units.starts_with("deg")) return {};
    for (double& value : to) value *= 180 / std::numbers::pi;
    if (units.starts_with("rad")) return {};
    return failure(TW_EUNSUPPORTED, "{}: '{}' has the units '{}', not degrees or radians", path_,
                   variable, units);
}

/// Tests if the centres are those of axes of latitude and longitude.
Status MapReader::is_rectilinear(bool& is) {
    constexpr double near = 360e-10;
    const std::int64_t nx = map_.shape.back();
    std::array<std::int64_t, 1> differs{0};
    for (const int which : {0, 1}) {
        Doubles axis, own;
        Status status = read_degrees(format_.centre[which],
                                     {{0}, {map_.shape[which]}, {which == 0 ? nx : 1}}, axis);
        if (status.ok())
            status = read_degrees(format_.centre[which], {{map_.first}, {map_.rows()}, {1}}, own);
        if (!status.ok()) return status;
        for (std::int64_t i = 0; i < map_.rows(); ++i) {
            const std::int64_t at = map_.first + i;
            const double should = axis[which == 0 ? at / nx : at % nx];
            differs[0] |= std::abs(own[i] - should) <= near ? 0 : 1;
        }
    }
    Status status = ranks_.agree({}, 0, differs);
    is = differs[0] == 0;
    return status;
}

/// Converts the corners of the cells of an axis to bounds.
Doubles bounds_of(const Doubles& axis, const Doubles& corners, bool turns) {
    Doubles bounds;
    const std::size_t each = corners.size() / axis.size();
    const double step = axis.size() > 1 ? axis[1] - axis[0] : 0;
    const bool falls = (turns ? std::remainder(step, 360) : step) < 0;
    for (std::size_t i = 0; i < axis.size(); ++i) {
        double low = 0, high = 0;
        for (std::size_t k = i * each; k < (i + 1) * each; ++k) {
            const double from = corners[k] - axis[i];
            low = std::min(low, turns ? std::remainder(from, 360) : from);
            high = std::max(high, turns ? std::remainder(from, 360) : from);
        }
        if (falls) std::swap(low, high);
        bounds.insert(bounds.end(), {axis[i] + low, axis[i] + high});
    }
    return bounds;
}

/// Adds latitudes (0) or longitudes (1), with the corners of cells: an axis, or those of this
/// rank's elements.
Status MapReader::add_axis(int which, bool axis) {
    const std::string& name = which == 0 ? map_.rules.latitude : map_.rules.longitude;
    Slab slab{{axis ? 0 : map_.first},
              {axis ? map_.shape[which] : map_.rows()},
              {axis && which == 0 ? map_.shape.back() : 1}};
    Doubles centres, corners;
    if (Status s = read_degrees(format_.centre[which], slab, centres); !s.ok()) return s;
    for (std::int64_t i = 0; i < std::ssize(centres) && !(axis && ranks_.rank() > 0); ++i)
        add_hash(std::array{std::int64_t{which}, slab.start[0] + i,
                            std::bit_cast<std::int64_t>(centres[i])});
    Part part =
        axis ? replicated_part({name}, slab.count) : target_part(map_, map_.dims, map_.shape);
    Coordinate& c =
        add_coordinate(map_, name, part, centres,
                       {{"standard_name", std::string(which == 0 ? "latitude" : "longitude")},
                        {"units", std::string(which == 0 ? "degrees_north" : "degrees_east")}});
    if (!has(format_.corner[which])) return {};
    std::int64_t each = 0;
    if (Status s = length(format_.corners, each); !s.ok()) return s;
    slab.start.push_back(0);
    slab.count.push_back(each);
    slab.stride.push_back(1);
    if (Status s = read_degrees(format_.corner[which], slab, corners); !s.ok()) return s;
    if (axis) corners = bounds_of(centres, corners, which == 1);
    part.dims.emplace_back(axis ? "bnds" : "corner");
    part.shape.push_back(axis ? 2 : each);
    c.attributes.push_back({"bounds", name + "_bnds"});
    add_coordinate(map_, name + "_bnds", part, corners, {});
    return {};
}

/// Adds a variable that describes the cells.
Status MapReader::add_beside(const char* variable, const char* name, const char* units,
                             const char* about) {
    if (!has(variable)) return {};
    Doubles values;
    Status status = read(variable, {{map_.first}, {map_.rows()}, {1}}, values);
    const std::string own = text(variable, "units");  // "radians^2", "square radians" and the like
    const bool other = !own.empty() && own.find("rad") == std::string::npos;
    add_coordinate(
        map_, name, target_part(map_, map_.dims, map_.shape), values,
        {{"long_name", std::string(about)}, {"units", other ? own : std::string(units)}});
    const std::string list = text_of(map_.attributes, "ancillary_variables");
    set_attribute(map_.attributes,
                  {"ancillary_variables", list + (list.empty() ? "" : " ") + name});
    return status;
}

/// Reads the target's grid: its dimensions, and the coordinates of this rank's elements.
Status MapReader::read_target() {
    map_.dims = {"cell"};
    map_.shape = {targets_};
    // Files of YAC do not describe the target.
    if (!has(format_.centre[0]) && !has(format_.centre[1])) return {};
    Doubles dims;
    std::int64_t rank = 0;
    if (has("dst_grid_dims") && length("dst_grid_rank", rank).ok())
        if (Status s = read("dst_grid_dims", {{0}, {rank}, {1}}, dims); !s.ok()) return s;
    bool axes = dims.size() == 2 && is_number(dims[0], targets_ - 1) &&
                is_number(dims[1], targets_ - 1) &&
                dims[0] * dims[1] == static_cast<double>(targets_);
    if (axes) map_.shape.assign(dims.rbegin(), dims.rend());
    // Some files have the lengths in the other order.
    for (int order = 0; order < 3 && map_.shape.size() == 2 && (order == 0 || !axes); ++order) {
        if (order > 0) std::swap(map_.shape[0], map_.shape[1]);
        if (order < 2)
            if (Status s = is_rectilinear(axes); !s.ok()) return s;
    }
    const std::string &latitude = map_.rules.latitude, &longitude = map_.rules.longitude;
    if (map_.shape.size() == 2) map_.dims = axes ? Names{latitude, longitude} : Names{"y", "x"};
    if (!axes) map_.attributes = {{"coordinates", latitude + " " + longitude}};
    Status status = add_axis(0, axes);
    if (status.ok()) status = add_axis(1, axes);
    if (status.ok()) status = add_beside(format_.area, "area_b", "sr", "area of the cell");
    if (status.ok())
        status = add_beside(format_.fraction, "frac_b", "1", "covered fraction of the cell");
    return status;
}

Status MapReader::read(int zoom) {
    Status status = ranks_.status(tw_open(ranks_.session(), path_.c_str(), nullptr, &file_));
    if (!status.ok()) return status;
    for (const Format& format : formats)
        if (has(format.weight) && has(format.row) && has(format.column)) format_ = format;
    if (format_.weight == nullptr)
        status = failure(TW_EUNSUPPORTED,
                         "{}: it has neither the variables S, row and col (ESMF, TempestRemap) nor "
                         "remap_matrix, dst_address and src_address (SCRIP, CDO)",
                         path_);
    const std::string method = text("", "map_method");
    map_.conserves = method.find("onservative") != std::string::npos;
    // Its weights only tell which element of the source is taken.
    if (status.ok() && method == "Largest area fraction")
        status = failure(TW_EUNSUPPORTED, "{}: map_method '{}' is no sum of elements times weights",
                         path_, method);
    std::int64_t fields = 1;
    if (tw_inq_dim(file_, "num_src_fields", &fields) == TW_OK)  // of YAC
        if (status.ok() && (fields != 1 || has("fixed_values")))
            status = failure(TW_EUNSUPPORTED, "{}: it has {} source fields, or fixed values", path_,
                             fields);
    if (status.ok()) status = length(format_.sources, map_.sources);
    if (status.ok()) status = length(format_.targets, targets_);
    Doubles dims;
    std::int64_t rank = 0;
    if (status.ok() && has("src_grid_dims") && length("src_grid_rank", rank).ok())
        status = read("src_grid_dims", {{0}, {rank}, {1}}, dims);
    if (dims.size() == 2 && is_number(dims[0], map_.sources) && is_number(dims[1], map_.sources))
        map_.source_shape.assign(dims.rbegin(), dims.rend());
    const int levels = zoom < 0 ? 0 : healpix_level(targets_) - zoom;
    if (status.ok() && levels < 0)
        status = failure(TW_ESETTING,
                         "{}: its target of {} elements is no HEALPix grid of level {} or finer",
                         path_, targets_, zoom);
    std::vector<MapLink> links;
    if (status.ok()) status = read_links(links);
    if (status.ok()) status = take_links(std::move(links), levels, zoom);
    if (status.ok() && zoom < 0) status = read_target();
    if (status.ok()) status = ranks_.reduce({&map_.hash, 1}, detail::Reduce::sum);
    keep_first(status, ranks_.status(tw_close(&file_)));
    return status;
}

}  // namespace

Status read_map(Ranks& ranks, const MapTable& rules, int zoom, Map& map) {
    map.rules = rules;
    Status status = MapReader(ranks, map).read(zoom);
    if (!status.ok()) status.text = fmt::format("map '{}': {}", rules.name, status.text);
    return status;
}

}  // namespace thalweg::history
