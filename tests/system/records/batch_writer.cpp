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
    const bool continued = again || c.before;
    int status = continued ? tw_open(model_.session, path_.c_str(),
                                     (c.file + "; mode=append; tiles=auto").c_str(), &file)
                           : tw_create(model_.session, path_.c_str(), c.file.c_str(), &file);
    CHECK_TEXT(status == TW_OK, model_.error());
    if (status != TW_OK) return false;
    CHECK(tw_def_dim(file, "time", TW_UNLIMITED) == TW_OK);
    CHECK(tw_def_dim(file, "z", c.nz) == TW_OK);
    CHECK(tw_def_dim(file, "y", c.ny) == TW_OK);
    CHECK(tw_def_dim(file, "x", c.nx) == TW_OK);
    // A run that continues a file may define variables in another order.
    for (std::size_t i = 0; i < c.variables.size(); ++i) {
        const Variable& v = c.variables[continued ? c.variables.size() - 1 - i : i];
        status =
            tw_def_var(file, v.name.c_str(), v.type, v.dims.c_str(),
                       v.declared < 0 ? nullptr : cells_[static_cast<std::size_t>(v.declared)]);
        CHECK_TEXT(status == TW_OK, model_.error());
        CHECK(tw_set_var(file, v.name.c_str(), v.settings.c_str()) == TW_OK);
        char fill[8];
        if (is_floating(v.type))
            put_floating(fill, v.type, fill_value);
        else
            put_integer(fill, v.type, static_cast<std::uint64_t>(fill_value));
        if (!continued || (c.seed + i) % 2 == 0)
            CHECK(tw_put_att(file, v.name.c_str(), "_FillValue", v.type, 1, fill) == TW_OK);
    }
    if (!again && c.first >= 0)
        CHECK(tw_set_record(file, c.first, c.drop ? TW_DROP_LATER : TW_KEEP_LATER) == TW_OK);
    CHECK_TEXT(tw_enddef(file) == TW_OK, model_.error());
    return true;
}

void BatchWriter::ok(int status, const char* call) {
    ++check::state.checks;
    if (status == TW_OK) return;
    if (good)
        check::fail(__FILE__, __LINE__,
                    check::text("{} gave {}: {}", call, tw_strerror(status), model_.error()));
    good = false;
}

void BatchWriter::put(std::size_t step, const Op& op) {
    const Case& c = case_;
    const Variable& v = c.variables[static_cast<std::size_t>(op.variable)];
    const auto k = static_cast<std::size_t>(op.cells);
    if (op.kind == Kind::box) {
        const BoxOf b = box_of(c, op, step, model_.rank, model_.size);
        if (b.empty() && model_.rank % 2 == 1) return;  // a rank with nothing need not call
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
            data.push_back(model_.rank == 0 ? value(c, step, op, e) : -1);
        ok(tw_put_record(file, v.name.c_str(), nullptr, op.record, TW_DOUBLE, data.data(),
                         static_cast<std::int64_t>(data.size())),
           "tw_put_record of a whole");
        return;
    }
    const parts::Decomposition& x = c.cells[k];
    parts::Array& array = kept_.emplace_back(
        parts::place_array(x, model_.rank, false, true, sizeof(double), random_));
    array.for_each_element([&](char* to, const std::vector<std::int64_t>& index) {
        put_value(to, value(c, step, op, element_of(c, x, index)));
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

void BatchWriter::read_back(const Reference& reference, std::uint64_t seed) {
    const Case& c = case_;
    Random alike(seed), own(mix(seed, static_cast<std::uint64_t>(model_.rank) + 1));
    tw_file_info info{};
    ok(tw_inq(file, &info), "tw_inq");
    CHECK_TEXT(info.records == reference.records, "{} records, not {}", info.records,
               reference.records);
    for (std::size_t v = 0; v < c.variables.size() && good; ++v) {
        const Variable& var = c.variables[v];
        if (var.record && reference.records == 0) continue;
        const std::int64_t record = var.record ? alike.below(reference.records) : 0;
        const double* const values = reference.values[v].data() + record * var.elements();
        const auto k = static_cast<std::size_t>(alike.below(std::ssize(c.cells)));
        parts::Array array = parts::place_array(c.cells[k], model_.rank, own.percent(30),
                                                alike.percent(50), sizeof(double), own);
        parts::Array wanted = array;
        wanted.for_each_element([&](char* to, const std::vector<std::int64_t>& index) {
            put_value(to, values[element_of(c, c.cells[k], index)]);
        });
        ok(tw_get_array(file, var.name.c_str(), cells_[k], record, array.handle(TW_DOUBLE), 0),
           "tw_get_array");
        CHECK_TEXT(!good || array.bytes == wanted.bytes, "record {} of {} as an array", record,
                   var.name);
        std::vector<std::int64_t> start, count;
        for (const std::int64_t length : var.shape) {
            start.push_back(own.below(length));
            count.push_back(own.between(0, length - start.back()));
        }
        std::vector<double> right;
        parts::for_each_index(count, [&](const std::vector<std::int64_t>& at) {
            right.push_back(
                values[((start[0] + at[0]) * c.ny + start[1] + at[1]) * c.nx + start[2] + at[2]]);
        });
        std::vector<double> got(right.size() + 1);
        if (var.record) {
            start.insert(start.begin(), record);
            count.insert(count.begin(), 1);
        }
        ok(tw_get_box(file, var.name.c_str(), TW_DOUBLE, start.data(), count.data(), nullptr,
                      got.data()),
           "tw_get_box");
        got.pop_back();
        CHECK_TEXT(!good || got == right, "record {} of {} as a section", record, var.name);
    }
}

}  // namespace batches
