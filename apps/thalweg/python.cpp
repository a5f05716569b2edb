// SPDX-License-Identifier: Apache-2.0
#include "python.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace thalweg::app {

namespace {

/// Runs a command of the package, but none of a folder `thalweg` in the working folder.
constexpr char program[] = R"(import sys
sys.path[:] = [path for path in sys.path if path]
try:
    from thalweg.__main__ import main
except ImportError as problem:
    sys.exit(f"thalweg: {sys.argv[1]}: {problem}: install the package: "
             "pip install . in the source folder")
sys.exit(main()))";

}  // namespace

int become_python(const std::string& command, const std::vector<std::string>& arguments) {
    std::vector<const char*> words{"python3", "-c", program, command.c_str()};
    for (const std::string& word : arguments) words.push_back(word.c_str());
    words.push_back(nullptr);
    execvp(words.front(), const_cast<char**>(words.data()));
    fmt::print(stderr, "thalweg: {}: python3: cannot start: {}\n", command, std::strerror(errno));
    return 1;
}

std::string output_of_python(const char* text, const std::string& argument) {
    std::array<int, 2> ends{};
    std::string output;
    if (pipe(ends.data()) != 0) return output;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execlp("python3", "python3", "-c", text, argument.c_str(), nullptr);
        _exit(1);
    }
    close(ends[1]);
    std::array<char, 4096> part;
    for (ssize_t n; (n = read(ends[0], part.data(), part.size())) > 0;)
        output.append(part.data(), static_cast<std::size_t>(n));
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return output;
}

bool write_page(const std::string& summary, const std::string& page) {
    const std::string command =
        fmt::format("python3 -c '{}' report - -o '{}' >/dev/null", program, page);
    signal(SIGPIPE, SIG_IGN);  // Python may end before it has read
    std::FILE* const python = popen(command.c_str(), "w");
    if (python == nullptr) return false;
    std::fwrite(summary.data(), 1, summary.size(), python);
    return pclose(python) == 0;
}

}  // namespace thalweg::app
