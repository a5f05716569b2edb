// SPDX-License-Identifier: Apache-2.0
#include "repack.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include "in_session.hpp"
#include "repack_copy.hpp"
#include "storage/posix/paths.hpp"
#include "storage/tiles/tiles.hpp"

namespace thalweg::app {

using detail::failure;
using detail::Status;

namespace {

constexpr std::size_t most_notes = 5;

bool same_file(const std::string& a, const std::string& b) {
    struct stat of_a {
    }, of_b{};
    return stat(a.c_str(), &of_a) == 0 && stat(b.c_str(), &of_b) == 0 &&
           of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/// Whether writing the output would damage the input: also by a link, as one of its tiles, or by
/// its temporary name.
Status check_paths(const std::string& input, const std::string& output) {
    std::string own;
    if (Status status = detail::follow_links(output, own); !status.ok()) return status;
    std::vector<std::string> inputs{input};
    struct stat info {};
    if (stat(input.c_str(), &info) != 0)
        for (int k = 0; stat(detail::tile_path(input, k).c_str(), &info) == 0; ++k)
            inputs.push_back(detail::tile_path(input, k));
    for (const std::string& path : inputs)
        for (const std::string& written : {own, detail::temporary_path(own)})
            if (path == written || same_file(path, written))
                return failure(TW_EARG, "{} and {} are the same file", path, written);
    return {};
}

void throw_failure(const Status& status) {
    if (!status.ok()) throw Error(status.code, status.text);
}

std::int64_t total_bytes(const RepackPlan& plan) {
    std::int64_t total = 0;
    for (const detail::Variable& v : plan.definitions.variables)
        total +=
            v.elements() * static_cast<std::int64_t>(v.element()) * (v.record ? plan.records : 1);
    return total;
}

void print_notes(const std::vector<std::string>& notes) {
    for (std::size_t i = 0; i < std::min(notes.size(), most_notes); ++i)
        fmt::print(stderr, "thalweg: repack: note: {}\n", notes[i]);
    if (notes.size() > most_notes)
        fmt::print(stderr, "thalweg: repack: note: {} more of the kind\n",
                   notes.size() - most_notes);
}

/// Copies what is planned. @note Collective; the same status on every rank
Status copy(detail::Comm& comm, Reader& in, const std::string& output, const RepackPlan& plan,
            std::int64_t memory) {
    Output out(comm, output, plan.definitions);
    detail::StorageOptions options;
    options.format = plan.format;
    if (Status status = out.create(options); !status.ok()) return status;
    Status status;
    try {
        Progress progress(total_bytes(plan), comm.rank());
        status = Copy(in, out, plan, memory).run(progress);
    } catch (const Error& e) {  // the same on every rank
        status = {e.code(), e.what()};
    }
    return out.finish(status, plan.records);
}

int run(Session& io, const Ranks& ranks, const RepackOptions& options) {
    const auto comm = detail::make_mpi_comm(ranks.comm);
    std::string input, output;
    Status status = detail::share_path(*comm, options.input, input);
    if (status.ok()) status = detail::share_path(*comm, options.output, output);
    throw_failure(status);
    if (ranks.rank == 0) status = check_paths(input, output);
    throw_failure(agree(*comm, status));
    RepackPlan plan;
    with_reader(io, input, [&](Reader& in) {
        throw_failure(plan_repack(in, options, plan));
        throw_failure(copy(*comm, in, output, plan, options.memory));
    });
    if (ranks.rank == 0) {
        print_notes(plan.notes);
        fmt::print("{}: {}, {} variables, {} records\n", options.output,
                   detail::name_of(plan.format), plan.definitions.variables.size(), plan.records);
    }
    return 0;
}

}  // namespace

int repack(const RepackOptions& options) {
    return in_session("repack", 1,
                      [&](Session& io, const Ranks& ranks) { return run(io, ranks, options); });
}

}  // namespace thalweg::app
