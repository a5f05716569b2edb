// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <fmt/core.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "fields/describe.hpp"

namespace thalweg::scale {

namespace {

std::string joined(const std::vector<std::string>& names, std::string text = "") {
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    return text;
}

void compute(double seconds) {
    if (seconds <= 0) return;
    timespec t;
    t.tv_sec = static_cast<time_t>(seconds);
    t.tv_nsec = static_cast<long>((seconds - static_cast<double>(t.tv_sec)) * 1e9);
    nanosleep(&t, nullptr);
}

/// Waits until the simulated storage has stored all data.
void settle() { compute(scale_storage()->settled - PMPI_Wtime()); }

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
    if (zeros_ != nullptr) munmap(zeros_, static_cast<std::size_t>(problem_->memory_bytes()));
}

void Model::check(int status, const char* call) const {
    if (status == TW_OK) return;
    const std::string text = session_ == nullptr ? "" : tw_error_message(session_);
    throw std::runtime_error(std::string(call) + ": " +
                             (text.empty() ? tw_strerror(status) : text));
}

const void* Model::values(const bench::Variable& variable, int step) const {
    return arguments_.fields ? problem_->values(variable, step)
                             : zeros_ + problem_->offset(variable, 0);
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
    const bench::Options& options = arguments_.workload;
    problem_ =
        std::make_unique<bench::Problem>(bench::find_workload(options), options.grid, rank, ranks);
    if (arguments_.fields) {
        problem_->fill();
    } else {
        // Map read-only memory: pages that are only read can all be the same page.
        void* const zeros = mmap(nullptr, static_cast<std::size_t>(problem_->memory_bytes()),
                                 PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (zeros == MAP_FAILED) throw std::bad_alloc();
        zeros_ = static_cast<std::byte*>(zeros);
    }
    measure_.begin("open");
    open();
    measure_.end();
    for (int s = 0; s < arguments_.steps; ++s) {
        measure_.begin_step();
        compute(arguments_.compute);
        step(s);
        if (arguments_.compute == 0) settle();
        measure_.end_step();
    }
    measure_.begin("close");
    check(tw_close(&file_), "tw_close");
    settle();
    measure_.end();
    nlohmann::ordered_json report = describe();
    if (arguments_.restart) restart();
    if (arguments_.read) read_back();
    measure_.begin("finalize");
    check(tw_finalize(&session_), "tw_finalize");
    measure_.end();
    return report;
}

void Model::open() {
    for (const bench::Group& g : problem_->groups())
        decompositions_.push_back(bench::decompose(session_, *problem_, g));
    check(tw_create(session_, arguments_.file.c_str(), nullptr, &file_), "tw_create");
    bench::define(session_, file_, *problem_, decompositions_);
}

void Model::step(int step) {
    if (arguments_.puts != "step") return put_at(step);
    measure_.begin("put");
    for (const bench::Variable& v : problem_->variables()) {
        const bench::Group& g = problem_->group(v);
        check(tw_put_array(file_, v.name.c_str(),
                           tw_dense(bench::type_of(g), values(v, step), g.local_elements()),
                           arguments_.copies ? 0 : TW_DEFERRED),
              "tw_put_array");
    }
    measure_.begin("end_step");
    check(tw_end_step(file_), "tw_end_step");
    measure_.end();
}

/// Writes the record of a step by calls that contain the number of the record.
void Model::put_at(int step) {
    measure_.begin("put");
    for (const bench::Variable& v : problem_->variables()) {
        const bench::Group& g = problem_->group(v);
        if (g.replicated) continue;
        if (arguments_.puts == "record") {
            check(tw_put_record(file_, v.name.c_str(),
                                decompositions_[static_cast<std::size_t>(v.group)], step,
                                bench::type_of(g), values(v, step), g.local_elements()),
                  "tw_put_record");
            continue;
        }
        if (g.list) throw std::runtime_error("puts=box: the ranks of this workload hold lists");
        // Any start is good for the time measured here, as values do not matter.
        std::vector<std::int64_t> start{step}, count{1};
        start.insert(start.end(), g.part().start.begin(), g.part().start.end());
        count.insert(count.end(), g.part().count.begin(), g.part().count.end());
        check(tw_put_box(file_, v.name.c_str(), bench::type_of(g), start.data(), count.data(),
                         nullptr, values(v, step)),
              "tw_put_box");
    }
    measure_.begin("end_step");
    check(tw_sync(file_, 0), "tw_sync");
    measure_.end();
}

std::byte* Model::room_for(const bench::Variable& variable) {
    if (read_.empty()) read_.resize(static_cast<std::size_t>(problem_->memory_bytes()));
    return read_.data() + problem_->offset(variable, 0);
}

void Model::read_back() {
    measure_.begin("read_open");
    check(tw_open(session_, arguments_.file.c_str(), nullptr, &file_), "tw_open");
    const int last = arguments_.steps - 1;
    measure_.begin("read");
    for (const bench::Variable& v : problem_->variables()) {
        const bench::Group& g = problem_->group(v);
        check(tw_get_array(
                  file_, v.name.c_str(), decompositions_[static_cast<std::size_t>(v.group)], last,
                  tw_dense(bench::type_of(g), room_for(v), g.local_elements()), TW_DEFERRED),
              "tw_get_array");
    }
    check(tw_read(file_), "tw_read");
    measure_.end();
    if (arguments_.fields)
        for (const bench::Variable& v : problem_->variables())
            if (std::memcmp(room_for(v), values(v, last),
                            static_cast<std::size_t>(problem_->group(v).local_bytes())) != 0)
                throw std::runtime_error("variable " + v.name + ": other values were read");
    check(tw_close(&file_), "tw_close");
}

void Model::restart() {
    tw_restart made = nullptr;
    check(tw_restart_new(session_, "durable=no", &made), "tw_restart_new");
    for (const bench::Variable& v : problem_->variables()) {
        const bench::Group& g = problem_->group(v);
        if (g.replicated) continue;
        std::byte* const room = room_for(v);
        if (arguments_.fields)
            std::memcpy(room, values(v, 0), static_cast<std::size_t>(g.local_bytes()));
        check(tw_restart_add(
                  made, v.name.c_str(), bench::type_of(g), joined(g.spec->file_order).c_str(),
                  decompositions_[static_cast<std::size_t>(v.group)], room, g.local_elements(), 0),
              "tw_restart_add");
    }
    const std::string path = "restart_" + arguments_.file;
    measure_.begin("restart");
    check(tw_restart_write(made, path.c_str()), "tw_restart_write");
    measure_.begin("restart_read");
    check(tw_restart_read(made, path.c_str(), nullptr), "tw_restart_read");
    measure_.end();
    check(tw_restart_free(&made), "tw_restart_free");
}

/// Describes the run. @return an empty object except on rank 0 @note Collective
nlohmann::ordered_json Model::describe() const {
    const char* text = nullptr;
    check(tw_summary(session_, TW_SUMMARY_JSON, &text), "tw_summary");
    int all = 0, ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm comm = MPI_COMM_NULL;
    check(tw_model_comm(session_, &comm), "tw_model_comm");
    PMPI_Comm_size(comm, &ranks);
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) return {};
    nlohmann::ordered_json report;
    report["workload"] = arguments_.workload.workload;
    report["reduced"] = problem_->workload().cut;
    report["ranks"] = all;
    report["servers"] = all - ranks;
    report["grid"] = problem_->grid();
    report["step_bytes"] = problem_->step_bytes();
    report["steps"] = arguments_.steps;
    report["compute"] = arguments_.compute;
    report["settings"] = arguments_.settings;
    report["plan"] = plan();
    report["summary"] = nlohmann::ordered_json::parse(text).at("files").back();
    return report;
}

/// Describes the run for the planner.
nlohmann::ordered_json Model::plan() const {
    const bench::Workload& w = problem_->workload();
    nlohmann::ordered_json plan;
    for (const bench::Dimension& d : w.dims) plan["dimensions"][d.name] = d.length;
    for (const bench::VariableGroup& g : w.groups)
        plan["variables"].push_back({{"count", g.count},
                                     {"type", g.type == bench::Element::f4 ? "float" : "double"},
                                     {"dims", joined(g.file_order)}});
    // Neighbours along the last dimension have consecutive ranks.
    const std::vector<int>& grid = problem_->grid();
    std::string cuts;
    const auto add = [&](std::size_t axis) {
        if (grid[axis] > 1)
            cuts = fmt::format("{}={}{}{}", w.axes[axis].front(), grid[axis],
                               cuts.empty() ? "" : ",", cuts);
    };
    add(w.fastest);
    for (std::size_t a = 0; a < grid.size(); ++a)
        if (a != w.fastest) add(a);
    plan["decomposition"] = cuts.empty() ? w.axes.front().front() : cuts;
    for (const bench::Group& g : problem_->groups()) {
        if (!g.list || g.list->indices.empty()) continue;
        // The mean number of elements in a run of consecutive indices.
        const std::vector<std::int64_t>& indices = g.list->indices;
        std::int64_t runs = 0;
        for (std::size_t i = 0; i < indices.size(); ++i)
            runs += i == 0 || indices[i] != indices[i - 1] + 1;
        plan["list_run"] = static_cast<double>(indices.size()) / static_cast<double>(runs);
        break;
    }
    return plan;
}

}  // namespace thalweg::scale
