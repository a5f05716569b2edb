// Tests features of CFIO that programs rely on, one by one; and calls that stopped CFIO and must
// work here.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: quirks X Y RATIO, on enough ranks; ranks that are left over are blank.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "clients.hpp"

namespace {

void ids_start_at_1(const Clients& clients) {
    const File file(clients, "ids");
    CHECK_TEXT(file.id == 1, "%d", file.id);
    CHECK(file.dims[0] == 1 && file.dims[1] == 2 && file.var == 1);
    const std::size_t none = 0;
    int scalar = 0;
    CHECK(cfio_def_var(file.id, "scalar", CFIO_INT, 0, nullptr, &none, &none, &scalar) == 0);
    CHECK(scalar == 2);
    CHECK(cfio_close(file.id) == 0);
}

void first_definition_stands(const Clients& clients) {
    const File file(clients, "twice");
    const std::size_t none[2] = {0, 0};
    int id = 0;
    CHECK(cfio_def_dim(file.id, "lat", rows + 7, &id) == 0);
    CHECK(id == file.dims[0]);
    CHECK(cfio_def_var(file.id, "v", CFIO_INT, 1, file.dims, none, none, &id) == 0);
    CHECK(id == file.var);
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(file.put_own() == 0);
    CHECK(cfio_close(file.id) == 0);
    file.check();
    if (!clients.first()) return;
    const Contents contents(file.path);
    CHECK(contents.length("lat") == static_cast<long>(rows));
    CHECK(contents.type("v") == NC_FLOAT);
}

void last_attribute_wins(const Clients& clients) {
    const File file(clients, "attributes");
    const int three = 3;
    const float half = 0.5F;
    CHECK(cfio_put_att(file.id, NC_GLOBAL, "a", CFIO_CHAR, 5, "hello") == 0);
    CHECK(cfio_put_att(file.id, NC_GLOBAL, "a", CFIO_INT, 1, &three) == 0);
    CHECK(cfio_put_att(file.id, file.var, "a", CFIO_INT, 1, &three) == 0);
    CHECK(cfio_put_att(file.id, file.var, "a", CFIO_FLOAT, 1, &half) == 0);
    CHECK(cfio_close(file.id) == 0);
    MPI_Barrier(clients.comm);
    if (!clients.first()) return;
    const Contents contents(file.path);
    CHECK(contents.att_type("", "a") == NC_INT);
    CHECK(contents.numbers("", "a") == std::vector<double>{3});
    CHECK(contents.att_type("v", "a") == NC_FLOAT);
    CHECK(contents.numbers("v", "a") == std::vector<double>{0.5});
}

void attributes_of_all_types(const Clients& clients) {
    const File file(clients, "types");
    const signed char bytes[3] = {-1, 2, 127};
    const short shorts[2] = {-300, 300};
    const double doubles[2] = {1e300, -0.25};
    CHECK(cfio_put_att(file.id, file.var, "bytes", CFIO_BYTE, 3, bytes) == 0);
    CHECK(cfio_put_att(file.id, NC_GLOBAL, "shorts", CFIO_SHORT, 2, shorts) == 0);
    CHECK(cfio_put_att(file.id, NC_GLOBAL, "doubles", CFIO_DOUBLE, 2, doubles) == 0);
    CHECK(cfio_put_att(file.id, NC_GLOBAL, "text", CFIO_CHAR, 4, "text") == 0);
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(cfio_close(file.id) == 0);
    MPI_Barrier(clients.comm);
    if (!clients.first()) return;
    const Contents contents(file.path);
    CHECK(contents.att_type("v", "bytes") == NC_BYTE);
    CHECK((contents.numbers("v", "bytes") == std::vector<double>{-1, 2, 127}));
    CHECK(contents.att_type("", "shorts") == NC_SHORT);
    CHECK((contents.numbers("", "shorts") == std::vector<double>{-300, 300}));
    CHECK((contents.numbers("", "doubles") == std::vector<double>{1e300, -0.25}));
    CHECK(contents.text("", "text") == "text");
}

// If several clients put an attribute with different values, the value of the lowest client is
// written.
void attributes_of_some_clients(const Clients& clients) {
    const File file(clients, "some");
    const int last = clients.count - 1;
    if (clients.rank == last) {
        CHECK(cfio_put_att(file.id, file.var, "of_last", CFIO_INT, 1, &last) == 0);
    }
    CHECK(cfio_put_att(file.id, NC_GLOBAL, "rank", CFIO_INT, 1, &clients.rank) == 0);
    CHECK(cfio_enddef(file.id) == 0);
    if (clients.first()) {
        CHECK(cfio_put_att(file.id, NC_GLOBAL, "late", CFIO_CHAR, 4, "late") == 0);
    }
    CHECK(file.put_own() == 0);
    CHECK(cfio_close(file.id) == 0);
    file.check();
    if (!clients.first()) return;
    const Contents contents(file.path);
    CHECK(contents.numbers("v", "of_last") == std::vector<double>{static_cast<double>(last)});
    CHECK(contents.numbers("", "rank") == std::vector<double>{0});
    CHECK(contents.text("", "late") == "late");
}

void start_and_count_of_put_decide(const Clients& clients) {
    const File file(clients, "hints");
    const std::size_t start[2] = {1000, 1000};
    const std::size_t count[2] = {0, 77};
    int other = 0;
    CHECK(cfio_def_var(file.id, "w", CFIO_INT, 2, file.dims, start, count, &other) == 0);
    CHECK(cfio_enddef(file.id) == 0);
    const std::size_t own[2] = {0, file.first_column()};
    const std::size_t size[2] = {rows, columns};
    const std::vector<int> data = file.values<int>(0, file.first_column(), rows, columns);
    CHECK(cfio_put_vara_int(file.id, other, 2, own, size, data.data()) == 0);
    CHECK(file.put_own() == 0);
    CHECK(cfio_close(file.id) == 0);
    file.check();
    if (!clients.first()) return;
    const std::vector<double> found = Contents(file.path).values("w");
    CHECK(found == file.values<double>(0, 0, rows, file.width));
}

// Waits until a file that is being written has a number of records in its header.
bool are_counted(const std::string& path, unsigned char records) {
    for (int i = 0; i < 1000; ++i, usleep(10000)) {
        char header[8] = {};
        std::ifstream(path + ".part").read(header, sizeof header);
        if (header[7] == records) return true;
    }
    return false;
}

void unlimited_dimension(const Clients& clients) {
    const File file(clients, "unlimited");
    int time = 0;
    int var = 0;
    CHECK(cfio_def_dim(file.id, "time", 0, &time) == 0);
    const int dims[2] = {time, file.dims[1]};
    const std::size_t none[2] = {0, 0};
    CHECK(cfio_def_var(file.id, "r", CFIO_DOUBLE, 2, dims, none, none, &var) == 0);
    CHECK(cfio_enddef(file.id) == 0);
    // Some records are written one by one, some together. The last client does not write the last
    // record.
    const std::size_t records = 4;
    const bool skips = clients.count > 1 && clients.rank == clients.count - 1;
    const std::vector<double> data = file.values<double>(0, file.first_column(), records, columns);
    for (std::size_t r = 0; r < 2; ++r) {
        const std::size_t start[2] = {r, file.first_column()};
        const std::size_t count[2] = {1, columns};
        CHECK(cfio_put_vara_double(file.id, var, 2, start, count, &data[r * columns]) == 0);
        CHECK(cfio_io_end() == 0);
    }
    // If the run is killed after the next collective call, these records remain.
    const File other(clients, "meanwhile");
    CHECK(!clients.first() || are_counted(file.path, 2));
    CHECK(cfio_close(other.id) == 0);
    const std::size_t start[2] = {2, file.first_column()};
    const std::size_t count[2] = {skips ? 1U : 2U, columns};
    CHECK(cfio_put_vara_double(file.id, var, 2, start, count, &data[2 * columns]) == 0);
    CHECK(cfio_close(file.id) == 0);
    MPI_Barrier(clients.comm);
    if (!clients.first()) return;
    const Contents contents(file.path);
    CHECK(contents.length("time") == static_cast<long>(records));
    std::vector<double> wanted = file.values<double>(0, 0, records, file.width);
    if (clients.count > 1)
        for (std::size_t c = 0; c < columns; ++c) wanted[wanted.size() - 1 - c] = NC_FILL_DOUBLE;
    CHECK(contents.values("r") == wanted);
}

void buffer_is_free_after_put(const Clients& clients) {
    const File file(clients, "buffer");
    CHECK(cfio_enddef(file.id) == 0);
    const std::size_t start[2] = {0, file.first_column()};
    const std::size_t count[2] = {rows, columns};
    std::vector<float> data = file.values(0, file.first_column(), rows, columns);
    CHECK(cfio_put_vara_float(file.id, file.var, 2, start, count, data.data()) == 0);
    data.assign(data.size(), -1);
    CHECK(cfio_io_end() == 0);
    CHECK(cfio_close(file.id) == 0);
    file.check();
}

void replicated_and_repeated_puts(const Clients& clients) {
    const File file(clients, "replicated");
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(file.put(0, 0, rows, file.width) == 0);
    CHECK(cfio_close(file.id) == 0);
    file.check();

    const File again(clients, "repeated");
    CHECK(cfio_enddef(again.id) == 0);
    const std::size_t start[2] = {0, again.first_column()};
    const std::size_t count[2] = {rows, columns};
    const std::vector<float> wrong(rows * columns, -1);
    CHECK(cfio_put_vara_float(again.id, again.var, 2, start, count, wrong.data()) == 0);
    CHECK(cfio_io_end() == 0);
    CHECK(cfio_put_vara_float(again.id, again.var, 2, start, count, wrong.data()) == 0);
    CHECK(again.put_own() == 0);
    CHECK(cfio_close(again.id) == 0);
    again.check();
}

void several_open_files(const Clients& clients) {
    const File a(clients, "a");
    const File b(clients, "b");
    CHECK(a.id != b.id);
    CHECK(cfio_enddef(b.id) == 0);
    CHECK(b.put_own(0, 2) == 0);
    CHECK(cfio_enddef(a.id) == 0);
    CHECK(a.put_own() == 0);
    CHECK(cfio_io_end() == 0);
    CHECK(b.put_own(2, rows - 2) == 0);
    CHECK(cfio_close(a.id) == 0);
    CHECK(cfio_close(b.id) == 0);
    a.check();
    b.check();
}

// Clients call cfio_io_end different numbers of times, between puts and after the close.
void io_end_anywhere(const Clients& clients) {
    const File file(clients, "io_end");
    CHECK(cfio_io_end() == 0);
    CHECK(cfio_enddef(file.id) == 0);
    for (int i = 0; i < clients.rank; ++i) CHECK(cfio_io_end() == 0);
    CHECK(file.put_own(0, 3) == 0);
    if (clients.rank % 2 == 0) CHECK(cfio_io_end() == 0);
    CHECK(file.put_own(3, rows - 3) == 0);
    CHECK(cfio_close(file.id) == 0);
    CHECK(cfio_io_end() == 0);
    file.check();
}

// Clients put single rows of all columns in turn. Each row is put in two parts.
void blocks_that_form_no_rectangle(const Clients& clients) {
    const File file(clients, "rows");
    CHECK(cfio_enddef(file.id) == 0);
    for (std::size_t r = 0; r < rows; ++r) {
        if (static_cast<int>(r) % clients.count != clients.rank) continue;
        CHECK(file.put(r, 1, 1, file.width - 1) == 0);
        CHECK(file.put(r, 0, 1, 1) == 0);
    }
    CHECK(cfio_close(file.id) == 0);
    file.check();
}

void clients_that_put_nothing(const Clients& clients) {
    const File none(clients, "none");
    CHECK(cfio_enddef(none.id) == 0);
    CHECK(cfio_close(none.id) == 0);
    none.check(0);

    const File file(clients, "one");
    CHECK(cfio_enddef(file.id) == 0);
    if (clients.first()) CHECK(file.put_own() == 0);
    CHECK(cfio_close(file.id) == 0);
    file.check(columns);
}

void clients_that_synchronise(const Clients& clients) {
    const File file(clients, "synchronise");
    CHECK(cfio_enddef(file.id) == 0);
    for (int turn = 0; turn < clients.count; ++turn) {
        if (turn == clients.rank) {
            CHECK(file.put_own() == 0);
            CHECK(cfio_io_end() == 0);
        }
        MPI_Barrier(clients.comm);
    }
    CHECK(cfio_close(file.id) == 0);
    file.check();
}

void zero_size_put(const Clients& clients) {
    const File file(clients, "zero");
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(file.put(0, 0, 0, file.width) == 0);
    CHECK(file.put(rows, file.width, 0, 0) == 0);
    const std::size_t none[2] = {0, 0};
    CHECK(cfio_put_vara_float(file.id, file.var, 2, none, none, nullptr) == 0);
    CHECK(file.put_own() == 0);
    CHECK(cfio_close(file.id) == 0);
    file.check();
}

void scalar_variable(const Clients& clients) {
    const File file(clients, "scalar");
    const std::size_t none = 0;
    const double value = 273.15;
    int with = 0;
    int without = 0;
    CHECK(cfio_def_var(file.id, "s", CFIO_DOUBLE, 0, file.dims, &none, &none, &with) == 0);
    CHECK(cfio_def_var(file.id, "t", CFIO_DOUBLE, 0, nullptr, nullptr, nullptr, &without) == 0);
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(cfio_put_vara_double(file.id, with, 0, &none, &none, &value) == 0);
    CHECK(cfio_put_vara_double(file.id, without, 0, nullptr, nullptr, &value) == 0);
    CHECK(cfio_close(file.id) == 0);
    MPI_Barrier(clients.comm);
    if (!clients.first()) return;
    const Contents contents(file.path);
    CHECK(contents.values("s") == std::vector<double>{value});
    CHECK(contents.values("t") == std::vector<double>{value});
}

// Puts a single value, and blocks much larger than any buffer.
void any_put_size(const Clients& clients) {
    const std::size_t length = 1000001;
    const std::size_t offset = length * static_cast<std::size_t>(clients.rank);
    const std::size_t count = length;
    const std::size_t whole = length * static_cast<std::size_t>(clients.count);
    const std::string path = clients.path("size");
    int id = 0;
    int dim = 0;
    int var = 0;
    CHECK(cfio_create(path.c_str(), NC_64BIT_OFFSET, &id) == 0);
    CHECK(cfio_def_dim(id, "x", whole, &dim) == 0);
    CHECK(cfio_def_var(id, "x", CFIO_INT, 1, &dim, &offset, &count, &var) == 0);
    CHECK(cfio_enddef(id) == 0);
    std::vector<int> data(length);
    for (std::size_t i = 0; i < length; ++i) data[i] = static_cast<int>(offset + i);
    CHECK(cfio_put_vara_int(id, var, 1, &offset, &count, data.data()) == 0);
    const std::size_t one = 1;
    CHECK(cfio_put_vara_int(id, var, 1, &offset, &one, data.data()) == 0);
    CHECK(cfio_close(id) == 0);
    MPI_Barrier(clients.comm);
    if (!clients.first()) return;
    const std::vector<double> found = Contents(path).values("x");
    CHECK(found.size() == whole);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i) wrong += found[i] != static_cast<double>(i);
    CHECK_TEXT(wrong == 0, "%zu values", wrong);
}

void put_type_differs(const Clients& clients) {
    const File file(clients, "conversions");
    const std::size_t none[2] = {0, 0};
    int narrow = 0;
    int wide = 0;
    int byte = 0;
    CHECK(cfio_def_var(file.id, "short", CFIO_SHORT, 2, file.dims, none, none, &narrow) == 0);
    CHECK(cfio_def_var(file.id, "double", CFIO_DOUBLE, 2, file.dims, none, none, &wide) == 0);
    CHECK(cfio_def_var(file.id, "byte", CFIO_BYTE, 1, file.dims, none, none, &byte) == 0);
    CHECK(cfio_enddef(file.id) == 0);
    const std::size_t start[2] = {0, file.first_column()};
    const std::size_t count[2] = {rows, columns};
    const auto doubles = file.values<double>(0, file.first_column(), rows, columns);
    const auto ints = file.values<int>(0, file.first_column(), rows, columns);
    CHECK(cfio_put_vara_double(file.id, file.var, 2, start, count, doubles.data()) == 0);
    CHECK(cfio_put_vara_double(file.id, narrow, 2, start, count, doubles.data()) == 0);
    CHECK(cfio_put_vara_int(file.id, wide, 2, start, count, ints.data()) == 0);
    const int bytes[rows] = {-128, -1, 0, 1, 127};
    CHECK(cfio_put_vara_int(file.id, byte, 1, none, count, bytes) == 0);
    CHECK(cfio_close(file.id) == 0);
    file.check();
    if (!clients.first()) return;
    const Contents contents(file.path);
    CHECK(contents.values("short") == file.values<double>(0, 0, rows, file.width));
    CHECK(contents.values("double") == file.values<double>(0, 0, rows, file.width));
    CHECK((contents.values("byte") == std::vector<double>{-128, -1, 0, 1, 127}));
}

void names_are_found(const Clients& clients) {
    const File file(clients, "names");
    const std::size_t none[2] = {0, 0};
    int id = 0;
    CHECK(cfio_inq_varid(file.id, "v", &id) == 0);
    CHECK(id == file.var);
    CHECK(cfio_inq_varid(file.id, "w", &id) == -401);
    CHECK(id == file.var);
    // One client makes the definition. All clients know it after the end of define mode.
    if (clients.first())
        CHECK(cfio_def_var(file.id, "w", CFIO_FLOAT, 2, file.dims, none, none, &id) == 0);
    CHECK(cfio_enddef(file.id) == 0);
    CHECK(cfio_inq_varid(file.id, "w", &id) == 0);
    const std::size_t start[2] = {0, file.first_column()};
    const std::size_t count[2] = {rows, columns};
    const std::vector<float> data = file.values(0, file.first_column(), rows, columns);
    CHECK(cfio_put_vara_float(file.id, id, 2, start, count, data.data()) == 0);
    CHECK(file.put_own() == 0);
    CHECK(cfio_close(file.id) == 0);
    file.check();
    if (!clients.first()) return;
    CHECK(Contents(file.path).values("w") == file.values<double>(0, 0, rows, file.width));
}

void names_with_blanks(const Clients& clients) {
    const File file(clients, "blanks");
    int dims[2] = {0, file.dims[1]};
    int id = 0;
    CHECK(cfio_def_dim(file.id, "sea \\ ice \\points", rows, &dims[0]) == 0);
    const std::size_t start[2] = {0, file.first_column()};
    const std::size_t count[2] = {rows, columns};
    CHECK(cfio_def_var(file.id, "w v", CFIO_FLOAT, 2, dims, start, count, &id) == 0);
    CHECK(cfio_enddef(file.id) == 0);
    const std::vector<float> data = file.values(0, file.first_column(), rows, columns);
    CHECK(cfio_put_vara_float(file.id, id, 2, start, count, data.data()) == 0);
    CHECK(file.put_own() == 0);
    CHECK(cfio_close(file.id) == 0);
    file.check();
    if (!clients.first()) return;
    const Contents contents(file.path);
    CHECK(contents.length("sea \\ ice \\points") == static_cast<long>(rows));
    CHECK(contents.values("w v") == file.values<double>(0, 0, rows, file.width));
}

void create_modes(const Clients& clients) {
    const struct {
        int mode;
        int format;
    } modes[] = {{0, NC_FORMAT_CLASSIC},
                 {NC_CLOBBER, NC_FORMAT_CLASSIC},
                 {NC_64BIT_OFFSET, NC_FORMAT_64BIT_OFFSET},
                 {NC_64BIT_DATA, NC_FORMAT_64BIT_DATA}};
    for (const auto& mode : modes) {
        const File file(clients, "mode", mode.mode);
        CHECK(cfio_enddef(file.id) == 0);
        CHECK(file.put_own() == 0);
        CHECK(cfio_close(file.id) == 0);
        file.check();
        if (clients.first()) CHECK(Contents(file.path).format() == mode.format);
        MPI_Barrier(clients.comm);
    }
    const File fresh(clients, "fresh", NC_NOCLOBBER);
    CHECK(cfio_enddef(fresh.id) == 0);
    CHECK(fresh.put_own() == 0);
    CHECK(cfio_close(fresh.id) == 0);
    fresh.check();
}

void roles(int type, int rank, int clients, int servers) {
    const int wanted = rank < clients             ? CFIO_PROC_CLIENT
                       : rank < clients + servers ? CFIO_PROC_SERVER
                                                  : CFIO_PROC_BLANK;
    CHECK_TEXT(type == wanted, "%d, not %d", type, wanted);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    setenv("THALWEG_CLOSE", "wait", 1);  // complete files in their close, because they are checked
                                         // directly after it
    const Grid grid(argc, argv);
    Clients clients = grid.clients();
    const struct {
        const char* name;
        void (*run)(const Clients&);
    } table[] = {{"ids start at 1", ids_start_at_1},
                 {"the first definition stands", first_definition_stands},
                 {"the last attribute wins", last_attribute_wins},
                 {"attributes of all types", attributes_of_all_types},
                 {"attributes of some clients", attributes_of_some_clients},
                 {"start and count of put decide", start_and_count_of_put_decide},
                 {"an unlimited dimension", unlimited_dimension},
                 {"the buffer is free after put", buffer_is_free_after_put},
                 {"replicated and repeated puts", replicated_and_repeated_puts},
                 {"several open files", several_open_files},
                 {"io_end anywhere", io_end_anywhere},
                 {"blocks that form no rectangle", blocks_that_form_no_rectangle},
                 {"clients that put nothing", clients_that_put_nothing},
                 {"clients that synchronise", clients_that_synchronise},
                 {"a put of size zero", zero_size_put},
                 {"a scalar variable", scalar_variable},
                 {"any put size", any_put_size},
                 {"a put type that differs", put_type_differs},
                 {"names are found", names_are_found},
                 {"names with blanks", names_with_blanks},
                 {"create modes", create_modes}};

    // The second session must work as the first one does.
    for (int session = 1; session <= 2; ++session) {
        check::step("session %d", session);
        clients.folder = check::make_folder("cfio_quirks");
        CHECK(cfio_init(grid.x, grid.y, grid.ratio) == 0);
        roles(cfio_proc_type(), clients.rank, clients.count,
              std::max(1, clients.count / grid.ratio));
        CFIO_START()
        for (const auto& quirk : table) {
            check::step("session %d: %s", session, quirk.name);
            quirk.run(clients);
        }
        CFIO_END()
        CHECK(cfio_finalize() == 0);
        check::remove_folder(clients.folder);
    }
    MPI_Comm_free(&clients.comm);
    return check::verdict("cfio quirks");
}
