// Tests servers that inform each other in a tree: files that cannot be created on one of them,
// errors that reach all ranks, sessions that are cancelled. components.cpp writes files with any
// number of servers.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: server_tree [--only NAME]
// With the library of faults preloaded (inject.c of tests/faults).

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "system/check.hpp"
#include "system/model.hpp"

namespace {

std::string folder;

std::string path_of(const std::string& name) { return folder + "/" + name; }

/// On one rank, makes the n-th write and all later ones fail, if the path of the file contains this
/// name.
void arm(const std::string& name, int rank, int at) {
    using Arm = void (*)(const char*, const char*, const char*);
    const auto function = reinterpret_cast<Arm>(dlsym(RTLD_DEFAULT, "thalweg_fault_arm"));
    CHECK_TEXT(function != nullptr, "the library of faults is not loaded (LD_PRELOAD)");
    if (function == nullptr) return;
    const bool here = rank == check::state.rank;
    function(name.c_str(), here ? (std::to_string(at) + "+").c_str() : "", here ? "eio" : "none");
    MPI_Barrier(MPI_COMM_WORLD);
}

/// The number of servers, which are the last ranks, and the number of ranks on each node.
struct Shape {
    int servers = 1, node_size = 0;
    std::string settings() const {
        return check::text("log=off; service=servers; servers={}:last; node_size={}", servers,
                           node_size);
    }
    /// Returns the rank of a server.
    int rank_of(int server) const { return check::state.size - servers + server; }
};

template <class Act>
void for_shapes(Act&& act) {
    for (int servers = 1; servers <= 7 && servers < check::state.size; ++servers)
        for (int node_size = 1; node_size <= 3; ++node_size) act(Shape{servers, node_size});
}

/// Runs a function on the model's ranks in a session.
template <class Body>
void with_model(const std::string& settings, Body&& body, int ends_with = TW_OK) {
    check::step(settings);
    {
        Model model(MPI_COMM_WORLD, settings);
        if (model) body(model);
        check::step("{}: tw_finalize", settings);
        if (model.session != nullptr) model.end(ends_with);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

// ---- the tests ----------------------------------------------------------------------------------

/// Tests a server that cannot create the file of its tile. All ranks get the same error, which
/// names the server, and the next file works.
void create_fails_on_one() {
    for_shapes([](const Shape& shape) {
        for (int server = 0; server < shape.servers; ++server) {
            arm("/fails.nc", shape.rank_of(server), 1);
            with_model(shape.settings(), [&](Model& model) {
                const std::string tiles =
                    check::text("method=tiles; tiles=1x{}; files=tiles", shape.servers);
                const std::int64_t shape_of[] = {14, 6}, start[] = {0, 0}, count[] = {14, 6};
                tw_decomposition cells = nullptr;
                CHECK(tw_decompose(model.session, "y x", model.rank == 0 ? 1 : 0, shape_of, start,
                                   count, &cells) == TW_OK);
                tw_file file = nullptr;
                CHECK(tw_create(model.session, path_of("fails.nc").c_str(), tiles.c_str(), &file) ==
                      TW_OK);
                CHECK(tw_def_var(file, "T", TW_FLOAT, "time y x", cells) == TW_OK);
                check::step("{}: tw_enddef, fails on server {}", shape.settings(), server);
                const int status = tw_enddef(file);
                const std::string text = model.error();
                CHECK_TEXT(status == TW_EIO, "{}: {}", tw_strerror(status), text);
                const std::string rank = check::text("(rank {})", shape.rank_of(server));
                CHECK_TEXT(text.find(rank) != std::string::npos &&
                               text.find("fails.nc") != std::string::npos,
                           "'{}' lacks '{}'", text, rank);
                CHECK(tw_close(&file) == status);
                History good(model, path_of("good.nc"), "");
                good.step(0);
                good.close_and_look(1, false);
            });
        }
    });
    arm("/", -1, 1);
}

/// Checks that a rank gets the error from its own calls, none of which waits for other ranks.
void learn(Model& model, History& h, const char* words) {
    const double end = MPI_Wtime() + 20;
    int status = TW_OK;
    for (int r = 1; status == TW_OK && MPI_Wtime() < end; ++r) {
        usleep(500);
        status = h.try_put("T", r);
        if (status == TW_OK) status = tw_end_step(h.file);
    }
    const std::string text = model.error();
    CHECK_TEXT(status != TW_OK && text.find(words) != std::string::npos, "{}: {}",
               tw_strerror(status), text);
    CHECK(tw_end_step(h.file) == status);
    h.close(status);
}

/// Checks that a rank gets the error from its next call, a moment after it happened.
void learn_next(Model& model, History& h, const char* words) {
    usleep(500'000);
    const int status = h.try_put("T", 1);
    CHECK_TEXT(status != TW_OK && model.error().find(words) != std::string::npos, "{}: {}",
               tw_strerror(status), model.error());
    h.close(status);
}

/// Tests errors on a server: on the first one, which counts the records, and on each one that
/// writes a share.
void servers_fail() {
    for_shapes([&](const Shape& shape) {
        for (const int server : {0, shape.servers - 1}) {
            arm("/bad.nc", shape.rank_of(server), 4);
            with_model(shape.settings(), [&](Model& model) {
                History h(model, path_of("bad.nc"), "method=record", 64, 64);
                h.step(0);
                learn(model, h, "Input/output error");
            });
        }
        arm("/", -1, 1);
    });
}

/// Tests errors on a rank of the model, whose array has changed.
void ranks_fail() {
    for_shapes([&](const Shape& shape) {
        const bool slowly = shape.node_size == 2 && (shape.servers % 3 == 1 || shape.servers == 2);
        for (const int who : {0, check::state.size - shape.servers - 1})
            with_model(shape.settings(), [&](Model& model) {
                History h(model, path_of("lost.nc"), "method=record", 64, 64);
                std::vector<float> data(static_cast<std::size_t>(h.count[0] * h.columns), 1);
                const auto n = static_cast<std::int64_t>(data.size());
                CHECK(tw_put_array(h.file, "T", tw_dense(TW_FLOAT, data.data(), n), TW_DEFERRED) ==
                      TW_OK);
                if (model.rank != who) CHECK(tw_end_step(h.file) == TW_OK);
                MPI_Barrier(model.comm);
                if (model.rank == who) {
                    data.assign(data.size(), 2);
                    CHECK(tw_end_step(h.file) == TW_EARG);
                }
                MPI_Barrier(model.comm);
                (slowly ? learn_next : learn)(model, h, "has changed since");
            });
    });
}

/// Tests ranks that are ahead until their queues are full, while the others wait for them. All
/// ranks get an error.
void apart() {
    const int size = check::state.size;
    for (const auto& [servers, node_size] :
         std::vector<std::pair<int, int>>{{1, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 2}}) {
        const Shape shape{servers, node_size};
        const int models = size - servers;
        if (models < 2) continue;
        // Ranks that are ahead: the last one, the first one, all but the first, all but the last.
        for (int which = 0; which < 4; ++which)
            with_model(shape.settings(), [&](Model& model) {
                History h(model, path_of("apart.nc"), "queue=16KiB");
                const int one = which % 2 == 0 ? models - 1 : 0;
                const bool ahead = (model.rank == one) == (which < 2);
                int steps = 0, status = TW_OK;
                if (ahead) {
                    for (; status == TW_OK && steps < 1000; ++steps) {
                        status = h.try_put("T", steps);
                        if (status == TW_OK) status = tw_end_step(h.file);
                    }
                    --steps;
                } else {
                    status = tw_sync(h.file, 0);
                }
                CHECK_TEXT(status == TW_EMISMATCH &&
                               model.error().find("different calls") != std::string::npos,
                           "{}, case {}, {} steps: {}: {}", shape.settings(), which, steps,
                           tw_strerror(status), model.error());
                // The others catch up.
                int most = 0;
                MPI_Allreduce(&steps, &most, 1, MPI_INT, MPI_MAX, model.comm);
                for (int r = steps; r < most; ++r) h.step(r);
                h.close_and_look(static_cast<std::size_t>(most), false);
            });
    }
}

/// Tests a rank that cancels the session while the others make a call. The servers must return.
void cancelled() {
    for_shapes([](const Shape& shape) {
        for (int call = 0; call < 5; ++call)
            with_model(shape.settings(), [&](Model& model) {
                History h(model, path_of("given_up.nc"), "");
                tw_file more = nullptr;
                h.step(0);
                if (call == 1)
                    CHECK(tw_create(model.session, path_of("more.nc").c_str(), "", &more) == TW_OK);
                if (model.rank == model.size / 2) {
                    CHECK(tw_cancel(&model.session, "enough") == TW_OK);
                    return;
                }
                check::step("{}: call {}, given up", shape.settings(), call);
                const int status =
                    call == 0   ? tw_create(model.session, path_of("more.nc").c_str(), "", &more)
                    : call == 1 ? tw_enddef(more)
                    : call == 2 ? tw_sync(h.file, 0)
                    : call == 3 ? tw_close(&h.file)
                                : tw_finalize(&model.session);
                CHECK_TEXT(status == TW_ECANCELED, "call {}: {}", call, tw_strerror(status));
                if (model.session != nullptr) CHECK(tw_finalize(&model.session) == TW_ECANCELED);
            });
    });
}

struct Test {
    const char* name;
    void (*run)();
};
constexpr Test tests[] = {{"create_fails_on_one", create_fails_on_one},
                          {"servers_fail", servers_fail},
                          {"ranks_fail", ranks_fail},
                          {"apart", apart},
                          {"cancelled", cancelled}};

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const std::string only = check::option(argc, argv, "--only", "");
    folder = check::make_folder("server_tree");
    for (const Test& test : tests)
        if (only.empty() || only == test.name) {
            const double begin = MPI_Wtime();
            test.run();
            if (check::state.rank == 0)
                check::print(check::text("{}: {} s", test.name, MPI_Wtime() - begin));
        }
    return check::verdict("server_tree");
}
