// SPDX-License-Identifier: Apache-2.0
#include "batch_writer.hpp"

#include <utility>

#include "system/check.hpp"
#include "system/values.hpp"

namespace batches {

BatchWriter::BatchWriter(Model& model, const Case& c, std::string path)
    : model_(model), case_(c), path_(std::move(path)) {
    for (const parts::Decomposition& one : c.cells) {
        cells_.push_back(nullptr);
        ok(parts::declare(model.session, {"z", "y", "x"}, one, model.rank, &cells_.back()),
           "tw_decompose");
    }
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
    const parts::Decomposition& x = c.cells[k];
    parts::Array& array = kept_.emplace_back(
        parts::place_array(x, model_.rank, false, true, sizeof(double), random_));
    array.for_each_element([&](char* to, const std::vector<std::int64_t>& index) {
        put_value(to, value(step, op, element_of(c, x, index)));
    });
    const std::int64_t n = array.n;
    const char* data = array.bytes.data();
    switch (op.kind) {
        case Kind::put: ok(tw_put(file, v.name.c_str(), TW_DOUBLE, data, n), "tw_put"); break;
        case Kind::deferred:
            ok(tw_put_array(file, v.name.c_str(), array.handle(TW_DOUBLE), TW_DEFERRED),
               "tw_put_array");
            break;
        case Kind::record_deferred:
            ok(tw_put_record_array(file, v.name.c_str(), cells_[k], op.record,
                                   array.handle(TW_DOUBLE), TW_DEFERRED),
               "tw_put_record_array");
            break;
        default:
            ok(tw_put_record(file, v.name.c_str(), cells_[k], op.record, TW_DOUBLE, data, n),
               "tw_put_record");
    }
}

}  // namespace batches
