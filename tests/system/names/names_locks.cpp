// Tests two writers of one name, and files that others have locked.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>

#include <functional>

#include "names.hpp"

namespace names {

void two_writers() {
    make_folders();
    go("here");
    using Begin = std::function<int(const Model&, const std::string& path, tw_file*)>;
    struct Way {
        const char* name;
        Begin begin;
        std::int64_t first;  // record
    };
    const auto create = [](const char* settings) {
        return [settings](const Model& m, const std::string& path, tw_file* file) {
            return tw_create(m.session, path.c_str(), settings, file);
        };
    };
    const std::vector<Way> ways{{"create", create(""), 0},
                                {"live", create("publish=live"), 0},
                                {"append",
                                 [](const Model& m, const std::string& path, tw_file* file) {
                                     return tw_open(m.session, path.c_str(), "mode=append", file);
                                 },
                                 1}};
    for (const Kind& kind : kinds()) {
        // This test appends only to classic files.
        if (kind.file.find("netcdf4") != std::string::npos) continue;
        for (const Way& first : ways) {
            check::step("two writers: {}; {}: {}", kind.session, kind.file, first.name);
            Model a(kind.session + (kind.session.empty() ? "" : "; ") +
                    "service=" + (kind.session == "servers=1" ? "servers" : "background"));
            if (!a) continue;
            // The second session is on one of the model's ranks.
            const std::string path = root + "/here0/two.nc";
            {
                tw_file file = nullptr;
                OK(tw_create(session, path.c_str(), "", &file));
                a.define(file);
                a.step(file, 0);
                OK(tw_close(&file));
            }
            tw_session b = nullptr;
            CHECK(tw_init(a.comm, "log=off", &b) == TW_OK);
            const auto refused = [&](const char* when) {
                for (const Way& second : ways) {
                    tw_file file = nullptr;
                    const int code =
                        std::strcmp(second.name, "append") == 0
                            ? tw_open(b, path.c_str(), "mode=append", &file)
                            : tw_create(b, path.c_str(),
                                        std::strcmp(second.name, "live") == 0 ? "publish=live" : "",
                                        &file);
                    CHECK_TEXT(code == TW_EINUSE, "{}, {}: {} {}", when, second.name, code,
                               tw_error_message(b));
                    const std::string text = tw_error_message(b);
                    CHECK_TEXT(text.find("process ") != std::string::npos &&
                                   text.find("two.nc") != std::string::npos,
                               text);
                    CHECK(file == nullptr);
                    if (file != nullptr) tw_close(&file);
                }
                tw_restart restart = nullptr;
                CHECK(tw_restart_new(b, nullptr, &restart) == TW_OK);
                CHECK(tw_restart_write(restart, path.c_str()) == TW_EINUSE);
                CHECK(tw_restart_free(&restart) == TW_OK);
                // Readers can open the file in spite of the lock.
                if (std::strcmp(first.name, "live") != 0) a.look(path, 1);
            };
            tw_file file = nullptr;
            OK(first.begin(a, path, &file));
            a.define(file);
            if (std::strcmp(first.name, "live") != 0) refused("defining");
            OK(tw_enddef(file));
            refused("writing");
            for (std::int64_t r = first.first; r < 2; ++r) a.step(file, r);
            OK(tw_close(&file));
            a.look(path, 2);
            // after this, the file can be written
            CHECK(tw_create(b, path.c_str(), nullptr, &file) == TW_OK);
            CHECK(tw_close(&file) == TW_OK);
            CHECK(tw_finalize(&b) == TW_OK);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::state.rank == 0) {
        const std::string names = list(mine("here"));
        CHECK_TEXT(names == "two.nc", names);
    }
}

/// Tests another writer that has a file of the set: all ranks get the error when the set is
/// created.
void a_tile_in_use() {
    check::step("a tile in use");
    make_folders();
    if (check::state.size < 2) return;
    const std::string path = root + "/here0/set.nc";
    Model a(""), b("");
    tw_file file = nullptr, set = nullptr;
    OK(tw_create(a.session, (path + ".0001").c_str(), nullptr, &file));
    a.define(file);
    OK(tw_create(b.session, path.c_str(), "method=tiles; files=tiles; tiles=1x2", &set));
    b.define(set);
    const int code = tw_enddef(set);
    CHECK_TEXT(code == TW_EINUSE, "{} {}", code, tw_error_message(b.session));
    CHECK(std::string(tw_error_message(b.session)).find("set.nc.0001") != std::string::npos);
    CHECK(tw_close(&set) == TW_EINUSE);
    a.step(file, 0);
    OK(tw_close(&file));
    a.look(path + ".0001", 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::state.rank == 0) {
        const std::string names = list(root + "/here0");
        CHECK_TEXT(names == "set.nc.0001", names);
    }
}

/// Tests files that HDF5 locks while it writes them.
void locked() {
    check::step("a locked netCDF-4 file");
    const std::string path = root + "/locked.nc";
    Model model("");
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), "format=netcdf4", &file));
    model.define(file);
    model.step(file, 0);
    OK(tw_close(&file));
    const int fd = check::state.rank == 0 ? ::open(path.c_str(), O_RDWR) : -1;
    if (fd >= 0) CHECK(::flock(fd, LOCK_EX) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    const int code = tw_open(session, path.c_str(), nullptr, &file);
    CHECK_TEXT(code == TW_EINUSE, "{} {}", code, tw_error_message(session));
    CHECK(std::string(tw_error_message(session)).find("locked.nc") != std::string::npos);
    char text[1000] = "";
    CHECK_TEXT(tw_recover(path.c_str(), TW_KEEP_LONGER, text, sizeof text) == TW_EINUSE, text);
    MPI_Barrier(MPI_COMM_WORLD);
    if (fd >= 0) ::close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    model.look(path, 1);
}

}  // namespace names
