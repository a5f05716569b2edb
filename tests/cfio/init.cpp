// Tests starting and ending CFIO in cases without servers.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "clients.hpp"

namespace {

// Returns what cfio_init prints on this rank.
std::string printed_by_init(int x, int y, int ratio) {
    char name[] = "cfio_init_XXXXXX";
    const int to = mkstemp(name);
    const int saved = dup(STDERR_FILENO);
    dup2(to, STDERR_FILENO);
    const int code = cfio_init(x, y, ratio);
    std::fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(to);
    CHECK_TEXT(code == -3, "{}", code);
    std::ifstream file(name);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    unlink(name);
    return text;
}

void failed_init(int x, int y, int ratio) {
    check::step("init({}, {}, {})", x, y, ratio);
    CHECK(cfio_init(x, y, ratio) == -3);
    CHECK(cfio_proc_type() == CFIO_PROC_BLANK);
    CHECK(cfio_finalize() == -3);
}

void no_session() {
    check::step("no session");
    const std::size_t zero = 0;
    const float value = 0;
    int id = 0;
    CHECK(cfio_create("x.nc", 0, &id) == -3);
    CHECK(cfio_def_dim(1, "x", 1, &id) == -3);
    CHECK(cfio_put_vara_float(1, 1, 1, &zero, &zero, &value) == -3);
    CHECK(cfio_enddef(1) == -3);
    CHECK(cfio_io_end() == -3);
    CHECK(cfio_close(1) == -3);
    CHECK(cfio_create(nullptr, 0, &id) == -4);
    CHECK(cfio_finalize() == -3);
}

}  // namespace

int main(int argc, char** argv) {
    CHECK(cfio_init(1, 1, 1) == -3);  // fails before MPI_Init
    check::begin(&argc, &argv, 60);
    const int ranks = check::state.size;
    no_session();
    failed_init(0, 1, 1);
    failed_init(1, -1, 1);
    failed_init(1, 1, 0);
    failed_init(1 << 20, 1 << 20, 4);
    failed_init(ranks, 1, 1);
    failed_init(ranks, 1, 1000);
    if (ranks > 1) failed_init(1, 1, 1 + check::state.rank);
    no_session();

    check::step("the number of ranks that are needed");
    const std::string text = printed_by_init(ranks, 3, 2);
    const std::string number = " " + std::to_string(3 * ranks + 3 * ranks / 2) + " ranks";
    if (check::state.rank == 0)
        CHECK_TEXT(text.find(number) != std::string::npos, "'{}'", text);
    else
        CHECK(text.empty());
    CHECK(cfio_finalize() == -3);

    const int code = check::verdict("cfio init");
    return cfio_finalize() == -200 ? code : 1;
}
