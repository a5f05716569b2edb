// Services as programs meet them: several components and sessions, files of different services side
// by side, queues that are too small, disks that are too slow, failures and calls at odd times.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: services [--only NAME]

#include <mpi.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "check.hpp"
#include "model.hpp"
#include "thalweg/thalweg.h"

namespace {

std::string folder;

std::string path_of(const std::string& name) { return folder + "/" + name; }

// The services that this number of ranks allows, as settings of a session and of a file.
struct Service {
    std::string session, file;
};
std::vector<Service> services() {
    std::vector<Service> all{{"", "service=background"},
                             {"node_size=2", "service=background; writers=1/node"},
                             {"", "service=background; writers=3"}};
    if (check::state.size > 1) all.push_back({"servers=1", "service=servers"});
    if (check::state.size > 3) all.push_back({"servers=2; node_size=2", "service=servers"});
    // Nodes without a server.
    if (check::state.size > 4) all.push_back({"servers=1; node_size=2", "service=servers"});
    if (check::state.size > 4)
        all.push_back({"servers=2; node_size=2; server_ranks=last", "service=servers"});
    return all;
}

// For each service: a session, on the model ranks what is given, and its end.
void with_services(const std::function<void(Model&, const std::string& file)>& body,
                   const std::string& more = "", int ends_with = TW_OK) {
    for (const Service& s : services()) {
        const std::string step = check::state.step;
        check::step("%s with %s; %s", step.c_str(), s.session.c_str(), s.file.c_str());
        {
            Model model(MPI_COMM_WORLD, "log=off; " + s.session + "; " + more);
            if (model) body(model, s.file);
            model.end(ends_with);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        check::step("%s", step.c_str());
    }
}

// What service=auto is without servers: there has to be a processor for the writing thread beside
// those of the job's ranks, all of which are on this node.
std::string automatic() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof mask, &mask);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return CPU_COUNT(&mask) > ranks ? "background" : "inline";
}

// Two components, each with a session of its own, at the same time.
void components() {
    const int half = (check::state.size + 1) / 2;
    const bool first = check::state.rank < half;
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, first ? 0 : 1, check::state.rank, &part);
    int size = 0;
    MPI_Comm_size(part, &size);
    const std::string name = first ? "atmosphere" : "ocean";
    if (size > 0) {
        const bool servers = size > 1;
        Model model(part, servers ? "servers=1" : "");
        if (model) {
            History a(model, path_of(name + ".nc"), "service=auto", 23, 41, first ? 1 : 2);
            History b(model, path_of(name + "_2.nc"), "service=background", 29, 17, 3);
            a.put("h", -1);
            for (int r = 0; r < 20; ++r) {
                a.step(r);
                b.step(r);
            }
            const std::string wanted = servers ? "servers" : automatic();
            CHECK(model.entry(name + ".nc", "service") == "\"" + wanted + "\"");
            a.close_and_look(20, true);
            b.close_and_look(20, false);
        }
        model.end();
    }
    MPI_Comm_free(&part);
}

// A rank may serve in one session and be a model rank in the next.
void sessions_in_turn() {
    for (int k = 0; k < 3; ++k) {
        std::string settings;
        if (k != 1 && check::state.size > 1) settings = "servers=1";
        if (k == 2 && check::state.size > 2) settings = "servers=2; server_ranks=last";
        Model model(MPI_COMM_WORLD, settings);
        if (model) {
            History h(model, path_of("turn.nc"), "service=auto", 23, 41, k);
            h.put("h", -1);
            for (int r = 0; r < 3 + k; ++r) h.step(r);
            h.close_and_look(3 + static_cast<std::size_t>(k), true);
        }
        model.end();
    }
}

void idle_servers() {
    if (check::state.size < 2) return;
    {
        Model model(MPI_COMM_WORLD, "servers=1");
        model.end();
    }
    {
        Model model(MPI_COMM_WORLD, "servers=1");
        if (model) {
            History h(model, path_of("inline.nc"), "service=inline");
            for (int r = 0; r < 3; ++r) h.step(r);
            h.close_and_look(3, false);
        }
        model.end();
    }
}

// A history file behind the model, a restart file in its way, again and again.
void history_and_restart() {
    with_services([](Model& model, const std::string& settings) {
        History history(model, path_of("history.nc"), settings, 64, 64, 1);
        for (int day = 0; day < 4; ++day) {
            for (int r = 0; r < 3; ++r) history.step(3 * day + r);
            History restart(model, path_of("restart.nc"), "service=inline", 64, 64, 100 + day);
            restart.put("h", -1);
            restart.step(0);
            restart.close_and_look(1, true);
        }
        history.put("h", -1);
        history.close_and_look(12, true);
    });
}

void choices() {
    const auto chosen = [](const std::string& session, const std::string& file,
                           const std::string& wanted, const std::string& why = "") {
        Model model(MPI_COMM_WORLD, "log=off; " + session);
        if (model) {
            History h(model, path_of("choice.nc"), file);
            for (int r = 0; r < 2; ++r) h.step(r);
            const std::string got = model.entry("choice.nc", "service");
            CHECK_TEXT(got == "\"" + wanted + "\"", "%s; %s: service %s, not %s", session.c_str(),
                       file.c_str(), got.c_str(), wanted.c_str());
            const std::string reason = model.entry("choice.nc", "service_reason");
            CHECK_TEXT(reason.find(why) != std::string::npos, "%s; %s: %s, not %s", session.c_str(),
                       file.c_str(), reason.c_str(), why.c_str());
            h.close_and_look(2, false);
        }
        model.end();
    };
    chosen("", "", "inline");
    chosen("", "service=auto", automatic(), "free processors on ");
    chosen("service=auto", "", automatic(), "free processors on ");
    chosen("", "service=servers", "inline", "no ranks are set aside as servers");
    chosen("", "service=auto; method=direct", "inline", "every rank writes from its own arrays");
    if (THALWEG_TEST_PNETCDF) chosen("", "service=background; storage=pnetcdf", "inline");
    if (check::state.size < 2) return;
    chosen("servers=1", "", "inline");
    chosen("servers=1", "service=auto", "servers", "ranks are set aside as servers");
    chosen("servers=1", "service=background", "background");
    chosen("servers=1", "service=auto; method=direct", "inline");
    if (THALWEG_TEST_PNETCDF) chosen("servers=1", "service=servers; storage=pnetcdf", "inline");
}

// servers=auto: one here, where there is one rank to spare for it; or as the description of the run
// says.
void automatic_servers() {
    const int ranks = check::state.size;
    const auto serving = [&](const std::string& settings, int wanted, const std::string& why) {
        Model model(MPI_COMM_WORLD, "log=off; service=auto; servers=auto; " + settings);
        if (model) {
            CHECK_TEXT(ranks - model.size == wanted, "%s: %d servers, not %d", settings.c_str(),
                       ranks - model.size, wanted);
            History h(model, path_of("servers.nc"), "");
            for (int r = 0; r < 2; ++r) h.step(r);
            const char* summary = "";
            CHECK(tw_summary(model.session, &summary) == TW_OK);
            CHECK_TEXT(std::string(summary).find(why) != std::string::npos, "%s: no '%s' in %s",
                       settings.c_str(), why.c_str(), summary);
            h.close_and_look(2, false);
        }
        model.end();
    };
    serving("", ranks > 1 ? 1 : 0, "servers_reason");
    serving("node_size=1", ranks > 1 ? 1 : 0,
            ranks > 1 ? "at most one rank of 16" : "the session has one rank");
    const std::string plan = path_of("run.toml");
    const auto describe = [&](int described, const char* seconds) {
        if (check::state.rank == 0)
            std::ofstream(plan) << "ranks = " << described
                                << "\nnodes = 1\ncores = 64\nfile_system = 'ext4'\n"
                                << "step_seconds = " << seconds
                                << "\noutput_interval = 1\noutputs = 10\ndecomposition = 'x'\n"
                                << "[dimensions]\nx = 100000\n"
                                << "[[variables]]\ntype = 'float'\ndims = 'x'\n";
        MPI_Barrier(MPI_COMM_WORLD);
    };
    describe(ranks, "1000");
    serving("plan=" + plan, 0, ranks > 1 ? "servers do not pay" : "");
    if (ranks > 2) {
        describe(ranks - 2, "1");
        serving("plan=" + plan, 2, "ranks, and");
    }
    for (const std::string& wrong : {path_of("no such file.toml"), folder}) {
        tw_session session = nullptr;
        const std::string settings = "log=off; servers=auto; plan=" + wrong;
        const int status = tw_init(MPI_COMM_WORLD, settings.c_str(), &session);
        CHECK_TEXT(status == TW_ENOTFOUND || status == TW_EIO, "%s", tw_strerror(status));
        CHECK(std::string(tw_error_message(session)).find(wrong) != std::string::npos);
        CHECK(tw_finalize(&session) == TW_OK);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

// On one processor each, the ranks leave none for a thread; nor does a model whose threads take
// all.
void processors() {
    cpu_set_t before, one;
    CPU_ZERO(&before);
    sched_getaffinity(0, sizeof before, &before);
    const auto is = [](const std::string& wanted, const std::string& why) {
        Model model(MPI_COMM_WORLD, "log=off; service=auto");
        if (model) {
            History h(model, path_of("processors.nc"), "");
            for (int r = 0; r < 2; ++r) h.step(r);
            CHECK(model.entry("processors.nc", "service") == "\"" + wanted + "\"");
            const std::string reason = model.entry("processors.nc", "service_reason");
            CHECK_TEXT(reason.find(why) != std::string::npos, "%s", reason.c_str());
            h.close_and_look(2, false);
        }
        model.end();
    };
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    sched_setaffinity(0, sizeof one, &one);
    is("inline", "bound to the processors on which they compute");
    sched_setaffinity(0, sizeof before, &before);
    is(automatic(),
       automatic() == "inline" ? "free processors on a node: 0" : "free processors on each node");
    setenv("OMP_NUM_THREADS", std::to_string(CPU_COUNT(&before)).c_str(), 1);
    is("inline", "processors");
    unsetenv("OMP_NUM_THREADS");
}

void too_many_servers() {
    for (const int more : {0, 1, 1000}) {
        tw_session session = nullptr;
        const std::string settings = "servers=" + std::to_string(check::state.size + more);
        const int status = tw_init(MPI_COMM_WORLD, settings.c_str(), &session);
        CHECK_TEXT(status == TW_ESETTING, "%s: %s", settings.c_str(), tw_strerror(status));
        const std::string text = tw_error_message(session);
        CHECK_TEXT(text.find(std::to_string(check::state.size + more) + " servers of " +
                             std::to_string(check::state.size) + " ranks") != std::string::npos,
                   "%s", text.c_str());
        CHECK(tw_finalize(&session) == TW_OK);
    }
}

// A step that is larger than the queue goes in parts.
void small_queue() {
    with_services([](Model& model, const std::string& settings) {
        constexpr std::int64_t queue = 32 << 10;
        for (const std::string full : {"wait", "inline"}) {
            History h(model, path_of("parts.nc"), settings + "; queue=32KiB; queue_full=" + full,
                      200, 300 * model.size);
            h.put("h", -1);
            for (int r = 0; r < 3; ++r) h.step(r);
            h.put("T", 3);  // a step that the close ends
            h.close_and_look(4, true);
            const double most = model.figure("parts.nc", "queue_bytes");
            CHECK_TEXT(most > 0 && most <= queue, "queue_bytes %g of %lld", most,
                       static_cast<long long>(queue));
        }
    });
}

// A disk that is slower than the model.
void slow_disk() {
    with_services([](Model& model, const std::string& settings) {
        // A quarter of a second in all.
        const std::int64_t rows = 128, columns = 1024, steps = 10;
        History h(model, path_of("slow.nc"), settings + "; bandwidth=20MiB; piece=64KiB", rows,
                  columns);
        const double begin = MPI_Wtime();
        for (std::int64_t r = 0; r < steps; ++r) h.step(r);
        const double waits = model.figure("slow.nc", "queue_waits");
        // A sanitizer may make the model slower than the disk.
        const double stepping = MPI_Wtime() - begin;
        CHECK_TEXT(waits > 0 || stepping > 0.15, "%g waits in %g s", waits, stepping);
        h.close_and_look(static_cast<std::size_t>(steps), false);
        const double seconds = MPI_Wtime() - begin;
        CHECK_TEXT(seconds > 0.15, "%g s", seconds);
        // Two steps, with what tells of them.
        const std::int64_t step = (rows + model.size - 1) / model.size * columns * 4;
        const double most = model.figure("slow.nc", "queue_bytes");
        CHECK_TEXT(most <= static_cast<double>(std::max<std::int64_t>(4 * step + 8192, 256 << 10)),
                   "queue_bytes %g", most);
    });
}

// What a sync answers for is in the file by then, however slow the disk is.
void sync_with_slow_disk() {
    with_services([](Model& model, const std::string& settings) {
        History h(model, path_of("synced.nc"),
                  settings + "; publish=live; bandwidth=4MiB; piece=16KiB", 64, 256);
        int record = 0;
        for (const int steps : {3, 2}) {
            for (int k = 0; k < steps; ++k) h.step(record++);
            CHECK_TEXT(tw_sync(h.file, 0) == TW_OK, "%s", model.error().c_str());
            if (model.rank == 0) {
                const std::string wrong = h.look(static_cast<std::size_t>(record), false);
                CHECK_TEXT(wrong.empty(), "%s", wrong.c_str());
            }
            MPI_Barrier(model.comm);
        }
        h.close_and_look(static_cast<std::size_t>(record), false);
    });
}

// A sync within a step keeps what was put of it, however often.
void syncs_within_a_step() {
    with_services([](Model& model, const std::string& settings) {
        for (const std::string queue : {"auto", "8KiB"}) {
            History h(model, path_of("syncs.nc"), settings + "; queue=" + queue, 23, 11);
            for (int r = 0; r < 2; ++r) {
                h.put("T", r);
                for (int k = 0; k < 60; ++k) {
                    if (k % 3 == 0) h.put("h", -1);
                    if (k % 25 == 7) h.put("T", r);
                    CHECK_TEXT(tw_sync(h.file, 0) == TW_OK, "sync %d: %s", k,
                               model.error().c_str());
                }
                CHECK_TEXT(tw_end_step(h.file) == TW_OK, "%s", model.error().c_str());
            }
            h.close_and_look(2, true);
        }
    });
}

// The rank whose value does not fit hears at once; all hear when they meet.
void misfits() {
    with_services([](Model& model, const std::string& settings) {
        for (const std::string queue : {"auto", "4KiB"}) {
            const std::int64_t n = 40 * model.size;
            const std::int64_t start = 40 * model.rank, count = 40;
            tw_decomposition d = nullptr;
            CHECK(tw_decompose(model.session, "x", 1, &n, &start, &count, &d) == TW_OK);
            tw_file f = nullptr;
            CHECK(tw_create(model.session, path_of("misfits.nc").c_str(),
                            (settings + "; queue=" + queue).c_str(), &f) == TW_OK);
            CHECK(tw_def_var(f, "A", TW_SHORT, "time x", d) == TW_OK);
            CHECK(tw_enddef(f) == TW_OK);
            const int who = model.size / 2;
            std::vector<int> data(40, 5);
            if (model.rank == who) data[3] = 100000;
            for (int r = 0; r < 3; ++r) {
                const int put = tw_put(f, "A", TW_INT, data.data(), count);
                const int step = tw_end_step(f);
                const bool mine = model.rank == who;
                CHECK_TEXT(put == TW_OK || (mine && put == TW_ERANGE), "put: %s", tw_strerror(put));
                CHECK_TEXT(step == TW_OK || (mine && step == TW_ERANGE), "step: %s",
                           tw_strerror(step));
                CHECK(!mine || put == TW_ERANGE || step == TW_ERANGE);
                if (r == 1) {
                    const int sync = tw_sync(f, 0);
                    CHECK_TEXT(sync == TW_ERANGE, "sync: %s", tw_strerror(sync));
                    CHECK_TEXT(model.error().find("'A'") != std::string::npos, "%s",
                               model.error().c_str());
                    // Told once.
                    CHECK(tw_sync(f, 0) == TW_OK);
                }
            }
            CHECK(tw_close(&f) == TW_ERANGE);
            // The file is complete all the same.
            CHECK_TEXT(::access(path_of("misfits.nc").c_str(), R_OK) == 0, "no file");
        }
    });
}

void finalize_with_open_files() {
    for (const Service& s : services()) {
        std::vector<std::unique_ptr<History>> files;
        Model model(MPI_COMM_WORLD, "log=off; " + s.session);
        if (model) {
            for (int k = 0; k < 3; ++k) {
                files.push_back(std::make_unique<History>(
                    model, path_of("open_" + std::to_string(k) + ".nc"), s.file, 23, 41, k));
                files.back()->put("h", -1);
                for (int r = 0; r < 4; ++r) files.back()->step(r);
            }
            files[1]->put("T", 4);
        }
        model.end();
        if (model.rank == 0)
            for (int k = 0; k < 3; ++k) {
                const std::string wrong =
                    files[static_cast<std::size_t>(k)]->look(k == 1 ? 5 : 4, true);
                CHECK_TEXT(wrong.empty(), "%s", wrong.c_str());
            }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

void many_files() {
    with_services([](Model& model, const std::string& settings) {
        std::vector<std::unique_ptr<History>> files;
        for (int k = 0; k < 50; ++k)
            files.push_back(std::make_unique<History>(
                model, path_of("many_" + std::to_string(k) + ".nc"), settings, 7, 5, k));
        for (int r = 0; r < 4; ++r)
            for (auto& f : files) f->step(r);
        // Out of order.
        for (std::size_t k = 0; k < files.size(); ++k)
            files[(k * 7) % 50]->close_and_look(4, false);
    });
}

void summary_meanwhile() {
    with_services([](Model& model, const std::string& settings) {
        History h(model, path_of("busy.nc"), settings + "; bandwidth=20MiB; piece=64KiB", 64, 1024);
        for (int r = 0; r < 10; ++r) {
            h.step(r);
            CHECK(model.figure("busy.nc", "steps") == r + 1);
        }
        if (std::freopen("/dev/null", "w", stdout) == nullptr) CHECK(false);
        CHECK(tw_print_summary(model.session) == TW_OK);
        h.close_and_look(10, false);
        CHECK(model.figure("busy.nc", "bytes") >= 10 * 64 * 1024 * 4);
    });
}

// A close that fails while much is still to be written.
void close_that_fails() {
    with_services([](Model& model, const std::string& settings) {
        History h(model, path_of("fails.nc"),
                  settings + "; bandwidth=5MiB; piece=16KiB; queue=1MiB", 64, 1024);
        for (int r = 0; r < 2; ++r) h.step(r);
        CHECK(tw_put_att(h.file, nullptr, "rank", TW_INT, 1, &model.rank) == TW_OK);
        h.close(model.size > 1 ? TW_EMISMATCH : TW_OK);
        // The session is as good as before.
        History other(model, path_of("after.nc"), settings);
        for (int r = 0; r < 3; ++r) other.step(r);
        other.close_and_look(3, false);
    });
}

// A rank steps ahead until its queue is full, while the others are in a call that all make.
void apart() {
    with_services([](Model& model, const std::string& settings) {
        if (model.size == 1) return;
        History h(model, path_of("apart.nc"), settings + "; queue=16KiB");
        const int ahead = model.size - 1;
        int steps = 0;
        if (model.rank == ahead) {
            int status = TW_OK;
            for (; status == TW_OK && steps < 1000; ++steps) {
                status = h.try_put("T", steps);
                if (status == TW_OK) status = tw_end_step(h.file);
            }
            --steps;
            CHECK_TEXT(status == TW_EMISMATCH, "step %d: %s", steps, tw_strerror(status));
        } else {
            const int status = tw_sync(h.file, 0);
            CHECK_TEXT(status == TW_EMISMATCH, "%s", tw_strerror(status));
        }
        CHECK_TEXT(model.error().find("different calls") != std::string::npos, "%s",
                   model.error().c_str());
        // The others catch up.
        MPI_Bcast(&steps, 1, MPI_INT, ahead, model.comm);
        if (model.rank != ahead)
            for (int r = 0; r < steps; ++r) h.step(r);
        h.step(steps);
        h.close_and_look(static_cast<std::size_t>(steps) + 1, false);
    });
}

// Some rank has not put what others have.
void missing() {
    with_services([](Model& model, const std::string& settings) {
        if (model.size == 1) return;
        History h(model, path_of("missing.nc"), settings);
        h.step(0);
        if (model.rank != 1) h.put("T", 1);
        int status = tw_end_step(h.file);
        CHECK_TEXT(status == TW_OK || status == TW_EMISSING, "%s", tw_strerror(status));
        status = tw_close(&h.file);
        CHECK_TEXT(status == TW_EMISSING, "%s", tw_strerror(status));
        CHECK_TEXT(model.error().find("'T' of record 1 was not put on rank 1") != std::string::npos,
                   "%s", model.error().c_str());
        CHECK(::access(path_of("missing.nc").c_str(), F_OK) != 0);
    });
}

// The disk takes no more.
void full_disk() {
    for (const Service& s : services()) {
        rlimit before{};
        getrlimit(RLIMIT_FSIZE, &before);
        rlimit small = before;
        small.rlim_cur = 300000;
        setrlimit(RLIMIT_FSIZE, &small);
        Model model(MPI_COMM_WORLD, "log=off; " + s.session);
        if (model) {
            for (const std::string more : {"", "; bandwidth=20MiB; piece=16KiB", "; queue=16KiB"}) {
                History good(model, path_of("good.nc"), s.file, 7, 5);
                History h(model, path_of("full.nc"), s.file + more, 64, 256);
                int first = TW_OK;
                for (int r = 0; r < 12; ++r) {
                    good.step(r);
                    for (const int status : {h.try_put("T", r), tw_end_step(h.file)}) {
                        if (status == TW_OK) {
                            CHECK_TEXT(first == TW_OK, "step %d is well after a failure", r);
                            continue;
                        }
                        CHECK_TEXT(status == TW_EIO, "step %d: %s", r, tw_strerror(status));
                        CHECK_TEXT(model.error().find("File too large") != std::string::npos, "%s",
                                   model.error().c_str());
                        first = status;
                    }
                }
                const int sync = tw_sync(h.file, 0);
                CHECK_TEXT(sync == TW_EIO, "%s", tw_strerror(sync));
                h.close(TW_EIO);
                CHECK(::access(path_of("full.nc").c_str(), F_OK) != 0);
                good.close_and_look(12, false);
                MPI_Barrier(model.comm);
                if (model.rank == 0) {
                    // What was committed is there.
                    History left = h;
                    left.path += ".part";
                    int id = 0, time = 0;
                    std::size_t records = 0;
                    CHECK(nc_open(left.path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
                    if (nc_inq_unlimdim(id, &time) == NC_NOERR) nc_inq_dimlen(id, time, &records);
                    nc_close(id);
                    CHECK_TEXT(records <= 4, "%zu records", records);
                    const std::string wrong = left.look(records, false);
                    CHECK_TEXT(wrong.empty(), "%s", wrong.c_str());
                    ::unlink(left.path.c_str());
                }
                MPI_Barrier(model.comm);
            }
        }
        model.end();
        setrlimit(RLIMIT_FSIZE, &before);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 40);
    const std::string only = check::option(argc, argv, "--only", "");
    folder = check::make_folder("services");
    const std::vector<std::pair<const char*, void (*)()>> all{
        {"components", components},
        {"sessions_in_turn", sessions_in_turn},
        {"idle_servers", idle_servers},
        {"history_and_restart", history_and_restart},
        {"choices", choices},
        {"automatic_servers", automatic_servers},
        {"processors", processors},
        {"too_many_servers", too_many_servers},
        {"small_queue", small_queue},
        {"slow_disk", slow_disk},
        {"sync_with_slow_disk", sync_with_slow_disk},
        {"syncs_within_a_step", syncs_within_a_step},
        {"misfits", misfits},
        {"finalize_with_open_files", finalize_with_open_files},
        {"many_files", many_files},
        {"summary_meanwhile", summary_meanwhile},
        {"close_that_fails", close_that_fails},
        {"apart", apart},
        {"missing", missing},
        {"full_disk", full_disk},
    };
    for (const auto& [name, body] : all) {
        if (!only.empty() && only != name) continue;
        check::step("%s", name);
        const double begin = MPI_Wtime();
        body();
        MPI_Barrier(MPI_COMM_WORLD);
        if (check::state.rank == 0)
            check::print(check::text("services: %s, %.1f s", name, MPI_Wtime() - begin));
    }
    if (check::state.rank == 0) {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    return check::verdict("services");
}
