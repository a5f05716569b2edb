// Tests histories that continue from a restart: earlier failures, changed definitions, streams that
// the restart lacks, names that are equal when they are joined, and complete files.
//
// SPDX-License-Identifier: Apache-2.0
#include "fields.hpp"

using calls::session;
using namespace histories;

namespace {

const int& size = check::state.size;

const char* const ten_days = "every = \"10 days\"\nfields = [\"T\"]\n";

/// Tests that a complete file is not written again if the run ends within a window.
void complete_file() {
    const std::string folder = fresh_folder(), restart = folder + "/restart.nc";
    const std::string config = stream_of("s", folder + "/s_{start:YYYY}.nc",
                                         "every = \"1 week\"\nfields = [\"T\"]\n"
                                         "new_file = \"1 year\"\nat_close = \"write\"\n");
    std::vector<double> weeks;
    {
        Fields f(config);
        OK(tw_history_ready(f.history));
        for (int day = 1; day <= 364; ++day) f.step(day, (day + 6) / 7);
        for (int week = 1; week <= 52; ++week) weeks.push_back(week);
        f.save(restart);
    }
    {
        Fields f(config);
        OK(tw_history_ready(f.history));
        OK(f.load(restart));
        f.step(364.5, 99);
    }
    expect(folder + "/s_2000.nc", weeks);
    expect(folder + "/s_2001.nc", {99});
}

/// Tests two streams and variables whose joined names are equal.
void names_that_look_alike() {
    const std::string folder = fresh_folder(), restart = folder + "/restart.nc";
    const std::string keys = "every = \"10 days\"\nfields = ";
    const std::string config = stream_of("mon", folder + "/a.nc", keys + "[\"ice_h\"]\n") +
                               stream_of("mon_ice", folder + "/b.nc", keys + "[\"h\"]\n");
    {
        Fields f(config, "", "ice_h", "h");
        OK(tw_history_ready(f.history));
        for (int day = 1; day <= 5; ++day) f.step(day, 1, 100);
        f.save(restart);
    }
    {
        Fields f(config, "", "ice_h", "h");
        OK(tw_history_ready(f.history));
        OK(f.load(restart));
        for (int day = 6; day <= 10; ++day) f.step(day, 1, 100);
    }
    expect(folder + "/a.nc", {1}, "ice_h");
    expect(folder + "/b.nc", {100}, "h");
}

/// Tests two histories that save their state in one restart.
void two_histories() {
    const std::string folder = fresh_folder(), path = folder + "/restart.nc";
    const std::string a = stream_of("s", folder + "/a.nc", ten_days),
                      b = stream_of("s", folder + "/b.nc", ten_days);
    {
        Fields f(a), g(b);
        OK(tw_history_ready(f.history));
        OK(tw_history_ready(g.history));
        for (int day = 1; day <= 5; ++day) f.step(day, 1), g.step(day, 3);
        tw_restart restart = nullptr;
        OK(tw_restart_new(session, nullptr, &restart));
        OK(tw_history_save(f.history, restart));
        OK(tw_history_save(g.history, restart));
        OK(tw_restart_write(restart, path.c_str()));
        OK(tw_restart_free(&restart));
    }
    {
        Fields f(a), g(b);
        OK(tw_history_ready(f.history));
        OK(tw_history_ready(g.history));
        OK(f.load(path));
        OK(g.load(path));
        for (int day = 6; day <= 10; ++day) f.step(day, 1), g.step(day, 3);
    }
    expect(folder + "/a.nc", {1});
    expect(folder + "/b.nc", {3});
}

/// Tests that the restart contains the information that some samples cannot be used.
void failure_before() {
    const std::string folder = fresh_folder(), restart = folder + "/restart.nc";
    const std::string config = stream_of("s", folder + "/s.nc", ten_days);
    const char* const fixed = "missing=fixed; missing_value=-9";
    {
        Fields f(config, fixed);
        OK(tw_history_ready(f.history));
        f.step(1, 1);
        f.step(2, -9);
        f.save(restart);
    }
    Fields f(config, fixed);
    OK(tw_history_ready(f.history));
    OK(f.load(restart));
    for (int day = 3; day <= 9; ++day) f.step(day, 1);
    OK(f.time(10));
    OK(Fields::send(f.t, 1));
    REFUSED(tw_history_end_step(f.history), TW_EARG, "before the restart");
    for (int day = 11; day <= 20; ++day) f.step(day, 7);
    f.close();
    expect(folder + "/s.nc", {7});
}

/// @param changed configuration or attributes of the second run
/// @param words words in the text of the error
void changed(const std::string& before, const std::string& after, const char* attributes,
             const std::string& words) {
    const std::string restart = fresh_folder() + "/restart.nc";
    {
        Fields f(before, "missing=varying; missing_value=-9");
        OK(tw_history_ready(f.history));
        f.step(1, 1);
        f.save(restart);
    }
    Fields f(after, attributes);
    OK(tw_history_ready(f.history));
    CHECK(f.load(restart) == TW_EDIFFERENT);
    CHECK_TEXT(f.message.find(words) != std::string::npos, f.message);
    f.step(1, 1);  // the history has not taken anything from the state
}

void changed_definitions() {
    const std::string s = stream_of("s", "s.nc", ten_days);
    const char* const same = "missing=varying; missing_value=-9";
    const auto level = [&](int i) {
        return s + "levels = { dim = \"x\", index = [" + std::to_string(i) + "] }\n";
    };
    if (size > 1) changed(level(0), level(1), same, "'field.T'");
    changed(s, s, "missing=varying; missing_value=-8", "'field.T'");
    changed(s, s + "[stream.field.T]\nfill = -5\n", same, "'field.T'");
    changed(s, s + "op = \"max\"\n", same, "stream 's': 'field.T'");
    changed(s, stream_of("s", "s.nc", "every = \"step\"\nfields = [\"T\"]\n"), same,
            "'every' was '10 days'");
    changed("[history]\ntime_units = \"hours since START\"\n" + s, s, same, "'time_units'");
    changed("[history]\nsamples = \"begin\"\nweights = \"count\"\n" + s,
            "[history]\nweights = \"count\"\n" + s, same, "'samples'");
}

/// Tests streams whose windows change at a restart after 5 days, and which restart again: the open
/// window ends with the new ones.
void changed_windows() {
    struct Case {
        const char *before, *after;
        std::vector<double> bounds, values;
    };
    const std::vector<Case> cases{
        {"\"10 days\"", "\"2 days\"", {0, 6, 6, 8, 8, 10}, {3.5, 7.5, 9.5}},
        {"\"2 days\"", "\"10 days\"", {0, 2, 2, 4, 4, 10}, {1.5, 3.5, 7.5}},
        {"\"10 days\"", "\"5 days\"", {0, 10}, {5.5}},
        {"\"5 days\"", "[\"3 days to 3 days\", \"7 days\"]", {0, 5, 5, 10}, {3, 8}}};
    for (const auto& [before, after, bounds, values] : cases) {
        const std::string folder = fresh_folder(), restart = folder + "/restart.nc";
        int day = 0;
        for (const int last : {5, 6, 10}) {
            const std::string keys =
                std::string("partial = \"drop\"\nfields = [\"T\"]\nanchor = \"start\"\nevery = ") +
                (last == 5 ? before : after) + "\n";
            Fields f(stream_of("s", folder + "/s.nc", keys));
            OK(tw_history_ready(f.history));
            if (day > 0) OK(f.load(restart));
            for (; day < last; ++day) f.step(day + 1, day + 1);
            f.save(restart);
        }
        expect(folder + "/s.nc", values);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(Contents(folder + "/s.nc").bounds == bounds);
    }
}

/// Tests a stream that the state lacks: it begins at the restart.
void new_stream() {
    const std::string folder = fresh_folder(), restart = folder + "/restart.nc";
    const std::string old = stream_of("old", folder + "/old.nc", ten_days);
    const std::string both =
        old + stream_of("new", folder + "/new.nc", ten_days) +
        stream_of("once", folder + "/once.nc", "every = \"once\"\nfields = [\"U\"]\n");
    {
        Fields f(old);
        OK(tw_history_ready(f.history));
        for (int day = 1; day <= 5; ++day) f.step(day, 1);
        f.save(restart);
    }
    for (const int first : {6, 8}) {
        Fields f(both);
        OK(tw_history_ready(f.history));
        OK(f.load(restart));
        const int last = first == 6 ? 7 : 20;
        for (int day = first; day <= last; ++day) f.step(day, day <= 10 ? 3 : 4, day);
        if (last == 7) f.save(restart);
    }
    expect(folder + "/old.nc", {2, 4});
    expect(folder + "/new.nc", {3, 4});
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK((Contents(folder + "/new.nc").bounds == std::vector<double>{5, 10, 10, 20}));
    CHECK(read(folder + "/once.nc", "U", size) == std::vector<double>(size, 6));
}

/// Runs the program `thalweg` on rank 0, outside of the model's MPI.
/// @return its exit status and what it prints
std::pair<int, std::string> run_tool(const std::string& tool, const std::string& arguments) {
    std::string text;
    int code = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::state.rank == 0) {
        const std::string clean = "env -i PATH=\"$PATH\" HOME=\"$HOME\" ";
        std::FILE* pipe = ::popen((clean + tool + " " + arguments + " 2>&1").c_str(), "r");
        for (int c; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
        code = pipe == nullptr ? -1 : WEXITSTATUS(::pclose(pipe));
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return {code, text};
}

/// Tests a stream that gets another field: `thalweg history --forget` lets it begin at the restart.
void forgotten_stream(const std::string& tool) {
    const std::string folder = fresh_folder(), restart = folder + "/restart.nc";
    const auto config = [&](const char* fields) {
        const std::string keys = std::string("every = \"4 days\"\nfields = ") + fields + "\n";
        return stream_of("other", folder + "/other.nc", ten_days) +
               stream_of("grows", folder + "/grows.nc", keys);
    };
    {
        Fields f(config("[\"T\"]"));
        OK(tw_history_ready(f.history));
        for (int day = 1; day <= 5; ++day) f.step(day, 1);
        f.save(restart);
    }
    const auto load = [&](int expected) {
        Fields f(config("[\"T\", \"U\"]"));
        OK(tw_history_ready(f.history));
        CHECK(f.load(restart) == expected);
        if (expected != TW_OK) return;
        for (int day = 6; day <= 12; ++day) f.step(day, 3, day);
    };
    load(TW_EDIFFERENT);
    const std::string forget = "history --restart " + restart + " --forget ";
    const auto [wrong, list] = run_tool(tool, forget + "none");
    CHECK_TEXT(wrong == 1, "{}: {}", wrong, list);
    CHECK_TEXT(check::state.rank != 0 || list.find("'grows', 'other'") != std::string::npos, list);
    const std::string grows = folder + "/grows.nc", away = folder + "/away.nc";
    const auto move = [](const std::string& from, const std::string& to) {
        if (check::state.rank == 0) std::filesystem::rename(from, to);
        MPI_Barrier(MPI_COMM_WORLD);
    };
    move(grows, away);
    const auto [elsewhere, why] = run_tool(tool, forget + "grows");
    CHECK_TEXT(elsewhere == 1, "{}: {}", elsewhere, why);
    move(away, grows);
    load(TW_EDIFFERENT);  // the restart has not changed
    const auto [code, text] = run_tool(tool, forget + "grows");
    CHECK_TEXT(code == 0, "{}: {}", code, text);
    load(TW_OK);
    expect(folder + "/other.nc", {2});
    expect(folder + "/grows.before1.nc", {1});
    expect(folder + "/grows.nc", {3, 3});
    expect(folder + "/grows.nc", {7, 10.5}, "U");
    CHECK((Contents(folder + "/grows.nc").bounds == std::vector<double>{5, 8, 8, 12}));
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    OK(tw_init(MPI_COMM_WORLD, nullptr, &session));
    complete_file();
    names_that_look_alike();
    two_histories();
    failure_before();
    changed_definitions();
    changed_windows();
    new_stream();
    if (argc > 1) forgotten_stream(argv[1]);
    OK(tw_finalize(&session));
    return check::verdict("history_continue");
}
