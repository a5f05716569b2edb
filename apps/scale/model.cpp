// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <sys/mman.h>
#include <time.h>

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
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
    if (arguments_.restart) restart();
    if (arguments_.read) read_back();
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
    if (arguments_.puts != "step") return put_at(step);
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

/// The step's record by the calls that name it.
void Model::put_at(int step) {
    measure_.begin("put");
    for (const Variable& v : problem_->variables()) {
        const Group& g = problem_->group(v);
        if (g.replicated) continue;
        if (arguments_.puts == "record") {
            check(tw_put_record(file_, v.name.c_str(),
                                decompositions_[static_cast<std::size_t>(v.group)], step,
                                type_of(g), values(v, step), g.part.elements()),
                  "tw_put_record");
            continue;
        }
        // In file order; the values are not looked at.
        std::vector<std::int64_t> start{step}, count{1};
        start.insert(start.end(), g.part.start.begin(), g.part.start.end());
        count.insert(count.end(), g.part.count.begin(), g.part.count.end());
        check(tw_put_box(file_, v.name.c_str(), type_of(g), start.data(), count.data(), nullptr,
                         values(v, step)),
              "tw_put_box");
    }
    measure_.begin("end_step");
    check(tw_sync(file_, 0), "tw_sync");
    measure_.end();
}

/// What thalweg plan wants to know of the workload.
nlohmann::ordered_json Model::plan() const {
    const bench::Workload& w = problem_->workload();
    nlohmann::ordered_json plan;
    for (const bench::Dimension& d : w.dims) plan["dimensions"][d.name] = d.length;
    plan["variables"] = nlohmann::ordered_json::array();
    for (const bench::VariableGroup& g : w.groups) {
        plan["variables"].push_back({{"count", g.count},
                                     {"type", g.type == bench::Element::f4 ? "float" : "double"},
                                     {"dims", joined(g.file_order)}});
    }
    // Ranks count along the last one first.
    std::string cuts;
    const auto& grid = problem_->grid();
    const auto add = [&](std::size_t axis) {
        if (grid[axis] > 1)
            cuts = fmt::format("{}={}{}{}", w.axes[axis].front(), grid[axis],
                               cuts.empty() ? "" : ",", cuts);
    };
    add(w.fastest);
    for (std::size_t a = 0; a < grid.size(); ++a)
        if (a != w.fastest) add(a);
    plan["decomposition"] = cuts.empty() ? w.axes.front().front() : cuts;
    return plan;
}

char* Model::room_for(const Variable& variable) {
    std::int64_t at = 0, all = 0;
    for (const Variable& v : problem_->variables()) {
        const Group& g = problem_->group(v);
        if (v.name == variable.name) at = all;
        all += (g.local_bytes() + 7) / 8 * 8;
    }
    if (read_.empty()) read_.resize(static_cast<std::size_t>(std::max<std::int64_t>(all, 8)));
    return read_.data() + at;
}

void Model::read_back() {
    const bench::Problem& p = *problem_;
    measure_.begin("read_open");
    check(tw_open(session_, arguments_.file.c_str(), nullptr, &file_), "tw_open");
    const int last = arguments_.steps - 1;
    measure_.begin("read");
    for (const Variable& v : p.variables()) {
        const Group& g = p.group(v);
        check(tw_get_deferred(file_, v.name.c_str(),
                              decompositions_[static_cast<std::size_t>(v.group)], last, type_of(g),
                              room_for(v), g.part.elements()),
              "tw_get_deferred");
    }
    check(tw_read(file_), "tw_read");
    measure_.end();
    if (arguments_.fields)
        for (const Variable& v : p.variables())
            if (std::memcmp(room_for(v), values(v, last),
                            static_cast<std::size_t>(p.group(v).local_bytes())) != 0)
                throw std::runtime_error("variable " + v.name + ": other values were read");
    check(tw_close(&file_), "tw_close");
}

void Model::restart() {
    tw_restart made = nullptr;
    check(tw_restart_new(session_, "durable=no", &made), "tw_restart_new");
    for (const Variable& v : problem_->variables()) {
        const Group& g = problem_->group(v);
        if (g.replicated) continue;
        char* const room = room_for(v);
        if (arguments_.fields)
            std::memcpy(room, values(v, 0), static_cast<std::size_t>(g.local_bytes()));
        check(tw_restart_add(made, v.name.c_str(), type_of(g), joined(g.spec->file_order).c_str(),
                             decompositions_[static_cast<std::size_t>(v.group)], room,
                             g.part.elements(), 0),
              "tw_restart_add");
    }
    const std::string path = "restart_" + arguments_.file;
    measure_.begin("restart");
    check(tw_restart_write(made, path.c_str()), "tw_restart_write");
    measure_.begin("restart_read");
    check(tw_restart_read(made, path.c_str()), "tw_restart_read");
    measure_.end();
    check(tw_restart_free(&made), "tw_restart_free");
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
    report["plan"] = plan();
    report["summary"] = nlohmann::ordered_json::parse(text).at("files").back();
    return report;
}

}  // namespace thalweg::scale
