// Tests calls that are wrong on one rank only: the collective call that ends the step returns the
// same error on all ranks, nothing waits, and later records are right.
//
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>

#include "fields.hpp"

using calls::session;
using namespace histories;

namespace {

const int &rank = check::state.rank, &size = check::state.size;

/// Calls of the last rank in place of those of a step, before its end.
struct Wrong {
    const char* what;
    int code;  ///< result of tw_history_end_step on all ranks
    const char* text;
    std::function<void(const Fields&, double day)> act;
};

void send_both(const Fields& f, double day) {
    OK(f.time(day));
    OK(Fields::send(f.u, day));
    OK(Fields::send(f.t, day));
}

void step(const Fields& f, double day) {
    send_both(f, day);
    OK(tw_history_end_step(f.history));
}

/// Returns the right calls, but with another one in place of that which sends T.
std::function<void(const Fields&, double)> in_place_of_t(
    int expected, const std::function<int(const Fields&)>& call) {
    return [=](const Fields& f, double day) {
        OK(f.time(day));
        OK(Fields::send(f.u, day));
        CHECK(call(f) == expected);
    };
}

const double two[2] = {1, 2}, negative = -1, zero = 0, infinite = INFINITY;

int send_weighed(const Fields& f, const double* weight) {
    return tw_send_array(f.t, tw_dense(TW_DOUBLE, two, 1), weight);
}

const Wrong calls_of_a_step[] = {
    {"no time", TW_ESTATE, "before tw_history_time",
     [](const Fields& f, double) { CHECK(Fields::send(f.t) == TW_ESTATE); }},
    {"a time before the start", TW_EARG, "is not after",
     [](const Fields& f, double) { CHECK(f.time(-1) == TW_EARG); }},
    {"a time that is no number", TW_EARG, "",
     [](const Fields& f, double) { CHECK(tw_history_time(f.history, NAN) == TW_EARG); }},
    {"a step over whole windows", TW_EARG, "covers the whole window",
     [](const Fields& f, double day) { CHECK(f.time(day + 1.5) == TW_EARG); }},
    {"two times", TW_OK, "",
     [](const Fields& f, double day) {
         send_both(f, day);
         CHECK(f.time(day + 0.5) == TW_ESTATE);
     }},
    {"sent twice", TW_OK, "",
     [](const Fields& f, double day) {
         send_both(f, day);
         CHECK(Fields::send(f.t, 7) == TW_ESTATE);
     }},
    {"not sent", TW_EMISSING, "'T'", in_place_of_t(0, [](const Fields&) { return 0; })},
    {"another type", TW_EMISSING, "'T'",
     in_place_of_t(TW_ETYPE, [](const Fields& f) { return tw_send(f.t, TW_FLOAT, two, 1); })},
    {"another shape", TW_EMISSING, "'T'",
     in_place_of_t(TW_ESHAPE, [](const Fields& f) { return tw_send(f.t, TW_DOUBLE, two, 2); })},
    {"no array", TW_EMISSING, "'T'",
     in_place_of_t(TW_EARG, [](const Fields& f) { return tw_send(f.t, TW_DOUBLE, nullptr, 1); })},
    {"another box", TW_EMISSING, "'T'",
     in_place_of_t(TW_EBOUNDS,
                   [](const Fields& f) { return tw_send_block(f.t, 1, TW_DOUBLE, two, 1); })},
    {"a negative weight", TW_EMISSING, "'T'",
     in_place_of_t(TW_EARG, [](const Fields& f) { return send_weighed(f, &negative); })},
    {"an infinite weight", TW_EMISSING, "'T'",
     in_place_of_t(TW_EARG, [](const Fields& f) { return send_weighed(f, &infinite); })},
    {"another weight", TW_EMISMATCH, "'T'",
     in_place_of_t(TW_OK, [](const Fields& f) { return send_weighed(f, &zero); })},
};

/// Makes one wrong step, the first or a later one, and then right ones.
/// @param weight  U is the weight of T, and is not written
void one_step(const Wrong& wrong, const char* settings, bool first, bool weight) {
    const std::string path = fresh_folder() + "/s.nc";
    {
        Fields f(stream_of("s", path,
                           std::string("every = \"1 day\"\nfields = [\"T\"") +
                               (weight ? "]\nweight = \"U\"\n" : ", \"U\"]\n") +
                               "weights = \"count\"\n"),
                 "units=K", "T", "U", settings);
        OK(tw_history_ready(f.history));
        if (!first) step(f, 1);
        int day = first ? 1 : 2;
        check::step("{}, {}, {} step", wrong.what, settings, first ? "first" : "later");
        rank == size - 1 ? wrong.act(f, day) : send_both(f, day);
        const int code = tw_history_end_step(f.history);
        if (wrong.code != TW_OK)
            calls::judge_all(__FILE__, __LINE__, "tw_history_end_step", code, wrong.code,
                             wrong.text);
        else
            CHECK(code == TW_OK);
        // The next step is longer for a rank that has not taken this one, and may be lost, too.
        ++day;
        if (f.time(day) == TW_OK) {
            OK(Fields::send(f.u, day));
            OK(Fields::send(f.t, day));
        }
        const std::vector<std::string> codes =
            check::gather(std::to_string(tw_history_end_step(f.history)));
        CHECK_TEXT(codes.front() == codes[rank], "the ranks get the codes {} and {}", codes.front(),
                   codes[rank]);
        for (const int last : {++day, ++day}) step(f, last);
    }
    const Contents file(path);
    CHECK(!file.values.empty() && file.values.back() == (first ? 4 : 5) &&
          file.time.back() == (first ? 3.5 : 4.5));
}

/// Tests collective calls to which one rank passes other arguments.
void collective_calls() {
    const std::string folder = fresh_folder(), path = folder + "/restart.nc";
    const std::string config =
        stream_of("s", folder + "/s.nc", "every = \"1 day\"\nfields = [\"T\", \"U\"]\n");
    const bool alone = rank == size - 1;
    Fields f(config);
    OK(tw_history_ready(f.history));
    f.step(1, 1, 1);
    tw_restart restart = nullptr;
    OK(tw_restart_new(session, nullptr, &restart));
    REFUSED(tw_history_save(f.history, alone ? nullptr : restart), TW_EHANDLE, "");
    OK(tw_history_save(f.history, restart));
    OK(tw_restart_write(restart, path.c_str()));
    OK(tw_restart_free(&restart));
    f.close();
    Fields g(config);
    OK(tw_history_ready(g.history));
    tw_file file = nullptr;
    OK(tw_open(session, path.c_str(), nullptr, &file));
    REFUSED(tw_history_load(g.history, alone ? nullptr : file), TW_EHANDLE, "");
    OK(tw_history_load(g.history, file));
    OK(tw_close(&file));
    g.step(2, 2, 2);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    OK(tw_init(MPI_COMM_WORLD, nullptr, &session));
    for (const Wrong& wrong : calls_of_a_step)
        for (const char* settings : {"", "step=86400"})
            for (const bool first : {true, false})
                for (const bool weight : {false, true})
                    if (size > 1) one_step(wrong, settings, first, weight);
    collective_calls();
    OK(tw_finalize(&session));
    return check::verdict("history_alone");
}
