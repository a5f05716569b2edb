// Reads maps of the E3SM-IO benchmark's format, a classic netCDF file. For decomposition k, it has
// the elements of each rank as runs (Dk.nreqs, Dk.offsets, Dk.lengths; runs from Dk.fill_starts on
// are for fill values only) and, if recorded, one by one in memory order (Dk.raw_nreqs,
// Dk.raw_offsets).
// SPDX-License-Identifier: Apache-2.0
#include "fields/map_file.hpp"

#include <fmt/format.h>
#include <pnetcdf.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "methods/peers.hpp"
#include "options.hpp"

namespace thalweg::bench {
namespace {

using Numbers = std::vector<std::int64_t>;

/// A map file, opened by one rank alone.
class MapFile {
public:
    explicit MapFile(const std::string& path) : bytes_(std::filesystem::file_size(path)) {
        check_ncmpi(ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file_),
                    "ncmpi_open");
    }
    ~MapFile() { ncmpi_close(file_); }
    MapFile(const MapFile&) = delete;
    MapFile& operator=(const MapFile&) = delete;

    std::int64_t dimension(const std::string& name) const {
        int id = 0;
        MPI_Offset length = 0;
        check_ncmpi(ncmpi_inq_dimid(file_, name.c_str(), &id), "dimension " + name);
        check_ncmpi(ncmpi_inq_dimlen(file_, id, &length), "dimension " + name);
        return length;
    }

    Numbers attribute(const std::string& name) const {
        MPI_Offset n = 0;
        check_ncmpi(ncmpi_inq_attlen(file_, NC_GLOBAL, name.c_str(), &n), "attribute " + name);
        if (n > 100) throw std::runtime_error("attribute " + name + " is too long");
        std::vector<long long> values(static_cast<std::size_t>(n));
        check_ncmpi(ncmpi_get_att_longlong(file_, NC_GLOBAL, name.c_str(), values.data()),
                    "attribute " + name);
        return {values.begin(), values.end()};
    }

    bool has(const std::string& name) const {
        int id = 0;
        return ncmpi_inq_varid(file_, name.c_str(), &id) == NC_NOERR;
    }

    /// Reads elements [start, start + count) of a one-dimensional variable.
    Numbers numbers(const std::string& name, std::int64_t start, std::int64_t count) const {
        int id = 0, ndims = 0, dim = 0;
        check_ncmpi(ncmpi_inq_varid(file_, name.c_str(), &id), "variable " + name);
        check_ncmpi(ncmpi_inq_varndims(file_, id, &ndims), "variable " + name);
        if (ndims != 1) throw std::runtime_error(name + " must have one dimension");
        MPI_Offset length = 0;
        check_ncmpi(ncmpi_inq_vardimid(file_, id, &dim), "variable " + name);
        check_ncmpi(ncmpi_inq_dimlen(file_, dim, &length), "variable " + name);
        if (start < 0 || count < 0 || count > length - start ||
            static_cast<std::uintmax_t>(count) > bytes_)
            throw std::runtime_error(
                fmt::format("{} does not have {} elements from index {} on", name, count, start));
        std::vector<long long> values(static_cast<std::size_t>(count));
        const MPI_Offset from = start, n = count;
        check_ncmpi(ncmpi_get_vara_longlong_all(file_, id, &from, &n, values.data()),
                    "variable " + name);
        return {values.begin(), values.end()};
    }

private:
    std::uintmax_t bytes_;
    int file_ = -1;
};

std::int64_t sum(const Numbers& values, std::int64_t n) {
    return std::accumulate(values.begin(), values.begin() + n, std::int64_t{0});
}

/// Reads the elements of one list from its runs.
Numbers from_runs(const MapFile& file, const std::string& d, std::int64_t list,
                  const Numbers& nreqs, std::int64_t elements) {
    const std::int64_t at = sum(nreqs, list);
    std::int64_t runs = nreqs[static_cast<std::size_t>(list)];
    if (file.has(d + ".fill_starts"))
        runs = std::min(runs, file.numbers(d + ".fill_starts", list, 1)[0]);
    const Numbers offsets = file.numbers(d + ".offsets", at, runs);
    const Numbers lengths = file.numbers(d + ".lengths", at, runs);
    Numbers indices;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        if (offsets[i] < 0 || lengths[i] < 0 || offsets[i] > elements - lengths[i])
            throw std::runtime_error(
                fmt::format("{}: the run of {} elements from {} on is out of bounds", d, lengths[i],
                            offsets[i]));
        for (std::int64_t j = 0; j < lengths[i]; ++j) indices.push_back(offsets[i] + j);
    }
    return indices;
}

/// Reads the elements of one list in memory order. Returns an empty list if the file has none, or
/// if they do not match the runs. Offsets may be counted from 1, with 0 for holes; there are then
/// more of them than elements in the runs.
Numbers in_memory_order(const MapFile& file, const std::string& d, std::int64_t list,
                        const Numbers& raw_nreqs, const Numbers& runs) {
    Numbers raw = file.numbers(d + ".raw_offsets", sum(raw_nreqs, list),
                               raw_nreqs[static_cast<std::size_t>(list)]);
    const auto sorted = [](Numbers values, std::int64_t smallest) {
        std::erase_if(values, [&](std::int64_t v) { return v < smallest; });
        std::sort(values.begin(), values.end());
        return values;
    };
    const Numbers held = sorted(runs, 0);
    if (sorted(raw, 0) == held) return raw;
    for (std::int64_t& v : raw) --v;
    return sorted(raw, 0) == held ? raw : Numbers();
}

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Returns a list over all dimensions but one, if this rank holds the full length of that one for
/// each of its elements.
/// @param key returns the index of an element over the other dimensions
template <class Key>
std::optional<Numbers> leave_out(const List& flattened, std::int64_t length, Key key) {
    Pairs keys;  // keys, each with its first position in memory
    flattened.for_each([&](std::int64_t at, std::int64_t index) {
        if (index >= 0) keys.push_back({key(index), at});
    });
    if (static_cast<std::int64_t>(keys.size()) % length != 0) return {};
    std::sort(keys.begin(), keys.end());
    Pairs by_place;
    for (std::size_t i = 0; i < keys.size(); i += static_cast<std::size_t>(length)) {
        // Indices are unique, so if a key occurs `length` times, it has the full length of the
        // dimension.
        const std::size_t last = i + static_cast<std::size_t>(length) - 1;
        if (keys[i].first != keys[last].first) return {};
        if (last + 1 < keys.size() && keys[last + 1].first == keys[i].first) return {};
        by_place.push_back({keys[i].second, keys[i].first});
    }
    std::sort(by_place.begin(), by_place.end());
    Numbers indices;
    for (const auto& [at, index] : by_place) indices.push_back(index);
    return indices;
}

/// Leaves the first or the last dimension out of a list, if all ranks hold its full length.
/// @note Collective
std::optional<List> factor(const RankGroup& ranks, const List& flattened) {
    const std::vector<std::int64_t>& shape = flattened.shape;
    if (shape.size() < 2) return {};
    const std::int64_t first = shape.front(), last = shape.back(),
                       rest = flattened.listed() / first;
    for (const bool leave_first : {true, false}) {
        const std::int64_t length = leave_first ? first : last;
        if (length == 1) continue;
        auto indices = leave_out(flattened, length, [&](std::int64_t index) {
            return leave_first ? index % rest : index / last;
        });
        if (ranks.max(indices ? 0. : 1.) > 0) continue;
        return List{shape, leave_first ? std::size_t{1} : 0, shape.size() - 1, std::move(*indices)};
    }
    return {};
}

/// Reads this rank's list. @return true if the file has the lists in memory order
bool read_list(const RankGroup& ranks, const std::string& path, int k, IndexMap& map) {
    const MapFile file(path);
    const std::string d = "D" + std::to_string(k),
                      name = std::filesystem::path(path).filename().string();
    const std::int64_t lists = file.dimension("decomp_nprocs");
    std::int64_t elements = 1;
    for (const std::int64_t n : file.attribute(d + ".dims")) {
        if (n < 1 || elements > (std::int64_t{1} << 40) / n)
            throw std::runtime_error(d + ".dims: not a valid shape");
        elements *= n;
        map.flattened.shape.push_back(n);
    }
    map.name = std::filesystem::path(path).stem().string() + "-" + d;
    map.flattened.count = map.flattened.shape.size();
    const Numbers nreqs = file.numbers(d + ".nreqs", 0, lists);
    bool raw = file.has(d + ".raw_offsets");
    const Numbers raw_nreqs = raw ? file.numbers(d + ".raw_nreqs", 0, lists) : Numbers();
    for (std::int64_t list = ranks.rank(); list < lists; list += ranks.ranks()) {
        Numbers own = from_runs(file, d, list, nreqs, elements);
        if (raw) {
            const Numbers in_order = in_memory_order(file, d, list, raw_nreqs, own);
            raw = !in_order.empty() || own.empty();
            if (!in_order.empty()) own = in_order;
        }
        map.flattened.indices.insert(map.flattened.indices.end(), own.begin(), own.end());
    }
    map.text = fmt::format("decomposition {} of {}", k, name);
    if (lists != ranks.ranks())
        map.text += fmt::format(", its {} lists distributed over {} ranks", lists, ranks.ranks());
    return raw;
}

/// Calls a function on each rank, and throws UsageError on all if it throws on one.
/// @note Collective
template <class F>
void on_all(const RankGroup& ranks, const std::string& path, F act) {
    std::string wrong;
    try {
        act();
    } catch (const std::exception& e) {
        wrong = e.what();
    }
    wrong = ranks.first_text(wrong);
    if (!wrong.empty()) throw UsageError("--map " + path + ": " + wrong);
}

}  // namespace

std::vector<IndexMap> read_maps(const RankGroup& ranks, const std::string& path,
                                const std::vector<int>& chosen) {
    std::vector<int> numbers = chosen;
    on_all(ranks, path, [&] {
        const std::int64_t all = MapFile(path).dimension("num_decomp");
        for (int k = 1; chosen.empty() && k <= all; ++k) numbers.push_back(k);
    });
    std::vector<IndexMap> maps;
    for (const int k : numbers) {
        IndexMap map;
        bool raw = false;
        on_all(ranks, path, [&] { raw = read_list(ranks, path, k, map); });
        if (ranks.max(raw ? 0. : 1.) > 0)
            map.text += ", each rank's elements in the order of the runs";
        map.factored = factor(ranks, map.flattened);
        maps.push_back(std::move(map));
    }
    return maps;
}

}  // namespace thalweg::bench
