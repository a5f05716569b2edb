// SPDX-License-Identifier: Apache-2.0
#include "python.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

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
