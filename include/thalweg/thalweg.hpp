// Thalweg's C++ interface: the C functions as owning types that throw thalweg::Error.
//
// SPDX-License-Identifier: Apache-2.0
//
// Orders, units, errors, and which functions are collective: as in thalweg.h; each function names
// its C counterpart. A collective function throws on all ranks or on none, with the same code and
// text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "thalweg/thalweg.h"

namespace thalweg {

/// A failed call: code() is one of TW_STATUS_TABLE, what() the full text.
class Error : public std::runtime_error {
public:
    Error(int code, const std::string& text) : std::runtime_error(text), code_(code) {}
    int code() const noexcept { return code_; }

private:
    int code_;
};

/// The external type of a C++ type.
template <class T>
constexpr tw_type type_of() {
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<U, char>)
        return TW_CHAR;
    else if constexpr (std::is_same_v<U, float>)
        return TW_FLOAT;
    else if constexpr (std::is_same_v<U, double>)
        return TW_DOUBLE;
    else {
        static_assert(std::is_integral_v<U> && !std::is_same_v<U, bool>, "not a netCDF type");
        if constexpr (sizeof(U) == 1)
            return std::is_signed_v<U> ? TW_BYTE : TW_UBYTE;
        else if constexpr (sizeof(U) == 2)
            return std::is_signed_v<U> ? TW_SHORT : TW_USHORT;
        else if constexpr (sizeof(U) == 4)
            return std::is_signed_v<U> ? TW_INT : TW_UINT;
        else
            return std::is_signed_v<U> ? TW_INT64 : TW_UINT64;
    }
}

/// Belongs to its session, until Session::free_decomposition.
using Decomposition = tw_decomposition;

/// A box of a decomposition: first global index and lengths, slowest dimension first.
struct Block {
    std::vector<std::int64_t> start, count;
};

/// The results of tw_inq.
struct Summary {
    std::string format;
    int dims = 0, variables = 0, attributes = 0;
    std::int64_t records = 0;
};

/// The results of tw_inq_var and tw_inq_var_dim; dimensions slowest first.
struct Variable {
    tw_type type = TW_BYTE;
    std::vector<std::string> dims;
    std::vector<std::int64_t> shape;
    int attributes = 0;
};

class Restart;
class Session;

/// A file being written (tw_create, or tw_open with "mode=append") or read (tw_open).
class File {
public:
    File() = default;
    File(File&& other) noexcept { swap(other); }
    File& operator=(File&& other) noexcept {
        swap(other);
        return *this;
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    /// Does not close the file: closing is collective and can fail, so call close(). Files still
    /// open are closed when the session ends.
    ~File() = default;

    /// tw_def_dim
    void def_dim(const std::string& name, std::int64_t length) {
        check(tw_def_dim(file_, name.c_str(), length));
    }
    /// tw_def_var; without a decomposition the variable is replicated
    void def_var(const std::string& name, tw_type type, const std::string& dims,
                 Decomposition decomposition = nullptr) {
        check(tw_def_var(file_, name.c_str(), type, dims.c_str(), decomposition));
    }
    /// tw_put_att_text; an empty variable name means a global attribute
    void put_att(const std::string& var, const std::string& name, const std::string& text) {
        check(tw_put_att_text(file_, var.c_str(), name.c_str(), text.c_str()));
    }
    /// tw_put_att
    template <class T>
    requires std::is_arithmetic_v<T>
    void put_att(const std::string& var, const std::string& name, T value) {
        check(tw_put_att(file_, var.c_str(), name.c_str(), type_of<T>(), 1, &value));
    }
    template <class T>
    void put_att(const std::string& var, const std::string& name, const std::vector<T>& values) {
        check(tw_put_att(file_, var.c_str(), name.c_str(), type_of<T>(),
                         static_cast<std::int64_t>(values.size()), values.data()));
    }
    /// tw_set_var: "fill=0; deflate=1; chunks=lev=10"
    void set_var(const std::string& var, const std::string& settings) {
        check(tw_set_var(file_, var.c_str(), settings.c_str()));
    }
    /// tw_set_record: for a file opened with "mode=append"
    void set_record(std::int64_t record, tw_later later = TW_KEEP_LATER) {
        check(tw_set_record(file_, record, later));
    }
    /// tw_enddef @note Collective
    void enddef() { check(tw_enddef(file_)); }
    /// tw_put: data can be reused when the call returns
    template <class T>
    void put(const std::string& var, std::span<const T> data) {
        check(tw_put(file_, var.c_str(), type_of<T>(), data.data(),
                     static_cast<std::int64_t>(data.size())));
    }
    template <class T>
    void put(const std::string& var, const std::vector<T>& data) {
        put(var, std::span<const T>(data));
    }
    /// tw_put_deferred: data must stay valid and unchanged until the step ends
    template <class T>
    void put_deferred(const std::string& var, std::span<const T> data) {
        check(tw_put_deferred(file_, var.c_str(), type_of<T>(), data.data(),
                              static_cast<std::int64_t>(data.size())));
    }
    template <class T>
    void put_deferred(const std::string& var, std::vector<T>&& temporary) = delete;
    /// tw_put_strided
    template <class T>
    void put_strided(const std::string& var, const T* data, std::span<const std::int64_t> extent,
                     std::span<const std::int64_t> byte_stride, int flags = TW_COPY) {
        check(tw_put_strided(file_, var.c_str(), type_of<T>(), data,
                             static_cast<int>(extent.size()), extent.data(), byte_stride.data(),
                             flags));
    }
    /// tw_put_record
    template <class T>
    void put_record(const std::string& var, Decomposition decomposition, std::int64_t record,
                    std::span<const T> data) {
        check(tw_put_record(file_, var.c_str(), decomposition, record, type_of<T>(), data.data(),
                            static_cast<std::int64_t>(data.size())));
    }
    template <class T>
    void put_record(const std::string& var, Decomposition decomposition, std::int64_t record,
                    const std::vector<T>& data) {
        put_record<T>(var, decomposition, record, std::span(data));
    }
    /// tw_put_record_strided
    template <class T>
    void put_record_strided(const std::string& var, Decomposition decomposition,
                            std::int64_t record, const T* data,
                            std::span<const std::int64_t> extent,
                            std::span<const std::int64_t> byte_stride) {
        check(tw_put_record_strided(file_, var.c_str(), decomposition, record, type_of<T>(), data,
                                    static_cast<int>(extent.size()), extent.data(),
                                    byte_stride.data()));
    }
    /// tw_put_box: data must have as many elements as the box
    template <class T>
    void put_box(const std::string& var, std::span<const std::int64_t> start,
                 std::span<const std::int64_t> count, std::span<const T> data) {
        std::int64_t n = 1;
        for (std::int64_t c : count) n *= c;
        if (start.size() != count.size() || n != static_cast<std::int64_t>(data.size()))
            throw Error(TW_ESHAPE,
                        "put_box of '" + var + "': start, count and data differ in size");
        check(
            tw_put_box(file_, var.c_str(), type_of<T>(), start.data(), count.data(), data.data()));
    }
    template <class T>
    void put_box(const std::string& var, const std::vector<std::int64_t>& start,
                 const std::vector<std::int64_t>& count, const std::vector<T>& data) {
        put_box<T>(var, std::span(start), std::span(count), std::span(data));
    }
    /// tw_end_step @note Collective
    void end_step() { check(tw_end_step(file_)); }
    /// tw_sync @note Collective
    void sync(bool durable = false) { check(tw_sync(file_, durable)); }
    /// tw_close @note Collective
    void close() { check(tw_close(&file_)); }

    // For files opened with tw_open. Dimensions, variables and attributes are numbered from 0.
    /// tw_inq
    Summary inq() const {
        Summary s;
        const char* format = nullptr;
        check(tw_inq(file_, &format, &s.dims, &s.variables, &s.attributes, &s.records));
        s.format = format;
        return s;
    }
    /// tw_inq_dim_name, tw_inq_var_name, tw_inq_att_name
    std::string dim_name(int index) const {
        const char* name = nullptr;
        check(tw_inq_dim_name(file_, index, &name));
        return name;
    }
    std::string var_name(int index) const {
        const char* name = nullptr;
        check(tw_inq_var_name(file_, index, &name));
        return name;
    }
    std::string att_name(const std::string& var, int index) const {
        const char* name = nullptr;
        check(tw_inq_att_name(file_, var.c_str(), index, &name));
        return name;
    }
    /// tw_inq_unlimited: "" if there is no record dimension
    std::string unlimited() const {
        const char* name = nullptr;
        check(tw_inq_unlimited(file_, &name));
        return name;
    }
    /// tw_inq_var, tw_inq_var_dim
    Variable var(const std::string& name) const {
        Variable v;
        int nd = 0;
        check(tw_inq_var(file_, name.c_str(), &v.type, &nd, &v.attributes));
        for (int d = 0; d < nd; ++d) {
            const char* dim = nullptr;
            std::int64_t length = 0;
            check(tw_inq_var_dim(file_, name.c_str(), d, &dim, &length));
            v.dims.emplace_back(dim);
            v.shape.push_back(length);
        }
        return v;
    }
    /// tw_get_att: all values of an attribute, converted
    template <class T>
    std::vector<T> get_att(const std::string& var, const std::string& name) const {
        std::int64_t n = 0;
        check(tw_inq_att(file_, var.c_str(), name.c_str(), nullptr, &n));
        std::vector<T> values(static_cast<std::size_t>(n));
        check(tw_get_att(file_, var.c_str(), name.c_str(), type_of<T>(), n, values.data()));
        return values;
    }
    /// tw_get_att_text
    std::string get_att_text(const std::string& var, const std::string& name) const {
        const std::vector<char> text = get_att<char>(var, name);
        return {text.begin(), text.end()};
    }
    /// tw_inq_dim
    std::int64_t dim(const std::string& name) const {
        std::int64_t length = 0;
        check(tw_inq_dim(file_, name.c_str(), &length));
        return length;
    }
    /// tw_get @note Collective
    template <class T>
    void get(const std::string& var, Decomposition decomposition, std::int64_t record,
             std::span<T> data) {
        check(tw_get(file_, var.c_str(), decomposition, record, type_of<T>(), data.data(),
                     static_cast<std::int64_t>(data.size())));
    }

    /// tw_get_deferred: data belongs to the library until read()
    template <class T>
    void get_deferred(const std::string& var, Decomposition decomposition, std::int64_t record,
                      std::span<T> data) {
        check(tw_get_deferred(file_, var.c_str(), decomposition, record, type_of<T>(), data.data(),
                              static_cast<std::int64_t>(data.size())));
    }
    /// tw_get_strided @note Collective, unless deferred
    template <class T>
    void get_strided(const std::string& var, Decomposition decomposition, std::int64_t record,
                     T* data, std::span<const std::int64_t> extent,
                     std::span<const std::int64_t> byte_stride, int flags = TW_COPY) {
        check(tw_get_strided(file_, var.c_str(), decomposition, record, type_of<T>(), data,
                             static_cast<int>(extent.size()), extent.data(), byte_stride.data(),
                             flags));
    }
    /// tw_get_box: data must have as many elements as the section; without a stride, all strides
    /// are 1. A rank whose arguments differ in size takes part with a count of -1, so that all
    /// ranks throw.
    /// @note Collective
    template <class T>
    void get_box(const std::string& var, std::span<const std::int64_t> start,
                 std::span<const std::int64_t> count, std::span<T> data,
                 std::span<const std::int64_t> stride = {}) {
        std::int64_t n = 1;
        for (std::int64_t c : count) n *= c;
        if (start.size() == count.size() && (stride.empty() || stride.size() == count.size()) &&
            n == static_cast<std::int64_t>(data.size())) {
            check(tw_get_box(file_, var.c_str(), type_of<T>(), padded(start).data(),
                             padded(count).data(), stride.empty() ? nullptr : padded(stride).data(),
                             data.data()));
            return;
        }
        const std::vector<std::int64_t> none = padded({});
        const int code = tw_get_box(file_, var.c_str(), type_of<T>(), none.data(), none.data(),
                                    nullptr, nullptr);
        throw Error(code, "get_box of '" + var + "': start, count, stride and data differ in size");
    }
    template <class T>
    void get_box(const std::string& var, const std::vector<std::int64_t>& start,
                 const std::vector<std::int64_t>& count, std::vector<T>& data,
                 const std::vector<std::int64_t>& stride = {}) {
        get_box<T>(var, std::span(start), std::span(count), std::span(data), std::span(stride));
    }
    /// tw_read @note Collective
    void read() { check(tw_read(file_)); }
    /// tw_prefetch @note Collective
    void prefetch() { check(tw_prefetch(file_)); }

    tw_file handle() const noexcept { return file_; }

private:
    friend class Session;
    /// Padded with invalid values, so that too few values are an error.
    static std::vector<std::int64_t> padded(std::span<const std::int64_t> values) {
        std::vector<std::int64_t> all(values.begin(), values.end());
        all.resize(std::max<std::size_t>(all.size(), 17), -1);
        return all;
    }
    File(tw_session session, tw_file file) : session_(session), file_(file) {}
    void swap(File& other) noexcept {
        std::swap(session_, other.session_);
        std::swap(file_, other.file_);
    }
    void check(int code) const {
        if (code == TW_OK) return;
        const char* text = tw_error_message(session_);
        throw Error(code, code == TW_EHANDLE || *text == '\0' ? tw_strerror(code) : text);
    }

    tw_session session_ = nullptr;
    tw_file file_ = nullptr;
};

/// tw_init to tw_finalize.
class Session {
public:
    /// @note Collective over comm
    explicit Session(MPI_Comm comm, const std::string& settings = "") {
        const int code = tw_init(comm, settings.c_str(), &session_);
        if (code == TW_OK) return;
        const std::string text = tw_error_message(session_);
        tw_finalize(&session_);
        throw Error(code, text.empty() ? tw_strerror(code) : text);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    /// Ends the session if finalize() was not called; errors are then lost. While an exception is
    /// unwinding the stack, it abandons the session (tw_abandon), because the other ranks may be
    /// anywhere.
    /// @note Collective, except while an exception is unwinding the stack
    ~Session() {
        if (session_ == nullptr) return;
        if (std::uncaught_exceptions() > exceptions_)
            tw_abandon(&session_);
        else
            tw_finalize(&session_);
    }

    /// tw_finalize @note Collective
    void finalize() {
        const int code = tw_finalize(&session_);
        if (code != TW_OK) throw Error(code, tw_strerror(code));
    }
    /// tw_wait: waits for files closed with "close=later", until at most `most` are incomplete
    /// @note Collective
    void wait(std::int64_t most = 0) { check(tw_wait(session_, most)); }
    /// tw_abandon
    void abandon() { check(tw_abandon(&session_)); }
    /// tw_inq_role
    tw_role role() const {
        int role = TW_MODEL;
        check(tw_inq_role(session_, &role));
        return static_cast<tw_role>(role);
    }
    /// tw_model_comm: belongs to the session
    MPI_Comm model_comm() const {
        MPI_Comm comm = MPI_COMM_NULL;
        check(tw_model_comm(session_, &comm));
        return comm;
    }
    /// tw_decompose @note Collective
    Decomposition decompose(const std::string& dims, const std::vector<std::int64_t>& shape,
                            const std::vector<Block>& blocks,
                            const std::vector<std::int64_t>& halo_low = {},
                            const std::vector<std::int64_t>& halo_high = {}) {
        std::vector<std::int64_t> start, count;
        for (const Block& b : blocks) {
            start.insert(start.end(), b.start.begin(), b.start.end());
            count.insert(count.end(), b.count.begin(), b.count.end());
        }
        Decomposition made = nullptr;
        check(tw_decompose_halo(session_, dims.c_str(), static_cast<int>(blocks.size()),
                                shape.data(), start.data(), count.data(),
                                halo_low.empty() ? nullptr : halo_low.data(),
                                halo_high.empty() ? nullptr : halo_high.data(), &made));
        return made;
    }
    /// tw_decompose_list: `indices` over the dimensions `listed`; -1 is a hole @note Collective
    Decomposition decompose_list(const std::string& dims, const std::vector<std::int64_t>& shape,
                                 const std::string& listed, std::span<const std::int64_t> indices,
                                 int flags = TW_LIST_UNIQUE) {
        Decomposition made = nullptr;
        check(tw_decompose_list(session_, dims.c_str(), shape.data(), listed.c_str(),
                                static_cast<std::int64_t>(indices.size()), indices.data(), flags,
                                &made));
        return made;
    }
    /// tw_fill_halo: TW_HALO_KEEP, ... for each dimension @note Collective
    void fill_halo(Decomposition decomposition, const std::vector<int>& edges) {
        check(tw_fill_halo(decomposition, edges.data()));
    }
    /// tw_pad: the extent in memory of every box @note Collective
    void pad(Decomposition decomposition, std::vector<std::int64_t> extent, std::int64_t boxes) {
        extent.resize(std::max<std::size_t>(extent.size(), 16), -1);  // too few: TW_ESHAPE
        check(tw_pad(decomposition, extent.data(), boxes));
    }
    /// tw_free_decomposition: variables and restarts keep what they need of it; becomes null
    void free_decomposition(Decomposition& decomposition) {
        check(tw_free_decomposition(&decomposition));
    }
    /// tw_create @note Collective
    File create(const std::string& path, const std::string& settings = "") {
        tw_file file = nullptr;
        check(tw_create(session_, path.c_str(), settings.c_str(), &file));
        return {session_, file};
    }
    /// tw_open @note Collective
    File open(const std::string& path, const std::string& settings = "") {
        tw_file file = nullptr;
        check(tw_open(session_, path.c_str(), settings.c_str(), &file));
        return {session_, file};
    }
    /// tw_restart_new @note Collective
    Restart restart(const std::string& settings = "");
    /// tw_summary @note Collective
    std::string summary() {
        const char* json = nullptr;
        check(tw_summary(session_, &json));
        return json;
    }
    tw_session handle() const noexcept { return session_; }

private:
    void check(int code) const {
        if (code == TW_OK) return;
        const char* text = tw_error_message(session_);
        throw Error(code, *text == '\0' ? tw_strerror(code) : text);
    }

    tw_session session_ = nullptr;
    int exceptions_ = std::uncaught_exceptions();  ///< uncaught when the session began
};

/// tw_recover: returns what was done. Needs neither a session nor MPI.
/// @param longer  whether an existing file with more records is replaced
inline std::string recover(const std::string& path, tw_recovery longer = TW_KEEP_LONGER) {
    char text[4096] = "";
    const int code = tw_recover(path.c_str(), longer, text, sizeof text);
    if (code != TW_OK) throw Error(code, *text == '\0' ? tw_strerror(code) : text);
    return text;
}

}  // namespace thalweg

#include "thalweg/restart.hpp"
