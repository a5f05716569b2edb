// Tests decompositions without names, which are matched to variables by position, in a restart, and
// what is refused. property.cpp writes and reads variables by them.
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

using Values = std::vector<float>;
using Numbers = std::vector<std::int64_t>;

std::string folder;
const int &rank = check::state.rank, &size = check::state.size;
constexpr std::int64_t nx = 5, rows = 2;  // rows of each rank

Numbers shape() { return {rows * size, nx}; }

tw_decomposition unnamed() {
    tw_decomposition d = nullptr;
    const std::int64_t start[] = {rows * rank, 0}, count[] = {rows, nx};
    OK(tw_decompose(session, "* *", 1, shape().data(), start, count, &d));
    return d;
}

Values values() {
    Values v(rows * nx);
    std::iota(v.begin(), v.end(), static_cast<float>(10 * rank));
    return v;
}
constexpr std::int64_t n = rows * nx;

void restart(tw_decomposition d) {
    const std::string path = folder + "/restart.nc";
    tw_restart r = nullptr;
    OK(tw_restart_new(session, "durable=no", &r));
    Values v = values();
    OK(tw_restart_add(r, "v", TW_FLOAT, "j i", d, v.data(), n, TW_REQUIRED));
    CHECK(tw_restart_add(r, "w", TW_FLOAT, "k j i", d, v.data(), n, TW_REQUIRED) == TW_ENOTFOUND);
    OK(tw_restart_write(r, path.c_str()));
    v.assign(v.size(), -1);
    OK(tw_restart_read(r, path.c_str(), nullptr));
    CHECK(v == values());
    OK(tw_restart_free(&r));
}

void refused(tw_decomposition d) {
    tw_decomposition none = nullptr;
    const Numbers lengths = shape(), zero{0, 0}, turned{nx, rows * size}, large{1 << 20, 0};
    REFUSED(tw_decompose(session, "* x", 0, lengths.data(), nullptr, nullptr, &none), TW_EARG,
            "either all dimensions have names");
    REFUSED(tw_decompose(session, "* *", 1, lengths.data(), large.data(), lengths.data(), &none),
            TW_EBOUNDS, "along dimension 0 exceed");
    const std::int64_t index = 0;
    REFUSED(tw_decompose_list(session, "* *", lengths.data(), "*", rank == 0 ? 1 : 0, &index,
                              TW_LIST_UNIQUE, &none),
            TW_EARG, "must cover all of them");
    REFUSED(tw_decompose_list(session, "* *", lengths.data(), "* * *", 0, &index, TW_LIST_UNIQUE,
                              &none),
            TW_EARG, "must be adjacent");
    tw_decomposition other = nullptr;
    OK(tw_decompose(session, "* *", rank == 0 ? 1 : 0, turned.data(), zero.data(), turned.data(),
                    &other));
    tw_file f = nullptr;
    OK(tw_create(session, (folder + "/refused.nc").c_str(), "", &f));
    OK(tw_def_dim(f, "time", TW_UNLIMITED));
    OK(tw_def_dim(f, "lat", rows * size));
    OK(tw_def_dim(f, "lon", nx));
    const auto define = [&](const char* dims, tw_decomposition by) {
        return tw_def_var(f, "v", TW_FLOAT, dims, by);
    };
    REFUSED(define("time lat", d), TW_ESHAPE, "variable 'v'");
    REFUSED(define("lat", d), TW_ESHAPE, "variable 'v'");
    REFUSED(define("time time lat lon", d), TW_ESHAPE, "unlimited");
    REFUSED(define("lon lat", d), size * rows == nx ? TW_OK : TW_ESHAPE, "");
    REFUSED(define("lat lon", other), TW_ESHAPE, "");
    REFUSED(define("lat lat lon", d), TW_ESHAPE, "");
    REFUSED(define("other lat lon", d), TW_ENOTFOUND, "'other'");
    REFUSED(define("*", d), TW_EARG, "not a valid netCDF name");
    OK(define("time lat lon", d));
    OK(tw_def_var(f, "one", TW_FLOAT, "lat", nullptr));
    const Values v = values();
    OK(tw_put(f, "v", TW_FLOAT, v.data(), n));
    CHECK(tw_put_record(f, "one", d, 0, TW_FLOAT, v.data(), n) == TW_ESHAPE);
    const std::int64_t whole = rank == 0 ? turned[0] * turned[1] : 0;
    const Values all(static_cast<std::size_t>(turned[0] * turned[1]));
    CHECK(tw_put_record(f, "v", other, 1, TW_FLOAT, all.data(), whole) == TW_ESHAPE);
    CHECK(calls::text().find("have the lengths") != std::string::npos);
    OK(tw_end_step(f));
    OK(tw_sync(f, 0));
    Values got(all.size());
    REFUSED(tw_get(f, "v", other, 0, TW_FLOAT, got.data(), whole), TW_ESHAPE, "have the lengths");
    REFUSED(tw_get(f, "one", d, 0, TW_FLOAT, got.data(), n), TW_ESHAPE, "have the lengths");
    OK(tw_close(&f));
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    folder = check::make_folder("positions");
    OK(tw_init(MPI_COMM_WORLD, "log=off", &session));
    const tw_decomposition d = unnamed();
    restart(d);
    refused(d);
    OK(tw_finalize(&session));
    return check::verdict("positions");
}
