// What is read behind the model: the values are right and in time whatever was read ahead, and what
// goes wrong there is told by the read that asks for it.
//
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "calls.hpp"

using namespace calls;  // NOLINT: its session and its ways of judging

namespace {

constexpr std::int64_t nx = 24, per_rank = 5, records = 9;

std::int64_t rows() { return per_rank * check::state.size; }
const char* const names[] = {"T", "U", "V"};

double value(int variable, std::int64_t record, std::int64_t row, std::int64_t x) {
    return static_cast<double>(variable * 1000000 + record * 100000 + row * nx + x);
}

tw_decomposition parts = nullptr;
std::int64_t first_row = 0;
std::string path;

void begin(const std::string& settings) {
    OK(tw_init(check::state.comm, ("log=off; " + settings).c_str(), &session));
    // The first rank has the last rows.
    const std::int64_t shape[] = {rows(), nx}, count[] = {per_rank, nx};
    const std::int64_t start[] = {rows() - per_rank * (check::state.rank + 1), 0};
    first_row = start[0];
    OK(tw_decompose(session, "y x", 1, shape, start, count, &parts));
}

tw_file create(const char* settings) {
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), settings, &file));
    for (const char* name : names) OK(tw_def_var(file, name, TW_DOUBLE, "time y x", parts));
    return file;
}

void write_record(tw_file file, std::int64_t record) {
    std::vector<double> data[3];
    for (int v = 0; v < 3; ++v) {
        for (std::int64_t i = 0; i < per_rank * nx; ++i)
            data[v].push_back(value(v, record, first_row + i / nx, i % nx));
        OK(tw_put(file, names[v], TW_DOUBLE, data[v].data(), per_rank * nx));
    }
    OK(tw_end_step(file));
}

/// A file that is read, into arrays of its own.
struct Input {
    explicit Input(const char* settings = "read_ahead=yes") {
        OK(tw_open(session, path.c_str(), settings, &file));
    }
    ~Input() { OK(tw_close(&file)); }
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    float* place(int v) {
        data[v].assign(per_rank * nx, -1);
        return data[v].data();
    }
    int get(int v, std::int64_t record) {
        check::step("tw_get %s %d", names[v], static_cast<int>(record));
        return tw_get(file, names[v], parts, record, TW_FLOAT, place(v), per_rank * nx);
    }
    void ask(int v, std::int64_t record) {
        OK(tw_get_deferred(file, names[v], parts, record, TW_FLOAT, place(v), per_rank * nx));
    }
    void expect(int v, std::int64_t record) const {
        for (std::int64_t i = 0; i < per_rank * nx; ++i) {
            const auto wanted = static_cast<float>(value(v, record, first_row + i / nx, i % nx));
            const float got = data[v][static_cast<std::size_t>(i)];
            CHECK_TEXT(got == wanted, "%s record %d element %d is %g, not %g", names[v],
                       static_cast<int>(record), static_cast<int>(i), static_cast<double>(got),
                       static_cast<double>(wanted));
            if (got != wanted) return;
        }
    }
    void read(int v, std::int64_t record) {
        const int status = get(v, record);
        CHECK_TEXT(status == TW_OK, "%d: %s", status, text().c_str());
        expect(v, record);
    }
    void read_all(std::int64_t record) {
        for (int v = 0; v < 3; ++v) ask(v, record);
        OK(tw_read(file));
        for (int v = 0; v < 3; ++v) expect(v, record);
    }

    tw_file file = nullptr;
    std::vector<float> data[3];
};

/// A number of the summary's last input.
double figure(const std::string& name) {
    const char* json = nullptr;
    OK(tw_summary(session, &json));
    const std::string summary = json;
    const std::size_t at = summary.rfind("\"" + name + "\": ");
    return at == std::string::npos ? -1 : std::atof(summary.c_str() + at + name.size() + 4);
}

/// One variable after the other, and all at once.
void record_after_record() {
    Input one, all;
    for (std::int64_t r = 0; r < records; ++r) {
        for (int v = 0; v < 3; ++v) one.read(v, r);
        all.read_all(r);
    }
}

void other_records_than_expected() {
    Input input;
    for (const std::int64_t r : {0, 1, 5, 6, 2, 8, 0, 1}) {
        input.read(0, r);
        if (r % 2 == 0) input.read_all(r);
        input.read(2, records - 1 - r);
    }
}

/// Sooner or later the threads get their turn.
void in_time() {
    Input input;
    for (int turn = 0; turn < 500 && figure("ahead_bytes") <= 0; ++turn) {
        for (std::int64_t r = 0; r < 3; ++r) {
            input.read_all(r);
            usleep(500);
        }
    }
    CHECK(figure("ahead_bytes") > 0);
    CHECK(figure("ahead_bytes") + figure("unused_bytes") <= 2 * figure("bytes"));
}

void asked_for() {
    Input input(nullptr);
    OK(tw_prefetch(input.file));  // nothing
    for (std::int64_t r = 0; r < records; ++r) {
        input.ask(0, r);
        OK(tw_prefetch(input.file));
        input.ask(1, r);
        if (r % 2 == 0) OK(tw_prefetch(input.file));
        OK(tw_prefetch(input.file));
        if (r % 3 == 0) input.read(2, r / 3);
        if (r % 4 != 1) input.ask(2, r);
        usleep(200);
        OK(tw_read(input.file));
        input.expect(0, r);
        input.expect(1, r);
        if (r % 4 != 1) input.expect(2, r);
    }
    if (check::state.size == 1) return;
    // Different things, and different calls.
    const bool odd = check::state.rank == check::state.size - 1;
    input.ask(0, odd ? 1 : 0);
    check::step("tw_prefetch of different records");
    REFUSED(tw_prefetch(input.file), TW_EMISMATCH, "tw_prefetch");
    check::step("tw_read of different records");
    REFUSED(tw_read(input.file), TW_EMISMATCH, "tw_read");
    check::step("tw_prefetch and tw_read");
    REFUSED(odd ? tw_prefetch(input.file) : tw_read(input.file), TW_EMISMATCH, "tw_prefetch");
    input.read_all(3);
}

/// At a rate at which a record takes a fifth of a second.
void closed_under_way() {
    const double bytes = static_cast<double>(3 * rows() * nx * 8);
    const std::string settings =
        check::text("piece=64; bandwidth=%.0f; read_ahead=yes", bytes / 0.2);
    Input input(settings.c_str());
    input.read(0, 0);
    input.ask(1, 4);
    OK(tw_prefetch(input.file));
}

/// What a writer adds is read when a sync has found it, and no sooner.
void records_that_come() {
    tw_file out = create("publish=live; piece=4KiB; staging=1MiB");
    write_record(out, 0);
    OK(tw_sync(out, 0));
    {
        Input input;
        for (std::int64_t r = 0; r < 4; ++r) {
            input.read_all(r);
            check::step("tw_get of a record that is not there yet");
            REFUSED(input.get(0, r + 1), TW_EBOUNDS, "no record");
            write_record(out, r + 1);
            OK(tw_sync(out, 0));
            OK(tw_sync(input.file, 0));
        }
    }
    for (std::int64_t r = 5; r < records; ++r) write_record(out, r);
    OK(tw_close(&out));
}

/// What was read before the file was cut off is there; what was not is an error of all ranks.
void cut_off() {
    Input input;
    input.read_all(0);
    check::everywhere(true);
    if (check::state.rank == 0) CHECK(truncate(path.c_str(), 3000) == 0);
    check::everywhere(true);
    for (const std::int64_t r : {1, 2, 1}) {
        for (int v = 0; v < 3; ++v) input.ask(v, r);
        check::step("tw_read of a file that was cut off");
        const int status = tw_read(input.file);
        CHECK_TEXT(status == TW_OK || status == TW_EIO, "%d: %s", status, text().c_str());
        if (status == TW_EIO) REFUSED(status, TW_EIO, "truncated");
        if (status == TW_OK)
            for (int v = 0; v < 3; ++v) input.expect(v, r);
    }
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 30);
    const std::string folder = check::make_folder("read_ahead");
    path = folder + "/file.nc";
    for (const char* settings :
         {"piece=auto", "node_size=2; piece=256", "readers=1; staging=1KiB; piece=300",
          "node_size=3; readers=1/node; staging=3KiB; piece=64", "node_size=1; staging=10"}) {
        begin(settings);
        records_that_come();
        record_after_record();
        other_records_than_expected();
        if (std::string(settings).find("staging") == std::string::npos) in_time();
        asked_for();
        closed_under_way();
        cut_off();
        OK(tw_finalize(&session));
    }
    if (check::state.rank == 0) {
        std::remove(path.c_str());
        std::remove(folder.c_str());
    }
    return check::verdict("read_ahead");
}
