// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "doctor/findings.hpp"
#include "doctor/folder.hpp"
#include "doctor/libraries.hpp"
#include "doctor/machine.hpp"
#include "doctor/settings.hpp"
#include "progress.hpp"
#include "size_text.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::app {

namespace {

const char* word_of(Level level) {
    return level == Level::good ? "ok" : level == Level::note ? "note" : "problem";
}

std::int64_t problems_in(const Diagnoses& found) {
    return std::count_if(found.begin(), found.end(),
                         [](const Diagnosis& d) { return d.level == Level::problem; });
}

std::string lines_of(const Diagnoses& found) {
    std::size_t width = 0;
    for (const Diagnosis& d : found) width = std::max(width, d.subject.size());
    std::string lines;
    for (const Diagnosis& d : found) {
        lines += fmt::format("{:<8} {:<{}}  {}\n", word_of(d.level), d.subject, width, d.text);
        if (!d.remedy.empty())
            lines += fmt::format("{:<8} {:<{}}  > {}\n", "", "", width, d.remedy);
    }
    return lines;
}

/// On the first rank of each other node, keeps the findings that report something wrong, and adds
/// the host's name. Clears the findings of all other ranks.
void keep_others(const Nodes& nodes, Diagnoses& found) {
    if (!nodes.first) found.clear();
    std::erase_if(found, [](const Diagnosis& d) { return d.level == Level::good; });
    for (Diagnosis& d : found) d.subject = detail::host_name() + ": " + d.subject;
}

/// Prints the lines of all nodes on rank 0. @return the number of problems @note Collective
std::int64_t print(detail::Comm& comm, const Diagnoses& found) {
    const std::string lines = lines_of(found);
    std::int64_t problems = problems_in(found);
    comm.all_reduce({&problems, 1}, detail::Reduce::sum);
    for (const std::vector<char>& text : comm.gather(lines, 0))
        std::fwrite(text.data(), 1, text.size(), stdout);
    if (comm.rank() != 0) return problems;
    fmt::print("{}\n", problems == 0 ? "no problems" : count_text(problems, "problem"));
    std::fflush(stdout);
    return problems;
}

}  // namespace

int doctor(const DoctorOptions& options) {
    const auto comm = detail::make_mpi_comm(MPI_COMM_WORLD);
    const Nodes nodes = find_nodes(*comm);
    std::optional<Busy> busy(std::in_place, "examining the machine", comm->rank());
    Diagnoses found;
    check_libraries(found);
    check_machine(nodes, found);
    check_shared_memory(found);
    std::int64_t invalid = check_settings(found) ? 0 : 1;
    comm->all_reduce({&invalid, 1}, detail::Reduce::max);
    for (const std::string& folder : options.folders) {
        std::int64_t before = problems_in(found);
        if (comm->rank() == 0) check_folder(folder, nodes.count, found);
        std::int64_t bad = comm->rank() == 0 ? problems_in(found) - before : 0;
        comm->all_reduce({&bad, 1}, detail::Reduce::max);
        if (bad == 0 && invalid == 0) check_choices(folder, found);
    }
    busy.reset();
    if (comm->rank() != 0) keep_others(nodes, found);
    return print(*comm, found) > 0 ? 1 : 0;
}

}  // namespace thalweg::app
