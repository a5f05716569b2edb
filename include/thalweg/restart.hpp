// Restarts in C++, a part of thalweg.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "thalweg/decomposition.hpp"

namespace thalweg {

/// Properties of an array of a restart; any number of them, joined with |.
enum class RestartFlags : int {
    required = TW_REQUIRED,
    optional = TW_OPTIONAL,       ///< a file may lack the variable
    copied = TW_COPIED,           ///< copy the values now, for the next write
    by_position = TW_BY_POSITION  ///< on reading, ignore the names of dimensions
};
constexpr RestartFlags operator|(RestartFlags a, RestartFlags b) {
    return static_cast<RestartFlags>(static_cast<int>(a) | static_cast<int>(b));
}

/// Arrays that are written and read together (Session::restart). Its destructor frees it, unless
/// its file is open: then the session does when it ends.
class Restart {
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

    /// tw_restart_def_dim
    void def_dim(const std::string& name, std::int64_t length) {
        check(tw_restart_def_dim(restart(), name.c_str(), length));
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
    /// tw_restart_set_var: "fill=0"
    void set_var(const std::string& var, const std::string& settings) {
        check(tw_restart_set_var(restart(), var.c_str(), settings.c_str()));
    }
    /// tw_restart_put_att_text; an empty variable name means a global attribute
    void put_att(const std::string& var, const std::string& name, const std::string& text) {
        check(tw_restart_put_att_text(restart(), var.c_str(), name.c_str(), text.c_str()));
    }
    /// tw_restart_put_att
    template <class T>
    requires std::is_arithmetic_v<T>
    void put_att(const std::string& var, const std::string& name, T value) {
        check(tw_restart_put_att(restart(), var.c_str(), name.c_str(),
                                 static_cast<tw_type>(type_of<T>()), 1, &value));
    }
    template <class T>
    void put_att(const std::string& var, const std::string& name, const std::vector<T>& values) {
        check(tw_restart_put_att(restart(), var.c_str(), name.c_str(),
                                 static_cast<tw_type>(type_of<T>()), handles::size_of(values),
                                 values.data()));
    }
    /// tw_restart_write @note Collective
    void write(const std::string& path) { check(tw_restart_write(restart(), path.c_str())); }
    /// tw_restart_read @note Collective
    void read(const std::string& path) { check(tw_restart_read(restart(), path.c_str())); }

    // One variable at a time.
    /// tw_restart_open @note Collective
    void open(const std::string& path) { check(tw_restart_open(restart(), path.c_str())); }
    /// tw_restart_get. A rank whose decomposition is empty takes part with an invalid array, so
    /// that all ranks throw.
    /// @note Collective
    template <ArrayInPlace A>
    void get(const std::string& name, const std::string& dims, const Holding& held, A&& data,
             RestartFlags flags = RestartFlags::required) {
        if (held.empty()) return take_part(name, held);
        check(tw_restart_get(restart(), name.c_str(), handles::type_in<A>(), dims.c_str(),
                             held.handle(), std::ranges::data(data), handles::size_of(data),
                             static_cast<int>(flags)));
    }
    /// tw_restart_get_strided @note Collective
    template <class T>
    void get(const std::string& name, const std::string& dims, const Holding& held,
             StridedArray<T> array, RestartFlags flags = RestartFlags::required) {
        if (held.empty()) return take_part(name, held);
        check(tw_restart_get_strided(restart(), name.c_str(), static_cast<tw_type>(type_of<T>()),
                                     dims.c_str(), held.handle(), array.data,
                                     handles::array_of(array).rank, array.extent.data(),
                                     array.byte_stride.data(), static_cast<int>(flags)));
    }
    /// tw_restart_close @note Collective
    void close() { check(tw_restart_close(restart())); }

    // These concern the open file, or the one that was read last.
    /// tw_restart_found
    bool found(const std::string& name) const {
        int found = 0;
        check(tw_restart_found(restart(), name.c_str(), &found));
        return found != 0;
    }
    /// tw_restart_get_att: all values of an attribute, converted
    template <class T>
    std::vector<T> get_att(const std::string& var, const std::string& name) const {
        std::int64_t n = 0;
        check(tw_restart_inq_att(restart(), var.c_str(), name.c_str(), nullptr, &n));
        std::vector<T> values(static_cast<std::size_t>(n));
        check(tw_restart_get_att(restart(), var.c_str(), name.c_str(),
                                 static_cast<tw_type>(type_of<T>()), n, values.data()));
        return values;
    }
    /// tw_restart_get_att_text
    std::string get_att_text(const std::string& var, const std::string& name) const {
        const std::vector<char> text = get_att<char>(var, name);
        return {text.begin(), text.end()};
    }

    /// tw_restart_free
    void free() { check(tw_restart_free(owned_.address())); }
    /// Gives up the handle, which the session frees when it ends.
    tw_restart release() noexcept { return std::exchange(*owned_.address(), nullptr); }
    tw_restart handle() const noexcept { return restart(); }
    explicit operator bool() const noexcept { return restart() != nullptr; }

private:
    friend class Session;
    Restart(handles::SessionPtr session, tw_restart restart)
        : owned_(std::move(session), restart) {}

    tw_restart restart() const noexcept { return owned_.get(); }
    void check(tw_status code) const { owned_.check(code); }
    /// In a collective call, without an array.
    void take_part(const std::string& name, const Holding& held) {
        (void)tw_restart_get_strided(restart(), name.c_str(), TW_BYTE, "", nullptr, nullptr, -1,
                                     nullptr, nullptr, TW_REQUIRED);
        held.check(name);
    }

    handles::Owned<tw_restart> owned_;
};

}  // namespace thalweg
