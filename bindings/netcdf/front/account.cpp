// SPDX-License-Identifier: Apache-2.0
#include "front/account.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

namespace thalweg::netcdf {

namespace {

struct Account {
    std::mutex mutex;
    const thalweg_shim* shim = nullptr;
    long engine = 0;
    /// Numbers of files that other libraries have written, by library and reason.
    std::map<std::pair<std::string, std::string>, long> others;
};

Account& the_account() {
    static Account* const account = new Account;  // never destroyed, as functions at exit use it
    return *account;
}

bool tells_files() {
    const char* const value = std::getenv("THALWEG_TELL");
    return value != nullptr && std::string_view(value) == "file";
}

bool is_first(const Call& call, const thalweg_shim* shim) {
    if (!call.parallel) return shim->tells() != 0;
    int rank = 0;
    MPI_Comm_rank(call.comm, &rank);
    return rank == 0;
}

std::string files_text(long count) {
    return std::to_string(count) + (count == 1 ? " file" : " files");
}

}  // namespace

void begin_account(const thalweg_shim* shim) { the_account().shim = shim; }

void account(const Call& call, const std::string& reason, const char* library) {
    Account& a = the_account();
    const std::lock_guard<std::mutex> lock(a.mutex);
    if (reason.empty())
        ++a.engine;
    else
        ++a.others[{library, reason}];
    if (!tells_files() || !is_first(call, a.shim)) return;
    if (reason.empty())
        std::fprintf(stderr, "thalweg: %s: by Thalweg\n", call.path.c_str());
    else
        std::fprintf(stderr, "thalweg: %s: by %s, because %s\n", call.path.c_str(), library,
                     reason.c_str());
}

void end_account() {
    Account& a = the_account();
    const std::lock_guard<std::mutex> lock(a.mutex);
    if (a.shim == nullptr || !a.shim->tells() || (a.engine == 0 && a.others.empty())) return;
    std::string line = files_text(a.engine) + " by Thalweg";
    for (const auto& [why, count] : a.others)
        line += ", " + files_text(count) + " by " + why.first + " (" + why.second + ")";
    std::fprintf(stderr, "thalweg: %s\n", line.c_str());
}

}  // namespace thalweg::netcdf
