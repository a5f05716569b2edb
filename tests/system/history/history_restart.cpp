// Tests that a history continued from a restart, on any number of ranks and after a kill, gives the
// files of the run that was not interrupted.
//
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>

#include "restart_model.hpp"

using calls::session;
using namespace histories;

namespace {

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns what ncdump prints for a file, without the file's name.
std::string contents(const std::string& path) {
    std::FILE* pipe = ::popen(("ncdump " + path + " | tail -n +2").c_str(), "r");
    std::string text;
    for (int c; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    CHECK_TEXT(pipe != nullptr && ::pclose(pipe) == 0 && !text.empty(), "ncdump %s", path.c_str());
    return text;
}

/// Compares the files in two folders; classic files byte for byte. Collective over the world.
void compare(const std::string& right, const std::string& other) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::state.rank != 0) return;
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(right)) {
        const std::string name = entry.path().filename();
        if (name.find("restart") != std::string::npos) continue;
        ++files;
        const std::string a = bytes_of(entry.path()), b = bytes_of(other + "/" + name);
        CHECK_TEXT(!b.empty(), "%s/%s is missing", other.c_str(), name.c_str());
        if (a.compare(0, 3, "CDF") == 0)
            CHECK_TEXT(a == b, "%s/%s differs", other.c_str(), name.c_str());
        else
            CHECK_TEXT(contents(right + "/" + name) == contents(other + "/" + name),
                       "%s/%s differs", other.c_str(), name.c_str());
    }
    CHECK_TEXT(files == 11, "%d files", files);
}

/// Runs all steps in parts, with a restart after each part.
/// @param ranks numbers of ranks that parts have, in turn
void run_in_parts(const std::string& folder, const std::vector<int>& ends,
                  const std::vector<int>& ranks, const std::string& settings, bool lists) {
    int first = 1;
    for (std::size_t i = 0; i <= ends.size(); ++i) {
        const int last = i < ends.size() ? ends[i] : steps;
        const int wanted = std::min(ranks[i % ranks.size()], check::state.size);
        MPI_Comm part;
        MPI_Comm_split(MPI_COMM_WORLD, check::state.rank < wanted ? 0 : MPI_UNDEFINED, 0, &part);
        if (part != MPI_COMM_NULL) {
            Runner run({folder, part, settings, lists && i % 2 == 0});
            if (i > 0) run.load(folder + "/restart.nc");
            for (int n = first; n <= last; ++n) run.step(n);
            if (i < ends.size()) run.save(folder + "/restart.nc");
            run.end();
            MPI_Comm_free(&part);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        first = last + 1;
    }
}

/// Continues a run after it has written a restart, and then abandons it, as if it were killed.
void run_killed(const std::string& folder, int saved, int killed, const std::string& settings) {
    {
        Runner run({folder, MPI_COMM_WORLD, settings, false});
        for (int n = 1; n <= killed; ++n) {
            run.step(n);
            if (n == saved) run.save(folder + "/restart.nc");
        }
        run.leave();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    Runner run({folder, MPI_COMM_WORLD, settings, false});
    run.load(folder + "/restart.nc");
    for (int n = saved + 1; n <= steps; ++n) run.step(n);
    run.end();
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 120);
    const std::string whole = fresh_folder();
    run_in_parts(whole, {}, {check::state.size}, "", false);
    std::vector<int> daily;
    for (int n = 7; n < steps; n += 7) daily.push_back(n);
    for (const char* settings : {"service=inline", "service=background"}) {
        std::string folder = fresh_folder();
        run_in_parts(folder, daily, {1, 3, 2, 4}, settings, false);
        compare(whole, folder);
        folder = fresh_folder();
        run_in_parts(folder, {13, 50}, {check::state.size, 2}, settings, true);
        compare(whole, folder);
    }
    for (const auto& [saved, killed] :
         {std::pair{3, 30}, {40, 41}, {41, 99}, {48, 50}, {73, 100}}) {
        const std::string folder = fresh_folder();
        run_killed(folder, saved, killed, "service=inline");
        compare(whole, folder);
    }
    return check::verdict("history_restart");
}
