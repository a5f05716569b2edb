// SPDX-License-Identifier: Apache-2.0
#include "library.hpp"

#include <unistd.h>

#include <cstdio>
#include <map>
#include <set>
#include <utility>

namespace thalweg::pio {

namespace {

// The next ids. They begin as PIO's ids do, because users may know these from their logs. No id is
// used twice.
struct Ids {
    int next_iosystem = 2048;
    int next_decomposition = 512;
    int next_file = 128;
    int handler = PIO_INTERNAL_ERROR;
    std::map<int, Iosystem> iosystems;
    std::set<int> elsewhere;  // iosystems of components that this rank is not part of
    std::map<int, Decomposition> decompositions;
    std::map<int, OpenFile> files;
    std::set<std::string> told;
};

// Returns the ids of the process. They are never destroyed, because closing a file is collective.
Ids& ids() {
    static auto* const all = new Ids;
    return *all;
}

template <class Kind>
Kind& find(std::map<int, Kind>& all, int id, const char* what) {
    const auto found = all.find(id);
    if (found == all.end())
        throw Error{NC_EBADID,
                    std::string("there is no ") + what + " with the id " + std::to_string(id)};
    return found->second;
}

// Closes all iosystems that the program has not finalized.
void close_all(bool) {
    while (!ids().iosystems.empty()) {
        const int id = ids().iosystems.begin()->first;
        const Error error = error_of([&] { remove_iosystem(id); });
        if (error.code != 0)
            std::fprintf(stderr, "thalweg: at the end of the program: %s\n", error.text.c_str());
    }
}

}  // namespace

Iosystem& iosystem(int id) { return find(ids().iosystems, id, "iosystem"); }
Decomposition& decomposition(int id) { return find(ids().decompositions, id, "decomposition"); }
OpenFile& open_file(int id) { return find(ids().files, id, "open file"); }
bool is_open(int id) { return ids().files.count(id) != 0; }
bool has_iosystem(int id) { return ids().iosystems.count(id) != 0; }

Iosystem& add_iosystem(Session& session, int number, int stride, int base) {
    at_end(close_all);
    const int ranks = session.ranks();
    if (number < 1 || stride < 1 || base < 0 || base >= ranks)
        throw Error{NC_EINVAL, std::to_string(number) + " I/O tasks with stride " +
                                   std::to_string(stride) + " and base " + std::to_string(base) +
                                   " are not possible on " + std::to_string(ranks) + " ranks"};
    // Reduce the number to that of the ranks that exist.
    number = std::min(number, (ranks - 1 - base) / stride + 1);
    const int id = ids().next_iosystem++;
    Iosystem& system = ids().iosystems[id];
    system = {id, &session, {number, base, stride}, ids().handler};
    return system;
}

int add_iosystem_elsewhere() { return *ids().elsewhere.insert(ids().next_iosystem++).first; }

bool remove_iosystem_elsewhere(int id) { return ids().elsewhere.erase(id) != 0; }

void remove_iosystem(int id) {
    Error first;
    for (auto it = ids().files.begin(); it != ids().files.end();) {
        if (it->second.iosystem != id) {
            it++;
            continue;
        }
        const std::unique_ptr<File> file = std::move(it->second.file);
        it = ids().files.erase(it);
        const Error error = error_of([&] { file->state.close(); });
        if (first.code == 0) first = error;
    }
    std::erase_if(ids().decompositions, [&](auto& d) { return d.second.iosystem == id; });
    ids().iosystems.erase(id);
    if (first.code != 0) throw first;
}

int add_decomposition(Decomposition made) {
    made.id = ids().next_decomposition++;
    const int id = made.id;
    ids().decompositions[id] = std::move(made);
    return id;
}

void remove_decomposition(int id) { ids().decompositions.erase(id); }

int add_file(int system, std::unique_ptr<File> file) {
    const int id = ids().next_file++;
    ids().files[id] = {id, system, std::move(file)};
    return id;
}

std::unique_ptr<File> remove_file(int id) {
    std::unique_ptr<File> file = std::move(open_file(id).file);
    ids().files.erase(id);
    return file;
}

int set_handler(int system, int method) {
    if (method != PIO_INTERNAL_ERROR && method != PIO_BCAST_ERROR && method != PIO_RETURN_ERROR)
        throw Error{NC_EINVAL, "there is no error handling " + std::to_string(method)};
    int& handler = system == PIO_DEFAULT ? ids().handler : iosystem(system).handler;
    return std::exchange(handler, method);
}

int fail(const char* call, const Iosystem* system, const std::string& path, const Error& error) {
    const int handler = system == nullptr ? ids().handler : system->handler;
    if (handler != PIO_INTERNAL_ERROR) return error.code;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[NC_MAX_NAME + 1] = "";
    PIOc_strerror(error.code, name);
    std::fprintf(stderr, "thalweg: rank %d: %s failed%s%s: %s (%d: %s)\n", rank, call,
                 path.empty() ? "" : " on ", path.c_str(), error.text.c_str(), error.code, name);
    std::fflush(stderr);
    // Wait, because launchers may drop output that they have not forwarded when a rank aborts.
    usleep(200000);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return error.code;
}

void tell_once(const char* what) {
    if (ids().told.insert(what).second) inform(MPI_COMM_WORLD, std::string(what) + ": no effect");
}

}  // namespace thalweg::pio

int PIOc_strerror(int code, char* text) {
    if (text == nullptr) return PIO_EINVAL;
    std::string result;
    if (code > 0)
        result = std::strerror(code);
    else if (code == PIO_EBADIOTYPE)
        result = "Bad IO type";
    else if (code == PIO_EVARDIMMISMATCH)
        result = "Variable dim mismatch in multivar call";
    else if (code == PIO_NOERR)
        result = "No error";
    else
        result = nc_strerror(code);
    std::snprintf(text, NC_MAX_NAME + 1, "%s", result.c_str());
    return PIO_NOERR;
}
