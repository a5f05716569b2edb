// Tests the paths of files and their locks: working folders that differ and change, two writers of
// one name, existing files of the name, and files that cannot be opened for other reasons.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: names [--only NAME]

#include "names.hpp"

#include <sys/stat.h>

#include <utility>

using namespace names;

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    ::umask(022);
    const std::string only = check::option(argc, argv, "--only", "");
    root = check::make_folder("names");
    const std::vector<std::pair<const char*, void (*)()>> all{{"folders", folders},
                                                              {"sets_of_files", sets_of_files},
                                                              {"appended", appended},
                                                              {"restarts", restarts},
                                                              {"settings", settings},
                                                              {"two_writers", two_writers},
                                                              {"a_tile_in_use", a_tile_in_use},
                                                              {"links", links},
#ifdef NAMES_UNICODE
                                                              {"spellings", spellings},
#endif
                                                              {"locked", locked},
                                                              {"too_many_files", too_many_files}};
    for (const auto& [name, test] : all)
        if (only.empty() || only == name) test();
    CHECK(::chdir("/") == 0);
    return check::verdict("names");
}
