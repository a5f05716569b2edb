// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/engine/data/transfers.hpp"

#include <netcdf.h>

#include <algorithm>
#include <cstring>
#include <iterator>
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
    return call.puts() ? put(call) : get(call);
}

// Makes a request for each variable, and waits once for all requests.
int Transfers::data(const DataCall& each, const std::vector<DataCall>& calls) {
    check_mode(each);
    const auto before = static_cast<std::ptrdiff_t>(handle_->requests.size());
    int code = NC_NOERR;
    const Error error = error_of([&] {
        for (const DataCall& call : calls) {
            const int result = post(call, false);
            if (code == NC_NOERR) code = result;
        }
    });
    std::vector<Request> mine;
    const auto first = handle_->requests.begin() + before;
    if (error.code == 0) std::move(first, handle_->requests.end(), std::back_inserter(mine));
    handle_->requests.erase(first, handle_->requests.end());
    int ended = NC_NOERR;
    if (error.code == 0 || (each.together && state_.session.ranks() > 1))
        ended = finish(mine, each.together, {}, nullptr);
    if (error.code != 0) throw error;
    return code != NC_NOERR ? code : ended;
}

// ---- puts ---------------------------------------------------------------------------------------

// Writes the elements of a put in the variable's type. @return NC_ERANGE if some do not fit
int Transfers::convert_to(const Selection& s, char* to, Order order) {
    const Variable& v = variable(s.varid);
    return s.array.pack(v.type, to, nc::Table::fill_of(v), has_classic_types(definitions_.format),
                        order);
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

// Writes a large box of a fixed-size variable by this rank alone. Smaller ones are cheaper
// together.
// @return false if that is not possible
bool Transfers::write_alone(const Selection& s, int& code) {
    if (!s.is_one() || !puts_.may_put_at_once(s.parts.front())) return false;
    const Index bytes = s.elements * size_of_element(s.varid);
    Entry box = s.parts.front();
    std::unique_ptr<char[]> converted;
    box.values = static_cast<const char*>(s.array.at());
    if (!s.array.is_dense() || s.array.type() != variable(s.varid).type) {
        converted.reset(new char[static_cast<std::size_t>(bytes)]);
        code = convert_to(s, converted.get());
        box.values = converted.get();
    }
    if (!puts_.put_at_once(box)) return false;
    handle_->put += bytes;
    return true;
}

// Puts the values of a call that needs no wait.
int Transfers::put(const DataCall& call) {
    Selection s;
    int code = NC_NOERR;
    const char* values = nullptr;
    // Parts of other variables are puts of this rank alone.
    if (call.together && call.kind == Kind::vard) puts_.stop_passing();
    try {
        s = selector_.select(call);
        if (!call.together && (s.elements == 0 || write_alone(s, code))) return code;
        const Variable& v = variable(s.varid);
        values = static_cast<const char*>(s.array.at());
        const bool stays = call.together && s.array.is_dense() && s.array.type() == v.type &&
                           s.is_one() && puts_.borrows(s.parts.front());
        if (s.elements > 0 && !stays) {
            const Index bytes = s.elements * size_of_element(s.varid);
            char* const own = puts_.take(bytes, size_of(v.type));
            code = convert_to(s, own, s.is_one() ? puts_.pack(s.parts.front()) : Order::native);
            values = own;
        }
    } catch (...) {
        const bool known = call.varid >= 0 && static_cast<std::size_t>(call.varid) <
                                                  definitions_.table.variables.size();
        if (call.together) puts_.put_nothing(known ? call.varid : -1);
        throw;
    }
    push(s, values, call.together);
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
    return s.array.unpack(v.type, read, has_classic_types(definitions_.format));
}

int Transfers::get(const DataCall& call) {
    if (call.together) puts_.begin_get(-1);
    Selection s;
    std::string values;
    std::vector<Reading> readings;
    const Error error = error_of([&] {
        s = selector_.select(call);
        values.resize(static_cast<std::size_t>(s.elements * size_of_element(s.varid)));
        readings = readings_of(s, values.data());
    });
    if (error.code != 0) readings.clear();
    read(std::move(readings), call.together);
    if (error.code != 0) throw error;
    return s.elements == 0 ? NC_NOERR : deliver(s, values.data());
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

void Transfers::read(std::vector<Reading> readings, bool together) {
    if (together) return read_together(std::move(readings));
    for (const Reading& r : readings) read_alone(*r.part, r.to);
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
