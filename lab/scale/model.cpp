// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

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
    if (zeros_ != nullptr) munmap(zeros_, local_bytes());
}

void Model::check(int status, const char* call) const {
    if (status == TW_OK) return;
    const std::string text = session_ == nullptr ? "" : tw_error_message(session_);
    throw std::runtime_error(std::string(call) + ": " +
                             (text.empty() ? tw_strerror(status) : text));
}

const void* Model::values(const Variable& variable, int step) const {
    return arguments_.fields ? contents_->values(variable, step) : zeros_ + place_of(variable);
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
    contents_ = make_contents(arguments_.workload, rank, ranks);
    if (arguments_.fields) {
        contents_->fill();
    } else {
        // Map read-only memory: pages that are only read can all be the same page.
        void* const zeros = mmap(nullptr, local_bytes(), PROT_READ,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (zeros == MAP_FAILED) throw std::bad_alloc();
        zeros_ = static_cast<char*>(zeros);
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

/// Returns the decomposition of a group's variables; null if each rank has all elements.
tw_decomposition Model::decomposition_of(const Group& group) const {
    return group.holding < 0 ? nullptr : decompositions_[static_cast<std::size_t>(group.holding)];
}

void Model::open() {
    for (const Holding& h : contents_->holdings()) {
        decompositions_.push_back(nullptr);
        const std::string dims = joined(h.dims);
        if (h.is_list())
            check(
                tw_decompose_list(session_, dims.c_str(), h.shape.data(), joined(h.listed).c_str(),
                                  static_cast<std::int64_t>(h.indices.size()), h.indices.data(),
                                  TW_LIST_UNIQUE, &decompositions_.back()),
                "tw_decompose_list");
        else
            check(tw_decompose(session_, dims.c_str(), 1, h.shape.data(), h.start.data(),
                               h.count.data(), &decompositions_.back()),
                  "tw_decompose");
    }
    check(tw_create(session_, arguments_.file.c_str(), nullptr, &file_), "tw_create");
    check(tw_def_dim(file_, "time", TW_UNLIMITED), "tw_def_dim");
    for (const auto& [name, length] : contents_->dimensions())
        check(tw_def_dim(file_, name.c_str(), length), "tw_def_dim");
    for (const Variable& v : contents_->variables()) {
        const Group& g = contents_->group(v);
        check(tw_def_var(file_, v.name.c_str(), g.type, joined(g.dims, "time").c_str(),
                         decomposition_of(g)),
              "tw_def_var");
    }
    check(tw_enddef(file_), "tw_enddef");
}

void Model::step(int step) {
    if (arguments_.puts != "step") return put_at(step);
    measure_.begin("put");
    for (const Variable& v : contents_->variables()) {
        const Group& g = contents_->group(v);
        check(tw_put_array(file_, v.name.c_str(), tw_dense(g.type, values(v, step), g.elements),
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
    for (const Variable& v : contents_->variables()) {
        const Group& g = contents_->group(v);
        if (g.holding < 0) continue;
        if (arguments_.puts == "record") {
            check(tw_put_record(file_, v.name.c_str(), decomposition_of(g), step, g.type,
                                values(v, step), g.elements),
                  "tw_put_record");
            continue;
        }
        const Holding& h = contents_->holdings()[static_cast<std::size_t>(g.holding)];
        if (h.is_list())
            throw std::runtime_error("puts=box: the ranks of this workload hold lists");
        // Any start is good for the time measured here, as values do not matter.
        std::vector<std::int64_t> start{step}, count{1};
        for (const std::string& name : g.dims) {
            const auto d = static_cast<std::size_t>(std::find(h.dims.begin(), h.dims.end(), name) -
                                                    h.dims.begin());
            start.push_back(h.start[d]);
            count.push_back(h.count[d]);
        }
        check(tw_put_box(file_, v.name.c_str(), g.type, start.data(), count.data(), nullptr,
                         values(v, step)),
              "tw_put_box");
    }
    measure_.begin("end_step");
    check(tw_sync(file_, 0), "tw_sync");
    measure_.end();
}

/// Returns the offset of a variable's array among all arrays of this rank.
std::size_t Model::place_of(const Variable& variable) const {
    std::int64_t at = 0;
    for (int g = 0; g <= variable.group; ++g) {
        const Group& group = contents_->groups()[static_cast<std::size_t>(g)];
        at += (g < variable.group ? group.count : variable.member) *
              ((group.local_bytes() + 7) / 8 * 8);
    }
    return static_cast<std::size_t>(at);
}

/// Returns the size in bytes of all arrays of this rank.
std::size_t Model::local_bytes() const {
    const int groups = static_cast<int>(contents_->groups().size());
    return place_of({"", groups - 1, contents_->groups().back().count}) + 8;
}

char* Model::room_for(const Variable& variable) {
    if (read_.empty()) read_.resize(local_bytes());
    return read_.data() + place_of(variable);
}

void Model::read_back() {
    measure_.begin("read_open");
    check(tw_open(session_, arguments_.file.c_str(), nullptr, &file_), "tw_open");
    const int last = arguments_.steps - 1;
    measure_.begin("read");
    for (const Variable& v : contents_->variables()) {
        const Group& g = contents_->group(v);
        check(tw_get_array(file_, v.name.c_str(), decomposition_of(g), last,
                           tw_dense(g.type, room_for(v), g.elements), TW_DEFERRED),
              "tw_get_array");
    }
    check(tw_read(file_), "tw_read");
    measure_.end();
    if (arguments_.fields)
        for (const Variable& v : contents_->variables())
            if (std::memcmp(room_for(v), values(v, last),
                            static_cast<std::size_t>(contents_->group(v).local_bytes())) != 0)
                throw std::runtime_error("variable " + v.name + ": other values were read");
    check(tw_close(&file_), "tw_close");
}

void Model::restart() {
    tw_restart made = nullptr;
    check(tw_restart_new(session_, "durable=no", &made), "tw_restart_new");
    for (const Variable& v : contents_->variables()) {
        const Group& g = contents_->group(v);
        if (g.holding < 0) continue;
        char* const room = room_for(v);
        if (arguments_.fields)
            std::memcpy(room, values(v, 0), static_cast<std::size_t>(g.local_bytes()));
        check(tw_restart_add(made, v.name.c_str(), g.type, joined(g.dims).c_str(),
                             decomposition_of(g), room, g.elements, 0),
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
    report["reduced"] = contents_->reduced();
    report["ranks"] = all;
    report["servers"] = all - ranks;
    report["grid"] = contents_->grid();
    report["step_bytes"] = contents_->step_bytes();
    report["steps"] = arguments_.steps;
    report["compute"] = arguments_.compute;
    report["settings"] = arguments_.settings;
    report["plan"] = contents_->plan();
    report["summary"] = nlohmann::ordered_json::parse(text).at("files").back();
    return report;
}

}  // namespace thalweg::scale
