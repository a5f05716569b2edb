// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/engine/data/transfers.hpp"

#include <netcdf.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "nc/base/types.hpp"

namespace thalweg::pnetcdf::engine {

Index Transfers::size_of_element(int varid) const {
    return static_cast<Index>(size_of(variable(varid).type));
}

void Transfers::check_mode(const DataCall& call) const {
    if (call.puts()) handle_->need_write();
    if (call.waits()) handle_->need_mode(call.together);
}

int Transfers::data(const DataCall& call) {
    check_mode(call);
    if (!call.waits()) return post(call, true);
    if (call.together) return call.puts() ? put_together(call) : get_together(call);
    const Selection s = selector_.select(call);
    if (s.elements == 0) return NC_NOERR;
    if (call.puts()) return put_alone(s);
    std::string read(static_cast<std::size_t>(s.elements * size_of_element(s.varid)), '\0');
    for (const Reading& r : readings_of(s, read.data())) read_alone(*r.part, r.to);
    return deliver(s, read.data());
}

// Makes a request for each variable of a call, and waits once for all requests.
int Transfers::data(const SeveralCall& call) {
    const DataCall& each = call.each;
    check_mode(each);
    const std::size_t before = handle_->requests.size();
    int code = NC_NOERR;
    Error error;
    for (int i = 0; i < call.n && error.code == 0; i++) {
        DataCall one = each;
        one.verb = each.puts() ? Verb::iput : Verb::iget;
        one.varid = call.varids[i];
        if (call.starts != nullptr) one.start = call.starts[i];
        if (call.counts != nullptr) one.count = call.counts[i];
        if (call.strides != nullptr) one.stride = call.strides[i];
        if (call.maps != nullptr) one.map = call.maps[i];
        one.values = call.values[i];
        if (call.buftypes != nullptr) one.buftype = call.buftypes[i];
        if (call.bufcounts != nullptr) one.bufcount = call.bufcounts[i];
        error = error_of([&] {
            const int result = post(one, false);
            if (code == NC_NOERR) code = result;
        });
    }
    if (error.code != 0 && (!each.together || state_.session.ranks() == 1)) {
        handle_->requests.resize(before);
        throw error;
    }
    std::vector<Request> mine;
    for (std::size_t i = before; i < handle_->requests.size(); i++)
        mine.push_back(std::move(handle_->requests[i]));
    handle_->requests.resize(before);
    if (error.code != 0) mine.clear();
    const int ended = finish(mine, each.together, {}, nullptr);
    if (error.code != 0) throw error;
    return code != NC_NOERR ? code : ended;
}

// ---- puts ---------------------------------------------------------------------------------------

// Writes the elements of a put in the variable's type. @return NC_ERANGE if some do not fit
int Transfers::convert_to(const Selection& s, char* to) {
    const Variable& v = variable(s.varid);
    std::string space;
    return convert(s.array.type(), s.array.gather(space), v.type, to, s.elements,
                   nc::Table::fill_of(v), has_classic_types(definitions_.format));
}

// Adds the parts of a put to the queue. The number of parts differs between ranks. So if a
// collective put does not consist of one part, each rank adds its parts as puts of its own,
// followed by an empty collective put, which all ranks have.
void Transfers::push(const Selection& s, const char* values, bool together) {
    const auto bytes = size_of_element(s.varid);
    const bool one = together && s.is_one();
    for (const Entry& part : s.parts) {
        Entry entry = part;
        entry.collective = one;
        entry.values = values;
        values += part.elements() * bytes;
        puts_.put(std::move(entry));
    }
    if (together && !one) puts_.put_nothing(s.varid);
    handle_->put += s.elements * bytes;
}

int Transfers::put_together(const DataCall& call) {
    Selection s;
    int code = NC_NOERR;
    const char* values = nullptr;
    try {
        s = selector_.select(call);
        const Variable& v = variable(s.varid);
        const bool same = s.array.is_dense() && s.array.type() == v.type;
        values = static_cast<const char*>(s.array.at());
        if (s.elements > 0 && !(same && s.is_one() && puts_.writes_at_once(v))) {
            char* const own =
                puts_.take(s.elements * static_cast<Index>(size_of(v.type)), size_of(v.type));
            code = convert_to(s, own);
            values = own;
        }
    } catch (...) {
        const bool known = call.varid >= 0 && static_cast<std::size_t>(call.varid) <
                                                  definitions_.table.variables.size();
        puts_.put_nothing(known ? call.varid : -1);
        throw;
    }
    push(s, values, true);
    return code;
}

// Writes a large box of a fixed-size variable by this rank alone. Smaller ones are cheaper
// together.
// @return false if that is not possible
bool Transfers::write_alone(const Selection& s, int& code) {
    constexpr Index large = 64 << 10;  // bytes
    const Variable& v = variable(s.varid);
    const Index bytes = s.elements * static_cast<Index>(size_of(v.type));
    if (bytes < large || definitions_.table.is_record(v) || !v.storage.no_fill || !s.is_one())
        return false;
    Entry box = s.parts.front();
    if (box.pieces != nullptr || !box.stride.empty()) return false;
    std::unique_ptr<char[]> converted;
    box.values = static_cast<const char*>(s.array.at());
    if (!s.array.is_dense() || s.array.type() != v.type) {
        converted.reset(new char[static_cast<std::size_t>(bytes)]);
        code = convert_to(s, converted.get());
        box.values = converted.get();
    }
    if (!puts_.put_at_once(box)) return false;
    handle_->put += bytes;
    return true;
}

int Transfers::put_alone(const Selection& s) {
    int written = NC_NOERR;
    if (write_alone(s, written)) return written;
    const auto bytes = size_of_element(s.varid);
    char* const own = puts_.take(s.elements * bytes, static_cast<std::size_t>(bytes));
    const int code = convert_to(s, own);
    push(s, own, false);
    return code;
}

// Fills a record of a variable. Each rank writes fill values to a part of it.
void Transfers::fill_record(int varid, Index record) {
    handle_->need_write();
    handle_->need_data();
    const Variable& v = variable_of(definitions_, varid);
    if (!definitions_.table.is_record(v))
        throw Error{NC_ENOTRECVAR, definitions_.path + ": variable " + v.name + " has no records"};
    if (handle_->independent)
        throw Error{NC_EINDEP, definitions_.path + " is in independent data mode"};
    if (v.storage.no_fill && v.attributes.get(fill_attribute) == nullptr)
        throw Error{NC_ENOTFILL, definitions_.path + ": variable " + v.name + " is not filled"};
    Section s;
    s.count = definitions_.table.lengths(v);
    s.start.assign(s.count.size(), 0);
    s.start[0] = record;
    s.count[0] = 1;
    const auto rank = Index{state_.session.rank()}, ranks = Index{state_.session.ranks()};
    if (s.count.size() > 1) {
        const Index rows = s.count[1];
        s.start[1] = rows * rank / ranks;
        s.count[1] = rows * (rank + 1) / ranks - s.start[1];
    } else if (rank > 0) {
        s.count[0] = 0;
    }
    const std::string fill = nc::Table::fill_of(v);
    const Index n = volume(s.count);
    char* own = nullptr;
    try {
        own = puts_.take(n * static_cast<Index>(fill.size()), fill.size());
    } catch (...) {
        puts_.put_nothing(varid);
        throw;
    }
    for (Index i = 0; i < n; i++)
        std::memcpy(own + i * static_cast<Index>(fill.size()), fill.data(), fill.size());
    puts_.put({varid, true, std::move(s.start), std::move(s.count), {}, own});
}

// ---- gets ---------------------------------------------------------------------------------------

// Copies the elements that were read into the program's array.
int Transfers::deliver(const Selection& s, const char* read) {
    const Variable& v = variable(s.varid);
    handle_->got += s.elements * static_cast<Index>(size_of(v.type));
    if (s.array.is_dense())
        return convert(v.type, read, s.array.type(), s.array.at(), s.elements, "",
                       has_classic_types(definitions_.format));
    std::string converted(static_cast<std::size_t>(s.elements) * size_of(s.array.type()), '\0');
    const int code = convert(v.type, read, s.array.type(), converted.data(), s.elements, "",
                             has_classic_types(definitions_.format));
    s.array.scatter(converted.data());
    return code;
}

int Transfers::get_together(const DataCall& call) {
    puts_.begin_get(-1);
    Selection s;
    std::string read;
    std::vector<Reading> readings;
    const Error error = error_of([&] {
        s = selector_.select(call);
        read.resize(static_cast<std::size_t>(s.elements * size_of_element(s.varid)));
        readings = readings_of(s, read.data());
    });
    if (error.code != 0) readings.clear();
    read_together(std::move(readings));
    if (error.code != 0) throw error;
    return s.elements == 0 ? NC_NOERR : deliver(s, read.data());
}

// Returns the parts of a selection with the addresses of their values in an array.
std::vector<Transfers::Reading> Transfers::readings_of(const Selection& s, char* to) const {
    std::vector<Reading> readings;
    for (const Entry& part : s.parts) {
        readings.push_back({&part, to});
        to += part.elements() * size_of_element(part.varid);
    }
    return readings;
}

void Transfers::read_alone(const Entry& part, char* to) {
    const std::size_t bytes = size_of(variable(part.varid).type);
    part.for_boxes([&](const Shape& start, const Shape& count, Index first) {
        puts_.get_alone(part.varid, {start, count, part.stride},
                        to + static_cast<std::size_t>(first) * bytes);
    });
}

// Reads the elements that each rank wants, in rounds. In each round, all ranks read the first
// variable and record that any of them still wants; ranks that want none of its elements take part.
void Transfers::read_together(std::vector<Reading> readings) {
    constexpr Index none = std::numeric_limits<Index>::max();
    struct Key {
        Index variable, record;  // variable: twice the id, plus 1 for boxes; record -1: a section
    };
    const auto key_of = [&](const Entry& part) {
        const bool boxes = part.pieces != nullptr;
        const bool record = boxes && definitions_.table.is_record(variable(part.varid));
        return Key{2 * Index{part.varid} + (boxes ? 1 : 0), record ? part.start[0] : -1};
    };
    std::stable_sort(readings.begin(), readings.end(), [&](const Reading& a, const Reading& b) {
        const Key x = key_of(*a.part), y = key_of(*b.part);
        return x.variable != y.variable ? x.variable < y.variable : x.record < y.record;
    });
    Error failed;
    for (auto next = readings.begin();;) {
        const bool any = next != readings.end();
        const Key mine = any ? key_of(*next->part) : Key{none, none};
        Index first[] = {mine.variable};
        MPI_Allreduce(MPI_IN_PLACE, first, 1, MPI_INT64_T, MPI_MIN, state_.session.comm());
        if (first[0] == none) break;
        const int varid = static_cast<int>(first[0] / 2);
        const Variable& v = variable(varid);
        bool here = any && mine.variable == first[0];
        if (first[0] % 2 == 0) {
            const Error error = error_of([&] {
                if (here)
                    puts_.get(varid, {next->part->start, next->part->count, next->part->stride},
                              next->to);
                else
                    puts_.get_nothing(varid);
            });
            if (failed.code == 0) failed = error;
        } else {
            Index record = here ? mine.record : none;
            MPI_Allreduce(MPI_IN_PLACE, &record, 1, MPI_INT64_T, MPI_MIN, state_.session.comm());
            here = here && mine.record == record;
            Shape shape = definitions_.table.lengths(v);
            if (record >= 0) shape.erase(shape.begin());
            const Error error = error_of([&] {
                tw_decomposition boxes =
                    decompose(state_.session, shape, here ? next->part : nullptr, 0, true);
                const int status =
                    tw_get(state_.file(), v.name.c_str(), boxes, std::max<Index>(record, 0),
                           static_cast<tw_type>(v.type), here ? next->to : nullptr,
                           here ? next->part->elements() : 0);
                tw_free_decomposition(&boxes);
                state_.session.check(status);
            });
            if (failed.code == 0) failed = error;
        }
        if (here) next++;
    }
    if (failed.code != 0) throw failed;
}

}  // namespace thalweg::pnetcdf::engine
