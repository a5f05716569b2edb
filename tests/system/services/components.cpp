// Tests components of a coupled model that share their servers: ranks in random roles, files that
// begin and end in any order, components that wait for each other, and mistakes.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: components [--seed S] [--cases N] [--only CASE]

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "system/look.hpp"
#include "system/random.hpp"
#include "thalweg/thalweg.hpp"

namespace {

std::string folder;

constexpr std::int64_t columns = 11;

float value_of(int component, int file, std::int64_t record, std::int64_t at) {
    return static_cast<float>(100000 * component + 10000 * file + 1000 * record + at);
}

/// The roles of all ranks. They are the same on all ranks, apart from each rank's own role.
struct Roles {
    int servers = 0;
    std::vector<std::vector<int>> ranks;  ///< ranks of each component
    std::vector<MPI_Comm> comms;
    bool serves = false;

    int n() const { return static_cast<int>(ranks.size()); }
};

Roles random_roles(Random& random) {
    const auto [rank, size] = std::pair{check::state.rank, check::state.size};
    Roles roles;
    std::vector<int> all;
    for (int r = 0; r < size; ++r) all.push_back(r);
    random.shuffle(all);
    roles.servers = static_cast<int>(random.between(1, std::min(7, size - 1)));
    for (int s = 0; s < roles.servers; ++s)
        roles.serves |= all[static_cast<std::size_t>(s)] == rank;
    const std::vector<int> models(all.begin() + roles.servers, all.end());
    const auto n = static_cast<std::size_t>(random.between(1, 3));
    const bool overlap = random.percent(40) || models.size() < n;
    roles.ranks.resize(n);
    for (std::size_t i = 0; i < models.size(); ++i)
        for (std::size_t c = 0; c < n; ++c)
            if (overlap ? random.percent(60) : i % n == c) roles.ranks[c].push_back(models[i]);
    for (auto& ranks : roles.ranks)
        if (ranks.empty()) ranks.push_back(models.front());
    for (const auto& ranks : roles.ranks) {
        MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
        roles.comms.push_back(MPI_COMM_NULL);
        MPI_Comm_create(MPI_COMM_WORLD, group, &roles.comms.back());
        MPI_Group_free(&group);
        MPI_Group_free(&world);
    }
    return roles;
}

/// Files that a component writes, one after another.
struct Output {
    int component = 0, number = 0;
    std::int64_t rows = 0;
    int records = 0;
    std::string settings;

    std::string path() const {
        return folder + "/" + std::to_string(component) + "_" + std::to_string(number) + ".nc";
    }
};

std::vector<Output> random_outputs(Random& random, const Roles& roles) {
    std::vector<Output> all;
    const bool many = random.percent(25);  // short files that begin at the same time
    for (int c = 0; c < roles.n(); ++c)
        for (std::int64_t n = many ? 30 : random.between(1, 3), f = 0; f < n; ++f) {
            Output o{c, static_cast<int>(f), random.between(1, 40),
                     static_cast<int>(many ? 0 : random.between(0, 5)), ""};
            o.settings = random.pick(std::vector<std::string>{
                "", "method=serial", "method=slabs", "format=netcdf4", "format=netcdf4; deflate=1",
                "service=inline", "durable=yes", "queue=2KiB"});
            if (random.percent(40)) o.settings += "; close=later";
            all.push_back(o);
        }
    return all;
}

/// The work of a component on one rank, one call after another.
class Writer {
public:
    /// @param given_up  number of turns after which a rank abandons the component; -1: no rank does
    Writer(tw_session session, MPI_Comm comm, std::vector<Output> outputs,
           std::int64_t given_up = -1)
        : session_(session), outputs_(std::move(outputs)), given_up_(given_up) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &size_);
    }

    bool done() const { return session_ == nullptr; }

    void go_on() {
        if (done()) return;
        if (given_up_ >= 0 && rank_ == size_ / 2 && open_order_ == given_up_) {
            CHECK(tw_cancel(&session_, "no more") == TW_OK);
            session_ = nullptr;
            return;
        }
        ++open_order_;
        if (make_calls() || done()) return;
        CHECK(tw_finalize(&session_) == TW_ECANCELED);
        session_ = nullptr;
    }

private:
    /// @return false if another rank has abandoned the session
    bool make_calls() {
        if (next_ == outputs_.size()) {
            const bool good = ok(tw_finalize(&session_));
            session_ = nullptr;
            return good;
        }
        const Output& o = outputs_[next_];
        if (file_ == nullptr) return begin(o);
        if (record_ == o.records) {
            const bool good = ok(tw_close(&file_));
            file_ = nullptr;
            ++next_;
            return good;
        }
        std::vector<float> values;
        for (std::int64_t y = first(o); y < last(o); ++y)
            for (std::int64_t x = 0; x < columns; ++x)
                values.push_back(value_of(o.component, o.number, record_, y * columns + x));
        const auto n = static_cast<std::int64_t>(values.size());
        if (!ok(tw_put(file_, "T", TW_FLOAT, values.data(), n)) || !ok(tw_end_step(file_)))
            return false;
        return ++record_ != 3 || ok(tw_sync(file_, 0));
    }

    std::int64_t first(const Output& o) const { return o.rows * rank_ / size_; }
    std::int64_t last(const Output& o) const { return o.rows * (rank_ + 1) / size_; }

    bool begin(const Output& o) {
        const std::int64_t shape[] = {o.rows, columns}, start[] = {first(o), 0},
                           count[] = {last(o) - first(o), columns};
        tw_decomposition rows = nullptr;
        record_ = 0;
        return ok(tw_decompose(session_, "y x", 1, shape, start, count, &rows)) &&
               ok(tw_create(session_, o.path().c_str(), o.settings.c_str(), &file_)) &&
               ok(tw_def_var(file_, "T", TW_FLOAT, "time y x", rows)) && ok(tw_enddef(file_));
    }
    bool ok(int code) const {
        if (code == TW_ECANCELED && given_up_ >= 0) return false;
        CHECK_TEXT(code == TW_OK, "{}: {}", tw_strerror(code), tw_error_message(session_));
        return true;
    }

    tw_session session_;
    std::vector<Output> outputs_;
    std::int64_t given_up_, open_order_ = 0;
    std::size_t next_ = 0;
    tw_file file_ = nullptr;
    int record_ = 0, rank_ = 0, size_ = 1;
};

std::vector<tw_session> begin(const Roles& roles, const std::string& settings, int expected) {
    std::vector<tw_session> sessions(roles.ranks.size() + 1);
    const int code = tw_init_components(MPI_COMM_WORLD, roles.n(), roles.comms.data(),
                                        roles.serves ? 1 : 0, settings.c_str(), sessions.data());
    CHECK_TEXT(code == expected, "{}: {}", tw_strerror(code), tw_error_message(nullptr));
    return sessions;
}

void end(Roles& roles, std::vector<tw_session>& sessions) {
    for (tw_session& session : sessions)
        if (session != nullptr) CHECK(tw_finalize(&session) == TW_OK);
    for (MPI_Comm& comm : roles.comms)
        if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

void look(const std::vector<Output>& outputs) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::state.rank == 0)
        for (const Output& o : outputs) {
            const std::string wrong =
                look_at(o.path(), o.rows, columns, static_cast<std::size_t>(o.records), false,
                        [&](std::int64_t record, std::int64_t at) {
                            return value_of(o.component, o.number, record, at);
                        });
            CHECK_TEXT(wrong.empty(), "{} ({})", wrong, o.settings);
            std::filesystem::remove(o.path());
        }
    MPI_Barrier(MPI_COMM_WORLD);
}

void random_case(std::uint64_t seed, long number) {
    Random random(mix(seed, static_cast<std::uint64_t>(number)));
    Roles roles = random_roles(random);
    std::vector<Output> outputs = random_outputs(random, roles);
    std::string settings = "log=off; service=servers";
    if (random.percent(50)) settings += "; node_size=" + std::to_string(random.between(1, 3));
    if (random.percent(20)) settings += "; trace=" + folder + "/trace.json";
    check::step("case {}: {} components, {} servers, {}", number, roles.n(), roles.servers,
                settings);
    // Choose a rank that ends in the middle of its calls without notifying others. It must not be
    // in several components, as the others would wait for it.
    std::size_t places = static_cast<std::size_t>(roles.servers);
    for (const auto& ranks : roles.ranks) places += ranks.size();
    const bool apart = places <= static_cast<std::size_t>(check::state.size);
    const bool gives_up = apart && random.percent(50);
    const int who = static_cast<int>(random.below(roles.n()));
    const std::int64_t turns = random.below(12);
    std::vector<tw_session> sessions = begin(roles, settings, TW_OK);
    if (!roles.serves) {
        std::vector<Writer> writers;
        for (int c = 0; c < roles.n(); ++c) {
            const auto k = static_cast<std::size_t>(c);
            CHECK((sessions[k] != nullptr) == (roles.comms[k] != MPI_COMM_NULL));
            if (sessions[k] == nullptr) continue;
            std::vector<Output> own;
            for (const Output& o : outputs)
                if (o.component == c) own.push_back(o);
            writers.emplace_back(sessions[k], roles.comms[k], own,
                                 gives_up && c == who ? turns : -1);
            sessions[k] = nullptr;
        }
        // a rank of several components works for all of them in turn
        for (bool any = true; any;) {
            any = false;
            for (Writer& writer : writers) {
                if (mix(static_cast<std::uint64_t>(check::state.rank), seed) % 5 == 0) usleep(300);
                writer.go_on();
                any |= !writer.done();
            }
        }
    } else {
        for (int c = 0; c < roles.n(); ++c) {
            tw_role role = TW_MODEL;
            CHECK(tw_inq_role(sessions[static_cast<std::size_t>(c)], &role) == TW_OK);
            CHECK(role == TW_SERVER);
        }
    }
    end(roles, sessions);
    if (gives_up) std::erase_if(outputs, [&](const Output& o) { return o.component == who; });
    look(outputs);
}

/// Makes two components, each with half of the ranks that do not serve. The last rank serves.
Roles halves() {
    const auto [rank, size] = std::pair{check::state.rank, check::state.size};
    Roles roles;
    roles.servers = 1;
    roles.serves = rank == size - 1;
    roles.ranks.resize(2);
    for (int r = 0; r < size - 1; ++r) roles.ranks[r < size / 2 ? 0 : 1].push_back(r);
    MPI_Comm own = MPI_COMM_NULL;
    const int color = rank < size / 2 ? 0 : 1;
    MPI_Comm_split(MPI_COMM_WORLD, roles.serves ? MPI_UNDEFINED : color, rank, &own);
    roles.comms.assign(2, MPI_COMM_NULL);
    if (!roles.serves) roles.comms[static_cast<std::size_t>(color)] = own;
    return roles;
}

/// Tests ranks of a component that make its calls only after those of another component. Servers
/// that waited for all ranks of the first component would wait forever.
void waiting_for_each_other() {
    check::step("components that wait for each other");
    Roles roles = halves();
    std::vector<tw_session> sessions = begin(roles, "log=off; service=servers", TW_OK);
    std::vector<Output> outputs;
    for (int c = 0; c < 2; ++c)
        for (int f = 0; f < 3; ++f) outputs.push_back({c, f, 20, 2, ""});
    if (!roles.serves) {
        const int mine = roles.comms[0] != MPI_COMM_NULL ? 0 : 1;
        const auto k = static_cast<std::size_t>(mine);
        const bool first = roles.ranks[k].front() == check::state.rank;
        std::vector<Output> own;
        for (const Output& o : outputs)
            if (o.component == mine) own.push_back(o);
        Writer writer(sessions[k], roles.comms[k], own);
        sessions[k] = nullptr;
        for (int turn = 0; turn < 40; ++turn) {
            const bool late = mine == turn % 2;
            const std::vector<int>& others = roles.ranks[1 - k];
            if (late && !first)
                MPI_Recv(nullptr, 0, MPI_INT, others.front(), turn, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            writer.go_on();
            for (std::size_t i = 1; !late && first && i < others.size(); ++i)
                MPI_Send(nullptr, 0, MPI_INT, others[i], turn, MPI_COMM_WORLD);
        }
        CHECK(writer.done());
    }
    end(roles, sessions);
    look(outputs);
}

void mistake(const char* what, int expected, const char* text, const std::string& settings,
             const std::function<void(Roles&, int& n)>& change) {
    check::step(what);
    Roles roles = halves();
    const std::vector<MPI_Comm> made = roles.comms;
    int n = 2;
    change(roles, n);
    std::vector<tw_session> sessions(4);
    const int code =
        tw_init_components(MPI_COMM_WORLD, n, roles.comms.empty() ? nullptr : roles.comms.data(),
                           roles.serves ? 1 : 0, settings.c_str(), sessions.data());
    CHECK_TEXT(code == expected, tw_strerror(code));
    CHECK_TEXT(std::string(tw_error_message(nullptr)).find(text) != std::string::npos, "'{}'",
               tw_error_message(nullptr));
    for (tw_session& session : sessions) {
        if (session == nullptr) continue;
        CHECK_TEXT(std::string(tw_error_message(session)).find(text) != std::string::npos, "'{}'",
                   tw_error_message(session));
    }
    for (tw_session session : sessions) {
        tw_file file = nullptr;
        CHECK(tw_create(session, "x.nc", nullptr, &file) == TW_EHANDLE);
    }
    roles.comms = made;
    end(roles, sessions);
}

void mistakes() {
    const int rank = check::state.rank, last = check::state.size - 1;
    mistake("a server in a component", TW_EARG, "rank 0 serves, so it cannot be in component 0", "",
            [&](Roles& r, int&) { r.serves |= rank == 0; });
    mistake("no server", TW_EARG, "no rank serves", "", [](Roles& r, int&) { r.serves = false; });
    mistake("a component without ranks", TW_EARG, "component 2 has no ranks", "",
            [](Roles& r, int& n) {
                r.comms.push_back(MPI_COMM_NULL);
                n = 3;
            });
    mistake("a rank that leaves its component out", TW_EARG,
            last - check::state.size / 2 > 1 ? "but it has" : "component 1 has no ranks", "",
            [&](Roles& r, int&) {
                if (rank == last - 1) r.comms.assign(2, MPI_COMM_NULL);
            });
    mistake("two numbers of components", TW_EMISMATCH,
            "the number of components differs between ranks: from 1 to 2", "",
            [&](Roles&, int& n) { n = rank == last ? 1 : 2; });
    mistake("no components", TW_EARG, "0 components", "", [](Roles&, int& n) { n = 0; });
    mistake("no communicators", TW_EARG, "communicators is null", "", [&](Roles& r, int&) {
        if (rank == 0) r.comms.clear();
    });
    mistake("the setting servers", TW_ESETTING,
            "the arguments of tw_init_components say which ranks serve", "servers=1",
            [](Roles&, int&) {});
    mistake("an unknown setting", TW_ESETTING, "metod", "metod=record", [](Roles&, int&) {});
    // only ranks of a model detect this error
    const std::string one = folder + "/one";
    mistake("one file for two outputs", TW_ESETTING, one.c_str(),
            "summary=" + one + "; trace=" + one, [](Roles&, int&) {});
}

/// Runs the same test with the C++ handles.
void cpp() {
    check::step("C++");
    Roles roles = halves();
    try {
        std::vector<thalweg::Session> sessions = thalweg::Session::components(
            MPI_COMM_WORLD, roles.comms, roles.serves, "log=off; service=servers");
        CHECK(sessions.size() == 2);
        for (std::size_t c = 0; c < 2; ++c) {
            CHECK(static_cast<bool>(sessions[c]) ==
                  (roles.serves || roles.comms[c] != MPI_COMM_NULL));
            if (sessions[c]) CHECK((sessions[c].role() == thalweg::Role::server) == roles.serves);
            if (sessions[c]) sessions[c].finalize();
        }
        bool thrown = false;
        try {
            (void)thalweg::Session::components(MPI_COMM_WORLD, roles.comms, false, "log=off");
        } catch (const thalweg::Error& e) {
            thrown = e.code() == TW_EARG && std::string(e.what()) == "no rank serves";
        }
        CHECK(thrown);
    } catch (const std::exception& e) {
        CHECK_TEXT(false, e.what());
    }
    std::vector<tw_session> none;
    end(roles, none);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    std::uint64_t seed = 1;
    long cases = 12, only = -1;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i];
        if (option == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
        if (option == "--cases") cases = std::strtol(argv[i + 1], nullptr, 10);
        if (option == "--only") only = std::strtol(argv[i + 1], nullptr, 10);
    }
    folder = check::make_folder("components");
    if (only < 0) {
        mistakes();
        waiting_for_each_other();
        cpp();
    }
    for (long i = 0; i < cases; ++i)
        if (only < 0 || i == only) random_case(seed, i);
    return check::verdict("components");
}
