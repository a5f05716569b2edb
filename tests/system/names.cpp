// Where files go and who may write them: working folders that differ and change, two writers of one
// name, what stands under a name already, and files that cannot be opened for other reasons.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: names [--only NAME]

#include <fcntl.h>
#include <mpi.h>
#include <netcdf.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "check.hpp"
#include "thalweg/thalweg.h"

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t rows = 24, columns = 6;

std::string root;

#define OK(call) CHECK_TEXT((call) == TW_OK, "%s", tw_error_message(session))

double value(std::int64_t record, std::int64_t at) {
    return static_cast<double>((record + 1) * 10000 + at);
}

/// A session, and this rank's rows.
struct Model {
    tw_session session = nullptr;
    tw_decomposition d = nullptr;
    std::int64_t start = 0, count = 0;
    MPI_Comm comm = MPI_COMM_NULL;

    explicit Model(const std::string& settings) {
        OK(tw_init(MPI_COMM_WORLD, ("log=off; " + settings).c_str(), &session));
        tw_role role = TW_MODEL;
        OK(tw_inq_role(session, &role));
        if (role == TW_SERVER) return;
        OK(tw_model_comm(session, &comm));
        int rank = 0, size = 1;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        start = rows * rank / size;
        count = rows * (rank + 1) / size - start;
        const std::int64_t shape[] = {rows, columns}, first[] = {start, 0}, n[] = {count, columns};
        OK(tw_decompose(session, "y x", 1, shape, first, n, &d));
    }
    ~Model() { end(); }
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    explicit operator bool() const { return comm != MPI_COMM_NULL; }
    void end() {
        if (session != nullptr) OK(tw_finalize(&session));
    }

    std::vector<double> values(std::int64_t record) const {
        std::vector<double> all;
        for (std::int64_t i = start * columns; i < (start + count) * columns; ++i)
            all.push_back(value(record, i));
        return all;
    }
    void define(tw_file file) const { OK(tw_def_var(file, "T", TW_DOUBLE, "time y x", d)); }
    void step(tw_file file, std::int64_t record) const {
        const std::vector<double> data = values(record);
        OK(tw_put(file, "T", TW_DOUBLE, data.data(), count * columns));
        OK(tw_end_step(file));
    }
    /// Whether the file has so many records of these values.
    void look(const std::string& path, std::int64_t records) const {
        tw_file file = nullptr;
        OK(tw_open(session, path.c_str(), nullptr, &file));
        if (file == nullptr) return;
        std::int64_t n = -1;
        OK(tw_inq(file, nullptr, nullptr, nullptr, nullptr, &n));
        CHECK_TEXT(n == records, "%s: %lld records", path.c_str(), static_cast<long long>(n));
        for (std::int64_t r = 0; r < n; ++r) {
            std::vector<double> data(static_cast<std::size_t>(count * columns));
            OK(tw_get(file, "T", d, r, TW_DOUBLE, data.data(), count * columns));
            CHECK_TEXT(data == values(r), "%s: record %lld", path.c_str(),
                       static_cast<long long>(r));
        }
        OK(tw_close(&file));
    }
};

/// Names of a folder's files, hidden ones included.
std::string list(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
        names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : " ") + name;
    return all;
}

std::string mine(const char* where) {
    return root + "/" + where + std::to_string(check::state.rank);
}

/// From now on this rank works there; no two ranks in the same folder.
void go(const char* where) { CHECK(::chdir(mine(where).c_str()) == 0); }

void make_folders() {
    for (const char* where : {"here", "away", "far"}) {
        fs::remove_all(mine(where));
        fs::create_directory(mine(where));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/// Whether rank 0's first folder has these files, and no other folder any.
void only_here(const std::string& wanted) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::state.rank == 0) {
        for (int r = 0; r < check::state.size; ++r)
            for (const char* where : {"here", "away", "far"}) {
                const bool first = r == 0 && std::strcmp(where, "here") == 0;
                const std::string names = list(root + "/" + where + std::to_string(r));
                CHECK_TEXT(names == (first ? wanted : ""), "%s%d has: %s", where, r, names.c_str());
            }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

struct Kind {
    std::string session, file;
};
std::vector<Kind> kinds() {
    std::vector<Kind> all{{"", "storage=posix"},
                          {"node_size=2", "storage=posix; service=background; writers=2"},
                          {"", "storage=" PNETCDF},
                          {"", "format=netcdf4; method=direct"},
                          {"", "format=netcdf4; deflate=1; service=background"}};
    if (check::state.size > 1) {
        all.push_back({"servers=1", "service=servers"});
        all.push_back({"servers=1", "service=servers; format=netcdf4"});
    }
    return all;
}

// ---- working folders ----------------------------------------------------------------------------

void folders() {
    for (const Kind& kind : kinds())
        for (const std::string publish : {"publish=close", "publish=live"}) {
            check::step("folders: %s; %s; %s", kind.session.c_str(), kind.file.c_str(),
                        publish.c_str());
            make_folders();
            go("here");
            {
                Model model(kind.session);
                const tw_session session = model.session;
                if (model) {
                    tw_file file = nullptr;
                    OK(tw_create(session, "out.nc", (kind.file + "; " + publish).c_str(), &file));
                    go("away");
                    model.define(file);
                    OK(tw_enddef(file));
                    go("far");
                    model.step(file, 0);
                    go("away");
                    model.step(file, 1);
                    OK(tw_put_att_text(file, "", "title", "a late attribute"));
                    OK(tw_close(&file));
                    go("here");
                    model.look("out.nc", 2);
                }
            }
            only_here("out.nc");
        }
}

void sets_of_files() {
    for (const Kind& kind : kinds()) {
        if (kind.file.find("pnetcdf") != std::string::npos) continue;
        if (kind.file.find("direct") != std::string::npos) continue;
        check::step("sets of files: %s; %s", kind.session.c_str(), kind.file.c_str());
        make_folders();
        go("here");
        {
            Model model(kind.session);
            const tw_session session = model.session;
            int size = 1;
            if (model) MPI_Comm_size(model.comm, &size);
            const std::string tiles = kind.session.find("servers") != std::string::npos ? "1x1"
                                      : size > 1                                        ? "1x2"
                                                                                        : "1x1";
            if (model) {
                tw_file file = nullptr;
                OK(tw_create(
                    session, "out.nc",
                    (kind.file + "; writers=auto; method=tiles; tile_files=yes; tiles=" + tiles)
                        .c_str(),
                    &file));
                go("away");
                model.define(file);
                OK(tw_enddef(file));
                go("far");
                model.step(file, 0);
                model.step(file, 1);
                OK(tw_close(&file));
                go("here");
                model.look("out.nc", 2);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (check::state.rank == 0) {
            const std::string names = list(mine("here"));
            CHECK_TEXT(names == "out.nc.0000" || names == "out.nc.0000 out.nc.0001", "%s",
                       names.c_str());
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (check::state.rank == 0)
            for (const char* name : {"out.nc.0000", "out.nc.0001"})
                fs::remove(mine("here") + "/" + name);
        only_here("");
    }
}

void appended() {
    for (const Kind& kind : kinds()) {
        if (kind.file.find("netcdf4") != std::string::npos) continue;
        check::step("append: %s; %s", kind.session.c_str(), kind.file.c_str());
        make_folders();
        go("here");
        {
            Model model(kind.session);
            const tw_session session = model.session;
            if (model) {
                tw_file file = nullptr;
                OK(tw_create(session, "out.nc", nullptr, &file));
                model.define(file);
                model.step(file, 0);
                OK(tw_close(&file));
                OK(tw_open(session, "out.nc", ("mode=append; " + kind.file).c_str(), &file));
                go("away");
                model.define(file);
                OK(tw_enddef(file));
                go("far");
                model.step(file, 1);
                OK(tw_close(&file));
                go("here");
                model.look("out.nc", 2);
            }
        }
        only_here("out.nc");
    }
}

void restarts() {
    check::step("restarts");
    make_folders();
    go("here");
    {
        Model model("");
        const tw_session session = model.session;
        tw_restart restart = nullptr;
        std::vector<double> data = model.values(3);
        const auto n = static_cast<std::int64_t>(data.size());
        OK(tw_restart_new(session, nullptr, &restart));
        OK(tw_restart_add(restart, "h", TW_DOUBLE, "y x", model.d, data.data(), n, TW_REQUIRED));
        OK(tw_restart_write(restart, "restart.nc"));
        const std::vector<double> before = data;
        std::fill(data.begin(), data.end(), 0.0);
        OK(tw_restart_read(restart, "restart.nc"));
        CHECK(data == before);
        OK(tw_restart_free(&restart));
    }
    only_here("restart.nc");
}

void settings() {
    check::step("paths in settings");
    make_folders();
    go("here");
    if (check::state.rank == 0) std::ofstream("settings.toml") << "header_pad = \"64KiB\"\n";
    MPI_Barrier(MPI_COMM_WORLD);
    {
        Model model("config=settings.toml; summary=summary.json");
        const tw_session session = model.session;
        tw_file file = nullptr;
        OK(tw_create(session, "out.nc", nullptr, &file));
        model.define(file);
        OK(tw_enddef(file));
        go("away");
        model.step(file, 0);
        OK(tw_close(&file));
        go("far");
    }
    if (check::state.rank == 0) {
        CHECK(fs::file_size(mine("here") + "/out.nc") > 64 << 10);
        CHECK(fs::file_size(mine("here") + "/summary.json") > 100);
    }
    only_here("out.nc settings.toml summary.json");
    // The same path in other words is another path.
    Model model("");
    const tw_session session = model.session;
    if (check::state.size > 1) {
        tw_file file = nullptr;
        const int code =
            tw_create(session, check::state.rank == 1 ? "./b.nc" : "b.nc", nullptr, &file);
        CHECK_TEXT(code == TW_EMISMATCH, "%d", code);
    }
}

// ---- two writers --------------------------------------------------------------------------------

using Begin = std::function<int(const Model&, const std::string& path, tw_file*)>;

void two_writers() {
    make_folders();
    go("here");
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
        if (kind.file.find("netcdf4") != std::string::npos) continue;  // nothing is appended to it
        for (const Way& first : ways) {
            check::step("two writers: %s; %s: %s", kind.session.c_str(), kind.file.c_str(),
                        first.name);
            Model a(kind.session + (kind.session.empty() ? "" : "; ") +
                    "service=" + (kind.session == "servers=1" ? "servers" : "background"));
            if (!a) continue;
            // The second session is one of the model ranks'.
            const std::string path = root + "/here0/two.nc";
            const tw_session session = a.session;
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
                    CHECK_TEXT(code == TW_EINUSE, "%s, %s: %d %s", when, second.name, code,
                               tw_error_message(b));
                    const std::string text = tw_error_message(b);
                    CHECK_TEXT(text.find("process ") != std::string::npos &&
                                   text.find("two.nc") != std::string::npos,
                               "%s", text.c_str());
                    CHECK(file == nullptr);
                    if (file != nullptr) tw_close(&file);
                }
                tw_restart restart = nullptr;
                CHECK(tw_restart_new(b, nullptr, &restart) == TW_OK);
                CHECK(tw_restart_write(restart, path.c_str()) == TW_EINUSE);
                CHECK(tw_restart_free(&restart) == TW_OK);
                // Readers are not kept out.
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
            // And now it is free.
            CHECK(tw_create(b, path.c_str(), nullptr, &file) == TW_OK);
            CHECK(tw_close(&file) == TW_OK);
            CHECK(tw_finalize(&b) == TW_OK);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::state.rank == 0) {
        const std::string names = list(mine("here"));
        CHECK_TEXT(names == "two.nc", "%s", names.c_str());
    }
}

/// A file of a set has another writer: all ranks learn of it when the set is created.
void a_tile_in_use() {
    check::step("a tile in use");
    make_folders();
    if (check::state.size < 2) return;
    const std::string path = root + "/here0/set.nc";
    Model a(""), b("");
    tw_session session = a.session;
    tw_file file = nullptr, set = nullptr;
    OK(tw_create(a.session, (path + ".0001").c_str(), nullptr, &file));
    a.define(file);
    session = b.session;
    OK(tw_create(b.session, path.c_str(), "method=tiles; tile_files=yes; tiles=1x2", &set));
    b.define(set);
    const int code = tw_enddef(set);
    CHECK_TEXT(code == TW_EINUSE, "%d %s", code, tw_error_message(b.session));
    CHECK(std::string(tw_error_message(b.session)).find("set.nc.0001") != std::string::npos);
    CHECK(tw_close(&set) == TW_EINUSE);
    session = a.session;
    a.step(file, 0);
    OK(tw_close(&file));
    a.look(path + ".0001", 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::state.rank == 0) {
        const std::string names = list(root + "/here0");
        CHECK_TEXT(names == "set.nc.0001", "%s", names.c_str());
    }
}

// ---- what stands under the name -----------------------------------------------------------------

std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void names() {
    for (const Kind& kind : kinds()) {
        check::step("names: %s; %s", kind.session.c_str(), kind.file.c_str());
        make_folders();
        go("here");
        const std::string scratch = root + "/away0", home = root + "/here0";
        const std::string longest = home + "/" + std::string(255, 'n');
        if (check::state.rank == 0) {
            std::ofstream(scratch + "/target.nc") << "older";
            ::chmod((scratch + "/target.nc").c_str(), 0640);
            fs::create_symlink(scratch + "/target.nc", home + "/link.nc");
            fs::create_symlink("../away0/new.nc", home + "/dangling.nc");
            ::mkfifo((home + "/fifo.nc").c_str(), 0666);
            std::ofstream(home + "/left.nc.part") << "of a dead run";
        }
        MPI_Barrier(MPI_COMM_WORLD);
        {
            Model model(kind.session);
            const tw_session session = model.session;
            if (model) {
                const auto write = [&](const std::string& path) {
                    tw_file file = nullptr;
                    OK(tw_create(session, path.c_str(), kind.file.c_str(), &file));
                    if (file == nullptr) return;
                    model.define(file);
                    model.step(file, 0);
                    OK(tw_close(&file));
                    model.look(path, 1);
                };
                write(home + "/link.nc");
                write(home + "/dangling.nc");
                write(home + "/left.nc");
                write(longest);
                for (const std::string& path : {home + "/fifo.nc", home}) {
                    tw_file file = nullptr;
                    const int code = tw_create(session, path.c_str(), kind.file.c_str(), &file);
                    CHECK_TEXT(code == TW_EIO, "%s: %d", path.c_str(), code);
                }
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (check::state.rank != 0) continue;
        struct stat info {};
        CHECK(::stat((scratch + "/target.nc").c_str(), &info) == 0 &&
              (info.st_mode & 07777) == 0640);
        CHECK(fs::is_symlink(home + "/link.nc") && fs::is_symlink(home + "/dangling.nc"));
        CHECK(list(scratch) == "new.nc target.nc");
        CHECK(content(home + "/left.nc.part.1") == "of a dead run");
        const std::string all = list(home);
        CHECK_TEXT(
            all == "dangling.nc fifo.nc left.nc left.nc.part.1 link.nc " + std::string(255, 'n'),
            "%s", all.c_str());
    }
}

// ---- what cannot be opened ----------------------------------------------------------------------

/// HDF5 locks a file as long as it writes it.
void locked() {
    check::step("a locked netCDF-4 file");
    const std::string path = root + "/locked.nc";
    Model model("");
    const tw_session session = model.session;
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), "format=netcdf4", &file));
    model.define(file);
    model.step(file, 0);
    OK(tw_close(&file));
    const int fd = check::state.rank == 0 ? ::open(path.c_str(), O_RDWR) : -1;
    if (fd >= 0) CHECK(::flock(fd, LOCK_EX) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    const int code = tw_open(session, path.c_str(), nullptr, &file);
    CHECK_TEXT(code == TW_EINUSE, "%d %s", code, tw_error_message(session));
    CHECK(std::string(tw_error_message(session)).find("locked.nc") != std::string::npos);
    char text[1000] = "";
    CHECK_TEXT(tw_recover(path.c_str(), TW_KEEP_LONGER, text, sizeof text) == TW_EINUSE, "%s",
               text);
    MPI_Barrier(MPI_COMM_WORLD);
    if (fd >= 0) ::close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    model.look(path, 1);
}

/// A process that may open no more files: the system's words, whichever library meets the limit.
void too_many_files() {
    Model model("");
    const tw_session session = model.session;
    int met = 0;
    for (const std::string settings :
         {"storage=posix", "storage=" PNETCDF, "format=netcdf4", "service=background"})
        for (int more = 0; more < 12; ++more) {
            check::step("too many files: %s, %d more", settings.c_str(), more);
            const std::string path = root + "/many.nc";
            rlimit before{};
            getrlimit(RLIMIT_NOFILE, &before);
            rlimit few = before;
            const int next = ::dup(0);  // the lowest descriptor that is free
            ::close(next);
            few.rlim_cur = static_cast<rlim_t>(next + more);
            if (check::state.rank == 0) setrlimit(RLIMIT_NOFILE, &few);
            tw_file file = nullptr;
            int code = tw_create(session, path.c_str(), settings.c_str(), &file);
            if (code == TW_OK) {
                model.define(file);
                code = tw_enddef(file);
            }
            std::string text = tw_error_message(session);
            if (code == TW_OK) {
                const std::vector<double> data = model.values(0);
                CHECK(tw_put(file, "T", TW_DOUBLE, data.data(), model.count * columns) == TW_OK);
                code = tw_end_step(file);
                if (code == TW_OK) code = tw_close(&file);
                text = tw_error_message(session);
            }
            if (file != nullptr) (void)tw_close(&file);
            setrlimit(RLIMIT_NOFILE, &before);
            if (code != TW_OK) {
                ++met;
                CHECK_TEXT(text.find(std::strerror(EMFILE)) != std::string::npos, "%d %s", code,
                           text.c_str());
                CHECK_TEXT(text.find("many.nc") != std::string::npos, "%s", text.c_str());
                continue;
            }
            // And reading it.
            if (check::state.rank == 0) setrlimit(RLIMIT_NOFILE, &few);
            code = tw_open(session, path.c_str(), nullptr, &file);
            setrlimit(RLIMIT_NOFILE, &before);
            text = tw_error_message(session);
            CHECK_TEXT(code == TW_OK || text.find(std::strerror(EMFILE)) != std::string::npos,
                       "%d %s", code, text.c_str());
            if (code == TW_OK) OK(tw_close(&file));
        }
    CHECK_TEXT(met > 4, "%d", met);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    ::umask(022);
    const std::string only = check::option(argc, argv, "--only", "");
    root = check::make_folder("names");
    const std::vector<std::pair<const char*, void (*)()>> all{{"folders", folders},
                                                              {"sets_of_files", sets_of_files},
                                                              {"appended", appended},
                                                              {"restarts", restarts},
                                                              {"settings", settings},
                                                              {"two_writers", two_writers},
                                                              {"a_tile_in_use", a_tile_in_use},
                                                              {"names", names},
                                                              {"locked", locked},
                                                              {"too_many_files", too_many_files}};
    for (const auto& [name, test] : all)
        if (only.empty() || only == name) test();
    CHECK(::chdir("/") == 0);
    check::remove_folder(root);
    return check::verdict("names");
}
