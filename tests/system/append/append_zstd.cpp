// Tests that a second program drops records within chunks that are compressed by zstd, which HDF5
// does not know there.
//
// Usage: append_zstd write|drop
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <string>

#include "append_file.hpp"

using namespace append_file;  // NOLINT: functions for the file that the tests continue

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    OK(tw_init(check::state.comm, nullptr, &session));
    path = "zstd.nc";
    decompose();
    const bool drops = argc > 1 && std::string(argv[1]) == "drop";
    tw_file file = nullptr;
    if (drops) {
        file = append();
        define(file);
        OK(tw_set_record(file, 1, TW_DROP_LATER));
        step(file, 3);
    } else {
        OK(tw_create(session, path.c_str(), "format=netcdf4", &file));
        define(file);
        OK(tw_set_var(file, "T", "zstd=1"));
        OK(put(file, "h", 9));
        for (int r = 0; r < 3; ++r) step(file, r);
    }
    OK(tw_close(&file));
    if (drops) {
        OK(tw_open(session, path.c_str(), nullptr, &file));
        for (int r = 0; r < 2; ++r) {
            float values[2] = {};
            OK(tw_get(file, "T", line, r, TW_FLOAT, values, 2));
            CHECK(values[0] == value(r == 0 ? 0 : 3, 2 * rank()));
        }
        tw_file_info info{};
        OK(tw_inq(file, &info));
        CHECK(info.records == 2);
        OK(tw_close(&file));
    }
    OK(tw_free_decomposition(&line));
    OK(tw_finalize(&session));
    return check::verdict("append_zstd");
}
