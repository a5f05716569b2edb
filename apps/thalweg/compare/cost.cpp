// SPDX-License-Identifier: Apache-2.0
#include "compare/cost.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "base/hash.hpp"

namespace thalweg::app {

namespace {

/// Returns the CPU seconds of all threads of this process.
double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double of_slowest(double mine) {
    double slowest = 0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

double of_all(double mine) {
    double sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/// Calls `step` a number of times, and measures all calls except the first.
/// @note Collective
template <class Step>
void time_steps(int steps, Step&& step, FileCost& cost) {
    double seconds = 0, cpu = 0;
    int counted = 0;
    for (int s = 0; s < steps; ++s) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime(), before = cpu_seconds();
        step(s);
        const double mine = MPI_Wtime() - start, own = cpu_seconds() - before;
        if (s == 0 && steps > 1) continue;
        seconds += of_slowest(mine);
        cpu += of_all(own);
        ++counted;
    }
    cost.step = seconds / counted;
    cost.cpu = cpu / counted;
}

}  // namespace

Session comparing_session() {
    Session io = session_of_all();
#ifndef THALWEG_SERIAL
    int all = 0, model = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    if (io.role() == Role::model) MPI_Comm_size(io.model_comm(), &model);
    if (model != all) throw std::runtime_error("all ranks write: set servers=0");
#endif
    return io;
}

FileTrial::FileTrial(const CompareOptions& options) : options_(options) {
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

FileCost FileTrial::first_file(const std::string& method) const {
    if (rank_ == 0) remove();
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    FileCost cost;
    if (method == plain_writes) {
        cost = write_plain();
    } else {
        Session io = comparing_session();
        cost = write_file(io, method);
        io.finalize();
    }
    cost.whole = of_slowest(MPI_Wtime() - start);
    return cost;
}

FileCost FileTrial::next_file(Session& io, const std::string& method) const {
    if (rank_ == 0) remove();
    MPI_Barrier(MPI_COMM_WORLD);
    return method == plain_writes ? write_plain() : write_file(io, method);
}

std::uint64_t FileTrial::hash() const {
    std::ifstream in(path_, std::ios::binary);
    std::vector<char> bytes(1 << 20);
    std::uint64_t hash = detail::hash_of_nothing;
    while (in) {
        in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        hash = detail::hash_of({bytes.data(), static_cast<std::size_t>(in.gcount())}, hash);
    }
    return hash;
}

void FileTrial::remove() const { unlink(path_.c_str()); }

std::int64_t FileTrial::step_bytes() const {
    const auto& n = options_.shape;
    return n[0] * n[1] * n[2] * options_.fields * static_cast<std::int64_t>(sizeof(float));
}

FileCost FileTrial::write_file(Session& io, const std::string& method) const {
    const auto& n = options_.shape;
    const Decomposition band = io.decompose("lat lev lon", {n[1], n[2], n[0]},
                                            {Block{{first_, 0, 0}, {count_, n[2], n[0]}}});
    File file = io.create(path_, "method=" + method);
    std::vector<std::string> names;
    for (int f = 0; f < options_.fields; ++f) {
        names.push_back(fmt::format("field{}", f));
        file.def_var(names.back(), Type::float32, "time lev lat lon", band);
    }
    FileCost cost;
    time_steps(
        options_.steps,
        [&](int) {
            for (std::size_t f = 0; f < names.size(); ++f) file.put_deferred(names[f], values_[f]);
            file.end_step();
        },
        cost);
    file.close();
    return cost;
}

/// Writes one contiguous part of each field on each rank, without regard to the order of the file.
FileCost FileTrial::write_plain() const {
    if (rank_ == 0) close(open_file(O_CREAT | O_TRUNC));
    MPI_Barrier(MPI_COMM_WORLD);
    const int fd = open_file(0);
    const auto mine = static_cast<std::int64_t>(values_[0].size() * sizeof(float));
    const std::int64_t row =
        options_.shape[0] * options_.shape[2] * static_cast<std::int64_t>(sizeof(float));
    const std::int64_t field = row * options_.shape[1];
    FileCost cost;
    time_steps(
        options_.steps,
        [&](int step) {
            std::int64_t at = step * field * options_.fields + first_ * row;
            for (const std::vector<float>& values : values_) {
                const auto* const data = reinterpret_cast<const char*>(values.data());
                for (std::int64_t done = 0; done < mine;) {
                    const ssize_t n =
                        pwrite(fd, data + done, static_cast<std::size_t>(mine - done), at + done);
                    if (n < 0 && errno != EINTR)
                        throw std::runtime_error(path_ + ": " + std::strerror(errno));
                    if (n > 0) done += n;
                }
                at += field;
            }
        },
        cost);
    close(fd);
    return cost;
}

int FileTrial::open_file(int flags) const {
    const int fd = open(path_.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
    if (fd < 0) throw std::runtime_error(path_ + ": " + std::strerror(errno));
    return fd;
}

}  // namespace thalweg::app
