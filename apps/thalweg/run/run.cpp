// SPDX-License-Identifier: Apache-2.0
#include "run/run.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "python.hpp"
#include "run/program.hpp"

namespace thalweg::app {

namespace {

constexpr int cannot_run = 2;
constexpr char report_name[] = "thalweg-report.html", summary_name[] = "thalweg-report.json";

/// A file for the summary, which is removed at the end. If THALWEG_SUMMARY already names a JSON
/// file, that file is used and kept.
class SummaryFile {
public:
    SummaryFile() {
        const char* const given = std::getenv("THALWEG_SUMMARY");
        if (given != nullptr && *given != '\0' && std::strcmp(given, "table") != 0) {
            path_ = given;
            return;
        }
        // Use the working folder, which all nodes see. The folder for temporary files exists on
        // each node separately.
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

/// Returns the rank that a launcher has given this process; null if no launcher has started it.
const char* launched_as() {
    // Ignore SLURM_PROCID, which is set in batch scripts, too, that no launcher has started.
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
        if (const char* const rank = std::getenv(name); rank != nullptr) return rank;
    return nullptr;
}

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Tests if a word is the name of Open MPI's launcher.
bool is_launcher(const std::string& word) {
#ifdef OPEN_MPI
    const std::filesystem::path name = std::filesystem::path(word).filename();
    const std::string stem = name.extension() == ".openmpi" ? name.stem() : name;
    return stem == "mpirun" || stem == "mpiexec" || stem == "orterun" || stem == "prterun";
#else
    (void)word;
    return false;
#endif
}

/// Sets environment variables for a command on all nodes.
void set_all(const Variables& variables, std::vector<std::string>& command) {
    std::string names;
    std::vector<std::string> options;
    for (const auto& [name, value] : variables) {
        setenv(name.c_str(), value.c_str(), 1);
        names += (names.empty() ? "" : ";") + name;
        options.insert(options.end(), {"-x", name});
    }
    // Open MPI's mpirun passes only variables to other nodes that are in a list or in its option
    // -x. It fails if both are used.
    const auto launcher = std::find_if(command.begin(), command.end(), is_launcher);
    if (std::find(launcher, command.end(), "-x") != command.end()) {
        command.insert(launcher + 1, options.begin(), options.end());
        return;
    }
    constexpr char list[] = "OMPI_MCA_mca_base_env_list";
    if (const char* const before = std::getenv(list); before != nullptr)
        names = fmt::format("{};{}", before, names);
    setenv(list, names.c_str(), 1);
}

/// Removes the words of the form name=value before a command. Returns them as environment variables
/// THALWEG_NAME.
Variables take_settings(std::vector<std::string>& command) {
    Variables settings;
    const auto is_setting = [](const std::string& word) {
        const std::size_t end = word.find('=');
        return end != std::string::npos && end > 0 &&
               std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(end),
                           [](unsigned char c) { return std::islower(c) || c == '_'; });
    };
    while (!command.empty() && is_setting(command.front())) {
        const std::string& word = command.front();
        std::string name = "THALWEG_";
        for (unsigned char c : word.substr(0, word.find('=')))
            name += static_cast<char>(std::toupper(c));
        settings.emplace_back(name, word.substr(word.find('=') + 1));
        command.erase(command.begin());
    }
    return settings;
}

/// Returns the environment variables that correspond to the options.
Variables variables_of(const RunOptions& options) {
    Variables variables;
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) variables.emplace_back(name, value);
    };
    add("THALWEG_SERVICE", options.service);
    add("THALWEG_NETCDF", options.serial.empty()   ? options.netcdf
                          : options.serial == "no" ? "parallel"
                                                   : "all");
    add("THALWEG_PNETCDF", options.pnetcdf);
    add("THALWEG_ONLY", options.only);
    add("THALWEG_SKIP", options.skip);
    add("THALWEG_TELL", options.tell);
    add("THALWEG_PUBLISH", options.live ? "live" : "");
    if (const std::string shim = find_shim(); !shim.empty()) {
        const char* const before = std::getenv("LD_PRELOAD");
        add("LD_PRELOAD", before != nullptr && *before != '\0' ? shim + ":" + before : shim);
    }
    return variables;
}

/// Replaces this process by the command.
/// @return only if the command cannot be started
int become(const std::vector<std::string>& command) {
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words.front(), words.data());
    fmt::print(stderr, "thalweg: run: {}: cannot start: {}\n", command.front(),
               std::strerror(errno));
    return cannot_run;
}

constexpr int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

std::atomic<pid_t> running{0};  ///< process of the command; 0: none

std::atomic<int> waiting{0};  ///< signal that is passed on when the alarm rings; 0: none

/// Passes a signal on to the command a while later, if the command still runs then: a signal to the
/// whole process group has reached the command, too, and mpirun leaves its ranks behind if it gets
/// a signal twice. A signal from the terminal reaches the command anyway, except when the terminal
/// goes away.
void pass_on(int number, siginfo_t* about, void*) {
    constexpr unsigned seconds = 2;
    if (about->si_code > 0 && number != SIGHUP) return;
    int none = 0;
    if (waiting.compare_exchange_strong(none, number)) alarm(seconds);
}

void pass_on_now(int) {
    const int before = errno, number = waiting.exchange(0);
    if (const pid_t child = running; child > 0 && number > 0) kill(child, number);
    errno = before;
}

/// Passes signals on from now on, except those that this process was started to ignore.
/// @param mask  receives the signals that were blocked before; now those that are passed on are
void begin_to_pass_on(sigset_t& mask) {
    sigset_t all;
    sigemptyset(&all);
    struct sigaction action {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (const int number : passed_on) sigaddset(&all, number);
    sigprocmask(SIG_BLOCK, &all, &mask);
    for (const int number : passed_on) {
        struct sigaction before {};
        sigaction(number, nullptr, &before);
        if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
    }
    struct sigaction ring {};
    ring.sa_handler = pass_on_now;
    ring.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &ring, nullptr);
}

/// Starts the command and waits for it. Meanwhile only the command reacts to signals.
/// @return status as waitpid() gives it
int run_command(const std::vector<std::string>& command) {
    sigset_t mask;
    begin_to_pass_on(mask);
    const pid_t child = fork();
    if (child == 0) {
        for (const int number : passed_on) {
            struct sigaction action {};
            sigaction(number, nullptr, &action);
            if (action.sa_handler != SIG_IGN) signal(number, SIG_DFL);
        }
        signal(SIGALRM, SIG_DFL);
        sigprocmask(SIG_SETMASK, &mask, nullptr);
        _exit(become(command));
    }
    running = child;
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    if (child < 0) {
        fmt::print(stderr, "thalweg: run: cannot start a process: {}\n", std::strerror(errno));
        return cannot_run << 8;
    }
    siginfo_t about{};
    while (waitid(P_PID, static_cast<id_t>(child), &about, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    running = 0;  // the number may soon belong to another process
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

/// Returns the exit code for a command's status. If a signal ended the command that this process
/// would have passed on, it ends this process, too, so that a shell knows.
int end_as(int status) {
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    const int number = WTERMSIG(status);
    if (std::find(std::begin(passed_on), std::end(passed_on), number) != std::end(passed_on)) {
        const rlimit none{};
        setrlimit(RLIMIT_CORE, &none);
        std::fflush(nullptr);
        signal(number, SIG_DFL);
        raise(number);
    }
    return 128 + number;
}

}  // namespace

int run(RunOptions options) {
    if (find_shim().empty() &&
        !(options.netcdf + options.pnetcdf + options.serial + options.only + options.skip).empty())
        fmt::print(stderr,
                   "thalweg: run: no call of netCDF is taken: this installation lacks "
                   "libthalweg_shim.so\n");
    Variables variables = take_settings(options.command);
    const Variables others = variables_of(options);
    variables.insert(variables.end(), others.begin(), others.end());
    if (options.command.empty()) {
        fmt::print(stderr, "thalweg: run: no command is given\n");
        return cannot_run;
    }
    const char* const rank = launched_as();
    if (rank == nullptr || std::atoi(rank) == 0)
        for (const std::string& line : find_unreachable(options.command))
            fmt::print(stderr, "thalweg: run: {}\n", line);
    if (rank != nullptr) {
        if (options.report) variables.emplace_back("THALWEG_SUMMARY", summary_name);
        set_all(variables, options.command);
        return become(options.command);
    }
    std::optional<SummaryFile> summary(std::in_place);
    if (summary->path().empty()) {
        fmt::print(stderr, "thalweg: run: cannot create a file in the working folder\n");
        return cannot_run;
    }
    variables.emplace_back("THALWEG_SUMMARY", summary->path());
    set_all(variables, options.command);
    const int status = run_command(options.command);
    const std::string text = summary->text();
    summary.reset();
    std::string line = run_line(text);
    if (line.empty())
        line = "no session of the library ended in this run";
    else if (options.report && write_page(text, report_name))
        line += fmt::format("; report: {}", report_name);
    std::fprintf(stderr, "thalweg: %s\n", line.c_str());  // even if nobody can read it
    return end_as(status);
}

}  // namespace thalweg::app
