// A session, its decompositions and its files as Python objects. Each keeps the objects alive that
// it needs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <thalweg/thalweg.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array.hpp"
#include "error.hpp"

namespace thalweg::python {

using Integers = std::vector<std::int64_t>;

/// The state of a session. It outlives the Python object of the session, because files and
/// decompositions refer to it.
struct SessionState {
    tw_session handle = nullptr;
    /// Communicator of the model's ranks, for Session::abort.
    MPI_Comm exit = MPI_COMM_NULL;
    std::vector<Held> kept;                 ///< arrays that the library may still use
    std::vector<tw_decomposition> dropped;  ///< decompositions to free as soon as no thread is in a
                                            ///< call

    /// @throws thalweg.Error if the session has ended
    tw_session get() const;
};
using SessionRef = std::shared_ptr<SessionState>;

class Decomposition {
public:
    Decomposition(SessionRef session, tw_decomposition handle)
        : session_(std::move(session)), handle_(handle) {}
    ~Decomposition();
    Decomposition(const Decomposition&) = delete;
    Decomposition& operator=(const Decomposition&) = delete;

    tw_decomposition get() const { return handle_; }
    const SessionRef& session() const { return session_; }
    void fill_halo(const std::vector<int>& edges);
    void pad(const Integers& extent, std::int64_t boxes);
    void free();

private:
    SessionRef session_;
    tw_decomposition handle_;
};

/// Returns the C handle of a decomposition; null for none. Must be called with the GIL held, before
/// the call that uses the handle.
/// @throws thalweg.Error if the decomposition was freed or its session has ended, because null
///   would have another meaning
inline tw_decomposition handle_of(const Decomposition* d) {
    if (d == nullptr) return nullptr;
    (void)d->session()->get();
    if (d->get() == nullptr) raise_error(TW_EHANDLE, "the decomposition was freed", {});
    return d->get();
}

class Session {
public:
    /// @param comm  Fortran handle of the communicator; none: a session of this process alone
    Session(std::optional<std::int64_t> comm, std::optional<std::string> settings);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const SessionRef& state() const { return state_; }
    int rank() const { return rank_; }
    int size() const { return size_; }
    bool is_server() const { return server_; }
    bool is_open() const { return state_->handle != nullptr; }
    std::int64_t comm() const;

    Decomposition* decompose(const std::optional<std::string>& dims, const Integers& shape,
                             int boxes, const Integers& start, const Integers& count,
                             const Integers& halo_low, const Integers& halo_high);
    Decomposition* decompose_list(const std::optional<std::string>& dims, const Integers& shape,
                                  const std::string& listed, nb::handle indices, bool shared);
    std::string summary(int form);
    void wait(std::int64_t most);
    void finalize();
    void abandon();

    /// Cancels the session on all ranks. Waits until all of them are in a call of the session.
    void cancel(const std::string& why);
    /// Ends all processes of the session.
    [[noreturn]] void abort(int code);

private:
    void free_dropped();
    /// Lets go of what the library no longer uses, unless another thread is in the session, which
    /// then stays open. Raises the outcome's error.
    void ended(const Outcome& outcome, const About& about);

    SessionRef state_;
    int rank_ = 0, size_ = 1;
    bool server_ = false;
};

void bind_session(nb::module_& module);
void bind_file(nb::module_& module);
void bind_restart(nb::module_& module);
void bind_history(nb::module_& module);

/// Makes the Python object of a file that is open for reading.
nb::object file_object(SessionRef session, tw_file file, std::string path);

/// A type that no call accepts. A rank with invalid arguments passes it to a collective call, so
/// that the call fails on all ranks instead of waiting for this one.
constexpr auto no_type = static_cast<tw_type>(0);

/// Returns the size of an element in bytes.
std::int64_t size_of(tw_type type);

}  // namespace thalweg::python
