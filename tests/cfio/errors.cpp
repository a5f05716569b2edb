// Tests errors: they are returned at once where they happen, and by cfio_close on every client, and
// no client waits forever.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: errors X Y RATIO, on enough ranks. Every case has a session of its own.
#include <sys/stat.h>

#include <cstdlib>

#include "clients.hpp"

namespace {

bool last(const Clients& clients) { return clients.rank == clients.count - 1; }

// ---- errors of one client, which the file keeps -------------------------------------------------

void null_arguments(const Clients& clients) {
    const File file(clients, "null");
    const std::size_t zero[2] = {0, 0};
    const std::size_t one[2] = {1, 1};
    const float value = 0;
    int id = 0;
    CHECK(cfio_create(nullptr, 0, &id) == -4);
    CHECK(cfio_create(file.path.c_str(), 0, nullptr) == -4);
    CHECK(cfio_def_dim(file.id, nullptr, 1, &id) == -4);
    CHECK(cfio_def_dim(file.id, "d", 1, nullptr) == -4);
    CHECK(cfio_def_var(file.id, nullptr, CFIO_INT, 2, file.dims, zero, one, &id) == -4);
    CHECK(cfio_def_var(file.id, "w", CFIO_INT, 2, nullptr, zero, one, &id) == -4);
    CHECK(cfio_def_var(file.id, "w", CFIO_INT, 2, file.dims, nullptr, one, &id) == -4);
    CHECK(cfio_def_var(file.id, "w", CFIO_INT, 2, file.dims, zero, nullptr, &id) == -4);
    CHECK(cfio_def_var(file.id, "w", CFIO_INT, 2, file.dims, zero, one, nullptr) == -4);
    CHECK(cfio_put_att(file.id, file.var, nullptr, CFIO_FLOAT, 1, &value) == -4);
    CHECK(cfio_put_att(file.id, file.var, "a", CFIO_FLOAT, 1, nullptr) == -4);
    CHECK(cfio_inq_varid(file.id, nullptr, &id) == -4);
    CHECK(cfio_inq_varid(file.id, "v", nullptr) == -4);
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(file.put_own() == 0);
    CHECK(cfio_put_vara_float(file.id, file.var, 2, nullptr, one, &value) == -4);
    CHECK(cfio_put_vara_float(file.id, file.var, 2, zero, nullptr, &value) == -4);
    CHECK(cfio_put_vara_float(file.id, file.var, 2, zero, one, nullptr) == -4);
    CHECK(cfio_close(file.id) == -4);
    file.check();
}

void unknown_ids(const Clients& clients) {
    const File file(clients, "ids");
    const std::size_t zero[2] = {0, 0};
    const std::size_t one[2] = {1, 1};
    const float value = 0;
    int id = 0;
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(file.put_own() == 0);
    for (const int bad : {0, -1, 99}) {
        CHECK(cfio_def_dim(bad, "d", 1, &id) == -401);
        CHECK(cfio_def_var(bad, "w", CFIO_INT, 2, file.dims, zero, one, &id) == -401);
        CHECK(cfio_put_att(bad, NC_GLOBAL, "a", CFIO_FLOAT, 1, &value) == -401);
        CHECK(cfio_enddef(bad) == -401);
        CHECK(cfio_inq_varid(bad, "v", &id) == -401);
        CHECK(cfio_put_vara_float(bad, file.var, 2, zero, one, &value) == -401);
        CHECK(cfio_close(bad) == -401);
        CHECK(cfio_put_vara_float(file.id, bad, 2, zero, one, &value) == -401);
    }
    CHECK(cfio_put_att(file.id, 0, "a", CFIO_FLOAT, 1, &value) == -401);
    const int dims[2] = {1, 3};
    CHECK(cfio_def_var(file.id, "w", CFIO_INT, 2, dims, zero, one, &id) == -401);
    CHECK(cfio_close(file.id) == -401);
    CHECK(cfio_close(file.id) == -401);
    file.check();
}

// Tests a block of one client that is out of range. The client's other block, and those of the
// other clients, must be written.
void out_of_range(const Clients& clients) {
    const File file(clients, "range");
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(file.put_own() == 0);
    if (last(clients)) {
        const float value = 0;
        const std::size_t one[2] = {1, 1};
        const std::size_t beyond[2] = {0, file.width};
        const std::size_t below[2] = {0, static_cast<std::size_t>(-1)};
        CHECK(cfio_put_vara_float(file.id, file.var, 2, beyond, one, &value) == -400);
        CHECK(cfio_put_vara_float(file.id, file.var, 2, below, one, &value) == -400);
        CHECK(file.put(0, file.first_column(), rows, columns + 1) == -400);
    }
    CHECK(cfio_close(file.id) == -400);
    file.check();
}

void wrong_number_of_dimensions(const Clients& clients) {
    const File file(clients, "dimensions");
    const std::size_t zero[3] = {0, 0, 0};
    const std::size_t one[3] = {1, 1, 1};
    const float value = 0;
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(file.put_own() == 0);
    for (const int bad : {-1, 0, 1, 3})
        CHECK(cfio_put_vara_float(file.id, file.var, bad, zero, one, &value) == -500);
    CHECK(cfio_close(file.id) == -500);
    file.check();
}

void values_that_do_not_fit(const Clients& clients) {
    const File file(clients, "fit");
    const std::size_t zero[2] = {0, 0};
    const std::size_t own[1] = {file.first_column()};
    const std::size_t one[2] = {1, 1};
    int var = 0;
    CHECK(cfio_def_var(file.id, "w", CFIO_INT, 1, &file.dims[1], zero, one, &var) == 0);
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(file.put_own() == 0);
    const double value = 1e10;
    CHECK(cfio_put_vara_double(file.id, var, 1, own, one, &value) == -500);
    CHECK(cfio_close(file.id) == -500);
    file.check();
}

void calls_out_of_order(const Clients& clients) {
    const File file(clients, "order");
    int id = 0;
    CHECK(file.put_own() == -500);
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(cfio_def_dim(file.id, "late", 3, &id) == -500);
    CHECK(cfio_def_dim(file.id, "lat", 3, &id) == 0);
    CHECK(file.put_own() == 0);
    CHECK(cfio_close(file.id) == -500);
    file.check();
}

void bad_definitions(const Clients& clients) {
    const File file(clients, "definitions");
    const std::size_t zero[2] = {0, 0};
    const int value = 0;
    int id = 0;
    CHECK(cfio_def_dim(file.id, "negative", static_cast<std::size_t>(-5), &id) == -500);
    CHECK(cfio_def_dim(file.id, "blank at the end ", 2, &id) == -500);
    CHECK(cfio_def_dim(file.id, "two\nlines", 2, &id) == -500);
    CHECK(cfio_def_dim(file.id, "", 2, &id) == -500);
    CHECK(cfio_def_var(file.id, "w", 77, 2, file.dims, zero, zero, &id) == -500);
    CHECK(cfio_def_var(file.id, "w", CFIO_INT, -1, file.dims, zero, zero, &id) == -500);
    CHECK(cfio_put_att(file.id, NC_GLOBAL, "a", 0, 1, &value) == -500);
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(file.put_own() == 0);
    CHECK(cfio_close(file.id) == -500);
    file.check();
}

void definitions_that_differ(const Clients& clients) {
    const File file(clients, "differ");
    int id = 0;
    const auto length = static_cast<std::size_t>(clients.rank + 1);
    CHECK(cfio_def_dim(file.id, "d", length, &id) == 0);
    const int wanted = clients.count > 1 ? -500 : 0;
    CHECK(cfio_enddef(file.id) == wanted);
    CHECK(file.put_own() == 0);
    CHECK(cfio_close(file.id) == wanted);
    file.check();
    if (clients.first()) CHECK(Contents(file.path).length("d") == 1);
}

// ---- errors that no file can keep ---------------------------------------------------------------

void no_such_folder(const Clients& clients) {
    int id = 77;
    CHECK(cfio_create((clients.folder + "/no/such/file.nc").c_str(), 0, &id) < 0);
    CHECK(id == 77);
    CHECK(cfio_create(clients.folder.c_str(), 0, &id) < 0);
}

void no_clobber(const Clients& clients) {
    const File file(clients, "there", NC_NOCLOBBER);
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(file.put_own() == 0);
    CHECK(cfio_close(file.id) == 0);
    int id = 77;
    CHECK(cfio_create(file.path.c_str(), NC_NOCLOBBER, &id) == -500);
    CHECK(id == 77);
    file.check();
}

void no_such_format(const Clients& clients) {
    int id = 77;
    CHECK(cfio_create(clients.path("two").c_str(), NC_64BIT_OFFSET | NC_64BIT_DATA, &id) == -500);
    CHECK(id == 77);
}

void unknown_file(const Clients& clients) {
    if (last(clients)) CHECK(cfio_close(7) == -401);
}

// ---- clients that are in different calls --------------------------------------------------------

void one_client_creates_nothing(const Clients& clients) {
    int id = 77;
    const std::string path = clients.path("alone");
    if (last(clients))
        CHECK(cfio_create(nullptr, 0, &id) == -4);
    else
        CHECK(cfio_create(path.c_str(), 0, &id) == -500);
    CHECK(id == 77);
}

void one_client_closes_another(const Clients& clients) {
    const File file(clients, "another");
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(file.put_own() == 0);
    if (last(clients))
        CHECK(cfio_close(99) == -401);
    else
        CHECK(cfio_close(file.id) == -500);
    // The file stays open: cfio_finalize closes it, and returns the error.
}

void different_paths(const Clients& clients) {
    int id = 77;
    const std::string name = "path" + std::to_string(clients.rank);
    CHECK(cfio_create(clients.path(name.c_str()).c_str(), 0, &id) ==
          (clients.count > 1 ? -500 : 0));
}

bool exists(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0;
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    setenv("THALWEG_CLOSE", "wait", 1);  // complete files in their close, because they are checked
                                         // directly after it
    const Grid grid(argc, argv);
    Clients clients = grid.clients();
    const bool several = clients.count > 1;
    // Expected results of cfio_finalize on clients and servers: the first error that no cfio_close
    // has returned.
    const struct {
        const char* name;
        void (*run)(const Clients&);
        int finalize;
    } table[] = {{"NULL", null_arguments, -4},
                 {"unknown ids", unknown_ids, -401},
                 {"out of range", out_of_range, 0},
                 {"wrong number of dimensions", wrong_number_of_dimensions, 0},
                 {"values that do not fit", values_that_do_not_fit, 0},
                 {"calls out of order", calls_out_of_order, 0},
                 {"bad definitions", bad_definitions, 0},
                 {"definitions that differ", definitions_that_differ, 0},
                 {"no such folder", no_such_folder, -500},
                 {"no clobber", no_clobber, -500},
                 {"no such format", no_such_format, -500},
                 {"unknown file", unknown_file, -401},
                 {"one client creates nothing", one_client_creates_nothing, several ? -500 : -4},
                 {"one client closes another", one_client_closes_another, several ? -500 : -401},
                 {"different paths", different_paths, several ? -500 : 0}};
    for (const auto& error : table) {
        check::step(error.name);
        clients.folder = check::make_folder("cfio_errors");
        CHECK(cfio_init(grid.x, grid.y, grid.ratio) == 0);
        const bool blank = cfio_proc_type() == CFIO_PROC_BLANK;
        CFIO_START()
        error.run(clients);
        CFIO_END()
        const int code = cfio_finalize();
        CHECK_TEXT(code == (blank ? 0 : error.finalize), "{}", code);
        if (error.run == one_client_closes_another && !blank)
            CHECK(exists(clients.path("another")));
    }
    MPI_Comm_free(&clients.comm);
    return check::verdict("cfio errors");
}
