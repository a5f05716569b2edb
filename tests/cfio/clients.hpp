// The clients of a test: their grid, their folder, files in two dimensions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfio.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "contents.hpp"

struct Clients {
    int rank = 0;
    int count = 1;
    MPI_Comm comm = MPI_COMM_NULL;  // communicator of the clients; null on other ranks
    std::string folder;

    std::string path(const char* name) const { return folder + "/" + name + ".nc"; }
    bool first() const { return rank == 0; }
};

/// The grid of clients, and the number of clients per server, from the test's arguments.
struct Grid {
    Grid(int argc, char** argv) {
        if (argc > 1) x = std::atoi(argv[1]);
        if (argc > 2) y = std::atoi(argv[2]);
        if (argc > 3) ratio = std::atoi(argv[3]);
    }
    /// Makes the communicator of the clients.
    /// @note Collective
    Clients clients() const {
        Clients c;
        c.rank = check::state.rank;
        c.count = x * y;
        MPI_Comm_split(MPI_COMM_WORLD, c.rank < c.count ? 0 : 1, c.rank, &c.comm);
        return c;
    }

    int x = 1, y = 1, ratio = 1;
};

// Each client has `columns` columns, so a row of the file has count * columns elements.
constexpr std::size_t rows = 5;
constexpr std::size_t columns = 3;

// Returns the expected value of an element of the file.
inline double element(std::size_t row, std::size_t column) {
    return static_cast<double>(100 * (row + 1) + column);
}

// A file with the float variable "v(lat, lon)", and functions that put data into it.
struct File {
    const Clients& clients;
    std::string path;
    int id = 0;
    int dims[2] = {0, 0};
    int var = 0;
    std::size_t width;

    // Argument of the constructor that makes no calls of the library.
    enum ByHand { by_hand };
    File(const Clients& those, const char* name, ByHand)
        : clients(those),
          path(those.path(name)),
          width(columns * static_cast<std::size_t>(those.count)) {}

    // Makes the definitions, and remains in define mode.
    File(const Clients& those, const char* name, int cmode = 0) : File(those, name, by_hand) {
        const std::size_t start[2] = {0, first_column()};
        const std::size_t count[2] = {rows, columns};
        CHECK(cfio_create(path.c_str(), cmode, &id) == 0);
        CHECK(cfio_def_dim(id, "lat", rows, &dims[0]) == 0);
        CHECK(cfio_def_dim(id, "lon", width, &dims[1]) == 0);
        CHECK(cfio_def_var(id, "v", CFIO_FLOAT, 2, dims, start, count, &var) == 0);
    }

    std::size_t first_column() const { return columns * static_cast<std::size_t>(clients.rank); }

    int put(std::size_t row, std::size_t column, std::size_t height, std::size_t length) const {
        const std::size_t start[2] = {row, column};
        const std::size_t count[2] = {height, length};
        std::vector<float> data;
        for (std::size_t r = row; r < row + height; ++r)
            for (std::size_t c = column; c < column + length; ++c)
                data.push_back(static_cast<float>(element(r, c)));
        return cfio_put_vara_float(id, var, 2, start, count, data.data());
    }

    // Puts this client's columns, in all or some rows.
    int put_own(std::size_t row = 0, std::size_t height = rows) const {
        return put(row, first_column(), height, columns);
    }

    void check() const {
        MPI_Barrier(clients.comm);
        if (!clients.first()) return;
        const std::vector<double> found = Contents(path).values("v");
        CHECK_TEXT(found.size() == rows * width, "{} values", found.size());
        for (std::size_t i = 0; i < found.size(); ++i)
            CHECK_TEXT(found[i] == element(i / width, i % width), "{}: element {} is {}", path, i,
                       found[i]);
    }
};
