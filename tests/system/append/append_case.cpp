// SPDX-License-Identifier: Apache-2.0
#include "append_case.hpp"

#include <netcdf.h>

#include <algorithm>
#include <numeric>

#include "system/oracle.hpp"
#include "system/values.hpp"

namespace append_case {

std::string dim_name(int d) { return "d" + std::to_string(d); }

namespace {

/// Chooses how netCDF-C stores a variable.
void choose_storage(const Case& c, Var& v, Random& random) {
    if (v.record || !v.dims.empty()) {
        v.deflate = random.percent(40) ? static_cast<int>(random.between(1, 9)) : 0;
        v.shuffle = random.percent(30);
        v.sum = random.percent(20);
    }
    const bool chunked = v.record || v.deflate > 0 || v.shuffle || v.sum;
    if (!(chunked ? random.percent(70) : random.percent(30)) || (!v.record && v.dims.empty()))
        return;
    if (v.record) v.chunk.push_back(static_cast<std::size_t>(random.pick<int>({1, 1, 2, 3, 7})));
    for (const int d : v.dims)
        v.chunk.push_back(
            static_cast<std::size_t>(random.between(1, c.dims[static_cast<std::size_t>(d)])));
}

}  // namespace

Case make_case(std::uint64_t seed, Random& random, int ranks) {
    Case c;
    c.seed = seed;
    c.format = random.pick(std::vector<std::string>{"cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4",
                                                    "netcdf4", "netcdf4-classic"});
    c.writers_before = static_cast<int>(random.between(1, ranks));
    if (random.percent(25)) {
        c.parts = static_cast<int>(random.between(1, std::min(4, c.writers_before)));
        const std::string n = std::to_string(c.parts);
        c.tiles = random.pick(std::vector<std::string>{"1x" + n, n + "x1"});
        if (c.parts == 4 && random.percent(50)) c.tiles = "2x2";
    }
    const std::int64_t least = c.tiles.empty() ? 1 : c.parts;
    for (std::int64_t d = random.between(c.tiles.empty() ? 1 : 2, 3); d > 0; --d)
        c.dims.push_back(random.between(least, 12));
    const auto nd = static_cast<std::int64_t>(c.dims.size());
    const bool single = random.percent(25);  // a single record variable, which is not padded
    const bool new_types = c.format == "cdf5" || c.format == "netcdf4";
    for (std::int64_t v = random.between(1, 6); v > 0; --v) {
        Var var;
        var.name = "v" + std::to_string(v);
        var.type = random.pick(new_types ? all_types() : cdf2_types());
        var.record = single ? v == 1 : random.percent(65);
        var.dims.resize(static_cast<std::size_t>(nd));
        std::iota(var.dims.begin(), var.dims.end(), 0);
        if (c.tiles.empty()) {
            random.shuffle(var.dims);
            var.dims.resize(static_cast<std::size_t>(random.between(0, nd)));
        } else {  // tiles divide the last two dimensions, so remove only leading dimensions
            var.dims.erase(var.dims.begin(), var.dims.begin() + random.between(0, nd));
        }
        var.has_fill = random.percent(30);
        var.put[0] = random.percent(70);
        var.put[1] = random.percent(40);
        if (c.netcdf4()) choose_storage(c, var, random);
        c.vars.push_back(var);
    }
    c.before = static_cast<int>(random.below(5));
    c.steps = static_cast<int>(random.below(4));
    c.told = random.percent(50);
    c.first = c.told ? static_cast<int>(random.between(0, c.before)) : c.before;
    c.drop = c.told && random.percent(50);
    c.way = random.pick(std::vector<Way>{Way::steps, Way::steps, Way::records, Way::boxes});
    const bool records =
        std::any_of(c.vars.begin(), c.vars.end(), [](const Var& v) { return v.record; });
    if (!records) c.before = c.first = 0;
    c.by_library = random.percent(40) || !c.tiles.empty();
    if (!c.by_library) {
        c.pad = random.pick(std::vector<std::size_t>{0, 100, 4096});
        c.align = random.pick(std::vector<std::size_t>{4, 64, 512});
        c.between = random.pick(std::vector<std::size_t>{0, 0, 300});
    }
    return c;
}

bool Case::is_put(int var, int record, int run) const {
    const bool among = run == 0 ? record < before : record >= first && record < first + steps;
    return among && vars[static_cast<std::size_t>(var)].record &&
           mix(seed, static_cast<std::uint64_t>(1000 * var + 10 * record + run)) % 8 != 0;
}

int Case::after() const {
    const int kept = drop ? first : before;
    if (way == Way::steps) return std::max(kept, first + steps);
    int last = kept;
    for (int v = 0; v < static_cast<int>(vars.size()); ++v)
        for (int r = last; r < first + steps; ++r)
            if (is_put(v, r, 1)) last = r + 1;
    return last;
}

int Case::run_of(int var, int record) const {
    if (is_put(var, record, 1)) return 1;
    const bool replaced = way == Way::steps && record >= first && record < first + steps;
    const bool dropped = drop && record >= first;
    return !replaced && !dropped && is_put(var, record, 0) ? 0 : -1;
}

std::uint64_t Case::hash_of(int var, int record, int run, std::int64_t element) const {
    const std::uint64_t which =
        mix(seed, static_cast<std::uint64_t>(1000 * var + 10 * record + run));
    return mix(which, static_cast<std::uint64_t>(element));
}

std::int64_t Case::elements_of(const Var& v) const {
    std::int64_t n = 1;
    for (const int d : v.dims) n *= dims[static_cast<std::size_t>(d)];
    return n;
}

std::vector<char> Case::values_of(int var, int record, int run) const {
    const Var& v = vars[static_cast<std::size_t>(var)];
    const std::int64_t n = elements_of(v), size = type_size(v.type);
    std::vector<char> values(static_cast<std::size_t>(n * size));
    for (std::int64_t i = 0; i < n; ++i)
        make_value(values.data() + i * size, v.type, v.type, hash_of(var, record, run, i));
    return values;
}

namespace {

class Writer {
public:
    Writer(const std::string& path, const Case& c) : oracle_(path, c.format), case_(c) {}

    void write(bool after) {
        define();
        for (int i = 0; i < static_cast<int>(case_.vars.size()); ++i) {
            const Var& v = case_.vars[static_cast<std::size_t>(i)];
            if (!v.record) {
                if (after && v.put[1])
                    put(i, 0, case_.values_of(i, 0, 1));
                else if (v.put[0])
                    put(i, 0, case_.values_of(i, 0, 0));
                continue;
            }
            const int records = after ? case_.after() : case_.before;
            for (int r = 0; r < records; ++r) {
                const int run = after ? case_.run_of(i, r) : case_.is_put(i, r, 0) ? 0 : -1;
                if (run >= 0) put(i, r, case_.values_of(i, r, run));
            }
        }
        complete(after ? case_.after() : case_.before);
        oracle_.close();
    }

private:
    void define() {
        for (std::size_t d = 0; d < case_.dims.size(); ++d)
            oracle_.dim(dim_name(static_cast<int>(d)), case_.dims[d]);
        oracle_.dim("time", NC_UNLIMITED);
        for (const Var& v : case_.vars) {
            std::vector<std::string> names;
            if (v.record) names.emplace_back("time");
            for (const int d : v.dims) names.push_back(dim_name(d));
            const int id = oracle_.var(v.name, v.type, names);
            ids_.push_back(id);
            if (!v.chunk.empty())
                oracle_.require(nc_def_var_chunking(oracle_.id(), id, NC_CHUNKED, v.chunk.data()),
                                "chunks");
            if (v.sum)
                oracle_.require(nc_def_var_fletcher32(oracle_.id(), id, NC_FLETCHER32), "sum");
            if (v.deflate > 0 || v.shuffle)
                oracle_.require(nc_def_var_deflate(oracle_.id(), id, v.shuffle ? 1 : 0,
                                                   v.deflate > 0 ? 1 : 0, v.deflate),
                                "deflate");
            oracle_.att(id, "units", TW_CHAR, 6, "metres");
            const std::vector<char> fill(8, fill_byte);
            if (v.has_fill) oracle_.att(id, "_FillValue", v.type, 1, fill.data());
        }
        oracle_.att(NC_GLOBAL, "title", TW_CHAR, 4, "test");
        const int code = nc__enddef(oracle_.id(), case_.pad, case_.align, case_.between, 4);
        if (code != NC_ENOTINDEFINE) oracle_.require(code, "nc__enddef");
    }

    void put(int var, int record, const std::vector<char>& values) {
        const Var& v = case_.vars[static_cast<std::size_t>(var)];
        std::vector<std::size_t> start(v.dims.size(), 0), count;
        for (const int d : v.dims)
            count.push_back(static_cast<std::size_t>(case_.dims[static_cast<std::size_t>(d)]));
        if (v.record) {
            start.insert(start.begin(), static_cast<std::size_t>(record));
            count.insert(count.begin(), 1);
        }
        oracle_.require(
            oracle_.put(ids_[static_cast<std::size_t>(var)], v.type, start, count, values.data()),
            "put");
    }

    /// Adds the last records of the file if they exist although no variable was put in them.
    void complete(int records) {
        std::size_t n = 0;
        int unlimited = -1;
        nc_inq_unlimdim(oracle_.id(), &unlimited);
        nc_inq_dimlen(oracle_.id(), unlimited, &n);
        for (int i = 0; i < static_cast<int>(case_.vars.size()); ++i) {
            const Var& v = case_.vars[static_cast<std::size_t>(i)];
            if (!v.record || static_cast<int>(n) >= records) continue;
            const auto size = static_cast<std::size_t>(type_size(v.type));
            std::vector<char> values(static_cast<std::size_t>(case_.elements_of(v)) * size);
            std::vector<char> fill(8, 0);
            nc_inq_var_fill(oracle_.id(), ids_[static_cast<std::size_t>(i)], nullptr, fill.data());
            for (std::size_t at = 0; at < values.size(); ++at) values[at] = fill[at % size];
            put(i, records - 1, values);
            break;
        }
    }

    Oracle oracle_;
    const Case& case_;
    std::vector<int> ids_;
};

}  // namespace

void write_by_netcdf(const std::string& path, const Case& c, bool after) {
    Writer(path, c).write(after);
}

}  // namespace append_case
