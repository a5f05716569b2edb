// Tests names that Unicode can spell in two ways: netCDF stores one of them, and finds both.
// SPDX-License-Identifier: Apache-2.0
#include "names.hpp"

namespace names {

namespace {

/// A letter with an accent, as one character and as two characters.
constexpr const char* one = "\xc3\xa9t";
constexpr const char* two = "e\xcc\x81t";
constexpr const char* other_two = "o\xcc\x88";  // a different name

struct Spelling {
    const char *variable, *dimension, *attribute;
    std::string dims(const std::string& before) const { return before + dimension + " x"; }
};

void write(const Model& m, tw_decomposition d, tw_file file, const Spelling& s,
           std::int64_t record) {
    OK(tw_def_var(file, s.variable, TW_DOUBLE, s.dims("time ").c_str(), d));
    OK(tw_put_att_text(file, s.variable, s.attribute, "of the variable"));
    OK(tw_put_att_text(file, "", s.attribute, "of the file"));
    const std::vector<double> data = m.values(record);
    // A put may use another spelling.
    OK(tw_put(file, record % 2 == 0 ? one : two, TW_DOUBLE, data.data(), m.count * columns));
    OK(tw_end_step(file));
    OK(tw_close(&file));
}

void look(const Model& m, tw_decomposition d, const std::string& path) {
    tw_file file = nullptr;
    OK(tw_open(session, path.c_str(), nullptr, &file));
    if (file == nullptr) return;
    const char* name = "";
    OK(tw_inq_name(file, TW_VARIABLE, nullptr, 0, &name));
    CHECK_TEXT(std::string(name) == one, name);
    for (const char* spelt : {one, two}) {
        std::int64_t length = 0;
        OK(tw_inq_dim(file, spelt, &length));
        CHECK(length == rows);
        for (const char* variable : {"", spelt}) {
            char text[100] = "";
            OK(tw_get_att_text(file, variable, spelt, sizeof text, text));
            CHECK_TEXT(std::string(text) == (*variable == '\0' ? "of the file" : "of the variable"),
                       text);
        }
        for (std::int64_t r = 0; r < 2; ++r) {
            std::vector<double> data(static_cast<std::size_t>(m.count * columns));
            OK(tw_get(file, spelt, d, r, TW_DOUBLE, data.data(), m.count * columns));
            CHECK(data == m.values(r));
        }
        CHECK(tw_inq_dim(file, other_two, &length) == TW_ENOTFOUND);
    }
    OK(tw_close(&file));
}

void restart(const Model& m, tw_decomposition d, const std::string& path) {
    const std::vector<double> values = m.values(4);
    std::vector<double> data = values;
    tw_restart written = nullptr, read = nullptr;
    OK(tw_restart_new(session, nullptr, &written));
    OK(tw_restart_add(written, two, TW_DOUBLE, (std::string(one) + " x").c_str(), d, data.data(),
                      m.count * columns, 0));
    OK(tw_restart_write(written, path.c_str()));
    OK(tw_restart_free(&written));
    OK(tw_restart_new(session, nullptr, &read));
    std::fill(data.begin(), data.end(), 0.0);
    OK(tw_restart_add(read, one, TW_DOUBLE, (std::string(two) + " x").c_str(), d, data.data(),
                      m.count * columns, 0));
    OK(tw_restart_read(read, path.c_str(), nullptr));
    OK(tw_restart_free(&read));
    CHECK(data == values);
}

}  // namespace

void spellings() {
    Model m("");
    for (const char* held : {one, two}) {
        const std::int64_t shape[] = {rows, columns}, first[] = {m.start, 0},
                           n[] = {m.count, columns};
        tw_decomposition d = nullptr;
        OK(tw_decompose(session, (std::string(held) + " x").c_str(), 1, shape, first, n, &d));
        for (const std::string format :
             {"cdf1", "cdf5", "netcdf4", "netcdf4-classic",
              "netcdf4; deflate=1; chunks=e\xcc\x81t=5", "cdf2; service=background"})
            for (const char* spelt : {one, two}) {
                check::step("spellings: {}, held as {}, defined as {}", format, held, spelt);
                const Spelling s{spelt, spelt, spelt};
                const std::string path = root + "/spelt.nc";
                tw_file file = nullptr;
                OK(tw_create(session, path.c_str(), ("format=" + format).c_str(), &file));
                OK(tw_def_dim(file, spelt, rows));
                CHECK(tw_def_dim(file, spelt == one ? two : one, rows) == TW_EEXISTS);
                write(m, d, file, s, 0);
                OK(tw_open(session, path.c_str(), "mode=append", &file));
                const char* again = spelt == one ? two : one;
                write(m, d, file, {again, again, again}, 1);
                look(m, d, path);
            }
        restart(m, d, root + "/restart.nc");
    }
    check::step("spellings: one variable twice");
    tw_file file = nullptr;
    OK(tw_create(session, (root + "/twice.nc").c_str(), nullptr, &file));
    OK(tw_def_dim(file, "x", 3));
    OK(tw_def_var(file, one, TW_INT, "x", nullptr));
    CHECK(tw_def_var(file, two, TW_INT, "x", nullptr) == TW_EEXISTS);
    OK(tw_close(&file));
}

}  // namespace names
