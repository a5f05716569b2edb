// Tests the checksums beside files: they do not depend on which rank writes which part, and stay
// right when records are rewritten or added. The reference is their definition, applied to the
// values that serial netCDF-C reads.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: checksums [--servers N]
//        checksums --write PATH [--settings S]  writes a file of 4 records
//        checksums --die PATH [--settings S]    is killed after the fourth record

#include <mpi.h>
#include <netcdf.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "support/content.hpp"
#include "system/calls.hpp"

namespace {

using calls::session;
namespace fs = std::filesystem;

constexpr std::int64_t nz = 3, ny = 97, nx = 211;

std::int64_t rank() { return check::state.rank; }
std::int64_t ranks() { return check::state.size; }

/// A file that all ranks write together. T and s have records, h has none.
struct Writer {
    tw_file file = nullptr;
    tw_decomposition volume = nullptr, plane = nullptr;
    std::array<std::int64_t, 3> start{}, count{nz, 0, nx};

    Writer() {
        const std::int64_t shape[] = {nz, ny, nx};
        start[1] = ny * rank() / ranks();
        count[1] = ny * (rank() + 1) / ranks() - start[1];
        OK(tw_decompose(session, "z y x", 1, shape, start.data(), count.data(), &volume));
        OK(tw_decompose(session, "y x", 1, shape + 1, start.data() + 1, count.data() + 1, &plane));
    }

    void define() {
        OK(tw_def_dim(file, "time", TW_UNLIMITED));
        OK(tw_def_var(file, "h", TW_DOUBLE, "y x", plane));
        OK(tw_def_var(file, "time", TW_DOUBLE, "time", nullptr));
        OK(tw_def_var(file, "T", TW_FLOAT, "time z y x", volume));
        OK(tw_def_var(file, "s", TW_SHORT, "time y x", plane));
    }
    template <class T>
    std::vector<T> values(std::int64_t levels, std::int64_t seed) const {
        std::vector<T> made;
        for (std::int64_t z = 0; z < levels; ++z)
            for (std::int64_t y = start[1]; y < start[1] + count[1]; ++y)
                for (std::int64_t x = 0; x < nx; ++x)
                    made.push_back(static_cast<T>((z * 7 + y * 31 + x * 3 + seed * 5) % 1009));
        return made;
    }
    void put_fixed() {
        const auto h = values<double>(1, 0);
        OK(tw_put(file, "h", TW_DOUBLE, h.data(), std::ssize(h)));
    }
    void put_step(std::int64_t seed) {
        const auto volume_values = values<float>(nz, seed);
        const auto plane_values = values<std::int16_t>(1, seed);
        const double time = 10.0 + 0.5 * static_cast<double>(seed);
        OK(tw_put(file, "time", TW_DOUBLE, &time, 1));
        OK(tw_put(file, "T", TW_FLOAT, volume_values.data(), std::ssize(volume_values)));
        OK(tw_put(file, "s", TW_SHORT, plane_values.data(), std::ssize(plane_values)));
        OK(tw_end_step(file));
    }
};

/// Writes 4 records. @param change  function that is called before the file is closed
template <class Change>
void write(const std::string& path, const std::string& settings, Change&& change) {
    Writer w;
    OK(tw_create(session, path.c_str(), settings.c_str(), &w.file));
    w.define();
    w.put_fixed();
    for (std::int64_t record = 0; record < 4; ++record) w.put_step(record);
    change(w);
    OK(tw_close(&w.file));
}

void write(const std::string& path, const std::string& settings) {
    write(path, settings, [](Writer&) {});
}

// ---- the definition -----------------------------------------------------------------------------

/// Reads a variable (of one record) by netCDF-C, in the byte order of the file.
std::string bytes_of(int id, const std::string& name, bool record, std::size_t at, bool swap) {
    int var = -1, nd = 0, dims[4];
    nc_type type = NC_NAT;
    std::size_t size = 0, n = 1;
    CHECK(nc_inq_varid(id, name.c_str(), &var) == NC_NOERR);
    CHECK(nc_inq_var(id, var, nullptr, &type, &nd, dims, nullptr) == NC_NOERR);
    CHECK(nc_inq_type(id, type, nullptr, &size) == NC_NOERR);
    std::array<std::size_t, 4> start{}, count{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(nd); ++d)
        CHECK(nc_inq_dimlen(id, dims[d], &count[d]) == NC_NOERR);
    if (record) {
        start[0] = at;
        count[0] = 1;
    }
    for (std::size_t d = 0; d < static_cast<std::size_t>(nd); ++d) n *= count[d];
    std::string bytes(n * size, '\0');
    CHECK(nc_get_vara(id, var, start.data(), count.data(), bytes.data()) == NC_NOERR);
    for (std::size_t i = 0; swap && i < bytes.size(); i += size)
        std::reverse(bytes.begin() + std::ptrdiff_t(i), bytes.begin() + std::ptrdiff_t(i + size));
    return bytes;
}

std::string sum_of(const std::string& bytes) {
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(bytes.data(), bytes.size()));
    return {reinterpret_cast<const char*>(sum.digest), sizeof sum.digest};
}

/// On rank 0, compares the checksums of a file with those that follow from their definition. For
/// filtered variables, only tests that there are some.
/// @param unsummed  records before this one have no checksums
void look(const std::string& path, const std::string& title, std::size_t unsummed = 0) {
    MPI_Barrier(check::state.comm);
    if (rank() != 0) return;
    const std::string sums = content_of(path + ".sums");
    CHECK_TEXT(sums.size() > 32 && sums.starts_with("TWSUMS1\n"), "{}: {}", title, sums.size());
    std::uint64_t header = 0;
    for (std::size_t i = 8; i-- > 0;)
        header = header << 8 | static_cast<unsigned char>(sums[8 + i]);
    if (sums.size() < header || header < 32) return;
    const std::string text = sums.substr(32, header - 32);
    CHECK(sum_of(text) == sums.substr(16, 16));
    const auto json = nlohmann::json::parse(text);
    int id = 0, dim = 0, format = 0;
    std::size_t records = 0;
    CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
    CHECK(nc_inq_format(id, &format) == NC_NOERR);
    if (nc_inq_unlimdim(id, &dim) == NC_NOERR && dim >= 0) nc_inq_dimlen(id, dim, &records);
    const bool swap = format != NC_FORMAT_NETCDF4 && format != NC_FORMAT_NETCDF4_CLASSIC;
    std::size_t at = header;
    for (const bool record : {false, true})
        for (std::size_t r = 0; r < (record ? records : 1); ++r)
            for (const auto& v : json["variables"]) {
                if (v["record"].get<bool>() != record) continue;
                const std::string name = v["name"];
                const bool chunks = v["chunks"];
                const std::string bytes =
                    chunks ? std::string() : bytes_of(id, name, record, r, swap);
                for (std::size_t k = 0; k < v["pieces"].get<std::size_t>(); ++k, at += 16) {
                    const std::string found = sums.size() < at + 16 ? "" : sums.substr(at, 16);
                    const bool some = found != std::string(16, '\0') &&
                                      found != std::string(16, '\xFF') && found.size() == 16;
                    if (record && r < unsummed) {
                        CHECK_TEXT(!some, "{}: {} has a checksum", title, name);
                        continue;
                    }
                    const bool good =
                        chunks ? some : found == sum_of(bytes.substr(k << 16, 1 << 16));
                    CHECK_TEXT(good, "{}: {}, record {}, piece {}", title, name, r, k);
                }
            }
    CHECK_TEXT(at == sums.size(), "{}: {} of {} bytes", title, at, sums.size());
    nc_close(id);
}

// ---- the cases ----------------------------------------------------------------------------------

void all_ways(const std::string& folder) {
    std::string first;
    for (const std::string way :
         {"method=serial", "method=record", "method=record; writers=2; piece=40000",
          "method=slabs; writers=2", "method=rows; writers=2", "method=columns", "method=tiles",
          "method=direct", "staging=0", "service=background; writers=2",
          "service=background; queue=100000", "storage=" PNETCDF, "durable=yes"}) {
        const std::string path = folder + "/way.nc";
        write(path, "checksums=yes; " + way);
        look(path, way);
        if (rank() == 0) {
            const std::string sums = content_of(path + ".sums");
            if (first.empty()) first = sums;
            CHECK_TEXT(sums == first, way);
            CHECK(!fs::exists(path + ".part.sums"));
        }
    }
    for (const std::string form :
         {"format=cdf1", "format=cdf5", "format=netcdf4", "format=netcdf4; writers=2",
          "format=netcdf4; deflate=1", "format=netcdf4; deflate=1; writers=2; service=background",
          "format=netcdf4; chunks=y=20,x=50; quantize=bitround:5"}) {
        const std::string path = folder + "/form.nc";
        write(path, "checksums=yes; " + form);
        look(path, form);
    }
    const std::string set = folder + "/set.nc";
    write(set, "checksums=yes; files=variable");
    for (const char* name : {"h", "time", "T", "s"})
        look(set + "/" + name + ".nc", std::string("files=variable: ") + name);
    const std::string tiles = folder + "/tiles.nc";
    write(tiles, "checksums=yes; method=tiles; files=tiles; tiles=1x1");
    look(tiles + ".0000", "files=tiles");
}

/// Records are written again, completely or in part.
void rewritten(const std::string& folder) {
    for (const std::string way :
         {"", "writers=2", "method=direct", "service=background", "format=netcdf4",
          "format=netcdf4; deflate=1", "format=netcdf4; deflate=1; service=background"}) {
        const std::string path = folder + "/again.nc", settings = "checksums=yes; " + way;
        const auto change = [](Writer& w) {
            const auto values = w.values<float>(nz, 77);
            OK(tw_put_record(w.file, "T", w.volume, 1, TW_FLOAT, values.data(),
                             std::ssize(values)));
            OK(tw_end_step(w.file));
            const std::array<float, 6> some{1, 2, 3, 4, 5, 6};
            const std::int64_t start[] = {2, 1, 40 + rank(), 17}, count[] = {1, 1, 1, 6};
            OK(tw_put_box(w.file, "T", TW_FLOAT, start, count, nullptr, some.data()));
            OK(tw_end_step(w.file));
        };
        write(path, settings, change);
        look(path, "rewritten: " + way);
        Writer w;
        OK(tw_open(session, path.c_str(), "mode=append", &w.file));
        w.define();
        w.put_step(4);
        change(w);
        OK(tw_close(&w.file));
        look(path, "appended: " + way);
        // The checksums of dropped records must be dropped, too.
        Writer shorter;
        OK(tw_open(session, path.c_str(), "mode=append", &shorter.file));
        OK(tw_set_record(shorter.file, 2, TW_DROP_LATER));
        shorter.define();
        shorter.put_step(9);
        OK(tw_close(&shorter.file));
        look(path, "dropped: " + way);
    }
}

void with_servers(const std::string& folder) {
    for (const std::string way : {"", "format=netcdf4; deflate=1", "format=cdf5; queue=300000"}) {
        const std::string path = folder + "/served.nc";
        write(path, "service=servers; checksums=yes; " + way);
        look(path, "servers: " + way);
    }
}

/// Tests files that had no checksums, and files that get none.
void without(const std::string& folder) {
    const std::string path = folder + "/without.nc";
    write(path, "checksums=yes");
    write(path, "");
    MPI_Barrier(check::state.comm);
    CHECK(!fs::exists(path + ".sums"));
    MPI_Barrier(check::state.comm);
    Writer w;
    OK(tw_open(session, path.c_str(), "mode=append; checksums=yes", &w.file));
    w.define();
    w.put_step(4);
    OK(tw_close(&w.file));
    MPI_Barrier(check::state.comm);
    if (rank() == 0) CHECK(fs::exists(path + ".sums"));
}

void manifest(const std::string& folder) {
    const std::string list = folder + "/done.jsonl";
    write(folder + "/a.nc", "manifest=" + list + "; checksums=yes");
    write(folder + "/b.nc", "durable=yes; manifest=" + list);
    MPI_Barrier(check::state.comm);
    if (rank() == 0) {
        std::ifstream in(list);
        std::string first, second, third;
        std::getline(in, first);
        std::getline(in, second);
        CHECK(!std::getline(in, third));
        const auto a = nlohmann::json::parse(first), b = nlohmann::json::parse(second);
        CHECK(a["name"] == folder + "/a.nc" && b["name"] == folder + "/b.nc");
        CHECK(a["records"] == 4 && a["time"][0] == 10.0 && a["time"][1] == 11.5);
        CHECK(a["bytes"] == fs::file_size(folder + "/a.nc"));
        CHECK(a["checksum"].get<std::string>().size() == 32 && !b.contains("checksum"));
        CHECK(a["run"] == b["run"] && !a["run"].get<std::string>().empty());
    }
    Writer w;
    OK(tw_create(session, (folder + "/c.nc").c_str(),
                 ("manifest=" + folder + "/no/such/list").c_str(), &w.file));
    w.define();
    w.put_step(0);
    REFUSED(tw_close(&w.file), TW_EIO, "not in the manifest");
    MPI_Barrier(check::state.comm);
    CHECK(fs::exists(folder + "/c.nc"));
}

[[noreturn]] void die(const std::string& path, const std::string& settings) {
    write(path, "checksums=yes; " + settings, [](Writer& w) {
        OK(tw_sync(w.file, 0));
        MPI_Barrier(MPI_COMM_WORLD);
        ::kill(::getpid(), SIGKILL);
        for (;;) ::pause();
    });
    std::abort();
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const std::string servers = check::option(argc, argv, "--servers", "0");
    const std::string settings = check::option(argc, argv, "--settings", "");
    const std::string path = check::option(argc, argv, "--write", "");
    const std::string grave = check::option(argc, argv, "--die", "");
    const std::string folder = check::make_folder("checksums");
    calls::in_session("node_size=2; servers=" + servers, [&] {
        if (!grave.empty()) die(grave, settings);
        if (!path.empty()) {
            write(path, "checksums=yes; " + settings);
        } else if (servers != "0") {
            with_servers(folder);
        } else {
            all_ways(folder);
            rewritten(folder);
            without(folder);
            manifest(folder);
        }
    });
    return check::verdict("checksums");
}
