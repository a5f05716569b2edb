// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <netcdf.h>

#include <cstring>

namespace faults {

const std::vector<FileKind>& kinds() {
    static const std::vector<FileKind> all{
        {"history.nc",
         {{"time", TW_DOUBLE, Spread::everywhere, true, true, -1},
          {"T", TW_DOUBLE, Spread::rows, true, false, -1},
          {"N", TW_INT, Spread::columns, true, false, -1},
          {"label", TW_CHAR, Spread::last, true, false, -1},
          {"mask", TW_INT, Spread::rows, false, false, 0}}},
        {"sparse.nc",
         {{"S", TW_INT, Spread::even_rows, true, false, -1},
          {"name", TW_CHAR, Spread::last, true, false, -1}}},
        {"static.nc",
         {{"h", TW_DOUBLE, Spread::rows, false, false, 0},
          {"k", TW_INT, Spread::columns, false, false, 1},
          {"title", TW_CHAR, Spread::last, false, false, 0},
          {"unset", TW_INT, Spread::rows, false, false, -1}}},
        {"restart.nc",
         {{"step", TW_INT, Spread::everywhere, false, true, 0},
          {"T", TW_DOUBLE, Spread::rows, false, false, 0},
          {"N", TW_INT, Spread::columns, false, false, 0}}},
    };
    return all;
}

const FileKind& kind_of(const std::string& name) {
    for (const FileKind& kind : kinds())
        if (name == kind.name) return kind;
    return kinds().front();
}

const char* dims_of(const Field& field) {
    if (field.scalar) return field.record ? "time" : "";
    if (field.type == TW_CHAR) return field.record ? "time s" : "s";
    return field.record ? "time y x" : "y x";
}

const char* memory_dims(Spread spread) {
    return spread == Spread::columns ? "x y" : spread == Spread::last ? "s" : "y x";
}

Held held(Spread spread, int rank, int ranks) {
    Held h;
    const auto range = [](std::int64_t n, int part, int parts, std::int64_t& start,
                          std::int64_t& count) {
        start = n * part / parts;
        count = n * (part + 1) / parts - start;
    };
    switch (spread) {
        case Spread::everywhere: h.any = true; break;
        case Spread::rows:
        case Spread::even_rows:
            h.shape = {ny, nx};
            h.start = {0, 0};
            h.count = {0, nx};
            range(ny, rank, ranks, h.start[0], h.count[0]);
            h.any = spread == Spread::rows || rank % 2 == 0;
            break;
        case Spread::columns:
            h.shape = {nx, ny};
            h.start = {0, 0};
            h.count = {0, ny};
            h.any = ranks == 1 || rank < ranks - 1;
            if (h.any) range(nx, rank, ranks == 1 ? 1 : ranks - 1, h.start[0], h.count[0]);
            break;
        case Spread::last:
            h.shape = {letters};
            h.start = {0};
            h.count = {letters};
            h.any = rank == ranks - 1;
            break;
    }
    return h;
}

std::int64_t number(const FileKind& file, std::size_t field, std::int64_t record, std::int64_t at) {
    std::int64_t n = static_cast<std::int64_t>(std::strlen(file.name)) * 7 +
                     static_cast<std::int64_t>(field) + 1;
    n = n * 1009 + record + 1;
    return n * 997 + at;
}

double as_double(std::int64_t number) { return static_cast<double>(number) + 0.25; }
std::int32_t as_int(std::int64_t number) {
    return static_cast<std::int32_t>((number * 2654435761LL) % 2000000011LL);
}
char as_char(std::int64_t number) { return static_cast<char>('a' + number % 26); }

namespace {

template <class T>
void add(Values& values, T value) {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    values.bytes.insert(values.bytes.end(), bytes, bytes + sizeof value);
    ++values.n;
}

void add_number(Values& values, tw_type type, std::int64_t n) {
    if (type == TW_DOUBLE)
        add(values, as_double(n));
    else if (type == TW_INT)
        add(values, as_int(n));
    else
        add(values, as_char(n));
}

}  // namespace

Values values_of(const FileKind& file, std::size_t field, std::int64_t record, int rank,
                 int ranks) {
    Values values;
    const Field& f = file.fields[field];
    if (f.spread == Spread::everywhere) {
        add_number(values, f.type, number(file, field, record, 0));
        return values;
    }
    const Held h = held(f.spread, rank, ranks);
    if (!h.any) return values;
    if (f.spread == Spread::last) {
        for (std::int64_t i = 0; i < letters; ++i)
            add_number(values, f.type, number(file, field, record, i));
        return values;
    }
    const bool columns = f.spread == Spread::columns;
    for (std::int64_t a = h.start[0]; a < h.start[0] + h.count[0]; ++a)
        for (std::int64_t b = 0; b < h.count[1]; ++b)
            add_number(values, f.type,
                       number(file, field, record, columns ? b * nx + a : a * nx + b));
    return values;
}

namespace {

/// Returns the expected bytes of a variable's record, in the machine's order.
std::vector<char> wanted(const FileKind& file, std::size_t field, std::int64_t record, int ranks) {
    const Field& f = file.fields[field];
    Values values;
    const std::int64_t total = f.scalar ? 1 : f.type == TW_CHAR ? letters : ny * nx;
    std::vector<char> there(static_cast<std::size_t>(total), f.record || f.put_at >= 0);
    if (f.spread == Spread::even_rows)
        for (int r = 1; r < ranks; r += 2) {
            const Held h = held(Spread::rows, r, ranks);
            for (std::int64_t i = h.start[0] * nx; i < (h.start[0] + h.count[0]) * nx; ++i)
                there[static_cast<std::size_t>(i)] = 0;
        }
    for (std::int64_t i = 0; i < total; ++i) {
        if (there[static_cast<std::size_t>(i)])
            add_number(values, f.type, number(file, field, record, i));
        else if (f.type == TW_DOUBLE)
            add(values, NC_FILL_DOUBLE);
        else if (f.type == TW_INT)
            add(values, std::int32_t(NC_FILL_INT));
        else
            add(values, char(NC_FILL_CHAR));
    }
    return values.bytes;
}

}  // namespace

std::string look(const std::string& path, const FileKind& file, std::int64_t records, int ranks) {
    int id = 0;
    int status = nc_open(path.c_str(), NC_NOWRITE, &id);
    if (status != NC_NOERR) return path + ": " + nc_strerror(status);
    std::string wrong;
    std::size_t there = 0;
    int time = -1;
    nc_inq_unlimdim(id, &time);
    if (time >= 0) nc_inq_dimlen(id, time, &there);
    if (time >= 0 && there != static_cast<std::size_t>(records))
        wrong =
            path + ": " + std::to_string(there) + " records, expected " + std::to_string(records);
    for (std::size_t v = 0; wrong.empty() && v < file.fields.size(); ++v) {
        const Field& f = file.fields[v];
        int var = 0;
        status = nc_inq_varid(id, f.name, &var);
        const std::int64_t first = f.record ? 0 : time >= 0 ? 0 : records;
        const std::int64_t end = f.record ? records : first + 1;
        for (std::int64_t r = first; wrong.empty() && status == NC_NOERR && r < end; ++r) {
            const std::vector<char> bytes = wanted(file, v, r, ranks);
            std::vector<char> got(bytes.size());
            std::size_t start[3] = {static_cast<std::size_t>(r), 0, 0};
            std::size_t count[3] = {1, static_cast<std::size_t>(ny), static_cast<std::size_t>(nx)};
            if (f.type == TW_CHAR) count[1] = static_cast<std::size_t>(letters);
            const int skip = f.record ? 0 : 1;
            status = nc_get_vara(id, var, start + skip, count + skip, got.data());
            if (status == NC_NOERR && got != bytes)
                wrong = path + ": variable '" + f.name + "' is wrong in record or generation " +
                        std::to_string(r);
        }
        if (status != NC_NOERR)
            wrong = path + ": variable '" + f.name + "': " + nc_strerror(status);
    }
    nc_close(id);
    return wrong;
}

}  // namespace faults
