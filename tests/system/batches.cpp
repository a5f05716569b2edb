// Batches: tw_put of the next record, tw_put_record of any record by any decomposition, and boxes,
// in one file and in random order, over every service. The reference is kept in plain arrays, the
// file is read by serial netCDF-C.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: batches [--seed N] [--cases N] [--seconds N] [--first N]

#include <mpi.h>
#include <netcdf.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"
#include "model.hpp"
#include "random.hpp"
#include "thalweg/thalweg.h"

namespace {

std::string folder;
constexpr double fill_value = -77;

struct Variable {
    std::string name, dims;
    tw_type type;
    bool record;
    std::vector<std::int64_t> shape;  // without the record dimension
    int declared;                     // its decomposition: a number, or -1
    bool once;                        // a fixed-size variable that tw_put has written
    std::string settings;

    std::int64_t elements() const {
        return std::accumulate(shape.begin(), shape.end(), std::int64_t(1), std::multiplies<>());
    }
};

// Who holds what of "z y x": rows y of all z and x; columns x; or a list over "y x".
struct Cells {
    enum class Kind { rows, columns, list } kind;
    std::string dims;               // in memory
    std::vector<std::int64_t> cut;  // rows and columns: [ranks + 1]; ranks may hold nothing
    std::uint64_t seed;             // of a list
};

enum class Kind { put, deferred, record, record_deferred, whole, box };
struct Op {
    Kind kind;
    int variable;
    int cells;
    std::int64_t record;
};
struct Step {
    std::vector<Op> ops;
    bool sync;
    int sync_before = -1;  // a tw_sync before this operation
    bool reopen = false;   // closed before it, and written on
    bool open = false;     // not ended
};

struct Case {
    std::int64_t nz, ny, nx;
    std::vector<Variable> variables;
    std::vector<Cells> cells;
    std::vector<Step> steps;
    std::string file;
};

// ---- values -------------------------------------------------------------------------------------

double value(std::size_t step, const Op& op, std::int64_t element) {
    return static_cast<double>((element * 13 + op.record * 101 + op.variable * 1009 +
                                static_cast<std::int64_t>(step) * 3001) %
                               30011);
}

// The rank that holds a column of the list; -1: none.
int owner(const Cells& c, std::int64_t column, int ranks) {
    const std::uint64_t h = mix(c.seed, static_cast<std::uint64_t>(column));
    return h % 5 == 0 ? -1 : static_cast<int>(h / 5 % static_cast<std::uint64_t>(ranks));
}

struct Position {
    std::int64_t z, y, x;
};

bool holds(const Case& c, const Cells& cells, int rank, int ranks, const Position& p) {
    const auto r = static_cast<std::size_t>(rank);
    switch (cells.kind) {
        case Cells::Kind::rows: return p.y >= cells.cut[r] && p.y < cells.cut[r + 1];
        case Cells::Kind::columns: return p.x >= cells.cut[r] && p.x < cells.cut[r + 1];
        case Cells::Kind::list: return owner(cells, p.y * c.nx + p.x, ranks) == rank;
    }
    return false;
}

// A rank's box: rows of its own, the inner part of them, perhaps with a stride.
struct BoxOf {
    std::int64_t y0, y1, x0, x1, y_step, x_step;

    bool has(std::int64_t y, std::int64_t x) const {
        return y >= y0 && y < y1 && x >= x0 && x < x1 && (y - y0) % y_step == 0 &&
               (x - x0) % x_step == 0;
    }
    std::int64_t rows() const { return (y1 - y0 + y_step - 1) / y_step; }
    std::int64_t columns() const { return (x1 - x0 + x_step - 1) / x_step; }
};
BoxOf box_of(const Case& c, const Op& op, std::size_t step, int rank, int ranks) {
    Random random(mix(mix(step, static_cast<std::uint64_t>(op.variable * 100 + op.record)),
                      static_cast<std::uint64_t>(rank)));
    BoxOf b{};
    const std::int64_t low = c.ny * rank / ranks, high = c.ny * (rank + 1) / ranks;
    b.y0 = random.between(low, high);
    b.y1 = random.between(b.y0, high);
    b.x0 = random.percent(40) ? 0 : random.below(c.nx);
    b.x1 = random.percent(40) ? c.nx : random.between(b.x0, c.nx);
    b.y_step = random.percent(30) ? random.between(2, 3) : 1;
    b.x_step = random.percent(30) ? random.between(2, 4) : 1;
    return b;
}

// ---- the reference ------------------------------------------------------------------------------

struct Reference {
    std::int64_t records = 0;
    bool explicit_ = false;                   // some rank gave a record
    std::int64_t first = 0;                   // the record of tw_put in step 0
    std::vector<std::vector<double>> values;  // of each variable, record by record
};

void grow(const Case& c, Reference& ref, std::int64_t records) {
    for (std::size_t v = 0; v < c.variables.size(); ++v) {
        const Variable& var = c.variables[v];
        const auto n = static_cast<std::size_t>(var.elements() *
                                                (var.record ? std::max(records, ref.records) : 1));
        if (ref.values[v].size() < n) ref.values[v].resize(n, fill_value);
    }
    ref.records = std::max(ref.records, records);
}

// tw_put writes the current record.
Op at_record(Op op, std::int64_t current) {
    if (op.kind == Kind::put || op.kind == Kind::deferred) op.record = current;
    return op;
}

void apply(const Case& c, Reference& ref, std::size_t step, int ranks) {
    std::int64_t records = ref.records;
    bool put = false;
    for (const Op& op : c.steps[step].ops) {
        const bool record = c.variables[static_cast<std::size_t>(op.variable)].record;
        if (op.kind != Kind::put && op.kind != Kind::deferred) ref.explicit_ = true;
        if (!record) continue;
        if (op.kind == Kind::put || op.kind == Kind::deferred) {
            put = true;
        } else if (op.kind == Kind::box) {
            bool any = false;
            for (int r = 0; r < ranks; ++r) {
                const BoxOf b = box_of(c, op, step, r, ranks);
                any |= b.y1 > b.y0 && b.x1 > b.x0;
            }
            if (any) records = std::max(records, op.record + 1);
        } else {
            records = std::max(records, op.record + 1);
        }
    }
    const std::int64_t current = ref.first + static_cast<std::int64_t>(step);
    const bool any = std::any_of(c.variables.begin(), c.variables.end(),
                                 [](const Variable& v) { return v.record; });
    if (put || (any && !ref.explicit_ && !c.steps[step].open))
        records = std::max(records, current + 1);
    grow(c, ref, records);
    for (const Op& given : c.steps[step].ops) {
        const Op op = at_record(given, current);
        const Variable& v = c.variables[static_cast<std::size_t>(op.variable)];
        const std::int64_t at = v.record ? op.record * v.elements() : 0;
        std::int64_t e = 0;
        const std::int64_t nz = v.shape.size() == 3 ? c.nz : 1;
        for (std::int64_t z = 0; z < nz; ++z)
            for (std::int64_t y = 0; y < c.ny; ++y)
                for (std::int64_t x = 0; x < c.nx; ++x, ++e) {
                    bool held = op.kind == Kind::whole;
                    for (int r = 0; r < ranks && !held; ++r) {
                        if (op.kind == Kind::box) {
                            const BoxOf b = box_of(c, op, step, r, ranks);
                            held = b.has(y, x);
                        } else {
                            held = holds(c, c.cells[static_cast<std::size_t>(op.cells)], r, ranks,
                                         {z, y, x});
                        }
                    }
                    // In its first step a variable's tw_put fills what nobody holds; later ones and
                    // records that are there keep it.
                    if (held)
                        ref.values[static_cast<std::size_t>(op.variable)]
                                  [static_cast<std::size_t>(at + e)] = value(step, op, e);
                }
    }
}

// @param complete  else fixed-size variables may lack what nobody has put yet
std::string difference(const Case& c, const Reference& ref, const std::string& path,
                       bool complete) {
    int id = 0;
    if (const int status = nc_open(path.c_str(), NC_NOWRITE, &id); status != NC_NOERR)
        return path + ": " + nc_strerror(status);
    std::string wrong;
    int time = -1;
    std::size_t records = 0;
    nc_inq_unlimdim(id, &time);
    if (time >= 0) nc_inq_dimlen(id, time, &records);
    if (static_cast<std::int64_t>(records) != ref.records)
        wrong =
            check::text("%zu records, expected %lld", records, static_cast<long long>(ref.records));
    for (std::size_t v = 0; v < c.variables.size() && wrong.empty(); ++v) {
        const Variable& var = c.variables[v];
        if (!var.record && !complete) continue;
        const std::vector<double>& wanted = ref.values[v];
        std::vector<double> got(wanted.size() + 1);
        int n = 0;
        if (nc_inq_varid(id, var.name.c_str(), &n) != NC_NOERR ||
            nc_get_var_double(id, n, got.data()) != NC_NOERR)
            wrong = "cannot read " + var.name;
        for (std::size_t i = 0; i < wanted.size() && wrong.empty(); ++i)
            if (got[i] != wanted[i])
                wrong = check::text("%s is %g at element %zu (%lld a record), expected %g",
                                    var.name.c_str(), got[i], i,
                                    static_cast<long long>(var.elements()), wanted[i]);
    }
    nc_close(id);
    return wrong;
}

// ---- cases --------------------------------------------------------------------------------------

std::vector<std::int64_t> random_cut(std::int64_t n, int ranks, Random& random) {
    std::vector<std::int64_t> cut{0};
    for (int r = 1; r < ranks; ++r) cut.push_back(random.between(0, n));
    cut.push_back(n);
    std::sort(cut.begin(), cut.end());
    return cut;
}

// Filters and chunks of a netCDF-4 file, or neither.
void pack(Case& c, Random& random) {
    using Names = std::vector<std::string>;
    c.file += random.pick(Names{"", "; deflate=1", "; shuffle=yes; deflate=1", "; shuffle=yes"});
    for (Variable& v : c.variables) {
        if (!random.percent(30)) continue;
        v.settings += check::text("; chunks=z=%lld,y=%lld,x=%lld",
                                  static_cast<long long>(random.between(1, c.nz)),
                                  static_cast<long long>(random.between(1, c.ny)),
                                  static_cast<long long>(random.between(1, c.nx)));
        if (random.percent(50)) v.settings += "; deflate=1";
    }
}

Case make_case(std::uint64_t seed, int ranks, const std::string& service, bool nodes) {
    Random random(seed);
    Case c;
    c.nz = random.between(1, 4);
    c.ny = random.percent(20) ? random.between(1, 3) : random.between(ranks, 6 * ranks);
    c.nx = random.percent(20) ? random.between(300, 1500) : random.between(1, 30);
    using Names = std::vector<std::string>;
    const std::int64_t kinds = random.between(1, 4);
    for (std::int64_t k = 0; k < kinds; ++k) {
        Cells cells;
        const auto kind = random.below(3);
        cells.kind = kind == 0   ? Cells::Kind::rows
                     : kind == 1 ? Cells::Kind::columns
                                 : Cells::Kind::list;
        cells.dims = cells.kind == Cells::Kind::list
                         ? random.pick(Names{"z y x", "y x z"})
                         : random.pick(Names{"z y x", "x z y", "y x z"});
        cells.cut = random_cut(cells.kind == Cells::Kind::columns ? c.nx : c.ny, ranks, random);
        cells.seed = random.next();
        c.cells.push_back(cells);
    }
    const std::vector<tw_type> types{TW_FLOAT, TW_DOUBLE, TW_INT, TW_SHORT};
    const std::int64_t variables = random.between(1, 4);
    for (std::int64_t i = 0; i < variables; ++i) {
        Variable v;
        v.name = std::string(1, static_cast<char>('A' + i));
        v.record = random.percent(75);
        v.type = random.pick(types);
        v.shape = {c.nz, c.ny, c.nx};
        v.dims = v.record ? "time z y x" : "z y x";
        v.declared = random.percent(60) ? static_cast<int>(random.below(kinds)) : -1;
        v.once = false;
        v.settings = "fill=-77";
        c.variables.push_back(v);
    }
    const std::int64_t steps = random.between(1, 6);
    std::vector<char> put(c.variables.size(), 0);
    // Steps in which all ranks put most variables by the usual decompositions, into one record.
    const int alike = random.pick(std::vector<int>{0, 40, 80, 100});
    std::vector<int> usual;
    for (std::size_t v = 0; v < c.variables.size(); ++v)
        usual.push_back(static_cast<int>(random.below(kinds)));
    std::int64_t next = 0;  // the record of the next such step
    for (std::int64_t s = 0; s < steps; ++s) {
        Step step;
        step.sync = random.percent(25);
        step.reopen = s > 0 && random.percent(15);
        if (step.reopen) std::fill(put.begin(), put.end(), 1);
        const bool is_alike = random.percent(alike);
        const std::int64_t common = random.percent(75) ? next++ : random.below(s + 3);
        for (std::size_t v = 0; v < c.variables.size(); ++v) {
            const Variable& var = c.variables[v];
            if (is_alike && random.percent(92)) {
                const bool changes = random.percent(8);
                step.ops.push_back({random.percent(70) ? Kind::record : Kind::record_deferred,
                                    static_cast<int>(v),
                                    changes ? static_cast<int>(random.below(kinds)) : usual[v],
                                    var.record ? common : 0});
                put[v] = 1;
                continue;
            }
            // A tw_put fills what nobody holds, unless it is there: once, and as the first.
            const bool may_put = var.declared >= 0 && (var.record || put[v] == 0);
            if (may_put && random.percent(45)) {
                step.ops.push_back({random.percent(70) ? Kind::put : Kind::deferred,
                                    static_cast<int>(v), var.declared, s});
                put[v] = 1;
                continue;
            }
            const std::int64_t n = random.between(0, 3);
            std::vector<std::int64_t> used;
            for (std::int64_t k = 0; k < n; ++k) {
                const std::int64_t record = var.record ? random.below(s + 3) : 0;
                if (std::count(used.begin(), used.end(), record) > 0) continue;
                used.push_back(record);
                const auto kind = random.below(10);
                step.ops.push_back({kind < 4   ? Kind::record
                                    : kind < 5 ? Kind::record_deferred
                                    : kind < 6 ? Kind::whole
                                               : Kind::box,
                                    static_cast<int>(v), static_cast<int>(random.below(kinds)),
                                    record});
                put[v] = 1;
            }
        }
        random.shuffle(step.ops);
        if (random.percent(20) && !step.ops.empty())
            step.sync_before =
                static_cast<int>(random.below(static_cast<std::int64_t>(step.ops.size())));
        c.steps.push_back(step);
    }
    c.steps.back().open = random.percent(20);
    if (c.steps.back().open) c.steps.back().sync = false;
    // Where ranks publish together, a step's boxes have to fit into the queue.
    const Names queues = service.find("background") != std::string::npos && nodes
                             ? Names{"auto"}
                             : Names{"auto", "auto", "256KiB", "1MiB"};
    c.file = service + "; queue=" + random.pick(queues) + "; method=" +
             random.pick(Names{"record", "slabs", "serial", "columns", "rows", "tiles", "direct"}) +
             "; writers=" + random.pick(Names{"1", "2", "3"}) +
             "; piece=" + random.pick(Names{"auto", "4096", "64KiB"}) +
             "; queue_full=" + random.pick(Names{"wait", "inline"}) +
             "; format=" + random.pick(Names{"auto", "auto", "cdf5", "netcdf4", "netcdf4"});
    if (c.file.find("netcdf4") != std::string::npos) pack(c, random);
    return c;
}

// ---- running ------------------------------------------------------------------------------------

// What this rank's array of "z y x" has, in the order of the decomposition's dimensions.
std::vector<double> array_of(const Case& c, const Cells& cells, std::size_t step, const Op& op,
                             int rank, int ranks) {
    std::vector<double> data;
    const auto at = [&](char dim) {
        const auto found = cells.dims.find(dim);
        return static_cast<std::size_t>(found / 2);
    };
    const std::size_t zi = at('z'), yi = at('y'), xi = at('x');
    if (cells.kind == Cells::Kind::list) {
        // The list is one dimension in memory.
        std::vector<std::int64_t> columns;
        for (std::int64_t k = 0; k < c.ny * c.nx; ++k)
            if (owner(cells, k, ranks) == rank) columns.push_back(k);
        const auto n = static_cast<std::int64_t>(columns.size());
        const bool z_first = zi == 0;
        for (std::int64_t i = 0; i < (z_first ? c.nz : n); ++i)
            for (std::int64_t j = 0; j < (z_first ? n : c.nz); ++j) {
                const std::int64_t z = z_first ? i : j;
                const std::int64_t k = columns[static_cast<std::size_t>(z_first ? j : i)];
                data.push_back(value(step, op, z * c.ny * c.nx + k));
            }
        return data;
    }
    std::int64_t low[3], count[3];
    const auto r = static_cast<std::size_t>(rank);
    low[zi] = 0, count[zi] = c.nz;
    low[yi] = 0, count[yi] = c.ny;
    low[xi] = 0, count[xi] = c.nx;
    const std::size_t d = cells.kind == Cells::Kind::rows ? yi : xi;
    low[d] = cells.cut[r];
    count[d] = cells.cut[r + 1] - cells.cut[r];
    for (std::int64_t a = 0; a < count[0]; ++a)
        for (std::int64_t b = 0; b < count[1]; ++b)
            for (std::int64_t e = 0; e < count[2]; ++e) {
                const std::int64_t i[3] = {low[0] + a, low[1] + b, low[2] + e};
                data.push_back(value(step, op, (i[zi] * c.ny + i[yi]) * c.nx + i[xi]));
            }
    return data;
}

tw_decomposition decompose(Model& m, const Case& c, const Cells& cells) {
    tw_decomposition d = nullptr;
    const auto length = [&](char dim) { return dim == 'z' ? c.nz : dim == 'y' ? c.ny : c.nx; };
    std::int64_t shape[3], start[3], count[3];
    for (std::size_t i = 0; i < 3; ++i) {
        const char dim = cells.dims[2 * i];
        shape[i] = length(dim);
        start[i] = 0;
        count[i] = shape[i];
        const auto r = static_cast<std::size_t>(m.rank);
        if ((cells.kind == Cells::Kind::rows && dim == 'y') ||
            (cells.kind == Cells::Kind::columns && dim == 'x')) {
            start[i] = cells.cut[r];
            count[i] = cells.cut[r + 1] - cells.cut[r];
        }
    }
    int status;
    if (cells.kind == Cells::Kind::list) {
        std::vector<std::int64_t> columns;
        for (std::int64_t k = 0; k < c.ny * c.nx; ++k)
            if (owner(cells, k, m.size) == m.rank) columns.push_back(k);
        status = tw_decompose_list(m.session, cells.dims.c_str(), shape, "y x",
                                   static_cast<std::int64_t>(columns.size()), columns.data(),
                                   TW_LIST_UNIQUE, &d);
    } else {
        status = tw_decompose(m.session, cells.dims.c_str(), 1, shape, start, count, &d);
    }
    CHECK_TEXT(status == TW_OK, "%s", m.error().c_str());
    return d;
}

tw_file create(Model& m, const Case& c, const std::vector<tw_decomposition>& cells,
               const std::string& path, bool again = false) {
    tw_file f = nullptr;
    int status = again ? tw_open(m.session, path.c_str(), (c.file + "; mode=append").c_str(), &f)
                       : tw_create(m.session, path.c_str(), c.file.c_str(), &f);
    CHECK_TEXT(status == TW_OK, "%s", m.error().c_str());
    if (status != TW_OK) return nullptr;
    CHECK(tw_def_dim(f, "time", TW_UNLIMITED) == TW_OK);
    CHECK(tw_def_dim(f, "z", c.nz) == TW_OK);
    CHECK(tw_def_dim(f, "y", c.ny) == TW_OK);
    CHECK(tw_def_dim(f, "x", c.nx) == TW_OK);
    for (const Variable& v : c.variables) {
        status = tw_def_var(f, v.name.c_str(), v.type, v.dims.c_str(),
                            v.declared < 0 ? nullptr : cells[static_cast<std::size_t>(v.declared)]);
        CHECK_TEXT(status == TW_OK, "%s", m.error().c_str());
        CHECK(tw_set_var(f, v.name.c_str(), v.settings.c_str()) == TW_OK);
    }
    CHECK_TEXT(tw_enddef(f) == TW_OK, "%s", m.error().c_str());
    return f;
}

bool run(Model& m, const Case& c, const std::string& what) {
    const std::string path = folder + "/batches.nc";
    check::step("%s: create", what.c_str());
    std::vector<tw_decomposition> cells;
    for (const Cells& one : c.cells) cells.push_back(decompose(m, c, one));
    tw_file f = create(m, c, cells, path);
    if (f == nullptr) return false;
    Reference ref;
    ref.values.resize(c.variables.size());
    grow(c, ref, 0);
    bool good = true;
    const bool classic = c.file.find("netcdf4") == std::string::npos;
    const auto expect_ok = [&](int status, const char* call) {
        ++check::state.checks;
        if (status == TW_OK) return;
        if (good)
            check::fail(
                __FILE__, __LINE__,
                check::text("%s gave %s: %s", call, tw_strerror(status), m.error().c_str()));
        good = false;
    };
    const auto look = [&](const std::string& at) {
        if (m.rank != 0) return;
        const std::string wrong = difference(c, ref, at, at == path);
        if (good) CHECK_TEXT(wrong.empty(), "%s", wrong.c_str());
        good = good && wrong.empty();
    };
    std::vector<std::vector<double>> kept;  // deferred arrays
    for (std::size_t s = 0; s < c.steps.size(); ++s) {
        kept.clear();
        if (c.steps[s].reopen && classic) {
            check::step("%s: closed before step %zu", what.c_str(), s);
            expect_ok(tw_close(&f), "tw_close");
            look(path);
            MPI_Barrier(m.comm);
            f = create(m, c, cells, path, true);
            if (f == nullptr) return false;
            ref.first = ref.records - static_cast<std::int64_t>(s);
            ref.explicit_ = false;
        }
        int number = 0;
        for (const Op& given : c.steps[s].ops) {
            const Op op = at_record(given, ref.first + static_cast<std::int64_t>(s));
            check::step("%s: step %zu, variable %d", what.c_str(), s, op.variable);
            if (number++ == c.steps[s].sync_before) expect_ok(tw_sync(f, 0), "tw_sync in a step");
            const Variable& v = c.variables[static_cast<std::size_t>(op.variable)];
            const auto k = static_cast<std::size_t>(op.cells);
            if (op.kind == Kind::box) {
                const BoxOf b = box_of(c, op, s, m.rank, m.size);
                std::vector<double> data;
                for (std::int64_t z = 0; z < c.nz; ++z)
                    for (std::int64_t y = b.y0; y < b.y1; y += b.y_step)
                        for (std::int64_t x = b.x0; x < b.x1; x += b.x_step)
                            data.push_back(value(s, op, (z * c.ny + y) * c.nx + x));
                std::vector<std::int64_t> start{0, b.y0, b.x0}, count{c.nz, b.rows(), b.columns()},
                    stride{1, b.y_step, b.x_step};
                if (v.record) {
                    start.insert(start.begin(), op.record);
                    count.insert(count.begin(), 1);
                    stride.insert(stride.begin(), 1);
                }
                expect_ok(tw_put_box(f, v.name.c_str(), TW_DOUBLE, start.data(), count.data(),
                                     stride.data(), data.data()),
                          "tw_put_box");
                continue;
            }
            if (op.kind == Kind::whole) {
                std::vector<double> data;
                for (std::int64_t e = 0; e < v.elements(); ++e)
                    data.push_back(m.rank == 0 ? value(s, op, e) : -1);
                expect_ok(tw_put_record(f, v.name.c_str(), nullptr, op.record, TW_DOUBLE,
                                        data.data(), static_cast<std::int64_t>(data.size())),
                          "tw_put_record of a whole");
                continue;
            }
            kept.push_back(array_of(c, c.cells[k], s, op, m.rank, m.size));
            const std::vector<double>& data = kept.back();
            const auto n = static_cast<std::int64_t>(data.size());
            switch (op.kind) {
                case Kind::put:
                    expect_ok(tw_put(f, v.name.c_str(), TW_DOUBLE, data.data(), n), "tw_put");
                    break;
                case Kind::deferred:
                    expect_ok(tw_put_deferred(f, v.name.c_str(), TW_DOUBLE, data.data(), n),
                              "tw_put_deferred");
                    break;
                case Kind::record_deferred:
                    expect_ok(tw_put_record_deferred(f, v.name.c_str(), cells[k], op.record,
                                                     TW_DOUBLE, data.data(), n),
                              "tw_put_record_deferred");
                    break;
                default:
                    expect_ok(tw_put_record(f, v.name.c_str(), cells[k], op.record, TW_DOUBLE,
                                            data.data(), n),
                              "tw_put_record");
            }
        }
        check::step("%s: end of step %zu", what.c_str(), s);
        if (!c.steps[s].open) expect_ok(tw_end_step(f), "tw_end_step");
        apply(c, ref, s, m.size);
        if (!c.steps[s].sync) continue;
        expect_ok(tw_sync(f, 0), "tw_sync");
        if (std::filesystem::exists(path + ".part")) look(path + ".part");
        MPI_Barrier(m.comm);
    }
    check::step("%s: close", what.c_str());
    expect_ok(tw_close(&f), "tw_close");
    look(path);
    int all = good ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, m.comm);
    if (all == 0 && m.rank == 0) {
        std::string text = check::text("%s failed: %lld x %lld x %lld, %s", what.c_str(),
                                       static_cast<long long>(c.nz), static_cast<long long>(c.ny),
                                       static_cast<long long>(c.nx), c.file.c_str());
        for (const Variable& v : c.variables)
            text +=
                check::text("\n  %s (%s), type %d, cells %d, %s", v.name.c_str(), v.dims.c_str(),
                            static_cast<int>(v.type), v.declared, v.settings.c_str());
        for (const Cells& k : c.cells)
            text += check::text("\n  cells %d of %s", static_cast<int>(k.kind), k.dims.c_str());
        static const char* const names[] = {"put",   "deferred", "record", "record_deferred",
                                            "whole", "box"};
        for (const Step& s : c.steps) {
            text += s.reopen ? "\n  reopened; step:" : "\n  step:";
            for (const Op& op : s.ops)
                text += check::text(" %s %c[%lld]/%d", names[static_cast<int>(op.kind)],
                                    'A' + op.variable, static_cast<long long>(op.record), op.cells);
            if (s.sync) text += " sync";
            if (s.sync_before >= 0) text += check::text(" sync before %d", s.sync_before);
            if (s.open) text += " not ended";
        }
        check::print(text);
    }
    return all == 1;
}

struct Service {
    std::string session, file;
};
std::vector<Service> services() {
    std::vector<Service> all{{"", "service=inline"}, {"", "service=background"}};
    const int ranks = check::state.size;
    if (ranks > 2) all.push_back({"node_size=2", "service=inline"});
    if (ranks > 2) all.push_back({"node_size=2", "service=background"});
    if (ranks > 1) all.push_back({"servers=1", "service=servers"});
    if (ranks > 2) all.push_back({"servers=2; node_size=2; server_ranks=last", "service=servers"});
    if (ranks > 4) all.push_back({"servers=3; node_size=2", "service=servers"});
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 40);
    const std::uint64_t seed = std::stoull(check::option(argc, argv, "--seed", "1"));
    const long cases = std::stol(check::option(argc, argv, "--cases", "1000"));
    const long first = std::stol(check::option(argc, argv, "--first", "0"));
    const double seconds = std::stod(check::option(argc, argv, "--seconds", "1"));
    folder = check::make_folder("batches");
    long done = 0;
    for (const Service& s : services()) {
        const std::string settings = "log=off; " + s.session;
        {
            Model m(MPI_COMM_WORLD, settings);
            const double begin = MPI_Wtime();
            for (long k = first; m && k < cases; ++k) {
                int over = MPI_Wtime() - begin > seconds ? 1 : 0;
                MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MAX, m.comm);
                if (over != 0) break;
                const Case c = make_case(mix(seed, static_cast<std::uint64_t>(k)), m.size, s.file,
                                         s.session.find("node_size") != std::string::npos);
                if (!run(m, c, check::text("%s; case %ld", settings.c_str(), k))) break;
                ++done;
            }
            m.end();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (check::state.rank == 0) {
        check::print(check::text("batches: %ld cases", done));
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    return check::verdict("batches");
}
