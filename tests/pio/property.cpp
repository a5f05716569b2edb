// Compares random files written through PIO's interface with plain arrays, as netCDF-C reads them:
// formats, types, decompositions, holes, halos, frames, sections; reads them by other
// decompositions, while they are written and later.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: property SEED CASES [async]
#include <netcdf.h>
#include <pio.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/parts.hpp"
#include "system.h"

namespace {

int ios = 0;
bool zarr = false;  // files are Zarr stores, which only PIO's interface reads here
Random common(0);   // gives the same numbers on every rank

int pick(int below) { return static_cast<int>(common.below(below)); }

void check(bool good, const std::string& what, long number) {
    if (good) return;
    if (failures++ < 5)
        std::fprintf(stderr, "[rank %d] case %ld: %s\n", rank, number, what.c_str());
}

// The elements of each rank, in memory order; -1 is a hole.
struct Parts {
    std::vector<std::vector<PIO_Offset>> of;
    const std::vector<PIO_Offset>& mine() const { return of[static_cast<std::size_t>(rank)]; }
};

long product(const std::vector<int>& dims) {
    return std::accumulate(dims.begin(), dims.end(), 1L, std::multiplies<>());
}

// Makes a random decomposition, and lists the elements at each place of each rank's array.
Parts random_parts(const std::vector<int>& dims) {
    std::vector<int> numbers(dims.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    const parts::Decomposition x =
        parts::make_decomposition(common, numbers, {dims.begin(), dims.end()}, ranks);
    const bool strided = pick(2) == 0;
    Parts all;
    for (int r = 0; r < ranks; r++) {
        parts::Array array = parts::place_array(x, r, strided, x.with_halo, 1, common);
        std::vector<PIO_Offset> map(array.bytes.size(), -1);
        array.for_each_element([&](const char* at, const std::vector<std::int64_t>& global) {
            PIO_Offset& element = map[static_cast<std::size_t>(at - array.bytes.data())];
            element = 0;
            const std::vector<std::int64_t> index = parts::in_order(x, numbers, global);
            for (std::size_t d = 0; d < dims.size(); d++) element = element * dims[d] + index[d];
        });
        all.of.push_back(std::move(map));
    }
    return all;
}

int declare(const Parts& parts, int type, const std::vector<int>& dims) {
    int ioid = 0;
    const auto& mine = parts.mine();
    check(PIOc_init_decomp(ios, type, static_cast<int>(dims.size()), dims.data(),
                           static_cast<int>(mine.size()), mine.data(), &ioid, PIO_REARR_BOX,
                           nullptr, nullptr) == 0,
          "init_decomp", 0);
    return ioid;
}

// Calls act() with a value of a type.
template <class Act>
auto with_type(int type, Act&& act) {
    switch (type) {
        case PIO_SHORT: return act(short{});
        case PIO_INT: return act(int{});
        case PIO_FLOAT: return act(float{});
        default: return act(double{});
    }
}

// Values of any type, converted to doubles.
struct Values {
    int type;
    std::vector<char> bytes;

    Values(int t, std::size_t n) : type(t), bytes(n * 8 + 8) {}
    void set(std::size_t i, double value) {
        with_type(type, [&](auto own) {
            own = static_cast<decltype(own)>(value);
            std::memcpy(bytes.data() + i * sizeof own, &own, sizeof own);
        });
    }
    double get(std::size_t i) const {
        return with_type(type, [&](auto own) {
            std::memcpy(&own, bytes.data() + i * sizeof own, sizeof own);
            return static_cast<double>(own);
        });
    }
};

constexpr int types[] = {PIO_SHORT, PIO_INT, PIO_FLOAT, PIO_DOUBLE};
constexpr double fill = -99;

struct Field {
    int id = 0, type = 0;
    // If `framed` is set, there is a fixed dimension before those of the grid.
    bool record = false, framed = false;
    std::vector<int> dims;  // dimensions of the grid
    int frames = 1;
    std::map<int, std::vector<double>> want;  // expected values of each frame
};

struct Case {
    long number;
    int ncid = 0;
    std::vector<Field> fields;
    bool zstd = false;  // some variables are compressed by zstd
    long puts = 0;

    void define(int iotype, int mode, const std::string& path);
    void store(const Field& field);
    void put_random(Field& field);
    void put_section(Field& field, int frame);
    void compare(const std::string& path);
    void read(const Field& field, int frame, const std::vector<double>& want);
    void read_back(const std::string& path);
};

void Case::define(int iotype, int mode, const std::string& path) {
    check(PIOc_createfile(ios, &ncid, &iotype, path.c_str(), mode) == 0, "createfile", number);
    int time = 0;
    PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &time);
    const bool stored = iotype >= PIO_IOTYPE_NETCDF4C && pick(2) == 0;
    // Ranks that do not compress need HDF5's plugin to read zstd, so use it only where all ranks
    // can.
    zstd = pick(4) == 0 && world == MPI_COMM_WORLD;
    for (int f = 0; f < 3; f++) {
        Field field;
        const std::string name = "v" + std::to_string(f);
        const int nd = 1 + pick(3);
        std::vector<int> ids;
        field.record = pick(2) == 0;
        field.framed = !field.record && pick(2) == 0;
        field.frames = field.record || field.framed ? 1 + pick(4) : 1;
        if (field.record) ids.push_back(time);
        int id = 0;
        if (field.framed) {
            PIOc_def_dim(ncid, (name + "t").c_str(), field.frames, &id);
            ids.push_back(id);
        }
        for (int d = 0; d < nd; d++) {
            field.dims.push_back(1 + pick(9));
            PIOc_def_dim(ncid, (name + std::to_string(d)).c_str(), field.dims.back(), &id);
            ids.push_back(id);
        }
        field.type = types[pick(4)];
        check(PIOc_def_var(ncid, name.c_str(), field.type, static_cast<int>(ids.size()), ids.data(),
                           &field.id) == 0,
              "def_var", number);
        Values one(field.type, 1);
        one.set(0, fill);
        check(PIOc_put_att(ncid, field.id, "_FillValue", field.type, 1, one.bytes.data()) == 0,
              "fill value", number);
        if (stored) store(field);
        fields.push_back(field);
    }
    check(PIOc_enddef(ncid) == 0, "enddef", number);
}

// Sets chunks and filters in random order.
void Case::store(const Field& field) {
    std::vector<PIO_Offset> chunks;
    // Chunk length along the record dimension. If it is above 1, one rank writes the file by
    // netCDF-C, which may lack zstd.
    const bool by_one_rank = field.record && !zstd && pick(6) == 0 && !zarr;
    if (field.record) chunks.push_back(by_one_rank ? 2 : 1);
    if (field.framed) chunks.push_back(1 + pick(field.frames));
    for (const int length : field.dims) chunks.push_back(1 + pick(length));
    const int what = pick(zstd ? 4 : 3), shuffle = pick(2), level = pick(10), first = pick(2);
    const auto filter = [&] {
        if (what == 1 || what == 2)
            check(PIOc_def_var_deflate(ncid, field.id, shuffle, 1, level) == 0, "deflate", number);
        if (what == 3) check(PIOc_def_var_zstandard(ncid, field.id, 1) == 0, "zstd", number);
    };
    if (first == 0) filter();
    if (what != 2 || pick(2) == 0)
        check(PIOc_def_var_chunking(ncid, field.id, NC_CHUNKED, chunks.data()) == 0, "chunks",
              number);
    if (first == 1) filter();
}

void Case::put_random(Field& field) {
    const Parts parts = random_parts(field.dims);
    const int type = types[pick(4)], frame = pick(field.frames);
    const int ioid = declare(parts, type, field.dims);
    const double base = static_cast<double>(pick(50));
    auto& want = field.want[frame];
    want.resize(static_cast<std::size_t>(product(field.dims)), fill);
    for (const auto& map : parts.of)
        for (const PIO_Offset i : map)
            if (i >= 0) want[static_cast<std::size_t>(i)] = base + static_cast<double>(i);
    Values values(type, parts.mine().size());
    for (std::size_t i = 0; i < parts.mine().size(); i++)
        values.set(i, parts.mine()[i] < 0 ? 77 : base + static_cast<double>(parts.mine()[i]));
    PIOc_setframe(ncid, field.id, field.record || field.framed ? frame : -1);
    const int code =
        PIOc_write_darray(ncid, field.id, ioid, static_cast<PIO_Offset>(parts.mine().size()),
                          values.bytes.data(), nullptr);
    check(code == 0, "write_darray " + std::to_string(code), number);
    if (pick(2) == 0) PIOc_freedecomp(ios, ioid);
}

template <class T>
using PutVara = int (*)(int, int, const PIO_Offset*, const PIO_Offset*, const T*);
constexpr std::tuple<PutVara<short>, PutVara<int>, PutVara<float>, PutVara<double>> put_vara{
    PIOc_put_vara_short, PIOc_put_vara_int, PIOc_put_vara_float, PIOc_put_vara_double};

void Case::put_section(Field& field, int frame) {
    auto& want = field.want[frame];
    want.resize(static_cast<std::size_t>(product(field.dims)), fill);
    std::vector<PIO_Offset> start, count;
    if (field.record || field.framed) {
        start.push_back(frame);
        count.push_back(1);
    }
    long n = 1;
    std::vector<int> from, size;
    for (const int length : field.dims) {
        from.push_back(pick(length));
        size.push_back(1 + pick(length - from.back()));
        start.push_back(from.back());
        count.push_back(size.back());
        n *= size.back();
    }
    Values values(types[pick(4)], static_cast<std::size_t>(n));
    const int base = pick(50);
    for (long i = 0; i < n; i++) {
        long rest = i, index = 0, times = 1;
        for (std::size_t d = field.dims.size(); d-- > 0;) {
            index += (from[d] + rest % size[d]) * times;
            times *= field.dims[d];
            rest /= size[d];
        }
        // Only the values of the root count.
        values.set(static_cast<std::size_t>(i),
                   static_cast<double>(base + i % 40) + (rank == 0 ? 0 : 9));
        want[static_cast<std::size_t>(index)] = static_cast<double>(base + i % 40);
    }
    const int code = with_type(values.type, [&](auto own) {
        const auto* data = reinterpret_cast<const decltype(own)*>(values.bytes.data());
        return std::get<PutVara<decltype(own)>>(put_vara)(ncid, field.id, start.data(),
                                                          count.data(), data);
    });
    check(code == 0, "put_vara " + std::to_string(code), number);
}

// Compares the file, which netCDF-C reads on one rank, with the expected values.
void Case::compare(const std::string& path) {
    MPI_Barrier(world);
    if (rank != 0 || zarr) return;
    int id = 0;
    check(nc_open(path.c_str(), NC_NOWRITE, &id) == 0, "netCDF-C cannot open the file", number);
    for (const Field& field : fields)
        for (const auto& [frame, want] : field.want) {
            std::vector<std::size_t> start, count;
            if (field.record || field.framed) {
                start.push_back(static_cast<std::size_t>(frame));
                count.push_back(1);
            }
            for (const int n : field.dims) {
                start.push_back(0);
                count.push_back(static_cast<std::size_t>(n));
            }
            std::vector<double> got(want.size());
            check(nc_get_vara_double(id, field.id, start.data(), count.data(), got.data()) == 0,
                  "netCDF-C cannot read v" + std::to_string(field.id), number);
            for (std::size_t i = 0; i < want.size(); i++)
                check(got[i] == want[i],
                      path + " v" + std::to_string(field.id) + " frame " + std::to_string(frame) +
                          " element " + std::to_string(i) + " is " + std::to_string(got[i]) +
                          ", not " + std::to_string(want[i]),
                      number);
        }
    nc_close(id);
}

// Reads a frame by another decomposition, and compares it with the expected values.
void Case::read(const Field& field, int frame, const std::vector<double>& want) {
    const Parts parts = random_parts(field.dims);
    const auto& mine = parts.mine();
    const int type = types[pick(4)];
    const int ioid = declare(parts, type, field.dims);
    Values got(type, mine.size());
    for (std::size_t i = 0; i < mine.size(); i++) got.set(i, 55);
    PIOc_setframe(ncid, field.id, field.record || field.framed ? frame : -1);
    check(PIOc_read_darray(ncid, field.id, ioid, static_cast<PIO_Offset>(mine.size()),
                           got.bytes.data()) == 0,
          "read_darray", number);
    for (std::size_t i = 0; i < mine.size(); i++)
        check(got.get(i) == (mine[i] < 0 ? 55 : want[static_cast<std::size_t>(mine[i])]),
              "v" + std::to_string(field.id) + " reads wrong at " + std::to_string(i), number);
    PIOc_freedecomp(ios, ioid);
}

void Case::read_back(const std::string& path) {
    int iotype = 1 + pick(4);
    check(PIOc_openfile(ios, &ncid, &iotype, path.c_str(), PIO_NOWRITE) == 0, "openfile", number);
    for (const Field& field : fields)
        for (const auto& [frame, want] : field.want) read(field, frame, want);
    check(PIOc_closefile(ncid) == 0, "closefile", number);
}

void run(long number) {
    Case c{number, 0, {}, false, 0};
    constexpr int modes[] = {0, PIO_64BIT_OFFSET, PIO_64BIT_DATA};
    const std::string path = "property.nc";
    constexpr PIO_Offset limits[] = {64 << 20, 4096, 1};
    PIOc_set_buffer_size_limit(limits[pick(3)]);
    c.define(1 + pick(4), modes[pick(3)], path);
    for (int i = 2 + pick(10); i > 0; i--) {
        Field& field = c.fields[static_cast<std::size_t>(pick(3))];
        const int action = pick(10);
        if (action < 5)
            c.put_random(field);
        else if (action < 7)
            c.put_section(field, pick(field.frames));
        else if (action < 8)
            check(PIOc_sync(c.ncid) == 0, "sync", number);
        else  // the rest of what was put in part has fill values
            for (const auto& [frame, want] : field.want) c.read(field, frame, want);
        if (pick(12) == 0) {  // close the file and open it again
            check(PIOc_closefile(c.ncid) == 0, "closefile", number);
            int iotype = PIO_IOTYPE_PNETCDF;
            check(PIOc_openfile(ios, &c.ncid, &iotype, path.c_str(), PIO_WRITE) == 0, "openfile",
                  number);
        }
    }
    const int code = PIOc_closefile(c.ncid);
    check(code == 0, "closefile " + std::to_string(code), number);
    c.compare(path);
    c.read_back(path);
    MPI_Barrier(world);
    if (zarr) check(PIOc_deletefile(ios, path.c_str()) == 0, "deletefile", number);
}

}  // namespace

int main(int argc, char** argv) {
    if (!begin_system(argc, argv, 0, &ios)) return failures == 0 ? 0 : 1;
    const char* const format = std::getenv("THALWEG_FORMAT");
    zarr = format != nullptr && std::strcmp(format, "zarr") == 0;
    const long seed = argc > 1 ? std::atol(argv[1]) : 1, cases = argc > 2 ? std::atol(argv[2]) : 20;
    for (long i = seed; i < seed + cases; i++) {
        common = Random(mix(static_cast<std::uint64_t>(i)));
        run(i);
        int any = failures > 0 ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, world);
        if (any != 0) break;
    }
    PIOc_finalize(ios);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
