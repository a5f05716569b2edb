// SPDX-License-Identifier: Apache-2.0
#include "show/show.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "comm/comm.hpp"
#include "show/facts.hpp"
#include "show/plot.hpp"
#include "show/print.hpp"
#include "show/statistics.hpp"
#include "terminal.hpp"

namespace thalweg::app {

namespace {

void print(const ShowOptions& options, const FileFacts& facts,
           const std::vector<Statistics>& statistics, const std::string& map) {
    const std::string text = options.json ? json_of(facts, statistics) : text_of(facts, statistics);
    fmt::print("{}{}{}", text, map.empty() ? "" : "\n", map);
    std::fflush(stdout);
}

/// Returns the width of a map in characters: the width of the terminal, but at most 120.
int columns(bool terminal) {
    struct winsize size {};
    if (!terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 72;
    return std::clamp<int>(size.ws_col - 1, 20, 120);
}

/// Draws a map of a variable. @return text to print on rank 0 @note Collective
std::string plot(detail::Comm& comm, Reader& file, const ShowOptions& options, const Ranks& ranks) {
    const bool terminal = on_terminal(STDOUT_FILENO);
    int width = columns(terminal);
    comm.broadcast(&width, sizeof width, 0);  // all ranks must read the same rows
    return text_of(read_map(file, options.plotted, width, ranks), terminal);
}

/// Finds the facts on rank 0, and broadcasts the path of the file to open.
/// @note Collective
void share_facts(detail::Comm& comm, const std::string& path, FileFacts& facts) {
    detail::Status status;
    if (comm.rank() == 0) status = find_facts(path, facts);
    throw_failure(agree(comm, status));
    std::vector<char> data(facts.data.begin(), facts.data.end());
    comm.broadcast(data, 0);
    facts.data.assign(data.begin(), data.end());
}

}  // namespace

int show(const ShowOptions& options) {
    FileFacts facts;
    if (const detail::Status status = find_facts(options.path, facts); !status.ok()) {
        fmt::print(stderr, "thalweg: show: {}\n", status.text);
        return 1;
    }
    print(options, facts, {}, "");
    return 0;
}

int show_values(const ShowOptions& options) {
    return in_session("show", 1, [&](Session& io, const Ranks& ranks) {
        const auto comm = detail::make_mpi_comm(ranks.comm);
        FileFacts facts;
        share_facts(*comm, options.path, facts);
        std::vector<Statistics> statistics;
        std::string map;
        with_reader(io, facts.data, [&](Reader& file) {
            if (!options.plotted.empty()) map = plot(*comm, file, options, ranks);
            if (options.statistics) statistics = find_statistics(file, ranks);
        });
        if (ranks.rank == 0) print(options, facts, statistics, map);
        return 0;
    });
}

}  // namespace thalweg::app
