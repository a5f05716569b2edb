// SPDX-License-Identifier: Apache-2.0
#include "plan/proposal.hpp"

#include <algorithm>
#include <cmath>

#include "plan/shares.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// Less time by this factor is worth another method, and another way than the usual one: what is
/// given up in both comparisons together is a tenth at most. Predictions of two ways differ by
/// about as much from what these take.
constexpr double worthwhile = 0.95;

/// Whether the number of writers is a choice.
bool counted(const std::string& method) {
    return method == "record" || method == "slabs" || method == "tiles";
}

class Proposer {
public:
    Proposer(const Run& run, const Asked& asked) : run_(run), asked_(asked), shares_(run) {}

    Candidates make() const {
        Candidates found;
        Way usual{asked_.method == "auto" ? "record" : asked_.method};
        usual.writers = shares_.chosen().writers;
        found.ways.push_back({usual, seconds(usual)});
        add(usual.method, found.ways);
        const std::size_t same_method = found.ways.size();
        if (asked_.method == "auto")
            for (const char* method : {"slabs", "tiles", "rows", "columns", "direct"})
                if (possible(method)) add(method, found.ways);
        // First with the usual method, which has to be beaten by the others.
        const auto least = [&](std::size_t end) {
            const auto faster = [](const Candidate& a, const Candidate& b) {
                return a.seconds < b.seconds;
            };
            const auto begin = found.ways.begin();
            return std::min_element(begin, begin + static_cast<std::ptrdiff_t>(end), faster);
        };
        auto best = least(same_method);
        const auto other = least(found.ways.size());
        if (other->seconds < worthwhile * best->seconds) best = other;
        if (best->seconds < worthwhile * found.ways.front().seconds)
            found.proposed = static_cast<std::size_t>(best - found.ways.begin());
        return found;
    }

private:
    bool possible(const std::string& method) const {
        const bool boxes = run_.list_run <= 0;
        if (method == "direct") return boxes && asked_.direct && measured(run_.ranks);
        return method == "slabs" || boxes;
    }

    bool measured(std::int64_t writers) const {
        const double n = writers;
        return n >= run_.folder.writers.front() && n <= run_.folder.writers.back();
    }

    /// The ways of a method that were measured, but the first of all.
    void add(const std::string& method, std::vector<Candidate>& ways) const {
        const int on_node = (run_.ranks + run_.nodes - 1) / run_.nodes;
        const bool sweeps = counted(method) && asked_.writers_open;
        for (int n = 1; n <= on_node; n = n < on_node ? std::min(2 * n, on_node) : n + 1) {
            Way way{method, false, sweeps ? fmt::format("{}/node", n) : run_.writers};
            if (!sweeps && run_.writers == "auto") way.writers = shares_.chosen().writers;
            if (way != ways.front().way && measured(shares_.work_of(way).writers))
                ways.push_back({way, seconds(way)});
            if (!sweeps) break;
        }
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

std::string in_words(const Way& way) {
    return counted(way.method) ? fmt::format("method={} and writers={}", way.method, way.writers)
                               : fmt::format("method={}", way.method);
}

Proposal proposal_of(const std::vector<Candidate>& ways, std::size_t at, const Asked& asked,
                     bool always) {
    Proposal proposal;
    proposal.seconds = ways[at].seconds;
    proposal.usual = ways.front().seconds;
    proposal.what.way = static_cast<int>(at);
    if (at == 0 && !always) return proposal;
    const Way& way = ways[at].way;
    if (asked.method == "auto") proposal.method = way.method;
    if (asked.writers_open && counted(way.method)) proposal.writers = way.writers;
    return proposal;
}

Candidates candidates(const Run& run, const Asked& asked) { return Proposer(run, asked).make(); }

Proposal propose(const Run& run, const Asked& asked) {
    const Candidates found = candidates(run, asked);
    return proposal_of(found.ways, found.proposed, asked, false);
}

}  // namespace thalweg::planning
