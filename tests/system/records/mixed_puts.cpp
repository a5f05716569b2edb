// Tests variables of which no rank holds some elements: tw_put writes the held elements, and other
// ranks put sections of the rest; variables that are put twice; and the memory of sections.
// batches.cpp mixes puts of several steps at random.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <cstdint>
#include <string>
#include <vector>

#include "system/calls.hpp"

using calls::session;

namespace {

constexpr float fill_value = 9.9692099683868690e+36F;

const int &rank = check::state.rank, &ranks = check::state.size;
std::string folder;

/// A file in which rank r holds row r of F(y, x), T(time, y, x) and U(time, y, x). No rank holds
/// the last row. If the last rank is `idle`, no rank holds its row, either.
class Mixed {
public:
    Mixed(const std::string& what, const std::string& settings, std::int64_t n = 1024,
          bool idle = false, bool only_t = false)
        : columns(n), path_(folder + "/mixed.nc"), holds_(!idle || rank < ranks - 1) {
        check::state.test = what + " (" + settings + ")";
        const std::int64_t shape[2] = {ranks + 1, columns}, start[2] = {rank, 0};
        const std::int64_t count[2] = {holds_ ? 1 : 0, columns};
        OK(tw_decompose(session, "y x", 1, shape, start, count, &d));
        OK(tw_create(session, path_.c_str(), settings.c_str(), &file));
        OK(tw_def_var(file, "T", TW_FLOAT, "time y x", d));
        if (!only_t) OK(tw_def_var(file, "F", TW_FLOAT, "y x", d));
        if (!only_t) OK(tw_def_var(file, "U", TW_FLOAT, "time y x", d));
        OK(tw_enddef(file));
    }

    std::vector<float> row(float value) const {
        return std::vector<float>(static_cast<std::size_t>(columns), value);
    }

    /// Puts a row on one rank.
    void put_row(int by, std::int64_t y, float value) const {
        if (rank != by) return;
        const std::vector<float> values = row(value);
        const std::int64_t start[3] = {0, y, 0}, count[3] = {1, 1, columns};
        OK(tw_put_box(file, "T", TW_FLOAT, start, count, nullptr, values.data()));
    }

    void close() {
        OK(tw_close(&file));
        OK(tw_free_decomposition(&d));
    }

    /// Compares the values of each row with a number; `last` is the number for the last row.
    void expect(const char* name, std::int64_t record, float held, float last) const {
        tw_file f = nullptr;
        OK(tw_open(session, path_.c_str(), nullptr, &f));
        const int skip = *name == 'F' ? 1 : 0;
        for (int y = 0; y <= ranks; ++y) {
            const std::int64_t start[3] = {record, y, 0}, count[3] = {1, 1, columns};
            std::vector<float> found = row(-1);
            OK(tw_get_box(f, name, TW_FLOAT, start + skip, count + skip, nullptr, found.data()));
            CHECK_TEXT(found == row(y == ranks ? last : held), "{}: record {}, row {}: {}", name,
                       record, y, found.back());
        }
        OK(tw_close(&f));
    }

    std::int64_t columns;
    tw_file file = nullptr;
    tw_decomposition d = nullptr;

private:
    std::string path_;
    bool holds_;
};

void in_one_step(const std::string& settings) {
    Mixed m("a rank without a part puts sections", settings, 1024, true);
    const std::vector<float> three = m.row(3);
    if (rank < ranks - 1) OK(tw_put(m.file, "T", TW_FLOAT, three.data(), m.columns));
    m.put_row(ranks - 1, ranks - 1, 3);
    m.put_row(ranks - 1, ranks, 4);
    OK(tw_end_step(m.file));
    m.close();
    m.expect("T", 0, 3, 4);
}

/// Puts variables twice in one step: of a fixed-size one the later put stands, of a record variable
/// the first one, and the second is refused, even if the ranks have not met since then.
void twice(const std::string& settings) {
    Mixed m("a variable is put twice", settings);
    const std::vector<float> early = m.row(1), late = m.row(2);
    const tw_array arrays[] = {tw_dense(TW_FLOAT, early.data(), m.columns),
                               tw_dense(TW_FLOAT, late.data(), m.columns)};
    OK(tw_put_array(m.file, "F", arrays[0], TW_DEFERRED));
    OK(tw_put(m.file, "F", TW_FLOAT, late.data(), m.columns));
    for (std::int64_t step = 0; step < 2; ++step)
        for (const int flags : {TW_DEFERRED, 0}) {
            const char* const name = flags == 0 ? "U" : "T";
            OK(tw_put_array(m.file, name, arrays[0], flags));
            if (step == 1) OK(tw_sync(m.file, 0));
            for (const int again : {TW_DEFERRED, 0})
                HERE(TW_ESTATE,
                     check::text("variable '{}': tw_put has put record {} already; call "
                                 "tw_end_step",
                                 name, step),
                     tw_put_array(m.file, name, arrays[1], again));
            if (flags == 0) OK(tw_end_step(m.file));
        }
    m.close();
    m.expect("F", 0, 2, fill_value);
    for (const std::int64_t record : {0, 1})
        for (const char* name : {"T", "U"}) m.expect(name, record, 1, fill_value);
}

/// Puts a variable again after tw_end_step has refused the step, because its array had changed. In
/// the background, the file fails instead.
void repaired(const std::string& settings) {
    Mixed m("a step is put again after an error", settings);
    std::vector<float> values = m.row(1);
    OK(tw_put_array(m.file, "T", tw_dense(TW_FLOAT, values.data(), m.columns), TW_DEFERRED));
    values = m.row(2);
    CHECK(tw_end_step(m.file) == TW_EARG);
    OK(tw_put_array(m.file, "T", tw_dense(TW_FLOAT, values.data(), m.columns), TW_DEFERRED));
    OK(tw_end_step(m.file));
    m.close();
    m.expect("T", 0, 2, fill_value);
}

/// Tests that a later put of a record replaces the earlier one, and needs no more memory.
void replaces(const std::string& storage) {
    Mixed m("a record is put again", "staging=64KiB" + storage, 12 << 10, false, true);
    for (const float value : {1.F, 2.F, 3.F}) {
        const std::vector<float> values = m.row(value);
        OK(tw_put_record(m.file, "T", m.d, 0, TW_FLOAT, values.data(), m.columns));
    }
    OK(tw_end_step(m.file));
    m.close();
    m.expect("T", 0, 3, fill_value);
}

/// Tests one rank that writes the sections of all ranks; each section is about as large as
/// `staging`.
void stays_within(const std::string& storage) {
    constexpr std::int64_t staging = 16 << 20;
    Mixed m("memory", "staging=16MiB; writers=1" + storage, (staging >> 2) / 8 * 7, false, true);
    const auto peak = [] {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return std::int64_t(usage.ru_maxrss) * 1024;
    };
    const std::vector<float> values = m.row(5);
    const std::int64_t start[3] = {0, rank, 0}, count[3] = {1, 1, m.columns}, before = peak();
    OK(tw_put_box(m.file, "T", TW_FLOAT, start, count, nullptr, values.data()));
    OK(tw_end_step(m.file));
    const std::int64_t more = peak() - before;
    // Permits a copy of its own data, data that arrive in a round, and messages that are being
    // sent.
    CHECK_TEXT(more < 4 * staging, "{} bytes more memory", more);
    m.close();
    m.expect("T", 0, 5, fill_value);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    folder = check::make_folder("mixed_puts");
    OK(tw_init(MPI_COMM_WORLD, nullptr, &session));
    for (const char* storage : {"", "; format=netcdf4; deflate=1"}) {
        for (const char* service :
             {"service=inline", "service=inline; staging=10KiB",
              "service=inline; staging=10KiB; method=direct", "service=background"}) {
            const std::string settings = std::string(service) + storage;
            // If there is less memory than a step needs, tw_put is collective, so all ranks must
            // call it.
            if (settings.find("staging") == std::string::npos) in_one_step(settings);
            twice(settings);
            if (settings.find("inline") != std::string::npos) repaired(settings);
        }
        replaces(storage);
        stays_within(storage);
    }
    OK(tw_finalize(&session));
    return check::verdict("mixed_puts");
}
