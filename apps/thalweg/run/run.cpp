// SPDX-License-Identifier: Apache-2.0
#include "run/run.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace thalweg::app {

namespace {

constexpr int cannot_run = 2;
constexpr char report_name[] = "thalweg-report.html";

/// A file for the summary, removed at the end. If THALWEG_SUMMARY names a file, that one is used
/// and not removed.
class SummaryFile {
public:
    SummaryFile() {
        const char* const given = std::getenv("THALWEG_SUMMARY");
        if (given != nullptr && *given != '\0' && std::strcmp(given, "table") != 0) {
            path_ = given;
            return;
        }
        // Use the working folder, which all nodes see; the folder for temporary files is local to a
        // node.
        std::error_code error;
        const std::string here = std::filesystem::current_path(error).string();
        const char* const temporary = std::getenv("TMPDIR");
        for (const std::string& folder : {here, std::string(temporary ? temporary : "/tmp")}) {
            std::string path = folder + "/.thalweg-run-XXXXXX";
            const int fd = mkstemp(path.data());
            if (fd < 0) continue;
            close(fd);
            path_ = path;
            own_ = true;
            return;
        }
    }
    ~SummaryFile() {
        if (own_) unlink(path_.c_str());
    }
    SummaryFile(const SummaryFile&) = delete;
    SummaryFile& operator=(const SummaryFile&) = delete;

    const std::string& path() const { return path_; }
    std::string text() const {
        std::ostringstream content;
        content << std::ifstream(path_).rdbuf();
        return content.str();
    }

private:
    std::string path_;
    bool own_ = false;
};

/// Returns the rank that a launcher has assigned to this process; null if none has started it.
const char* launched_as() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
        if (const char* const rank = std::getenv(name); rank != nullptr) return rank;
    return nullptr;
}

/// Sets environment variables for the given settings.
void set_all(const std::vector<std::pair<std::string, std::string>>& settings,
             const std::vector<std::string>& command) {
    std::string names;
    for (const auto& [name, value] : settings) {
        setenv(name.c_str(), value.c_str(), 1);
        names += (names.empty() ? "" : ";") + name;
    }
    // Open MPI's mpirun passes to other nodes only the variables that it is told of; it ends if
    // both this list and its option -x tell it.
    if (std::find(command.begin(), command.end(), "-x") != command.end()) return;
    constexpr char list[] = "OMPI_MCA_mca_base_env_list";
    if (const char* const before = std::getenv(list); before != nullptr)
        names = fmt::format("{};{}", before, names);
    setenv(list, names.c_str(), 1);
}

/// Starts the command and waits for it. Signals from the terminal are left to the command.
int run_command(const std::vector<std::string>& command) {
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGQUIT, SIG_DFL);
        execvp(words.front(), words.data());
        fmt::print(stderr, "thalweg: run: {}: cannot start: {}\n", command.front(),
                   std::strerror(errno));
        _exit(cannot_run);
    }
    int status = 0;
    if (child < 0) {
        fmt::print(stderr, "thalweg: run: cannot start a process: {}\n", std::strerror(errno));
        return cannot_run;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run(const RunOptions& options) {
    if (const char* const rank = launched_as(); rank != nullptr) {
        if (std::atoi(rank) == 0)
            fmt::print(stderr,
                       "thalweg: run: give it the launcher, too: thalweg run mpirun -n N {}\n",
                       options.command.front());
        return cannot_run;
    }
    const SummaryFile summary;
    if (summary.path().empty()) {
        fmt::print(stderr, "thalweg: run: cannot create a file in the working folder\n");
        return cannot_run;
    }
    std::vector<std::pair<std::string, std::string>> settings{{"THALWEG_SUMMARY", summary.path()}};
    if (!options.service.empty()) settings.emplace_back("THALWEG_SERVICE", options.service);
    if (options.report) settings.emplace_back("THALWEG_REPORT", report_name);
    set_all(settings, options.command);
    const int code = run_command(options.command);
    const std::string line = run_line(summary.text());
    if (line.empty())
        fmt::print(stderr, "thalweg: no session of the library ended in this run\n");
    else
        fmt::print(stderr, "thalweg: {}{}\n", line,
                   options.report ? fmt::format("; report: {}", report_name) : "");
    return code;
}

}  // namespace thalweg::app
