// Restarts in C++, a part of thalweg.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "thalweg/definitions.hpp"
#include "thalweg/reading.hpp"

namespace thalweg {

/// Properties of an array of a restart; any number of them, joined with |.
enum class RestartFlags : int {
    required = TW_REQUIRED,
    optional = TW_OPTIONAL,       ///< a file may lack the variable
    copied = TW_COPIED,           ///< copy the values now, for the next write
    by_position = TW_BY_POSITION  ///< on reading, match dimensions by position
};
constexpr RestartFlags operator|(RestartFlags a, RestartFlags b) {
    return static_cast<RestartFlags>(static_cast<int>(a) | static_cast<int>(b));
}

/// The arrays of a restart, which are written and read together (Session::restart). The destructor
/// frees the restart. Dimensions, attributes and settings of variables that are defined by this
/// object (tw_restart_file) apply to all files written from then on.
class Restart : public Definable<Restart> {
public:
    Restart() = default;
    Restart(Restart&& other) noexcept = default;
    Restart& operator=(Restart&& other) noexcept {
        Restart old(std::move(*this));
        owned_.swap(other.owned_);
        return *this;
    }
    Restart(const Restart&) = delete;
    Restart& operator=(const Restart&) = delete;
    ~Restart() {
        if (owned_.get() != nullptr) tw_restart_free(owned_.address());
    }

    /// tw_restart_add_array: the array is used until the restart is freed or the name is added
    /// again
    /// @param held  a Decomposition, or `replicated`
    template <AnyArrayInPlace A>
    void add(const std::string& name, const std::string& dims, const Holding& held, A&& data,
             RestartFlags flags = RestartFlags::required) {
        held.check(name);
        check(tw_restart_add_array(restart(), name.c_str(), dims.c_str(), held.handle(),
                                   handles::target_of(data), static_cast<int>(flags)));
    }
    /// Calls tw_restart_write. @note Collective
    void write(const std::string& path) { check(tw_restart_write(restart(), path.c_str())); }
    /// Calls tw_restart_read. The file can be used for its attributes, and for variables that are
    /// not registered: get() verifies the checksum of each.
    /// @note Collective
    Reader read(const std::string& path) {
        tw_file file = nullptr;
        check(tw_restart_read(restart(), path.c_str(), &file));
        return {owned_.session_ptr(), file};
    }

    /// Calls tw_restart_free.
    void free() { check(tw_restart_free(owned_.address())); }
    /// Gives up the handle, which the session frees when it ends.
    tw_restart release() noexcept { return std::exchange(*owned_.address(), nullptr); }
    tw_restart handle() const noexcept { return restart(); }
    explicit operator bool() const noexcept { return restart() != nullptr; }

private:
    friend class Session;
    friend class Definable<Restart>;
    Restart(handles::SessionPtr session, tw_restart restart)
        : owned_(std::move(session), restart) {}

    tw_restart restart() const noexcept { return owned_.get(); }
    void check(tw_status code) const { owned_.check(code); }
    tw_file defined() const {
        tw_file file = nullptr;
        check(tw_restart_file(restart(), &file));
        return file;
    }

    handles::Owned<tw_restart> owned_;
};

}  // namespace thalweg
