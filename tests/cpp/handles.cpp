// Tests the handles of thalweg.hpp: they can be moved, and release what they own at their end.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <numeric>
#include <optional>

#include "code_of.hpp"

namespace {

template <class T>
constexpr bool only_moves =
    std::is_nothrow_move_constructible_v<T>&& std::is_nothrow_move_assignable_v<T> &&
    !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(only_moves<thalweg::Session> && only_moves<thalweg::Decomposition> &&
              only_moves<thalweg::File> && only_moves<thalweg::Reader> &&
              only_moves<thalweg::Restart>);
static_assert(!std::is_convertible_v<std::nullptr_t, thalweg::Holding>);
// The array of a deferred put must outlive the call.
static_assert(thalweg::ArrayInPlace<std::vector<int>&> &&
              thalweg::ArrayInPlace<std::span<const int>> &&
              !thalweg::ArrayInPlace<std::vector<int>>);

using thalweg::Type;

bool exists(const char* path) { return std::ifstream(path).good(); }

struct Model {
    int rank = 0, size = 1;
    std::vector<float> values = std::vector<float>(3);

    Model() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
    thalweg::Decomposition decompose(thalweg::Session& io) const {
        return io.decompose("*", {3 * size}, {{{3 * rank}, {3}}});
    }
    thalweg::File create(thalweg::Session& io, const char* path) const {
        thalweg::File file = io.create(path);
        // The variable keeps the decomposition alive.
        file.def_var("v", Type::float32, "time x", decompose(io));
        return file;
    }
    void step(thalweg::File& file, int record) {
        std::iota(values.begin(), values.end(), static_cast<float>(10 * record + 3 * rank));
        file.put("v", values);
        file.end_step();
    }
};

/// Tests a file and objects that read it, which go out of scope together without a close.
void end_of_scope(Model& m) {
    thalweg::Session io(MPI_COMM_WORLD, "log=off");
    {
        thalweg::File file = m.create(io, "scope.nc");
        m.step(file, 0);
        CHECK(!exists("scope.nc"));
    }
    CHECK(exists("scope.nc"));
    {
        const auto cells = m.decompose(io);
        thalweg::Reader reader = io.open("scope.nc");
        std::vector<float> got(3);
        reader.get("v", cells, 0, got);
        CHECK(got == m.values);
    }
    thalweg::File file = m.create(io, "scope.nc");
    m.step(file, 1);
    file = m.create(io, "other.nc");  // the assignment closes the first file
    CHECK(exists("scope.nc") && !exists("other.nc"));
    m.step(file, 0);
    file = {};
    CHECK(exists("other.nc"));
    CHECK(code_of([&] { file.close(); }) == TW_EHANDLE);
    io.finalize();
}

/// Tests that a handle that outlives its session becomes empty, and its destructor does nothing.
void end_of_session(Model& m) {
    std::optional<thalweg::Session> io(std::in_place, MPI_COMM_WORLD, "log=off");
    thalweg::Decomposition cells = m.decompose(*io);
    thalweg::File file = m.create(*io, "session.nc");
    m.step(file, 0);
    thalweg::Restart restart = io->restart();
    restart.add("v", "x", cells, m.values);
    thalweg::Session moved = std::move(*io);
    CHECK(code_of([&] { io->summary(); }) == TW_EHANDLE);
    io.reset();
    m.step(file, 1);
    moved.finalize();
    CHECK(exists("session.nc"));
    CHECK(!moved && !file && !cells && !restart);
    CHECK(code_of([&] { m.step(file, 2); }) == TW_EHANDLE);
    CHECK(code_of([&] { file.close(); }) == TW_EHANDLE);
    CHECK(code_of([&] { restart.write("restart.nc"); }) == TW_EHANDLE);
    CHECK(code_of([&] { cells.free(); }) == TW_EHANDLE);
    CHECK(code_of([&] { moved.finalize(); }) == TW_EHANDLE);
    // A new session replaces the one that was moved from.
    moved = thalweg::Session(MPI_COMM_WORLD, "log=off");
    CHECK(!file);
    moved = thalweg::Session(MPI_COMM_WORLD, "log=off");
}

/// Tests that an error in a destructor is thrown when the session ends.
void unseen_error(Model& m) {
    thalweg::Session io(MPI_COMM_WORLD, "log=off");
    {
        thalweg::File file = m.create(io, "unseen.nc");
        file.put("v", std::vector<double>(3, 1e300));  // value that does not fit
    }
    try {
        io.finalize();
        CHECK(!"finalize() throws");
    } catch (const thalweg::Error& e) {
        CHECK(e.code() == TW_ERANGE &&
              std::string(e.what()).find("unseen.nc") != std::string::npos);
    }
    CHECK(!io);
    // An error that a call has thrown is not thrown again by a later call.
    thalweg::Session again(MPI_COMM_WORLD, "log=off");
    thalweg::File file = m.create(again, "unseen.nc");
    file.put("v", std::vector<double>(3, 1e300));
    CHECK(code_of([&] { file.close(); }) == TW_ERANGE);
    CHECK(code_of([&] { again.finalize(); }) == TW_OK);
}

/// Tests that an exception that all ranks catch does not close the files in the scope that it
/// leaves.
void exception(Model& m) {
    thalweg::Session io(MPI_COMM_WORLD, "log=off");
    try {
        thalweg::File file = m.create(io, "exception.nc");
        m.step(file, 0);
        // One rank has more to write while the others are elsewhere: no rank must wait for another.
        if (m.rank == 0) file.put("v", m.values);
        throw 1;
    } catch (int) {
    }
    CHECK(!exists("exception.nc"));
    CHECK(code_of([&] { io.create("exception.nc"); }) == TW_EINUSE);
    const int code = code_of([&] { io.finalize(); });
    CHECK(code == (m.size == 1 ? TW_OK : TW_EMISSING));
}

/// Tests that a decomposition that is empty on only one rank is an error on all ranks.
void empty_decomposition(Model& m) {
    thalweg::Session io(MPI_COMM_WORLD, "log=off");
    thalweg::Decomposition cells = m.decompose(io), none;
    {
        thalweg::File file = m.create(io, "empty.nc");
        m.step(file, 0);
        CHECK(code_of([&] { file.put_record("v", none, 0, m.values); }) == TW_EHANDLE);
    }
    thalweg::Reader reader = io.open("empty.nc");
    std::vector<float> got(3);
    const auto& held = m.rank == 0 ? none : cells;
    CHECK(code_of([&] { reader.get("v", held, 0, got); }) != TW_OK);
    CHECK(code_of([&] { reader.get_deferred("v", none, 0, got); }) == TW_EHANDLE);
    reader.get("v", cells, 0, got);
    CHECK(got == m.values);
    const std::int64_t extent[] = {3}, stride[] = {4, 4};
    const thalweg::StridedArray<float> wrong{got.data(), extent,
                                             std::span(stride, m.rank == 0 ? 2 : 1)};
    CHECK(code_of([&] { reader.get("v", cells, 0, wrong); }) != TW_OK);
    // The program has to close a released handle by its C function.
    tw_file file = reader.release();
    CHECK(!reader && tw_close(&file) == TW_OK);
    tw_decomposition d = cells.release();
    CHECK(!cells && tw_free_decomposition(&d) == TW_OK);
    tw_session session = io.release();
    CHECK(!io && tw_finalize(&session) == TW_OK);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    Model model;
    // Remove files of an earlier run.
    for (const char* path : {"scope.nc", "other.nc", "session.nc", "unseen.nc", "exception.nc"})
        if (model.rank == 0) std::remove(path);
    MPI_Barrier(MPI_COMM_WORLD);
    try {
        end_of_scope(model);
        end_of_session(model);
        unseen_error(model);
        exception(model);
        empty_decomposition(model);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "rank %d: unexpected: %s\n", model.rank, e.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
