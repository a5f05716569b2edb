// Tests sessions of one process: without MPI, while MPI runs, and from before its start to after
// its end.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thalweg/thalweg.hpp>
#include <vector>

#include "support/checks.hpp"

namespace {

using thalweg::Session;

constexpr std::int64_t nx = 5, ny = 7;

std::vector<double> values(int step) {
    std::vector<double> v;
    for (std::int64_t i = 0; i < nx * ny; ++i) v.push_back(static_cast<double>(100 * step + i));
    return v;
}

struct Written {
    thalweg::Decomposition cells;
    thalweg::File file;

    Written(Session& io, const std::string& path, const std::string& settings = "")
        : cells(io.decompose("x y", {nx, ny}, {{{0, 0}, {nx, ny}}})),
          file(io.create(path, settings)) {
        file.def_var("T", thalweg::Type::float64, "time y x", cells);
    }
    void step(int n) {
        file.put("T", values(n));
        file.end_step();
    }
};

void write(Session& io, const std::string& path, const std::string& settings = "") {
    Written written(io, path, settings);
    for (const int n : {1, 2}) written.step(n);
    written.file.close();
}

void read(Session& io, const std::string& path) {
    auto cells = io.decompose("x y", {nx, ny}, {{{0, 0}, {nx, ny}}});
    auto file = io.open(path);
    for (const int n : {1, 2}) {
        std::vector<double> got(nx * ny);
        file.get("T", cells, n - 1, got);
        CHECK(got == values(n));
    }
    file.close();
}

std::string bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

template <class F>
thalweg::Error error_of(F&& f) {
    try {
        f();
    } catch (const thalweg::Error& e) {
        return e;
    }
    return {TW_OK, ""};
}

bool has(const thalweg::Error& e, const std::string& text) {
    return std::string(e.what()).find(text) != std::string::npos;
}

void whatever_runs() {
    Session io = Session::serial("log=error");
    write(io, "inline.nc", "service=inline");
    read(io, "inline.nc");
    const std::string reference = bytes("inline.nc");
    CHECK(!reference.empty());
    for (const std::string service : {"background", "auto"})
        for (const std::string method : {"auto", "serial", "direct"}) {
            write(io, "other.nc", "service=" + service + "; method=" + method);
            CHECK(bytes("other.nc") == reference);
        }
    Session other = Session::serial();
    read(other, "other.nc");
    CHECK(io.role() == thalweg::Role::model);
    const auto none_left = error_of([] { Session::serial("servers=1"); });
    CHECK(none_left.code() == TW_ESETTING && has(none_left, "1 servers of 1 ranks"));
    const auto wrong = error_of([] { Session::serial("method=fast"); });
    CHECK(wrong.code() == TW_ESETTING && has(wrong, "'fast'"));
    other.finalize();
    io.finalize();
}

void without_mpi() {
    whatever_runs();
    Session io = Session::serial();
    Written file(io, "pnetcdf.nc", "storage=pnetcdf");
    const auto refused = error_of([&] { file.file.enddef(); });
#if THALWEG_TEST_PNETCDF
    CHECK(refused.code() == TW_EMPI && has(refused, "pnetcdf.nc") &&
          has(refused, "storage=pnetcdf needs MPI"));
#elif defined(THALWEG_SERIAL)
    CHECK(refused.code() == TW_EUNSUPPORTED && has(refused, "build of the library with PnetCDF"));
#endif
    (void)error_of([&] { file.file.close(); });
    io.finalize();
}

#ifndef THALWEG_SERIAL
void with_mpi() {
    Session lasting = Session::serial();
    CHECK(lasting.model_comm() == MPI_COMM_NULL);
    Written file(lasting, "lasting.nc");
    file.step(1);

    MPI_Init(nullptr, nullptr);
    whatever_runs();
    Session io = Session::serial();
    int size = 0;
    MPI_Comm_size(io.model_comm(), &size);
    CHECK(size == 1);
    write(io, "pnetcdf.nc", "storage=" PNETCDF);
    read(io, "pnetcdf.nc");
    io.finalize();
    MPI_Finalize();

    file.step(2);
    file.file.close();
    read(lasting, "lasting.nc");
    lasting.finalize();
    whatever_runs();
}
#endif

}  // namespace

int main() try {
    without_mpi();
#ifndef THALWEG_SERIAL
    with_mpi();
#endif
    if (failures == 0) std::puts("ok");
    return failures == 0 ? 0 : 1;
} catch (const thalweg::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
