// Tests the promises of the setting `staging`: sections and records with service inline and little
// memory.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

tw_session session = nullptr;
int rank = 0, ranks = 1;
std::string folder;

#define OK(call) CHECK_TEXT((call) == TW_OK, "%s", tw_error_message(session))

std::int64_t peak() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::int64_t(usage.ru_maxrss) * 1024;
}

/// A file in which rank r holds row r of T(time, y, x), with `columns` elements.
struct Rows {
    Rows(const std::string& settings, std::int64_t n) : columns(n) {
        check::step("%s", settings.c_str());
        const std::int64_t shape[2] = {ranks, columns}, start[2] = {rank, 0};
        const std::int64_t count[2] = {1, columns};
        OK(tw_decompose(session, "y x", 1, shape, start, count, &d));
        OK(tw_create(session, path.c_str(), settings.c_str(), &file));
        OK(tw_def_var(file, "T", TW_INT, "time y x", d));
        OK(tw_enddef(file));
    }
    std::vector<int> values(int plus) const {
        std::vector<int> v(static_cast<std::size_t>(columns));
        for (std::size_t i = 0; i < v.size(); ++i)
            v[i] = static_cast<int>(i) + 1000000 * rank + plus;
        return v;
    }
    /// Closes the file, and compares this rank's row.
    void expect(int plus) {
        OK(tw_close(&file));
        tw_file f = nullptr;
        OK(tw_open(session, path.c_str(), nullptr, &f));
        std::vector<int> found(static_cast<std::size_t>(columns), -1);
        OK(tw_get(f, "T", d, 0, TW_INT, found.data(), columns));
        CHECK_TEXT(found == values(plus), "other values");
        OK(tw_close(&f));
        OK(tw_free_decomposition(&d));
    }

    std::int64_t columns;
    std::string path = folder + "/staging.nc";
    tw_file file = nullptr;
    tw_decomposition d = nullptr;
};

/// Tests that a later put of a record replaces the earlier one, and needs no more memory.
void replaces(const std::string& storage) {
    Rows rows("staging=64KiB" + storage, 12 << 10);
    for (const int plus : {1, 2, 3}) {
        const std::vector<int> values = rows.values(plus);
        OK(tw_put_record(rows.file, "T", rows.d, 0, TW_INT, values.data(), rows.columns));
    }
    OK(tw_end_step(rows.file));
    rows.expect(3);
}

/// Tests one rank that writes the sections of all ranks; each section is about as large as
/// `staging`.
void stays_within(const std::string& storage) {
    constexpr std::int64_t staging = 16 << 20;
    Rows rows("staging=16MiB; writers=1" + storage, (staging >> 2) / 8 * 7);
    const std::vector<int> values = rows.values(0);
    const std::int64_t start[3] = {0, rank, 0}, count[3] = {1, 1, rows.columns};
    const std::int64_t before = peak();
    OK(tw_put_box(rows.file, "T", TW_INT, start, count, nullptr, values.data()));
    OK(tw_end_step(rows.file));
    const std::int64_t more = peak() - before;
    // Permits a copy of its own data, data that arrive in a round, and messages that are being
    // sent.
    CHECK_TEXT(more < 4 * staging, "%lld bytes more memory", static_cast<long long>(more));
    rows.expect(0);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    rank = check::state.rank;
    ranks = check::state.size;
    folder = check::make_folder("staging");
    OK(tw_init(MPI_COMM_WORLD, nullptr, &session));
    for (const char* storage : {"", "; format=netcdf4; deflate=1"}) {
        replaces(storage);
        stays_within(storage);
    }
    OK(tw_finalize(&session));
    if (rank == 0) std::filesystem::remove_all(folder);
    return check::verdict("staging");
}
