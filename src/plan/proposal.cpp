// SPDX-License-Identifier: Apache-2.0
#include "plan/proposal.hpp"

#include <algorithm>
#include <cmath>

#include "plan/shares.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// Less time by this factor is worth another way; predictions are not so good that less would be.
constexpr double worthwhile = 0.9;

struct Candidate {
    Way way;
    double seconds = INFINITY;
};

class Proposer {
public:
    Proposer(const Run& run, const Asked& asked) : run_(run), asked_(asked), shares_(run) {}

    Proposal make() const {
        Candidate usual{{asked_.method == "auto" ? "record" : asked_.method}};
        usual.way.writers = shares_.chosen().writers;
        usual.seconds = seconds(usual.way);
        // First with the usual method, which has to be beaten by the others.
        Candidate best = best_of(usual.way.method, usual);
        if (asked_.method == "auto") {
            Candidate other = best;
            for (const char* method : {"slabs", "tiles", "rows", "columns", "direct"})
                if (possible(method)) other = best_of(method, other);
            if (other.seconds < worthwhile * best.seconds) best = other;
        }
        Proposal proposal;
        proposal.seconds = proposal.usual = usual.seconds;
        if (!(best.seconds < worthwhile * usual.seconds)) return proposal;
        proposal.seconds = best.seconds;
        if (asked_.method == "auto") proposal.method = best.way.method;
        if (asked_.writers_open && counted(best.way.method)) proposal.writers = best.way.writers;
        return proposal;
    }

private:
    /// Whether the number of writers is a choice.
    static bool counted(const std::string& method) {
        return method == "record" || method == "slabs" || method == "tiles";
    }

    bool possible(const std::string& method) const {
        const bool boxes = run_.list_run <= 0;
        if (method == "direct") return boxes && asked_.direct && measured(run_.ranks);
        return method == "slabs" || boxes;
    }

    bool measured(std::int64_t writers) const {
        const double n = writers;
        return n >= run_.folder.writers.front() && n <= run_.folder.writers.back();
    }

    /// The best of a method, or another candidate that is better.
    Candidate best_of(const std::string& method, Candidate best) const {
        const int on_node = (run_.ranks + run_.nodes - 1) / run_.nodes;
        const bool sweeps = counted(method) && asked_.writers_open;
        for (int n = 1; n <= on_node; n = n < on_node ? std::min(2 * n, on_node) : n + 1) {
            Candidate c{{method, false, sweeps ? fmt::format("{}/node", n) : run_.writers}};
            if (!sweeps && run_.writers == "auto") c.way.writers = shares_.chosen().writers;
            if (measured(shares_.work_of(c.way).writers)) c.seconds = seconds(c.way);
            if (c.seconds < best.seconds) best = c;
            if (!sweeps) break;
        }
        return best;
    }

    double seconds(Way way) const {
        way.queued = asked_.queued;
        const Work work = shares_.work_of(way);
        const Cost cost = cost_of(run_.machine, run_.folder, work);
        if (!way.queued) return inline_outcome(cost, 0).calls;
        const Outcome o = background_outcome(cost, run_.folder, work, 0, true);
        return o.calls + o.behind;
    }

    const Run& run_;
    const Asked& asked_;
    Shares shares_;
};

}  // namespace

Proposal propose(const Run& run, const Asked& asked) { return Proposer(run, asked).make(); }

const Proposal& LastProposal::of(const Run& run, const Asked& asked) {
    if (run_ == run && asked_ == asked) return proposal_;
    run_.reset();
    proposal_ = propose(run, asked);
    asked_ = asked;
    run_ = run;
    return proposal_;
}

}  // namespace thalweg::planning
