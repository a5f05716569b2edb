// SPDX-License-Identifier: Apache-2.0
#include "batch_reference.hpp"

#include <netcdf.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "support/text.hpp"
#include "system/oracle.hpp"

namespace batches {

namespace {

void grow(const Case& c, Reference& ref, std::int64_t records) {
    for (std::size_t v = 0; v < c.variables.size(); ++v) {
        const Variable& var = c.variables[v];
        const auto n = static_cast<std::size_t>(var.elements() *
                                                (var.record ? std::max(records, ref.records) : 1));
        if (ref.values[v].size() < n) ref.values[v].resize(n, fill_value);
    }
    ref.records = std::max(ref.records, records);
}

}  // namespace

Reference::Reference(const Case& c) {
    values.resize(c.variables.size());
    grow(c, *this, 0);
}

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
        } else if (op.is_box()) {
            for (int r = 0; r < ranks; ++r)
                if (const BoxOf b = box_of(c, op, step, r, ranks); !b.empty())
                    records = std::max(records, op.record + (b.records - 1) * b.record_step + 1);
        } else {
            records = std::max(records, op.record + 1);
        }
    }
    const std::int64_t current = ref.first + static_cast<std::int64_t>(step);
    const bool any = std::any_of(c.variables.begin(), c.variables.end(),
                                 [](const Variable& v) { return v.record; });
    // Unless records are put by their numbers, a step writes a whole record.
    const bool whole = any && !ref.explicit_ && (put || !c.steps[step].open);
    if (put || whole) records = std::max(records, current + 1);
    grow(c, ref, records);
    for (std::size_t v = 0; v < c.variables.size() && whole; ++v)
        if (c.variables[v].record)
            std::fill_n(ref.values[v].begin() + current * c.variables[v].elements(),
                        c.variables[v].elements(), fill_value);
    for (const Op& given : c.steps[step].ops) {
        const Op op = at_record(given, current);
        const Variable& v = c.variables[static_cast<std::size_t>(op.variable)];
        std::vector<double>& values = ref.values[static_cast<std::size_t>(op.variable)];
        for (int r = 0; r < ranks && op.is_box(); ++r)
            for_box(c, box_of(c, op, step, r, ranks), op, step,
                    [&](std::int64_t record, std::int64_t e, double value) {
                        const std::int64_t at = v.record ? record * v.elements() : 0;
                        values[static_cast<std::size_t>(at + e)] = value;
                    });
        if (op.is_box()) continue;
        if (!v.record && op.kind <= Kind::deferred && !ref.explicit_)
            std::fill(values.begin(), values.end(), fill_value);
        const std::int64_t at = v.record ? op.record * v.elements() : 0;
        // In a variable's first step, tw_put fills the elements that no rank holds. In later steps
        // and existing records, they keep their values.
        const auto set = [&](std::int64_t e) {
            values[static_cast<std::size_t>(at + e)] = value(c, step, op, e);
        };
        if (op.kind == Kind::whole)
            for (std::int64_t e = 0; e < v.elements(); ++e) set(e);
        const parts::Decomposition& x = c.cells[static_cast<std::size_t>(op.cells)];
        for (int r = 0; r < ranks && op.kind != Kind::whole; ++r)
            for (const parts::Box& box : x.boxes[static_cast<std::size_t>(r)]) {
                if (!op.puts(r)) break;
                parts::for_each_index(box.count, [&](std::vector<std::int64_t> index) {
                    for (std::size_t d = 0; d < index.size(); ++d) index[d] += box.start[d];
                    set(element_of(c, x, index));
                });
            }
    }
}

void write_by_netcdf(const std::string& path, const Case& c, const Reference& ref) {
    Oracle oracle(path, c.format);
    const int id = oracle.id();
    oracle.dim("time", NC_UNLIMITED);
    oracle.dim("z", c.nz);
    oracle.dim("y", c.ny);
    oracle.dim("x", c.nx);
    std::vector<int> numbers;
    for (const Variable& v : c.variables) {
        std::istringstream dims(v.dims);
        const int n = oracle.var(v.name, v.type, {std::istream_iterator<std::string>(dims), {}});
        numbers.push_back(n);
        if (!v.chunk.empty())
            oracle.require(nc_def_var_chunking(id, n, NC_CHUNKED, v.chunk.data()), "chunks");
        if (v.sum) oracle.require(nc_def_var_fletcher32(id, n, NC_FLETCHER32), "sum");
        if (v.deflate > 0 || v.shuffle)
            oracle.require(
                nc_def_var_deflate(id, n, v.shuffle ? 1 : 0, v.deflate > 0 ? 1 : 0, v.deflate),
                "deflate");
        oracle.require(
            nc_put_att_double(id, n, "_FillValue", static_cast<nc_type>(v.type), 1, &fill_value),
            "_FillValue");
    }
    const int status = nc__enddef(id, c.pad, c.align, c.between, section_alignment);
    if (status != NC_ENOTINDEFINE) oracle.require(status, "nc__enddef");
    for (std::size_t v = 0; v < c.variables.size(); ++v) {
        const Variable& var = c.variables[v];
        std::vector<std::size_t> count(var.shape.begin(), var.shape.end());
        if (var.record) count.insert(count.begin(), static_cast<std::size_t>(ref.records));
        const std::vector<std::size_t> start(count.size(), 0);
        oracle.require(oracle.put(numbers[v], TW_DOUBLE, start, count, ref.values[v].data()),
                       "put");
    }
    oracle.close();
}

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
        wrong = check::text("{} records, expected {}", records, ref.records);
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
                wrong = check::text("{} is {} at element {} ({} a record), expected {}", var.name,
                                    got[i], i, var.elements(), wanted[i]);
    }
    nc_close(id);
    return wrong;
}

}  // namespace batches
