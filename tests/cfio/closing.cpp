// Tests that cfio_close does not wait: files are written while the clients compute, and later calls
// return their errors. Also tests paths that are created again before they are free.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: closing X Y RATIO, on enough ranks. Every case has a session of its own.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "clients.hpp"

namespace {

// Checks that are made after the session has ended.
using Checks = std::vector<std::function<void()>>;

void check_later(Checks& checks, const std::shared_ptr<File>& file) {
    checks.push_back([file] { file->check(); });
}

// Writes one file per step, each of which takes 0.25 s to write.
void a_file_a_step(const Clients& clients, Checks& checks) {
    const std::size_t width = static_cast<std::size_t>(clients.count) * 16;
    const std::size_t height = 64 * 1024 / width;
    const std::size_t start[2] = {0, static_cast<std::size_t>(clients.rank) * 16};
    const std::size_t count[2] = {height, 16};
    const std::vector<float> data(height * 16, 1);
    double longest = 0;
    for (int step = 0; step < 4; ++step) {
        usleep(300000);
        MPI_Barrier(clients.comm);
        const double begin = MPI_Wtime();
        int id = 0;
        int dims[2] = {0, 0};
        int var = 0;
        const std::string path = clients.path(("step" + std::to_string(step)).c_str());
        CHECK(cfio_create(path.c_str(), 0, &id) == 0);
        CHECK(cfio_def_dim(id, "y", height, &dims[0]) == 0);
        CHECK(cfio_def_dim(id, "x", width, &dims[1]) == 0);
        CHECK(cfio_def_var(id, "v", CFIO_FLOAT, 2, dims, start, count, &var) == 0);
        CHECK(cfio_enddef(id) == 0);
        CHECK(cfio_put_vara_float(id, var, 2, start, count, data.data()) == 0);
        CHECK(cfio_close(id) == 0);
        CHECK(cfio_io_end() == 0);
        longest = std::max(longest, MPI_Wtime() - begin);
        checks.push_back([path, height, width] {
            const auto values = Contents(path).values("v");
            CHECK(values == std::vector<double>(height * width, 1));
        });
    }
    CHECK_TEXT(longest < 0.2, "a step's output took {} s", longest);
}

std::shared_ptr<File> written(const Clients& clients, const char* name) {
    auto file = std::make_shared<File>(clients, name);
    CHECK(cfio_enddef(file->id) == 0);
    CHECK(file->put_own() == 0);
    return file;
}

// Closes a file that cannot get its final name: while it is still being written, a folder of this
// name is created.
void close_in_vain(const Clients& clients) {
    const auto file = written(clients, "taken");
    CHECK(cfio_close(file->id) == 0);
    if (clients.first()) std::filesystem::create_directory(file->path);
    MPI_Barrier(clients.comm);
    usleep(300000);
}

void next_call_tells(const Clients& clients, Checks& checks) {
    close_in_vain(clients);
    int id = 0;
    int told = 0;
    // A call that returns the error of another file must also do its own work.
    auto file = std::make_shared<File>(clients, "next", File::by_hand);
    const int wanted = -500;
    const auto tell = [&](int code) {
        CHECK_TEXT(code == 0 || code == wanted, "{}", code);
        if (code == wanted) ++told;
    };
    tell(cfio_create(file->path.c_str(), 0, &id));
    CHECK(cfio_def_dim(id, "lat", rows, &file->dims[0]) == 0);
    CHECK(cfio_def_dim(id, "lon", file->width, &file->dims[1]) == 0);
    const std::size_t zero[2] = {0, 0};
    CHECK(cfio_def_var(id, "v", CFIO_FLOAT, 2, file->dims, zero, zero, &file->var) == 0);
    file->id = id;
    tell(cfio_enddef(id));
    CHECK(file->put_own() == 0);
    MPI_Barrier(clients.comm);
    usleep(200000);
    tell(cfio_close(id));
    CHECK_TEXT(told == 1, "told {} times", told);
    check_later(checks, file);
}

void finalize_tells(const Clients& clients, Checks&) { close_in_vain(clients); }

void created_while_closing(const Clients& clients, Checks& checks) {
    const auto first = written(clients, "again");
    CHECK(cfio_close(first->id) == 0);
    auto second = std::make_shared<File>(clients, "again");
    CHECK(cfio_enddef(second->id) == 0);
    CHECK(second->put_own(0, 2) == 0);
    CHECK(second->put_own(2, rows - 2) == 0);
    CHECK(cfio_close(second->id) == 0);
    check_later(checks, second);
}

// Tests a program that creates a file again without closing it first. The file must be completed,
// and then replaced by the new one.
void created_while_open(const Clients& clients, Checks& checks) {
    const std::size_t one[2] = {1, 1};
    const std::size_t at[2] = {0, 0};
    const float value = -1;
    auto first = std::make_shared<File>(clients, "open");
    CHECK(cfio_enddef(first->id) == 0);
    CHECK(cfio_put_vara_float(first->id, first->var, 2, at, one, &value) == 0);
    auto second = std::make_shared<File>(clients, "open");
    CHECK(second->id != first->id);
    CHECK(cfio_enddef(second->id) == 0);
    CHECK(second->put_own() == 0);
    CHECK(cfio_close(first->id) == 0);
    CHECK(cfio_close(first->id) == -401);
    CHECK(cfio_close(second->id) == 0);
    // Also create a file again that is in define mode. The close returns earlier errors.
    auto third = std::make_shared<File>(clients, "defining");
    CHECK(cfio_put_att(third->id, 9, "a", CFIO_INT, 1, at) == -401);
    auto fourth = std::make_shared<File>(clients, "defining");
    CHECK(cfio_put_vara_float(third->id, third->var, 2, at, one, &value) == -401);
    CHECK(cfio_enddef(fourth->id) == 0);
    CHECK(fourth->put_own() == 0);
    CHECK(cfio_close(third->id) == -401);
    CHECK(cfio_close(fourth->id) == 0);
    check_later(checks, second);
    check_later(checks, fourth);
}

void no_clobber_waits_for_the_name(const Clients& clients, Checks& checks) {
    const auto file = written(clients, "there");
    CHECK(cfio_close(file->id) == 0);
    int id = 77;
    CHECK(cfio_create(file->path.c_str(), NC_NOCLOBBER, &id) == -500);
    CHECK(id == 77);
    check_later(checks, file);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const Grid grid(argc, argv);
    Clients clients = grid.clients();
    const struct {
        const char* name;
        void (*run)(const Clients&, Checks&);
        int finalize;  // expected result of cfio_finalize, on clients and servers
        const char* bandwidth;
    } table[] = {{"a file a step", a_file_a_step, 0, "1MiB"},
                 {"the next call tells", next_call_tells, -500, "4KiB"},
                 {"finalize tells", finalize_tells, -500, "4KiB"},
                 {"created while closing", created_while_closing, 0, "4KiB"},
                 {"created while open", created_while_open, -401, "0"},
                 {"no clobber", no_clobber_waits_for_the_name, -500, "4KiB"}};
    for (const auto& one : table) {
        check::step(one.name);
        clients.folder = check::make_folder("cfio_closing");
        setenv("THALWEG_BANDWIDTH", one.bandwidth, 1);
        // Use small pieces, because a server answers messages only between pieces.
        setenv("THALWEG_PIECE", "16KiB", 1);
        Checks checks;
        CHECK(cfio_init(grid.x, grid.y, grid.ratio) == 0);
        const bool blank = cfio_proc_type() == CFIO_PROC_BLANK;
        const bool client = cfio_proc_type() == CFIO_PROC_CLIENT;
        if (client) one.run(clients, checks);
        const int code = cfio_finalize();
        CHECK_TEXT(code == (blank ? 0 : one.finalize), "{}", code);
        if (client)
            for (const auto& look : checks) look();
    }
    MPI_Comm_free(&clients.comm);
    return check::verdict("cfio closing");
}
