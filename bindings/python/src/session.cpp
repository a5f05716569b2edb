// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace thalweg::python {

namespace {

/// Appends values to a list, more than any decomposition has dimensions, so that the C function
/// detects a list that is too short.
Integers padded(Integers values) {
    values.resize(std::max<std::size_t>(values.size(), 17), -1);
    return values;
}

const char* pointer(const std::optional<std::string>& text) {
    return text ? text->c_str() : nullptr;
}

#ifdef THALWEG_SERIAL
int begin(std::optional<std::int64_t>, const char* settings, tw_session& handle) {
    return tw_init_serial(settings, &handle);
}

/// A serial build has no communicators.
MPI_Comm model_comm(tw_session) { return MPI_COMM_SELF; }
#else
void start_mpi() {
    int there = 0;
    MPI_Initialized(&there);
    if (there) return;
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
}

int begin(std::optional<std::int64_t> comm, const char* settings, tw_session& handle) {
    if (!comm) start_mpi();
    const MPI_Comm world =
        comm ? MPI_Comm_f2c(static_cast<MPI_Fint>(*comm)) : static_cast<MPI_Comm>(MPI_COMM_SELF);
    return tw_init(world, settings, &handle);
}

MPI_Comm model_comm(tw_session session) {
    MPI_Comm model = MPI_COMM_NULL;
    tw_model_comm(session, &model);
    return model;
}
#endif

}  // namespace

tw_session SessionState::get() const {
    if (handle == nullptr) raise_error(TW_ESTATE, "the session has ended", {});
    return handle;
}

Decomposition::~Decomposition() {
    // Free the decomposition later, because another thread may be in a call now.
    if (session_->handle != nullptr && handle_ != nullptr) session_->dropped.push_back(handle_);
}

void Decomposition::fill_halo(const std::vector<int>& edges) {
    std::vector<tw_edge> all;
    for (const int edge : edges) all.push_back(static_cast<tw_edge>(edge));
    all.resize(std::max<std::size_t>(all.size(), 17), static_cast<tw_edge>(-1));
    tw_session s = session_->get();
    tw_decomposition held = handle_of(this);
    check(without_gil(s, [&] { return tw_fill_halo(held, all.data()); }), {{}, {}, true});
}

void Decomposition::pad(const Integers& extent, std::int64_t boxes) {
    const Integers all = padded(extent);
    tw_session s = session_->get();
    tw_decomposition held = handle_of(this);
    check(without_gil(s, [&] { return tw_pad(held, all.data(), boxes); }), {{}, {}, true});
}

void Decomposition::free() {
    tw_session s = session_->get();
    (void)handle_of(this);
    check(without_gil(s, [&] { return tw_free_decomposition(&handle_); }), {});
}

Session::Session(std::optional<std::int64_t> comm, std::optional<std::string> settings)
    : state_(std::make_shared<SessionState>()) {
    Outcome outcome;
    {
        nb::gil_scoped_release release;
        outcome.code = begin(comm, pointer(settings), state_->handle);
        if (outcome.code != TW_OK) {
            outcome.take(state_->handle);
            tw_finalize(&state_->handle);
            state_->handle = nullptr;
        }
    }
    check(outcome, {{}, {}, true});
    tw_role role = TW_MODEL;
    tw_inq_role(state_->handle, &role);
    const MPI_Comm model = model_comm(state_->handle);
    server_ = role == TW_SERVER;
    if (model == MPI_COMM_NULL) return;
    MPI_Comm_rank(model, &rank_);
    MPI_Comm_size(model, &size_);
    if (size_ > 1) {
        nb::gil_scoped_release release;
        MPI_Comm_dup(model, &state_->exit);
    }
}

std::int64_t Session::comm() const { return MPI_Comm_c2f(model_comm(state_->get())); }

void Session::free_dropped() {
    for (tw_decomposition d : std::exchange(state_->dropped, {})) tw_free_decomposition(&d);
}

Decomposition* Session::decompose(const std::optional<std::string>& dims, const Integers& shape,
                                  int boxes, const Integers& start, const Integers& count,
                                  const Integers& halo_low, const Integers& halo_high) {
    tw_session s = state_->get();
    const Integers lengths = padded(shape), low = padded(halo_low), high = padded(halo_high);
    tw_decomposition made = nullptr;
    check(without_gil(s,
                      [&] {
                          free_dropped();
                          return tw_decompose_halo(s, pointer(dims), boxes, lengths.data(),
                                                   start.data(), count.data(), low.data(),
                                                   high.data(), &made);
                      }),
          {{}, {}, true});
    return new Decomposition(state_, made);
}

Decomposition* Session::decompose_list(const std::optional<std::string>& dims,
                                       const Integers& shape, const std::string& listed,
                                       nb::handle indices, bool shared) {
    tw_session s = state_->get();
    const Integers lengths = padded(shape);
    std::optional<Array> array;
    if (!indices.is_none()) array = array_of(indices, Access::read);
    const bool usable = array && array->type == TW_INT64 && array->contiguous();
    tw_decomposition made = nullptr;
    check(without_gil(s,
                      [&] {
                          free_dropped();
                          return tw_decompose_list(
                              s, pointer(dims), lengths.data(), listed.c_str(),
                              usable ? array->elements() : -1,
                              usable ? static_cast<const std::int64_t*>(array->data()) : nullptr,
                              shared ? TW_LIST_SHARED : TW_LIST_UNIQUE, &made);
                      }),
          {{}, {}, true});
    return new Decomposition(state_, made);
}

std::string Session::summary(int form) {
    tw_session s = state_->get();
    const char* text = "";
    check(without_gil(s, [&] { return tw_summary(s, static_cast<tw_summary_form>(form), &text); }),
          {{}, {}, true});
    return text;
}

void Session::wait(std::int64_t most) {
    tw_session s = state_->get();
    check(without_gil(s, [&] { return tw_wait(s, most); }), {{}, {}, true});
}

void Session::finalize() {
    if (state_->handle == nullptr) return;
    Outcome outcome;
    {
        nb::gil_scoped_release release;
        // If the session has ended, its text is gone. The text of calls without a session is then
        // that of this error.
        outcome.code = tw_finalize(&state_->handle);
        if (outcome.code != TW_OK) outcome.take(state_->handle);
        int over = 0;
        MPI_Finalized(&over);
        if (state_->handle == nullptr && state_->exit != MPI_COMM_NULL && !over)
            MPI_Comm_free(&state_->exit);
    }
    ended(outcome, {{}, {}, true});
}

void Session::ended(const Outcome& outcome, const About& about) {
    if (state_->handle != nullptr) check(outcome, {});
    state_->kept.clear();
    state_->dropped.clear();
    check(outcome, about);
}

void Session::abandon() {
    if (state_->handle == nullptr) return;
    ended(without_gil(nullptr, [&] { return tw_abandon(&state_->handle); }), {});
}

void Session::cancel(const std::string& why) {
    if (state_->handle == nullptr) return;
    ended(without_gil(nullptr, [&] { return tw_cancel(&state_->handle, why.c_str()); }), {});
}

void Session::abort(int code) {
    // Launchers may drop output that they have not forwarded when a rank aborts.
    usleep(200000);
    MPI_Abort(state_->exit == MPI_COMM_NULL ? MPI_COMM_WORLD : state_->exit, code);
    std::abort();
}

void bind_session(nb::module_& module) {
    nb::class_<Decomposition>(module, "Decomposition")
        .def("fill_halo", &Decomposition::fill_halo)
        .def("pad", &Decomposition::pad)
        .def("free", &Decomposition::free);
    nb::class_<Session>(module, "Session")
        .def(nb::init<std::optional<std::int64_t>, std::optional<std::string>>(),
             nb::arg("comm").none(), nb::arg("settings").none())
        .def_prop_ro("rank", &Session::rank)
        .def_prop_ro("size", &Session::size)
        .def_prop_ro("is_server", &Session::is_server)
        .def_prop_ro("is_open", &Session::is_open)
        .def("comm", &Session::comm)
        .def("decompose", &Session::decompose, nb::arg("dims").none(), nb::arg("shape"),
             nb::arg("boxes"), nb::arg("start"), nb::arg("count"), nb::arg("halo_low"),
             nb::arg("halo_high"))
        .def("decompose_list", &Session::decompose_list, nb::arg("dims").none(), nb::arg("shape"),
             nb::arg("listed"), nb::arg("indices").none(), nb::arg("shared"))
        .def("summary", &Session::summary)
        .def("wait", &Session::wait)
        .def("finalize", &Session::finalize)
        .def("abandon", &Session::abandon)
        .def("cancel", &Session::cancel)
        .def("abort", &Session::abort);
}

}  // namespace thalweg::python
