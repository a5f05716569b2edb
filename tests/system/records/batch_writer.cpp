// SPDX-License-Identifier: Apache-2.0
#include "batch_writer.hpp"

#include <utility>

#include "support/text.hpp"
#include "system/values.hpp"

namespace batches {

BatchWriter::BatchWriter(tw_session session, int rank, int ranks, const Case& c, std::string path)
    : session_(session), rank_(rank), ranks_(ranks), case_(c), path_(std::move(path)) {
    for (const parts::Decomposition& one : c.cells) {
        cells_.push_back(nullptr);
        ok(parts::declare(session, {"z", "y", "x"}, one, rank, &cells_.back()), "tw_decompose");
    }
}

bool BatchWriter::create(bool again) {
    const Case& c = case_;
    const bool continued = again || c.before;
    ok(continued
           ? tw_open(session_, path_.c_str(), (c.file + "; mode=append; tiles=auto").c_str(), &file)
           : tw_create(session_, path_.c_str(), c.file.c_str(), &file),
       "tw_create");
    if (!good()) return false;
    ok(tw_def_dim(file, "time", TW_UNLIMITED), "tw_def_dim");
    ok(tw_def_dim(file, "z", c.nz), "tw_def_dim");
    ok(tw_def_dim(file, "y", c.ny), "tw_def_dim");
    ok(tw_def_dim(file, "x", c.nx), "tw_def_dim");
    // A run that continues a file may define variables in another order.
    for (std::size_t i = 0; i < c.variables.size(); ++i) {
        const Variable& v = c.variables[continued ? c.variables.size() - 1 - i : i];
        ok(tw_def_var(file, v.name.c_str(), v.type, v.dims.c_str(),
                      v.declared < 0 ? nullptr : cells_[static_cast<std::size_t>(v.declared)]),
           "tw_def_var");
        ok(tw_set_var(file, v.name.c_str(), v.settings.c_str()), "tw_set_var");
        char fill[8];
        if (is_floating(v.type))
            put_floating(fill, v.type, fill_value);
        else
            put_integer(fill, v.type, static_cast<std::uint64_t>(fill_value));
        if (!continued || (c.seed + i) % 2 == 0)
            ok(tw_put_att(file, v.name.c_str(), "_FillValue", v.type, 1, fill), "tw_put_att");
    }
    if (!again && c.first >= 0)
        ok(tw_set_record(file, c.first, c.drop ? TW_DROP_LATER : TW_KEEP_LATER), "tw_set_record");
    ok(tw_enddef(file), "tw_enddef");
    return true;
}

void BatchWriter::ok(int status, const char* call) {
    if (status == TW_OK || !good()) return;
    error = check::text("step {}: {} gave {}: {}", step_, call, tw_strerror(status),
                        tw_error_message(session_));
}

void BatchWriter::put(std::size_t step, const Op& op) {
    const Case& c = case_;
    const Variable& v = c.variables[static_cast<std::size_t>(op.variable)];
    const auto k = static_cast<std::size_t>(op.cells);
    if (op.is_box()) {
        const BoxOf b = box_of(c, op, step, rank_, ranks_);
        if (b.empty() && rank_ % 2 == 1) return;  // a rank with nothing need not call
        std::vector<double> data;
        for_box(c, b, op, step,
                [&](std::int64_t, std::int64_t, double value) { data.push_back(value); });
        std::vector<std::int64_t> start{b.z0, b.y0, b.x0},
            count{b.z1 - b.z0, b.rows(), b.columns()}, stride{1, b.y_step, b.x_step};
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
    if (!op.puts(rank_)) return;
    if (op.kind == Kind::whole) {
        std::vector<double> data;
        for (std::int64_t e = 0; e < v.elements(); ++e)
            data.push_back(rank_ == 0 ? value(c, step, op, e) : -1);
        ok(tw_put_record(file, v.name.c_str(), nullptr, op.record, TW_DOUBLE, data.data(),
                         static_cast<std::int64_t>(data.size())),
           "tw_put_record of a whole");
        return;
    }
    const parts::Decomposition& x = c.cells[k];
    parts::Array& array =
        kept_.emplace_back(parts::place_array(x, rank_, false, true, sizeof(double), random_));
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
    Random alike(seed), own(mix(seed, static_cast<std::uint64_t>(rank_) + 1));
    tw_file_info info{};
    ok(tw_inq(file, &info), "tw_inq");
    if (good() && info.records != reference.records)
        error = check::text("step {}: {} records, not {}", step_, info.records, reference.records);
    for (std::size_t v = 0; v < c.variables.size() && good(); ++v) {
        const Variable& var = c.variables[v];
        if (var.record && reference.records == 0) continue;
        const std::int64_t record = var.record ? alike.below(reference.records) : 0;
        const double* const values = reference.values[v].data() + record * var.elements();
        const auto k = static_cast<std::size_t>(alike.below(std::ssize(c.cells)));
        parts::Array array = parts::place_array(c.cells[k], rank_, own.percent(30),
                                                alike.percent(50), sizeof(double), own);
        parts::Array wanted = array;
        wanted.for_each_element([&](char* to, const std::vector<std::int64_t>& index) {
            put_value(to, values[element_of(c, c.cells[k], index)]);
        });
        ok(tw_get_array(file, var.name.c_str(), cells_[k], record, array.handle(TW_DOUBLE), 0),
           "tw_get_array");
        if (good() && array.bytes != wanted.bytes)
            error = check::text("step {}: record {} of {} as an array", step_, record, var.name);
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
        if (good() && got != right)
            error = check::text("step {}: record {} of {} as a section", step_, record, var.name);
    }
}

}  // namespace batches
