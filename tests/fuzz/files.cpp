// Reads files in which any bytes were changed, on all ranks: every call must return the same status
// on all ranks and use little memory, whatever the file contains. First reads files that are not
// netCDF files, and truncated files.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <set>

#include "fuzz/inputs.hpp"
#include "system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

// Largest memory that reading a header may take, whatever the header contains. The address
// sanitizer keeps freed memory for a while, so more is permitted with it.
#ifdef __SANITIZE_ADDRESS__
constexpr std::int64_t most_memory = std::int64_t(512) << 20;
#else
constexpr std::int64_t most_memory = std::int64_t(64) << 20;
#endif

constexpr std::int64_t most_elements = 100000;  // larger variables are read only in part

void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Checks that a status is the same on all ranks.
void expect_alike(int status, const char* what) {
    int ends[2] = {status, -status};
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MAX, check::state.comm);
    CHECK_TEXT(ends[0] == -ends[1], "{} gives {} here, {} to {}", what, status, -ends[1], ends[0]);
}

class Victim {
public:
    explicit Victim(const char* settings) {
        CHECK(tw_init(check::state.comm, settings, &session_) == TW_OK);
    }
    ~Victim() { tw_finalize(&session_); }

    std::string text() const { return tw_error_message(session_); }

    /// Opens a file, and returns the status.
    int open(const std::string& path) {
        const int status = tw_open(session_, path.c_str(), nullptr, &file_);
        expect_alike(status, "tw_open");
        return status;
    }

    /// Makes all inquiries, and reads the variables. Returns all status codes.
    std::set<int> read_all() {
        std::set<int> codes;
        tw_file_info info{};
        tw_inq(file_, &info);
        attributes("", info.natts);
        for (int v = 0; v < std::min(info.nvars, 20); ++v) {
            const char* name = nullptr;
            CHECK(tw_inq_name(file_, TW_VARIABLE, nullptr, v, &name) == TW_OK);
            for (const std::int64_t record : {std::int64_t(0), info.records - 1, info.records}) {
                const int status = read_variable(name, record);
                expect_alike(status, "tw_get");
                codes.insert(status);
            }
        }
        CHECK(tw_close(&file_) == TW_OK);
        return codes;
    }

private:
    void attributes(const char* var, int natts) {
        for (int a = 0; a < natts; ++a) {
            const char* name = nullptr;
            tw_type type{};
            std::int64_t n = 0;
            CHECK(tw_inq_name(file_, TW_ATTRIBUTE, var, a, &name) == TW_OK);
            CHECK(tw_inq_att(file_, var, name, &type, &n) == TW_OK);
            std::vector<double> values(static_cast<std::size_t>(n) + 1);
            (void)tw_get_att(file_, var, name, type == TW_CHAR ? TW_CHAR : TW_DOUBLE, n,
                             values.data());
        }
    }

    int read_variable(const char* name, std::int64_t record) {
        tw_type type{};
        int nd = 0, natts = 0;
        // If several variables have the same name, it refers to the first.
        CHECK(tw_inq_var(file_, name, &type, &nd, &natts) == TW_OK);
        attributes(name, natts);
        const tw_type memory = type == TW_CHAR ? TW_CHAR : TW_DOUBLE;
        tw_file_info info{};
        info.unlimited = "";
        tw_inq(file_, &info);
        std::vector<std::int64_t> shape;
        std::string dims;
        std::int64_t n = 1;
        bool named = true;
        for (int d = 0; d < nd; ++d) {
            const char* dim = nullptr;
            std::int64_t length = 0;
            CHECK(tw_inq_var_dim(file_, name, d, &dim, &length) == TW_OK);
            if (std::string(dim) == info.unlimited) continue;
            named &= std::strpbrk(dim, " \t\n\v\f\r") == nullptr;
            dims += std::string(dim) + " ";
            shape.push_back(length);
            if (__builtin_mul_overflow(n, length, &n)) n = INT64_MAX;
        }
        if (n <= most_elements) {
            std::vector<double> all(static_cast<std::size_t>(n));
            return tw_get(file_, name, nullptr, record, memory, all.data(), n);
        }
        // Reads one element per rank of a huge variable.
        if (!named || shape.size() > 16) return TW_OK;
        std::vector<std::int64_t> start(shape.size(), 0), count(shape.size(), 1);
        for (std::size_t d = 0; d < shape.size(); ++d)
            if (shape[d] > check::state.size) {
                start[d] = check::state.rank;
                break;
            }
        tw_decomposition d = nullptr;
        const int status =
            tw_decompose(session_, dims.c_str(), 1, shape.data(), start.data(), count.data(), &d);
        if (status != TW_OK) return status;
        double one = 0;
        return tw_get(file_, name, d, record, memory, &one, 1);
    }

    tw_session session_ = nullptr;
    tw_file file_ = nullptr;
};

/// Tests files of other formats, and files that were truncated.
void known_cases(const std::string& folder) {
    const std::string path = folder + "/known.nc";
    Victim victim("log=off");
    const auto refused = [&](const std::string& bytes, std::set<int> codes, const char* words) {
        check::step("a file that must be refused: {}", words);
        if (check::state.rank == 0) write_bytes(path, bytes);
        MPI_Barrier(check::state.comm);
        const int status = victim.open(path);
        CHECK_TEXT(codes.count(status) == 1 &&
                       victim.text().find("known.nc") != std::string::npos &&
                       victim.text().find(words) != std::string::npos,
                   "{}: {}, not {}", status, victim.text(), words);
    };
    refused("", {TW_EFORMAT}, "truncated inside its header");
    refused("CDF", {TW_EFORMAT}, "truncated inside its header");
    refused("a text\n", {TW_EFORMAT}, "does not begin with CDF");
    refused(std::string("CDF\x07", 4) + std::string(100, '\0'), {TW_EFORMAT},
            "unknown format version");
    refused("\211HDF\r\n\032\n" + std::string(600, '\0'), {TW_EFORMAT}, "HDF5");
    check::step("a directory");
    CHECK(victim.open(folder) == TW_EFORMAT &&
          victim.text().find("directory") != std::string::npos);
    check::step("a pipe");
    if (check::state.rank == 0) {
        std::remove(path.c_str());
        CHECK(mkfifo(path.c_str(), 0600) == 0);
    }
    MPI_Barrier(check::state.comm);
    CHECK(victim.open(path) == TW_EFORMAT);
    MPI_Barrier(check::state.comm);
    if (check::state.rank == 0) std::remove(path.c_str());

    // Truncate the file at each byte. Reading it gives either an error or all requested data.
    std::string whole;
    for (std::uint64_t seed = 1; whole.empty() || whole.size() > 600; ++seed) {
        if (check::state.rank == 0) {
            fuzz::write_file(path, seed);
            whole = fuzz::content(path);
        }
        whole = check::broadcast(whole);
    }
    bool cut = false;
    for (std::size_t n = whole.size(); n-- > 4;) {
        check::step("a file cut off at byte {}", n);
        if (check::state.rank == 0) write_bytes(path, whole.substr(0, n));
        MPI_Barrier(check::state.comm);
        const int status = victim.open(path);
        CHECK_TEXT(status == TW_OK || status == TW_EFORMAT, "{}: {}", status, victim.text());
        if (status != TW_OK) continue;
        const std::set<int> codes = victim.read_all();
        cut |= codes.count(TW_EIO) == 1;
        for (const int code : codes)
            CHECK_TEXT(code == TW_OK || code == TW_EIO || code == TW_EBOUNDS, "{}", code);
    }
    CHECK(cut);
}

/// Returns the peak resident memory in bytes.
std::int64_t peak() {
    struct rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    return std::int64_t(usage.ru_maxrss) * 1024;
}

}  // namespace

/// Usage: files [--seconds S] [--seed N]
int main(int argc, char** argv) {
    check::begin(&argc, &argv, 30);
    const double seconds = std::atof(fuzz::option(argc, argv, "--seconds", "2"));
    const auto seed =
        static_cast<std::uint64_t>(std::atoll(fuzz::option(argc, argv, "--seed", "1")));
    const std::string folder = check::make_folder("fuzz");
    known_cases(folder);

    const std::string path = folder + "/changed.nc";
    const std::int64_t before = peak();
    const auto begin = std::chrono::steady_clock::now();
    long opened = 0, tried = 0;
    for (bool more = true; more;) {
        // Start a new session now and then, as decompositions are kept until their session ends.
        Victim victim(seed % 2 == 0 ? "log=off; buffer=256KiB"
                                    : "log=off; node_size=2; buffer=256KiB");
        for (int i = 0; i < 50 && more; ++i, ++tried) {
            check::step("changed file {} of seed {}", tried, seed);
            Random random(mix(seed, static_cast<std::uint64_t>(tried)));
            if (check::state.rank == 0) {
                fuzz::write_file(path, random.next());
                std::string bytes = fuzz::content(path);
                fuzz::change(bytes, random, random.percent(50) ? 400 : 4000);
                write_bytes(path, bytes);
            }
            MPI_Barrier(check::state.comm);
            if (victim.open(path) == TW_OK) {
                ++opened;
                victim.read_all();
            }
            more = check::everywhere(
                check::state.failures == 0 &&
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
                    seconds);
        }
    }
    CHECK_TEXT(peak() - before < most_memory, "{} bytes more memory", peak() - before);
    CHECK(opened > 0);
    if (check::state.rank == 0)
        std::fprintf(stderr, "files: %ld changed files, %ld of them opened, seed %llu\n", tried,
                     opened, static_cast<unsigned long long>(seed));
    return check::verdict("files");
}
