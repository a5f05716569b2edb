// SPDX-License-Identifier: Apache-2.0
#include "repack/repack.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include "base/text/text.hpp"
#include "in_session.hpp"
#include "repack/copy.hpp"
#include "storage/posix/paths.hpp"

namespace thalweg::app {

using detail::Status;

namespace {

std::int64_t total_bytes(const RepackPlan& plan) {
    std::int64_t total = 0;
    for (const detail::Variable& v : plan.definitions.variables)
        total +=
            v.elements() * static_cast<std::int64_t>(v.element()) * (v.record ? plan.records : 1);
    return total;
}

void print_notes(const RepackPlan& plan) {
    for (const auto& [note, names] : plan.notes)
        fmt::print(stderr, "thalweg: repack: note: '{}': {}\n", detail::joined(names, "', '"),
                   note);
}

/// Copies the file according to a plan.
/// @note Collective; the same status on every rank
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
    } catch (const Error& e) {  // all ranks throw it
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
    std::vector<std::string> inputs = files_of(input);
    inputs.push_back(input);
    if (ranks.rank == 0) status = check_not_input(inputs, output);
    throw_failure(agree(*comm, status));
    Inspection inspection;
    RepackPlan plan;
    const auto repack_file = [&](Reader& in) {
        throw_failure(inspect(*comm, input, inspection));
        throw_failure(plan_repack(in, inspection, options, plan));
        throw_failure(copy(*comm, in, output, plan, options.memory));
    };
    with_reader(io, input, repack_file, options.common_records ? "common_records=yes" : "");
    if (ranks.rank == 0) {
        print_notes(plan);
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
