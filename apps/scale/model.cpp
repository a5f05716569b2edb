// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <new>
#include <stdexcept>

namespace thalweg::scale {

namespace {

using bench::Group;
using bench::Variable;

std::string joined(const std::vector<std::string>& names, std::string text = "") {
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    return text;
}

tw_type type_of(const Group& g) {
    return g.spec->type == bench::Element::f4 ? TW_FLOAT : TW_DOUBLE;
}

void compute(double seconds) {
    timespec t;
    t.tv_sec = static_cast<time_t>(seconds);
    t.tv_nsec = static_cast<long>((seconds - static_cast<double>(t.tv_sec)) * 1e9);
    nanosleep(&t, nullptr);
}

}  // namespace

Model::Model(const Arguments& arguments, Measure& measure)
    : arguments_(arguments), measure_(measure) {
    measure_.begin("init");
    check(tw_init(MPI_COMM_WORLD, arguments_.settings.c_str(), &session_), "tw_init");
    check(tw_inq_role(session_, &role_), "tw_inq_role");
    measure_.end_as(role_ == TW_SERVER ? "serve" : "init");
}

Model::~Model() {
    if (session_ != nullptr) tw_finalize(&session_);
    if (zeros_ != nullptr) munmap(zeros_, zero_bytes_);
}

void Model::check(int status, const char* call) const {
    if (status == TW_OK) return;
    const std::string text = session_ == nullptr ? "" : tw_error_message(session_);
    throw std::runtime_error(std::string(call) + ": " +
                             (text.empty() ? tw_strerror(status) : text));
}

const void* Model::values(const Variable& variable, int step) const {
    return arguments_.fields ? problem_->values(variable, step) : zeros_;
}

nlohmann::ordered_json Model::run() {
    if (role_ == TW_SERVER) {
        measure_.begin("finalize");
        check(tw_finalize(&session_), "tw_finalize");
        measure_.end();
        return {};
    }
    int rank = 0, ranks = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    check(tw_model_comm(session_, &comm), "tw_model_comm");
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    problem_ = std::make_unique<bench::Problem>(arguments_.workload, rank, ranks);
    if (arguments_.fields) {
        problem_->fill();
    } else {
        // Pages that are only read are all the same one.
        zero_bytes_ =
            static_cast<std::size_t>(std::max<std::int64_t>(problem_->largest_part_bytes(), 4096));
        zeros_ = mmap(nullptr, zero_bytes_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      -1, 0);
        if (zeros_ == MAP_FAILED) throw std::bad_alloc();
    }
    measure_.begin("open");
    open();
    measure_.end();
    for (int s = 0; s < arguments_.steps; ++s) {
        measure_.begin_step();
        if (arguments_.compute > 0) compute(arguments_.compute);
        step(s);
        measure_.end_step();
    }
    measure_.begin("close");
    check(tw_close(&file_), "tw_close");
    measure_.end();
    nlohmann::ordered_json report = describe();
    measure_.begin("finalize");
    check(tw_finalize(&session_), "tw_finalize");
    measure_.end();
    return report;
}

void Model::open() {
    const bench::Problem& p = *problem_;
    for (const Group& g : p.groups()) {
        std::vector<std::int64_t> shape, start, count;
        for (const int axis : g.memory_axis) {
            const auto d = static_cast<std::size_t>(axis);
            shape.push_back(g.shape[d]);
            start.push_back(g.part.start[d]);
            count.push_back(g.part.count[d]);
        }
        decompositions_.push_back(nullptr);
        if (g.replicated) continue;
        check(tw_decompose(session_, joined(g.spec->memory_order).c_str(), 1, shape.data(),
                           start.data(), count.data(), &decompositions_.back()),
              "tw_decompose");
    }
    check(tw_create(session_, arguments_.file.c_str(), nullptr, &file_), "tw_create");
    check(tw_def_dim(file_, "time", TW_UNLIMITED), "tw_def_dim");
    for (const bench::Dimension& d : p.workload().dims)
        check(tw_def_dim(file_, d.name.c_str(), d.length), "tw_def_dim");
    for (const Variable& v : p.variables()) {
        const Group& g = p.group(v);
        check(tw_def_var(file_, v.name.c_str(), type_of(g),
                         joined(g.spec->file_order, "time").c_str(),
                         decompositions_[static_cast<std::size_t>(v.group)]),
              "tw_def_var");
    }
    check(tw_enddef(file_), "tw_enddef");
}

void Model::step(int step) {
    const bench::Problem& p = *problem_;
    const auto put = arguments_.copies ? tw_put : tw_put_deferred;
    measure_.begin("put");
    for (const Variable& v : p.variables()) {
        const Group& g = p.group(v);
        check(put(file_, v.name.c_str(), type_of(g), values(v, step), g.part.elements()), "tw_put");
    }
    measure_.begin("end_step");
    check(tw_end_step(file_), "tw_end_step");
    measure_.end();
}

/// @note Collective
nlohmann::ordered_json Model::describe() const {
    const char* text = nullptr;
    check(tw_summary(session_, &text), "tw_summary");
    int all = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    nlohmann::ordered_json report;
    report["workload"] = arguments_.workload.workload;
    report["reduced"] = problem_->workload().cut;
    report["ranks"] = all;
    report["servers"] = all - problem_->ranks();
    report["grid"] = problem_->grid();
    report["step_bytes"] = problem_->step_bytes();
    report["steps"] = arguments_.steps;
    report["compute"] = arguments_.compute;
    report["settings"] = arguments_.settings;
    report["summary"] = nlohmann::ordered_json::parse(text).at("files").back();
    return report;
}

}  // namespace thalweg::scale
