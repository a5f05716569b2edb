// Puts and gets.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "pnetcdf/engine/file.hpp"
#include "types.hpp"

namespace thalweg::pnetcdf::engine {

int run(File& file, const DataCall& call) {
    if (call.request != nullptr) *call.request = -1;
    return on(file, [&] { return file.data(call); });
}

int run(File& file, const SeveralCall& call) {
    return on(file, [&] { return file.data(call); });
}

int File::data(const DataCall& call) {
    check_mode(call);
    if (!call.waits()) return post(call, true);
    if (call.together) return call.puts() ? put_together(call) : get_together(call);
    const Selection s = select(call);
    if (s.elements == 0) return NC_NOERR;
    if (call.puts()) return put_alone(s);
    std::string read(static_cast<std::size_t>(s.elements) * size_of(variable_of(s.varid).type),
                     '\0');
    char* to = read.data();
    for (const Entry& part : s.parts) {
        read_alone(part, to);
        to += part.elements() * static_cast<Index>(size_of(variable_of(s.varid).type));
    }
    return deliver(s, read.data());
}

// Makes a request for each variable of a call, and waits once for all requests.
int File::data(const SeveralCall& call) {
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
    if (error.code != 0 && (!each.together || session_.ranks() == 1)) {
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
int File::convert_to(const Selection& s, char* to) {
    const Variable& v = variable_of(s.varid);
    std::string space;
    return convert(s.array.type(), s.array.gather(space), v.type, to, s.elements,
                   nc::Table::fill_of(v), any_sign());
}

// Adds the parts of a put to the queue. The number of parts differs between ranks. So if a
// collective put does not consist of one part, each rank adds its parts as puts of its own,
// followed by an empty collective put, which all ranks have.
void File::push(const Selection& s, const char* values, bool together) {
    const auto bytes = static_cast<Index>(size_of(variable_of(s.varid).type));
    const bool one = together && s.is_one();
    for (const Entry& part : s.parts) {
        Entry entry = part;
        entry.collective = one;
        entry.values = values;
        values += part.elements() * bytes;
        QueuedFile::put(std::move(entry));
    }
    if (together && !one) put_nothing(s.varid);
    handle_->put += s.elements * bytes;
}

int File::put_together(const DataCall& call) {
    Selection s;
    int code = NC_NOERR;
    const char* values = nullptr;
    try {
        s = select(call);
        const Variable& v = variable_of(s.varid);
        const bool same = s.array.is_dense() && s.array.type() == v.type;
        values = static_cast<const char*>(s.array.at());
        if (s.elements > 0 && !(same && s.is_one() && writes_at_once(v))) {
            char* const own =
                QueuedFile::take(s.elements * static_cast<Index>(size_of(v.type)), size_of(v.type));
            code = convert_to(s, own);
            values = own;
        }
    } catch (...) {
        const bool known =
            call.varid >= 0 && static_cast<std::size_t>(call.varid) < table_.variables.size();
        if (known)
            put_nothing(call.varid);
        else
            put_nowhere();
        throw;
    }
    push(s, values, true);
    return code;
}

// Writes a large box of a fixed-size variable by this rank alone. Smaller ones are cheaper
// together.
// @return false if that is not possible
bool File::write_alone(const Selection& s, int& code) {
    constexpr Index large = 64 << 10;  // bytes
    const Variable& v = variable_of(s.varid);
    const Index bytes = s.elements * static_cast<Index>(size_of(v.type));
    if (bytes < large || table_.is_record(v) || !v.storage.no_fill || !s.is_one()) return false;
    Entry box = s.parts.front();
    if (box.pieces != nullptr || !box.stride.empty()) return false;
    std::unique_ptr<char[]> converted;
    box.values = static_cast<const char*>(s.array.at());
    if (!s.array.is_dense() || s.array.type() != v.type) {
        converted.reset(new char[static_cast<std::size_t>(bytes)]);
        code = convert_to(s, converted.get());
        box.values = converted.get();
    }
    if (!put_at_once(box)) return false;
    handle_->put += bytes;
    return true;
}

int File::put_alone(const Selection& s) {
    int written = NC_NOERR;
    if (write_alone(s, written)) return written;
    const auto bytes = static_cast<Index>(size_of(variable_of(s.varid).type));
    char* const own = QueuedFile::take(s.elements * bytes, static_cast<std::size_t>(bytes));
    const int code = convert_to(s, own);
    push(s, own, false);
    return code;
}

// ---- gets ---------------------------------------------------------------------------------------

// Copies the elements that were read into the program's array.
int File::deliver(const Selection& s, const char* read) {
    const Variable& v = variable_of(s.varid);
    handle_->got += s.elements * static_cast<Index>(size_of(v.type));
    if (s.array.is_dense())
        return convert(v.type, read, s.array.type(), s.array.at(), s.elements, "", any_sign());
    std::string converted(static_cast<std::size_t>(s.elements) * size_of(s.array.type()), '\0');
    const int code =
        convert(v.type, read, s.array.type(), converted.data(), s.elements, "", any_sign());
    s.array.scatter(converted.data());
    return code;
}

int File::get_together(const DataCall& call) {
    begin_get(-1);
    Selection s;
    std::string read;
    std::vector<Reading> readings;
    const Error error = error_of([&] {
        s = select(call);
        const std::size_t bytes = size_of(variable_of(s.varid).type);
        read.resize(static_cast<std::size_t>(s.elements) * bytes);
        char* to = read.data();
        for (const Entry& part : s.parts) {
            readings.push_back({&part, to});
            to += part.elements() * static_cast<Index>(bytes);
        }
    });
    if (error.code != 0) readings.clear();
    read_together(std::move(readings));
    if (error.code != 0) throw error;
    return s.elements == 0 ? NC_NOERR : deliver(s, read.data());
}

void File::read_alone(const Entry& part, char* to) {
    const std::size_t bytes = size_of(variable_of(part.varid).type);
    part.for_boxes([&](const Shape& start, const Shape& count, Index first) {
        get_alone(part.varid, {start, count, part.stride},
                  to + static_cast<std::size_t>(first) * bytes);
    });
}

// Reads the elements that each rank wants, in rounds. In each round, all ranks read the first
// variable and record that any of them still wants; ranks that want none of its elements take part.
void File::read_together(std::vector<Reading> readings) {
    constexpr Index none = std::numeric_limits<Index>::max();
    struct Key {
        Index variable, record;  // variable: twice the id, plus 1 for boxes; record -1: a section
    };
    const auto key_of = [&](const Entry& part) {
        const bool boxes = part.pieces != nullptr;
        const bool record = boxes && table_.is_record(variable_of(part.varid));
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
        MPI_Allreduce(MPI_IN_PLACE, first, 1, MPI_INT64_T, MPI_MIN, session_.comm());
        if (first[0] == none) break;
        const int varid = static_cast<int>(first[0] / 2);
        const Variable& v = variable_of(varid);
        bool here = any && mine.variable == first[0];
        if (first[0] % 2 == 0) {
            const Error error = error_of([&] {
                if (here)
                    QueuedFile::get(varid,
                                    {next->part->start, next->part->count, next->part->stride},
                                    next->to);
                else
                    get_nothing(varid);
            });
            if (failed.code == 0) failed = error;
        } else {
            Index record = here ? mine.record : none;
            MPI_Allreduce(MPI_IN_PLACE, &record, 1, MPI_INT64_T, MPI_MIN, session_.comm());
            here = here && mine.record == record;
            Shape shape = table_.lengths(v);
            if (record >= 0) shape.erase(shape.begin());
            const Error error = error_of([&] {
                tw_decomposition boxes =
                    decompose(session_, shape, here ? next->part : nullptr, 0, true);
                const int status = tw_get(file_, v.name.c_str(), boxes, std::max<Index>(record, 0),
                                          static_cast<tw_type>(v.type), here ? next->to : nullptr,
                                          here ? next->part->elements() : 0);
                tw_free_decomposition(&boxes);
                Dataset::check(status);
            });
            if (failed.code == 0) failed = error;
        }
        if (here) next++;
    }
    if (failed.code != 0) throw failed;
}

}  // namespace thalweg::pnetcdf::engine
