// Tests decompositions that are freed: variables and reads that use them keep working, and a copy
// of the handle is refused.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "system/calls.hpp"

using calls::session;

namespace {

using Values = std::vector<double>;

std::string folder;
const int &rank = check::state.rank, &size = check::state.size;
constexpr std::int64_t nx = 6;
constexpr std::int64_t rows = 2;  // rows of each rank

const std::int64_t* shape() {
    static std::int64_t lengths[2];
    lengths[0] = rows * size;
    lengths[1] = nx;
    return lengths;
}

/// Makes a decomposition with some rows on each rank. If `by` differs, other ranks have the rows.
tw_decomposition decompose(int by = 0) {
    tw_decomposition d = nullptr;
    const std::int64_t start[] = {rows * ((rank + by) % size), 0}, count[] = {rows, nx};
    OK(tw_decompose(session, "y x", 1, shape(), start, count, &d));
    return d;
}

Values values_of(std::int64_t record, int by = 0) {
    Values v(rows * nx);
    std::iota(v.begin(), v.end(), static_cast<double>(1000 * record + ((rank + by) % size) * 100));
    return v;
}

int put(tw_file file, const Values& v) {
    return tw_put(file, "T", TW_DOUBLE, v.data(), static_cast<std::int64_t>(v.size()));
}

int get(tw_file file, tw_decomposition d, std::int64_t record, Values& v) {
    return tw_get(file, "T", d, record, TW_DOUBLE, v.data(), static_cast<std::int64_t>(v.size()));
}

void expect(const std::string& path, std::int64_t records) {
    tw_decomposition d = decompose();
    tw_file file = nullptr;
    OK(tw_open(session, path.c_str(), nullptr, &file));
    for (std::int64_t r = 0; r < records; ++r) {
        Values v(rows * nx, -1);
        OK(get(file, d, r, v));
        CHECK_TEXT(v == values_of(r), "record {} of {}", r, path);
    }
    OK(tw_close(&file));
    OK(tw_free_decomposition(&d));
    CHECK(d == nullptr);
}

/// Tests a decomposition that is freed as soon as the variable is defined.
void while_written(const std::string& service) {
    const std::string path = folder + "/" + service + ".nc";
    tw_decomposition d = decompose();
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), ("service=" + service).c_str(), &file));
    OK(tw_def_var(file, "T", TW_DOUBLE, "time y x", d));
    OK(tw_free_decomposition(&d));
    for (int r = 0; r < 3; ++r) {
        // Another decomposition must not get data of the freed one.
        tw_decomposition other = decompose(r + 1);
        OK(put(file, values_of(r)));
        OK(tw_end_step(file));
        OK(tw_free_decomposition(&other));
    }
    OK(tw_close(&file));
    expect(path, 3);
}

/// Tests a decomposition that is freed on some ranks only, and then declared again with the same
/// contents.
void on_some_ranks() {
    tw_decomposition kept = decompose(), again = nullptr;
    if (rank % 2 == 0) OK(tw_free_decomposition(&kept));
    for (int i = 0; i < 3; ++i) {
        const std::string path = folder + "/some.nc";
        again = decompose();
        tw_file file = nullptr;
        OK(tw_create(session, path.c_str(), nullptr, &file));
        OK(tw_def_var(file, "T", TW_DOUBLE, "time y x", again));
        if (rank % 2 == i % 2) OK(tw_free_decomposition(&again));
        OK(put(file, values_of(0)));
        OK(tw_close(&file));
        expect(path, 1);
    }
    if (kept != nullptr) OK(tw_free_decomposition(&kept));
}

/// Tests a decomposition that is freed between the request and the read.
void while_read() {
    const std::string path = folder + "/inline.nc";
    tw_file file = nullptr;
    OK(tw_open(session, path.c_str(), nullptr, &file));
    Values v(rows * nx, -1);
    tw_decomposition d = decompose(1);
    OK(tw_get_array(file, "T", d, 1, tw_dense(TW_DOUBLE, v.data(), rows * nx), TW_DEFERRED));
    OK(tw_free_decomposition(&d));
    OK(tw_read(file));
    CHECK(v == values_of(1, 1));
    // declare more decompositions than there are plans that are kept
    for (int i = 0; i < 40; ++i) {
        d = decompose(i);
        OK(get(file, d, 2, v));
        CHECK(v == values_of(2, i));
        OK(tw_free_decomposition(&d));
    }
    OK(tw_close(&file));
}

/// Tests a decomposition that is padded after its array was registered, and then freed.
void in_a_restart() {
    const std::string path = folder + "/restart.nc";
    const std::int64_t extent[] = {rows + 1, nx + 2};
    tw_restart restart = nullptr;
    OK(tw_restart_new(session, "durable=no", &restart));
    tw_decomposition d = decompose();
    OK(tw_pad(d, extent, 1));
    Values v(static_cast<std::size_t>(extent[0] * extent[1]), -7);
    const auto n = static_cast<std::int64_t>(v.size());
    const auto fill = [&](double by) {
        for (std::int64_t y = 0; y < rows; ++y)
            for (std::int64_t x = 0; x < nx; ++x)
                v[static_cast<std::size_t>(y * extent[1] + x)] =
                    by + 100 * rank + static_cast<double>(y * nx + x);
    };
    fill(0);
    OK(tw_restart_add(restart, "T", TW_DOUBLE, "y x", d, v.data(), n, TW_REQUIRED));
    OK(tw_free_decomposition(&d));
    OK(tw_restart_write(restart, path.c_str()));
    const Values written = v;
    fill(5);
    OK(tw_restart_read(restart, path.c_str(), nullptr));
    CHECK(v == written);
    OK(tw_restart_free(&restart));
}

/// Tests that all calls with a copy of a freed handle are refused.
void refused() {
    tw_decomposition d = decompose(), copy = d;
    OK(tw_free_decomposition(&d));
    // memory of the freed decomposition may be reused
    std::vector<tw_decomposition> others;
    for (int i = 0; i < 50; ++i) others.push_back(decompose(i));
    for (tw_decomposition other : others) CHECK(other != copy);

    const char* freed = "the decomposition has been freed (rank ";
    const tw_edge edges[] = {TW_HALO_KEEP, TW_HALO_KEEP};
    const std::int64_t extent[] = {rows, nx};
    REFUSED(tw_fill_halo(copy, edges), TW_EHANDLE, freed);
    REFUSED(tw_pad(copy, extent, 1), TW_EHANDLE, freed);
    // freed on one rank only
    if (size > 1) {
        REFUSED(tw_pad(rank == 1 ? copy : others[0], extent, 1), TW_EHANDLE,
                "has been freed (rank 1)");
        REFUSED(tw_fill_halo(rank == 1 ? copy : others[0], edges), TW_EHANDLE,
                "has been freed (rank 1)");
    }
    tw_decomposition again = copy;
    CHECK(tw_free_decomposition(&again) == TW_EHANDLE);
    CHECK(calls::text().find(freed) != std::string::npos);
    CHECK(again == nullptr);
    CHECK(tw_free_decomposition(&again) == TW_EHANDLE);
    CHECK(tw_free_decomposition(nullptr) == TW_EHANDLE);

    const std::string path = folder + "/refused.nc";
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), nullptr, &file));
    CHECK(tw_def_var(file, "T", TW_DOUBLE, "time y x", copy) == TW_EHANDLE);
    CHECK(calls::text().find("refused.nc: variable 'T': the decomposition has been freed") !=
          std::string::npos);
    OK(tw_def_var(file, "T", TW_DOUBLE, "time y x", others[0]));
    OK(put(file, values_of(0)));
    const Values more = values_of(1);
    CHECK(tw_put_record(file, "T", copy, 1, TW_DOUBLE, more.data(), rows * nx) == TW_EHANDLE);
    CHECK(calls::text().find("refused.nc: variable 'T': the decomposition has been freed") !=
          std::string::npos);
    OK(tw_close(&file));
    OK(tw_open(session, path.c_str(), nullptr, &file));
    Values v(rows * nx, -1);
    REFUSED(get(file, copy, 0, v), TW_EHANDLE, freed);
    if (size > 1) REFUSED(get(file, rank == 1 ? copy : others[0], 0, v), TW_EHANDLE, "(rank 1)");
    CHECK(tw_get_array(file, "T", copy, 0, tw_dense(TW_DOUBLE, v.data(), rows * nx), TW_DEFERRED) !=
              TW_OK ||
          tw_read(file) == TW_EHANDLE);
    OK(get(file, others[0], 0, v));
    CHECK(v == values_of(0));
    OK(tw_close(&file));

    tw_restart restart = nullptr;
    OK(tw_restart_new(session, "durable=no", &restart));
    CHECK(tw_restart_add(restart, "T", TW_DOUBLE, "y x", copy, v.data(), rows * nx, TW_REQUIRED) ==
          TW_EHANDLE);
    CHECK(calls::text().find("restart: variable 'T': the decomposition has been freed") !=
          std::string::npos);
    OK(tw_restart_free(&restart));
    for (tw_decomposition& other : others) OK(tw_free_decomposition(&other));
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    folder = check::make_folder("free");
    OK(tw_init(MPI_COMM_WORLD, "log=off", &session));
    while_written("inline");
    while_written("background");
    on_some_ranks();
    while_read();
    in_a_restart();
    refused();
    OK(tw_finalize(&session));
    return check::verdict("free");
}
