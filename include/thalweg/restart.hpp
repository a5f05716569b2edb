// Restarts in C++, a part of thalweg.hpp, which includes it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "thalweg/thalweg.hpp"

namespace thalweg {

/// Arrays that are written and read together (tw_restart_new). Belongs to its session, which frees
/// it at the latest; free() does so earlier.
class Restart {
public:
    Restart() = default;

    /// tw_restart_def_dim
    void def_dim(const std::string& name, std::int64_t length) {
        check(tw_restart_def_dim(restart_, name.c_str(), length));
    }
    /// tw_restart_add: the array is used until the restart is freed or the name is added again
    template <class T>
    void add(const std::string& name, const std::string& dims, Decomposition decomposition,
             std::span<T> data, int flags = TW_REQUIRED) {
        check(tw_restart_add(restart_, name.c_str(), type_of<T>(), dims.c_str(), decomposition,
                             data.data(), static_cast<std::int64_t>(data.size()), flags));
    }
    /// tw_restart_add_strided
    template <class T>
    void add_strided(const std::string& name, const std::string& dims, Decomposition decomposition,
                     T* data, std::span<const std::int64_t> extent,
                     std::span<const std::int64_t> byte_stride, int flags = TW_REQUIRED) {
        check(tw_restart_add_strided(restart_, name.c_str(), type_of<T>(), dims.c_str(),
                                     decomposition, data, static_cast<int>(extent.size()),
                                     extent.data(), byte_stride.data(), flags));
    }
    /// tw_restart_set_var: "fill=0"
    void set_var(const std::string& var, const std::string& settings) {
        check(tw_restart_set_var(restart_, var.c_str(), settings.c_str()));
    }
    /// tw_restart_put_att_text; an empty variable name means a global attribute
    void put_att(const std::string& var, const std::string& name, const std::string& text) {
        check(tw_restart_put_att_text(restart_, var.c_str(), name.c_str(), text.c_str()));
    }
    /// tw_restart_put_att
    template <class T>
    requires std::is_arithmetic_v<T>
    void put_att(const std::string& var, const std::string& name, T value) {
        check(tw_restart_put_att(restart_, var.c_str(), name.c_str(), type_of<T>(), 1, &value));
    }
    template <class T>
    void put_att(const std::string& var, const std::string& name, const std::vector<T>& values) {
        check(tw_restart_put_att(restart_, var.c_str(), name.c_str(), type_of<T>(),
                                 static_cast<std::int64_t>(values.size()), values.data()));
    }
    /// tw_restart_write @note Collective
    void write(const std::string& path) { check(tw_restart_write(restart_, path.c_str())); }
    /// tw_restart_read @note Collective
    void read(const std::string& path) { check(tw_restart_read(restart_, path.c_str())); }

    // One variable at a time.
    /// tw_restart_open @note Collective
    void open(const std::string& path) { check(tw_restart_open(restart_, path.c_str())); }
    /// tw_restart_get @note Collective
    template <class T>
    void get(const std::string& name, const std::string& dims, Decomposition decomposition,
             std::span<T> data, int flags = TW_REQUIRED) {
        check(tw_restart_get(restart_, name.c_str(), type_of<T>(), dims.c_str(), decomposition,
                             data.data(), static_cast<std::int64_t>(data.size()), flags));
    }
    /// tw_restart_get_strided @note Collective
    template <class T>
    void get_strided(const std::string& name, const std::string& dims, Decomposition decomposition,
                     T* data, std::span<const std::int64_t> extent,
                     std::span<const std::int64_t> byte_stride, int flags = TW_REQUIRED) {
        check(tw_restart_get_strided(restart_, name.c_str(), type_of<T>(), dims.c_str(),
                                     decomposition, data, static_cast<int>(extent.size()),
                                     extent.data(), byte_stride.data(), flags));
    }
    /// tw_restart_close @note Collective
    void close() { check(tw_restart_close(restart_)); }

    // These concern the open file, or the one that was read last.
    /// tw_restart_found
    bool found(const std::string& name) const {
        int found = 0;
        check(tw_restart_found(restart_, name.c_str(), &found));
        return found != 0;
    }
    /// tw_restart_get_att: all values of an attribute, converted
    template <class T>
    std::vector<T> get_att(const std::string& var, const std::string& name) const {
        std::int64_t n = 0;
        check(tw_restart_inq_att(restart_, var.c_str(), name.c_str(), nullptr, &n));
        std::vector<T> values(static_cast<std::size_t>(n));
        check(tw_restart_get_att(restart_, var.c_str(), name.c_str(), type_of<T>(), n,
                                 values.data()));
        return values;
    }
    /// tw_restart_get_att_text
    std::string get_att_text(const std::string& var, const std::string& name) const {
        const std::vector<char> text = get_att<char>(var, name);
        return {text.begin(), text.end()};
    }

    /// tw_restart_free
    void free() { check(tw_restart_free(&restart_)); }
    tw_restart handle() const noexcept { return restart_; }

private:
    friend class Session;
    Restart(tw_session session, tw_restart restart) : session_(session), restart_(restart) {}
    void check(int code) const {
        if (code == TW_OK) return;
        const char* text = tw_error_message(session_);
        throw Error(code, code == TW_EHANDLE || *text == '\0' ? tw_strerror(code) : text);
    }

    tw_session session_ = nullptr;
    tw_restart restart_ = nullptr;
};

inline Restart Session::restart(const std::string& settings) {
    tw_restart restart = nullptr;
    check(tw_restart_new(session_, settings.c_str(), &restart));
    return {session_, restart};
}

}  // namespace thalweg
