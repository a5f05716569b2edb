// A session with its model ranks, and a small history file with known contents: fixtures for the
// tests of services.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "calls.hpp"
#include "look.hpp"
#include "thalweg/thalweg.h"

struct Model {
    tw_session session = nullptr;
    MPI_Comm comm = MPI_COMM_NULL;  // null on a server
    int rank = -1;
    int size = 0;

    // Starts a session. On a server, returns when the model ends.
    Model(MPI_Comm world, const std::string& settings) {
        const int status = tw_init(world, settings.c_str(), &session);
        CHECK_TEXT(status == TW_OK, "{}: {}", settings, tw_error_message(session));
        tw_role role = TW_MODEL;
        CHECK(tw_inq_role(session, &role) == TW_OK);
        CHECK(tw_model_comm(session, &comm) == TW_OK);
        CHECK((comm == MPI_COMM_NULL) == (role == TW_SERVER));
        if (comm == MPI_COMM_NULL) {  // set for programs that do not know which ranks are servers
            tw_file none = nullptr;
            CHECK(tw_create(session, "by_a_server.nc", nullptr, &none) == TW_EHANDLE);
            CHECK_TEXT(error().find("this rank is a server") != std::string::npos, error());
            return;
        }
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        calls::session = session;
    }
    explicit operator bool() const { return comm != MPI_COMM_NULL; }
    std::string error() const { return tw_error_message(session); }
    void end(int wanted = TW_OK) {
        const int status = tw_finalize(&session);
        CHECK_TEXT(status == (comm == MPI_COMM_NULL ? TW_OK : wanted), "tw_finalize gave {}",
                   tw_strerror(status));
    }

    // Returns a number in the summary, for the file whose path ends with `path`.
    double figure(const std::string& path, const std::string& name) {
        const std::string value = entry(path, name);
        return std::strtod(value.c_str(), nullptr);
    }
    // Returns the text after `"name": ` in the part of the summary for a file.
    std::string entry(const std::string& path, const std::string& name) {
        const char* json = nullptr;
        CHECK(tw_summary(session, TW_SUMMARY_JSON, &json) == TW_OK);
        const std::string text = json == nullptr ? "" : json;
        const auto file = text.find(path + "\"");
        const auto at = text.find("\"" + name + "\": ", file);
        CHECK_TEXT(file != std::string::npos && at != std::string::npos, "no {} of {} in {}", name,
                   path, text);
        if (file == std::string::npos || at == std::string::npos) return "";
        const auto begin = at + name.size() + 4;
        return text.substr(begin, text.find_first_of(",\n}", begin) - begin);
    }
};

// A file with one variable over "time y x", of which each rank has some rows, and one over "y x".
// `salt` makes the values of files differ.
struct History {
    Model& model;
    std::string path;
    std::int64_t rows, columns;
    int salt;
    std::int64_t start[2] = {0, 0}, count[2] = {0, 0};
    tw_file file = nullptr;

    static float value(int salt, std::int64_t record, std::int64_t at) {
        return static_cast<float>(((record + 2) * 7919 + at * 31 + salt * 1009) % 100003);
    }

    History(Model& m, std::string where, const std::string& settings, std::int64_t ny = 23,
            std::int64_t nx = 41, int its_salt = 0)
        : model(m), path(std::move(where)), rows(ny), columns(nx), salt(its_salt) {
        const std::int64_t shape[2] = {rows, columns};
        start[0] = rows * m.rank / m.size;
        count[0] = rows * (m.rank + 1) / m.size - start[0];
        count[1] = columns;
        tw_decomposition d = nullptr;
        CHECK(tw_decompose(m.session, "y x", 1, shape, start, count, &d) == TW_OK);
        const int status = tw_create(m.session, path.c_str(), settings.c_str(), &file);
        CHECK_TEXT(status == TW_OK, m.error());
        CHECK(tw_def_var(file, "T", TW_FLOAT, "time y x", d) == TW_OK);
        CHECK(tw_def_var(file, "h", TW_FLOAT, "y x", d) == TW_OK);
        CHECK_TEXT(tw_enddef(file) == TW_OK, m.error());
    }
    tw_status try_put(const char* name, std::int64_t record) {
        std::vector<float> data;
        for (std::int64_t i = 0; i < count[0] * columns; ++i)
            data.push_back(value(salt, record, start[0] * columns + i));
        return tw_put(file, name, TW_FLOAT, data.data(), static_cast<std::int64_t>(data.size()));
    }
    void put(const char* name, std::int64_t record) {
        CHECK_TEXT(try_put(name, record) == TW_OK, model.error());
    }
    void step(std::int64_t record) {
        put("T", record);
        CHECK_TEXT(tw_end_step(file) == TW_OK, model.error());
    }
    void close(int wanted = TW_OK) {
        const int status = tw_close(&file);
        CHECK_TEXT(status == wanted, "tw_close of {} gave {}: {}", path, tw_strerror(status),
                   model.error());
    }
    // Returns the description of an error in the file, as other programs see it, or "". Can be
    // called any time after the close.
    std::string look(std::size_t wanted_records, bool with_fixed) const {
        return look_at(
            path, rows, columns, wanted_records, with_fixed,
            [this](std::int64_t record, std::int64_t at) { return value(salt, record, at); });
    }
    // Closes the file, and checks it.
    void close_and_look(std::size_t records, bool with_fixed) {
        close();
        if (model.rank != 0) return;
        const std::string wrong = look(records, with_fixed);
        CHECK_TEXT(wrong.empty(), wrong);
    }
};
