// SPDX-License-Identifier: Apache-2.0
#include "batch_writer.hpp"

#include <utility>

#include "system/check.hpp"

namespace batches {

namespace {

// Returns this rank's array of "z y x", in the order of the decomposition's dimensions.
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

}  // namespace

BatchWriter::BatchWriter(Model& model, const Case& c, std::string path)
    : model_(model), case_(c), path_(std::move(path)) {
    for (const Cells& one : c.cells) cells_.push_back(decompose(model, c, one));
}

bool BatchWriter::create(bool again) {
    const Case& c = case_;
    int status =
        again ? tw_open(model_.session, path_.c_str(), (c.file + "; mode=append").c_str(), &file)
              : tw_create(model_.session, path_.c_str(), c.file.c_str(), &file);
    CHECK_TEXT(status == TW_OK, "%s", model_.error().c_str());
    if (status != TW_OK) return false;
    CHECK(tw_def_dim(file, "time", TW_UNLIMITED) == TW_OK);
    CHECK(tw_def_dim(file, "z", c.nz) == TW_OK);
    CHECK(tw_def_dim(file, "y", c.ny) == TW_OK);
    CHECK(tw_def_dim(file, "x", c.nx) == TW_OK);
    for (const Variable& v : c.variables) {
        status =
            tw_def_var(file, v.name.c_str(), v.type, v.dims.c_str(),
                       v.declared < 0 ? nullptr : cells_[static_cast<std::size_t>(v.declared)]);
        CHECK_TEXT(status == TW_OK, "%s", model_.error().c_str());
        CHECK(tw_set_var(file, v.name.c_str(), v.settings.c_str()) == TW_OK);
    }
    CHECK_TEXT(tw_enddef(file) == TW_OK, "%s", model_.error().c_str());
    return true;
}

void BatchWriter::ok(int status, const char* call) {
    ++check::state.checks;
    if (status == TW_OK) return;
    if (good)
        check::fail(
            __FILE__, __LINE__,
            check::text("%s gave %s: %s", call, tw_strerror(status), model_.error().c_str()));
    good = false;
}

void BatchWriter::put(std::size_t step, const Op& op) {
    const Case& c = case_;
    const Variable& v = c.variables[static_cast<std::size_t>(op.variable)];
    const auto k = static_cast<std::size_t>(op.cells);
    if (op.kind == Kind::box) {
        const BoxOf b = box_of(c, op, step, model_.rank, model_.size);
        std::vector<double> data;
        for_box(c, b, op, step,
                [&](std::int64_t, std::int64_t, double value) { data.push_back(value); });
        std::vector<std::int64_t> start{0, b.y0, b.x0}, count{c.nz, b.rows(), b.columns()},
            stride{1, b.y_step, b.x_step};
        if (v.record) {
            start.insert(start.begin(), op.record);
            count.insert(count.begin(), b.records);
            stride.insert(stride.begin(), b.record_step);
        }
        ok(tw_put_box(file, v.name.c_str(), TW_DOUBLE, start.data(), count.data(), stride.data(),
                      data.data()),
           "tw_put_box");
        return;
    }
    if (op.kind == Kind::whole) {
        std::vector<double> data;
        for (std::int64_t e = 0; e < v.elements(); ++e)
            data.push_back(model_.rank == 0 ? value(step, op, e) : -1);
        ok(tw_put_record(file, v.name.c_str(), nullptr, op.record, TW_DOUBLE, data.data(),
                         static_cast<std::int64_t>(data.size())),
           "tw_put_record of a whole");
        return;
    }
    kept_.push_back(array_of(c, c.cells[k], step, op, model_.rank, model_.size));
    const std::vector<double>& data = kept_.back();
    const auto n = static_cast<std::int64_t>(data.size());
    switch (op.kind) {
        case Kind::put:
            ok(tw_put(file, v.name.c_str(), TW_DOUBLE, data.data(), n), "tw_put");
            break;
        case Kind::deferred:
            ok(tw_put_array(file, v.name.c_str(), tw_dense(TW_DOUBLE, data.data(), n), TW_DEFERRED),
               "tw_put_array");
            break;
        case Kind::record_deferred:
            ok(tw_put_record_array(file, v.name.c_str(), cells_[k], op.record,
                                   tw_dense(TW_DOUBLE, data.data(), n), TW_DEFERRED),
               "tw_put_record_array");
            break;
        default:
            ok(tw_put_record(file, v.name.c_str(), cells_[k], op.record, TW_DOUBLE, data.data(), n),
               "tw_put_record");
    }
}

}  // namespace batches
