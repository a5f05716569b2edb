// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "in_session.hpp"
#include "thalweg/thalweg.hpp"

namespace thalweg::app {

namespace {

const std::string raw = "raw";

/// What each rank holds, and the seconds that a way of writing takes.
class Comparison {
public:
    explicit Comparison(const CompareOptions& options) : options_(options) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
        const std::int64_t lats = options.shape[1];
        first_ = lats * rank_ / ranks_;
        count_ = lats * (rank_ + 1) / ranks_ - first_;
        values_.resize(static_cast<std::size_t>(options.fields));
        for (std::vector<float>& field : values_) {
            field.resize(static_cast<std::size_t>(count_ * options.shape[0] * options.shape[2]));
            for (std::size_t i = 0; i < field.size(); ++i)
                field[i] = static_cast<float>(rank_) + static_cast<float>(i % 1000) / 1000;
        }
        path_ = fmt::format("{}/thalweg-compare.nc", options.folder);
    }

    /// Of the slowest rank. @note Collective
    double seconds(const std::string& method) const {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        if (method == raw)
            write_raw();
        else
            write_file(method);
        double mine = MPI_Wtime() - start, slowest = 0;
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return slowest;
    }

    std::string contents() const {
        std::ifstream in(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }
    void remove() const { unlink(path_.c_str()); }

    std::int64_t bytes() const {
        const auto& n = options_.shape;
        return n[0] * n[1] * n[2] * options_.fields * options_.steps *
               static_cast<std::int64_t>(sizeof(float));
    }
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }

private:
    void write_file(const std::string& method) const {
        const auto& n = options_.shape;
        Session io = session_of_all("method=" + method);
        const Decomposition band = io.decompose("lat lev lon", {n[1], n[2], n[0]},
                                                {Block{{first_, 0, 0}, {count_, n[2], n[0]}}});
        File file = io.create(path_);
        for (int f = 0; f < options_.fields; ++f)
            file.def_var(fmt::format("field{}", f), Type::float32, "time lev lat lon", band);
        for (int step = 0; step < options_.steps; ++step) {
            for (int f = 0; f < options_.fields; ++f)
                file.put_deferred(fmt::format("field{}", f), values_[static_cast<std::size_t>(f)]);
            file.end_step();
        }
        file.close();
        io.finalize();
    }

    /// Without a thought for the order of the file.
    void write_raw() const {
        if (rank_ == 0) close(open_file(O_CREAT | O_TRUNC));
        MPI_Barrier(MPI_COMM_WORLD);
        const int fd = open_file(0);
        const auto mine = static_cast<std::int64_t>(values_[0].size() * sizeof(float));
        const std::int64_t row =
            options_.shape[0] * options_.shape[2] * static_cast<std::int64_t>(sizeof(float));
        const std::int64_t field = row * options_.shape[1];
        for (std::int64_t k = 0; k < std::int64_t(options_.fields) * options_.steps; ++k) {
            const auto& values = values_[static_cast<std::size_t>(k % options_.fields)];
            const auto* const data = reinterpret_cast<const char*>(values.data());
            for (std::int64_t done = 0; done < mine;) {
                const ssize_t n = pwrite(fd, data + done, static_cast<std::size_t>(mine - done),
                                         k * field + first_ * row + done);
                if (n < 0 && errno != EINTR)
                    throw std::runtime_error(path_ + ": " + std::strerror(errno));
                if (n > 0) done += n;
            }
        }
        close(fd);
    }

    int open_file(int flags) const {
        const int fd = open(path_.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
        if (fd < 0) throw std::runtime_error(path_ + ": " + std::strerror(errno));
        return fd;
    }

    const CompareOptions& options_;
    int rank_ = 0, ranks_ = 1;
    std::int64_t first_ = 0, count_ = 0;      ///< latitudes
    std::vector<std::vector<float>> values_;  ///< of each field
    std::string path_;
};

/// Tests if the number of bytes of a file fits its type.
bool has_size(const CompareOptions& o) {
    std::int64_t bytes = sizeof(float);
    for (const std::int64_t n :
         {o.shape[0], o.shape[1], o.shape[2], std::int64_t(o.fields), std::int64_t(o.steps)})
        if (__builtin_mul_overflow(bytes, n, &bytes)) return false;
    return true;
}

double median(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

}  // namespace

int compare(const CompareOptions& options) {
    if (!has_size(options)) throw std::runtime_error("a file would have more than 2^63 bytes");
    const Comparison comparison(options);
    std::vector<std::string> ways{raw};
    ways.insert(ways.end(), options.methods.begin(), options.methods.end());
    std::vector<std::vector<double>> seconds(ways.size());
    std::string expected;
    int status = 0;
    for (int round = 0; round <= options.repetitions; ++round)
        for (std::size_t w = 0; w < ways.size(); ++w) {
            const double s = comparison.seconds(ways[w]);
            if (round > 0) {
                seconds[w].push_back(s);
                continue;
            }
            if (comparison.rank() != 0 || ways[w] == raw) continue;
            const std::string file = comparison.contents();
            if (expected.empty()) expected = file;
            if (file == expected) continue;
            fmt::print(stderr, "thalweg: the file of method {} differs from that of {}\n", ways[w],
                       options.methods.front());
            status = 1;
        }
    if (comparison.rank() == 0) {
        comparison.remove();
        const double plain = median(seconds[0]);
        const auto mega = static_cast<double>(comparison.bytes()) / 1e6;
        fmt::print("{:.0f} MB per file, {} ranks, median of {}\n", mega, comparison.ranks(),
                   options.repetitions);
        fmt::print("{:<10} {:>9} {:>8} {:>7}\n", "method", "seconds", "MB/s", "ratio");
        for (std::size_t w = 0; w < ways.size(); ++w) {
            const double s = median(seconds[w]);
            fmt::print("{:<10} {:>9.3f} {:>8.0f} {:>7.2f}\n", ways[w], s, mega / s, s / plain);
        }
        std::fflush(stdout);
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

}  // namespace thalweg::app
