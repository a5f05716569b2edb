// Tests ranks that make different calls of one session: all get an error, and can continue.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: different_calls [--every N]
// Every pair of collective calls is made, one on the first ranks and one on the others: both must
// fail with the same text, which names the two. If one rank's call closes a file or ends the
// session (tw_close, tw_finalize), this happens on all ranks, and everything else is unchanged.

#include <functional>

#include "system/check.hpp"
#include "system/model.hpp"

namespace {

constexpr std::int64_t columns = 5;

// A session with one file in each possible state.
struct World {
    Model& model;
    std::string folder, settings;
    bool inline_;
    std::int64_t shape[2] = {0, columns}, start[2] = {0, 0}, count[2] = {1, columns};
    std::vector<float> values = std::vector<float>(columns, 1.0F), array = values;
    tw_decomposition cells = nullptr;
    tw_file a = nullptr, b = nullptr, defining = nullptr, reading = nullptr;
    tw_restart restart = nullptr;
    tw_session session = nullptr;  // null after the session has ended

    World(Model& m, std::string where, std::string with)
        : model(m), folder(std::move(where)), settings(std::move(with)), session(m.session) {
        inline_ = settings.find("inline") != std::string::npos;
        shape[0] = model.size;
        start[0] = model.rank;
        ok(tw_decompose(session, "y x", 1, shape, start, count, &cells));
        ok(tw_restart_new(session, nullptr, &restart));
        ok(tw_restart_add(restart, "r", TW_FLOAT, "y x", cells, array.data(), columns, 0));
        ok(tw_restart_write(restart, path("restart").c_str()));
        complete();
    }
    std::string path(const std::string& name) const { return folder + "/" + name + ".nc"; }
    void ok(int status) const { CHECK_TEXT(status == TW_OK, model.error()); }
    void make(tw_file& file, const std::string& name, bool ends) {
        if (file != nullptr) return;
        check::step("{}: create {}", settings, name);
        ok(tw_create(session, path(name).c_str(), settings.c_str(), &file));
        ok(tw_def_var(file, "T", TW_FLOAT, "time y x", cells));
        if (ends) ok(tw_enddef(file));
    }
    // Makes new files in place of those that the last pair of calls has closed.
    void complete() {
        make(a, "a", true);
        make(b, "b", true);
        make(defining, "defining", false);
        if (reading == nullptr) ok(tw_open(session, path("restart").c_str(), nullptr, &reading));
    }
    // Checks that all objects of the session work.
    void look() {
        for (tw_file file : {a, b}) {
            ok(tw_put(file, "T", TW_FLOAT, values.data(), columns));
            ok(tw_end_step(file));
            ok(tw_sync(file, 0));
        }
        ok(tw_get(reading, "r", cells, 0, TW_FLOAT, array.data(), columns));
        CHECK(array == values);
        ok(tw_restart_write(restart, path("written").c_str()));
    }
    // Closes the files on all ranks that were closed on one rank.
    void close_gone(const std::string& text) {
        for (tw_file* file : {&a, &b, &reading}) {
            char gone = *file == nullptr, any = 0;
            MPI_Allreduce(&gone, &any, 1, MPI_CHAR, MPI_MAX, model.comm);
            if (!any || gone) {
                if (any) *file = nullptr;
                continue;
            }
            const bool reads = file == &reading;  // this file is only read, so nothing can be lost
            CHECK_TEXT(tw_close(file) == (reads ? TW_OK : TW_EMISMATCH), "tw_close: {}",
                       model.error());
            CHECK_TEXT(model.error() == text, "{}, not {}", model.error(), text);
        }
    }
};

struct Named {
    const char* name;
    std::function<int(World&)> call;
    bool local_later = false;  // with a service, the call does not wait for other ranks
};

tw_file made_file = nullptr;
tw_decomposition made_cells = nullptr;
tw_restart made_restart = nullptr;

const std::vector<Named> calls{
    {"tw_create",
     [](World& w) {
         return tw_create(w.session, w.path("new").c_str(), w.settings.c_str(), &made_file);
     }},
    {"tw_open",
     [](World& w) { return tw_open(w.session, w.path("restart").c_str(), nullptr, &made_file); }},
    {"tw_decompose",
     [](World& w) {
         return tw_decompose(w.session, "y x", 1, w.shape, w.start, w.count, &made_cells);
     }},
    {"tw_decompose_list",
     [](World& w) {
         const std::int64_t index = w.model.rank;
         return tw_decompose_list(w.session, "y", w.shape, "y", 1, &index, TW_LIST_UNIQUE,
                                  &made_cells);
     }},
    {"tw_fill_halo",
     [](World& w) {
         const tw_edge edges[] = {TW_HALO_KEEP, TW_HALO_KEEP};
         return tw_fill_halo(w.cells, edges);
     }},
    {"tw_summary",
     [](World& w) {
         const char* json = nullptr;
         return tw_summary(w.session, TW_SUMMARY_JSON, &json);
     }},
    {"tw_restart_new", [](World& w) { return tw_restart_new(w.session, nullptr, &made_restart); }},
    {"tw_restart_write",
     [](World& w) { return tw_restart_write(w.restart, w.path("written").c_str()); }},
    {"tw_restart_read",
     [](World& w) { return tw_restart_read(w.restart, w.path("restart").c_str(), nullptr); }},
    {"tw_enddef", [](World& w) { return tw_enddef(w.defining); }},
    {"tw_end_step", [](World& w) { return tw_end_step(w.a); }, true},
    {"tw_sync", [](World& w) { return tw_sync(w.a, 0); }},
    {"tw_sync of another", [](World& w) { return tw_sync(w.b, 0); }},
    {"tw_close", [](World& w) { return tw_close(&w.a); }},
    {"tw_close of another", [](World& w) { return tw_close(&w.b); }},
    {"tw_close while defining", [](World& w) { return tw_close(&w.defining); }},
    {"tw_get",
     [](World& w) {
         return tw_get(w.reading, "r", w.cells, 0, TW_FLOAT, w.array.data(), columns);
     }},
    {"tw_read", [](World& w) { return tw_read(w.reading); }},
    {"tw_prefetch", [](World& w) { return tw_prefetch(w.reading); }},
    {"tw_close of one that is read", [](World& w) { return tw_close(&w.reading); }},
    {"tw_finalize", [](World& w) {
         const int status = tw_finalize(&w.session);
         w.model.session = w.session;
         return status;
     }}};

// Checks that the text is the same on all ranks, and contains both calls.
void judge(World& w, const Named& one, const Named& other, int status, const std::string& text) {
    CHECK_TEXT(status == TW_EMISMATCH, "{} and {}: {}: {}", one.name, other.name,
               tw_strerror(status), text);
    for (const Named* call : {&one, &other}) {
        std::string name = call->name;
        name = name.substr(0, name.find(' '));
        // the call ends the definitions first
        const bool either = std::string(call->name) == "tw_close while defining";
        CHECK_TEXT(text.find(name) != std::string::npos ||
                       (either && text.find("tw_enddef") != std::string::npos),
                   "{} and {}: {}", one.name, other.name, text);
    }
    long size = static_cast<long>(text.size()), least = size;
    MPI_Allreduce(&size, &least, 1, MPI_LONG, MPI_MIN, w.model.comm);
    CHECK_TEXT(least == size, "{} and {}: on some rank another text: {}", one.name, other.name,
               text);
}

void pair(World& w, const Named& one, const Named& other) {
    const bool first = w.model.rank < (w.model.size + 1) / 2;
    const bool ends =
        std::string(one.name) == "tw_finalize" || std::string(other.name) == "tw_finalize";
    const Named& mine = first ? one : other;
    check::step("{}: {} and {}: {}", w.settings, one.name, other.name, mine.name);
    const int status = mine.call(w);
    if (ends) {
        CHECK_TEXT(status == TW_EMISMATCH, "{} and {}: {}", one.name, other.name,
                   tw_strerror(status));
        if (w.session == nullptr) return;
        // The other ranks have a session that contains the reason for its end.
        const std::string text = w.model.error();
        CHECK_TEXT(text.find("tw_finalize") != std::string::npos, text);
        tw_file file = nullptr;
        CHECK(tw_create(w.session, w.path("new").c_str(), nullptr, &file) == TW_EMISMATCH);
        CHECK(w.model.error() == text);
        if (w.b != nullptr) CHECK(tw_put(w.b, "T", TW_FLOAT, w.values.data(), columns) != TW_OK);
        CHECK(tw_restart_file(w.restart, &file) == TW_EMISMATCH);
        CHECK(tw_finalize(&w.session) == TW_EMISMATCH);
        w.model.session = nullptr;
        return;
    }
    judge(w, one, other, status, w.model.error());
    w.close_gone(w.model.error());
    // tw_close ends the definitions first, and closes the file in any case.
    char gone = w.defining == nullptr, any = 0;
    MPI_Allreduce(&gone, &any, 1, MPI_CHAR, MPI_MAX, w.model.comm);
    if (any && !gone) CHECK(tw_close(&w.defining) == TW_EMISMATCH);
    w.complete();
}

void run(const std::string& session, const std::string& file, int every) {
    const std::string folder = check::make_folder("different_calls");
    int number = 0;
    const bool servers = session.find("servers") != std::string::npos;
    if (servers && check::state.size < 4) return;
    // Each call that ends a session needs a new one.
    for (std::size_t ended = 0; ended + 1 < calls.size();) {
        Model model(MPI_COMM_WORLD, "log=off; " + session);
        if (!model) {
            model.end();
        } else {
            World w(model, folder, file);
            const bool has_service = file.find("inline") == std::string::npos;
            const auto usable = [&](const Named& n) { return !has_service || !n.local_later; };
            for (std::size_t i = 0; ended == 0 && i + 1 < calls.size(); ++i)
                for (std::size_t j = i + 1; j + 1 < calls.size(); ++j)
                    if (usable(calls[i]) && usable(calls[j]) && number++ % every == 0)
                        pair(w, calls[i], calls[j]);
            w.look();
            while (ended + 1 < calls.size() && !usable(calls[ended])) ++ended;
            pair(w, calls[ended], calls.back());
        }
        ended += static_cast<std::size_t>(every);
    }
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 30);
    const int every = std::atoi(check::option(argc, argv, "--every", "3").c_str());
    if (check::state.size > 1) {
        if (std::freopen("/dev/null", "w", stdout) == nullptr) CHECK(false);
        run("", "service=inline", every);
        run("node_size=2", "service=inline", every);
        run("node_size=1", "service=inline; storage=" PNETCDF, 3 * every);
        run("", "service=background", 2 * every);
        run("node_size=2", "service=background; format=netcdf4", 2 * every);
        run("servers=1", "service=servers", 2 * every);
        run("servers=2; node_size=2", "service=servers", 2 * every);
    }
    return check::verdict("different_calls");
}
