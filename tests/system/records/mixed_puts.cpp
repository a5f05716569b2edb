// Tests variables of which no rank holds some elements: tw_put writes the held elements, and other
// ranks put sections of the rest, in one step or in several.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

constexpr std::int64_t columns = 1024;
constexpr float fill_value = 9.9692099683868690e+36F;

tw_session session = nullptr;
int rank = 0, ranks = 1;
std::string folder;

#define OK(call) CHECK_TEXT((call) == TW_OK, "%s", tw_error_message(session))

std::vector<float> row(float value) {
    return std::vector<float>(static_cast<std::size_t>(columns), value);
}

/// A file in which rank r holds row r of F(y, x), T(time, y, x) and U(time, y, x). No rank holds
/// the last row. If the last rank is `idle`, no rank holds its row, either.
class Mixed {
public:
    Mixed(const std::string& what, const std::string& settings, bool idle = false)
        : path_(folder + "/mixed.nc"), holds_(!idle || rank < ranks - 1) {
        check::step("%s (%s)", what.c_str(), settings.c_str());
        const std::int64_t shape[2] = {ranks + 1, columns}, start[2] = {rank, 0};
        const std::int64_t count[2] = {holds_ ? 1 : 0, columns};
        OK(tw_decompose(session, "y x", 1, shape, start, count, &d));
        OK(tw_create(session, path_.c_str(), settings.c_str(), &file));
        OK(tw_def_var(file, "F", TW_FLOAT, "y x", d));
        OK(tw_def_var(file, "T", TW_FLOAT, "time y x", d));
        OK(tw_def_var(file, "U", TW_FLOAT, "time y x", d));
    }

    /// Puts on all ranks that hold a row.
    void put(const char* name, float value) const {
        const std::vector<float> values = row(value);
        if (holds_) OK(tw_put(file, name, TW_FLOAT, values.data(), columns));
    }

    /// Puts a row on one rank.
    void put_row(int by, const char* name, std::int64_t record, std::int64_t y, float value) const {
        if (rank != by) return;
        const std::vector<float> values = row(value);
        const std::int64_t start[3] = {record, y, 0}, count[3] = {1, 1, columns};
        const int skip = name[0] == 'F' ? 1 : 0;
        OK(tw_put_box(file, name, TW_FLOAT, start + skip, count + skip, nullptr, values.data()));
    }

    void end_step() const { OK(tw_end_step(file)); }

    void close() {
        OK(tw_close(&file));
        OK(tw_free_decomposition(&d));
    }

    /// Compares the values of each row with a number; `last` is the number for rows that no rank
    /// holds.
    void expect(const char* name, std::int64_t record, float held, float last) const {
        tw_file f = nullptr;
        OK(tw_open(session, path_.c_str(), nullptr, &f));
        const std::int64_t shape[2] = {ranks + 1, columns}, none[2] = {0, 0};
        tw_decomposition whole = nullptr;
        OK(tw_decompose(session, "y x", 1, shape, none, rank == 0 ? shape : none, &whole));
        std::vector<float> values(rank == 0 ? static_cast<std::size_t>((ranks + 1) * columns) : 0);
        OK(tw_get(f, name, whole, record, TW_FLOAT, values.data(), std::ssize(values)));
        for (int y = 0; y <= ranks && rank == 0; ++y) {
            const float expected = y == ranks ? last : held;
            for (const std::int64_t x : {std::int64_t(0), columns - 1}) {
                const float found = values[static_cast<std::size_t>(y * columns + x)];
                CHECK_TEXT(found == expected, "%s: record %d, row %d: %g, not %g", name,
                           static_cast<int>(record), y, static_cast<double>(found),
                           static_cast<double>(expected));
            }
        }
        OK(tw_free_decomposition(&whole));
        OK(tw_close(&f));
    }

    tw_file file = nullptr;
    tw_decomposition d = nullptr;

private:
    std::string path_;
    bool holds_;
};

void in_one_step(const std::string& settings) {
    Mixed m("a rank without a part puts sections", settings, true);
    if (ranks > 1) m.put("T", 3);
    m.put_row(ranks - 1, "T", 0, ranks - 1, 3);
    m.put_row(ranks - 1, "T", 0, ranks, 4);
    m.end_step();
    m.close();
    m.expect("T", 0, 3, 4);
}

void in_two_steps(const std::string& settings) {
    Mixed m("what is there stays", settings);
    m.put("U", 1);
    m.put_row(0, "F", 0, ranks, 5);
    m.put_row(ranks - 1, "T", 1, ranks, 6);
    m.end_step();
    m.put("F", 7);
    m.put("T", 8);
    m.end_step();
    m.close();
    m.expect("F", 0, 7, 5);
    m.expect("T", 0, fill_value, fill_value);
    m.expect("T", 1, 8, 6);
    m.expect("U", 0, 1, fill_value);
    m.expect("U", 1, fill_value, fill_value);
}

void fixed_after_a_section(const std::string& settings) {
    Mixed m("a variable of fixed size is put after a section of another", settings);
    m.put_row(0, "T", 0, ranks, 6);
    m.end_step();
    m.put("F", 7);
    m.end_step();
    m.close();
    m.expect("F", 0, 7, fill_value);
    m.expect("T", 0, fill_value, 6);
}

void after_an_empty_step(const std::string& settings) {
    Mixed m("the first section comes late", settings);
    const std::vector<float> values = row(2);
    OK(tw_put_record(m.file, "F", m.d, 0, TW_FLOAT, values.data(), columns));
    m.end_step();
    m.put("T", 8);
    m.put_row(0, "U", 1, 0, 9);
    m.end_step();
    m.close();
    m.expect("F", 0, 2, fill_value);
    m.expect("T", 0, fill_value, fill_value);
    m.expect("T", 1, 8, fill_value);
    m.expect("U", 0, fill_value, fill_value);
}

/// Puts variables twice in one step: of a fixed-size one the later put stands, of a record variable
/// the first one, and the second is refused, even if the ranks have not met since then.
void twice(const std::string& settings) {
    Mixed m("a variable is put twice", settings);
    const std::vector<float> early = row(1), late = row(2);
    const tw_array arrays[] = {tw_dense(TW_FLOAT, early.data(), columns),
                               tw_dense(TW_FLOAT, late.data(), columns)};
    OK(tw_put_array(m.file, "F", arrays[0], TW_DEFERRED));
    m.put("F", 2);
    for (std::int64_t step = 0; step < 2; ++step)
        for (const int flags : {TW_DEFERRED, 0}) {
            const char* const name = flags == 0 ? "U" : "T";
            OK(tw_put_array(m.file, name, arrays[0], flags));
            if (step == 1) OK(tw_sync(m.file, 0));
            for (const int again : {TW_DEFERRED, 0}) {
                const std::string wanted =
                    check::text("variable '%s': tw_put has put record %d already; call tw_end_step",
                                name, static_cast<int>(step));
                CHECK(tw_put_array(m.file, name, arrays[1], again) == TW_ESTATE);
                const std::string text = tw_error_message(session);
                CHECK_TEXT(text.find(wanted) != std::string::npos, "%s", text.c_str());
            }
            if (flags == 0) m.end_step();
        }
    m.close();
    m.expect("F", 0, 2, fill_value);
    for (const std::int64_t record : {0, 1}) {
        m.expect("T", record, 1, fill_value);
        m.expect("U", record, 1, fill_value);
    }
}

/// Puts a variable again after tw_end_step has refused the step, because its array had changed. In
/// the background, the file fails instead.
void repaired(const std::string& settings) {
    Mixed m("a step is put again after an error", settings);
    std::vector<float> values = row(1);
    OK(tw_put_array(m.file, "T", tw_dense(TW_FLOAT, values.data(), columns), TW_DEFERRED));
    values = row(2);
    CHECK(tw_end_step(m.file) == TW_EARG);
    OK(tw_put_array(m.file, "T", tw_dense(TW_FLOAT, values.data(), columns), TW_DEFERRED));
    m.end_step();
    m.close();
    m.expect("T", 0, 2, fill_value);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    rank = check::state.rank;
    ranks = check::state.size;
    folder = check::make_folder("mixed_puts");
    OK(tw_init(MPI_COMM_WORLD, nullptr, &session));
    for (const char* storage : {"", "; format=netcdf4; deflate=1"})
        for (const char* service :
             {"service=inline", "service=inline; staging=10KiB",
              "service=inline; staging=10KiB; method=direct", "service=background"}) {
            const std::string settings = std::string(service) + storage;
            // If there is less memory than a step needs, tw_put is collective, so all ranks must
            // call it.
            if (settings.find("staging") == std::string::npos) in_one_step(settings);
            in_two_steps(settings);
            fixed_after_a_section(settings);
            after_an_empty_step(settings);
            twice(settings);
            if (settings.find("inline") != std::string::npos) repaired(settings);
        }
    OK(tw_finalize(&session));
    if (rank == 0) std::filesystem::remove_all(folder);
    return check::verdict("mixed_puts");
}
