// Inquiry and reading of open files: a part of thalweg.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "thalweg/decomposition.hpp"

namespace thalweg {

/// The results of tw_inq.
struct Summary {
    std::string format;
    std::string unlimited;  ///< "" if there is no record dimension
    int dims = 0, variables = 0, attributes = 0, groups = 0;
    std::int64_t records = 0;
};

/// The results of tw_inq_var and tw_inq_var_dim; dimensions slowest first.
struct Variable {
    Type type = Type::none;
    std::vector<std::string> dims;
    std::vector<std::int64_t> shape;
    int attributes = 0;
};

/// The results of tw_inq_var_storage.
struct Storage {
    struct Filter {
        int id = 0, level = 0;
    };
    std::vector<std::int64_t> chunks;  ///< slowest dimension first; empty: not stored in chunks
    std::vector<Filter> filters;       ///< in the order in which they were applied
};

/// Functions that File and Reader have in common: inquiry, reading, closing. A File can be read in
/// the state of its last sync().
///
/// The destructor closes a file that is still open, as close() does; Session::finalize() throws the
/// first error of such a file. While an exception unwinds the stack, the destructor does not close
/// the file, because closing is collective and other ranks may be in other calls; the file is
/// closed when the session ends. Assigning to a file that is open closes it first.
class OpenFile {
public:
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    /// Calls tw_sync. @note Collective
    void sync(bool durable = false) { check(tw_sync(file(), durable ? 1 : 0)); }
    /// Calls tw_close. Throws errors, which the destructor cannot do. @note Collective
    void close() { check(tw_close(owned_.address())); }
    /// Gives up the handle; the caller has to close it with tw_close.
    tw_file release() noexcept { return std::exchange(*owned_.address(), nullptr); }
    tw_file handle() const noexcept { return file(); }
    explicit operator bool() const noexcept { return file() != nullptr; }

    // Inquiry. Local. Dimensions, variables and attributes are numbered from 0. inq() calls tw_inq.
    Summary inq() const {
        tw_file_info info;
        check(tw_inq(file(), &info));
        return {info.format, info.unlimited, info.ndims,  info.nvars,
                info.natts,  info.ngroups,   info.records};
    }
    /// Calls tw_inq_name.
    std::string dim_name(int index) const { return name_of(TW_DIMENSION, nullptr, index); }
    std::string var_name(int index) const { return name_of(TW_VARIABLE, nullptr, index); }
    std::string att_name(const std::string& var, int index) const {
        return name_of(TW_ATTRIBUTE, var.c_str(), index);
    }
    /// tw_inq_dim: returns the length of a dimension
    std::int64_t dim(const std::string& name) const {
        std::int64_t length = 0;
        check(tw_inq_dim(file(), name.c_str(), &length));
        return length;
    }
    /// Calls tw_inq_var and tw_inq_var_dim.
    Variable var(const std::string& name) const {
        Variable v;
        int nd = 0;
        tw_type type = TW_BYTE;
        check(tw_inq_var(file(), name.c_str(), &type, &nd, &v.attributes));
        v.type = static_cast<Type>(type);
        for (int d = 0; d < nd; ++d) {
            const char* dim = nullptr;
            std::int64_t length = 0;
            check(tw_inq_var_dim(file(), name.c_str(), d, &dim, &length));
            v.dims.emplace_back(dim);
            v.shape.push_back(length);
        }
        return v;
    }
    /// tw_get_att: reads all values of an attribute, converted
    template <class T>
    std::vector<T> get_att(const std::string& var, const std::string& name) const {
        std::int64_t n = 0;
        check(tw_inq_att(file(), var.c_str(), name.c_str(), nullptr, &n));
        std::vector<T> values(static_cast<std::size_t>(n));
        check(tw_get_att(file(), var.c_str(), name.c_str(), static_cast<tw_type>(type_of<T>()), n,
                         values.data()));
        return values;
    }
    /// Calls tw_get_att_text.
    std::string get_att_text(const std::string& var, const std::string& name) const {
        const std::vector<char> text = get_att<char>(var, name);
        return {text.begin(), text.end()};
    }

    /// tw_get_array: reads this rank's part of a variable. A rank whose decomposition is empty
    /// takes part with an invalid array, so that all ranks throw.
    /// @param held    a Decomposition, or `replicated`
    /// @param record  from 0; ignored for a variable without record dimension
    /// @note Collective
    template <AnyArrayInPlace A>
    void get(const std::string& var, const Holding& held, std::int64_t record, A&& data) {
        const tw_status code =
            tw_get_array(file(), var.c_str(), held.handle(), record,
                         held.empty() ? handles::no_array() : handles::target_of(data), 0);
        held.check(var);
        check(code);
    }
    /// tw_get_array with TW_DEFERRED: the array is in use until read()
    template <AnyArrayInPlace A>
    void get_deferred(const std::string& var, const Holding& held, std::int64_t record, A&& data) {
        held.check(var);
        check(tw_get_array(file(), var.c_str(), held.handle(), record, handles::target_of(data),
                           TW_DEFERRED));
    }
    /// tw_get_box: data must have as many elements as the section; without a stride, all strides
    /// are 1. A rank whose arguments differ in size takes part without a start, so that all ranks
    /// throw.
    /// @note Collective
    template <ArrayInPlace A>
    void get_box(const std::string& var, const std::vector<std::int64_t>& start,
                 const std::vector<std::int64_t>& count, A&& data,
                 const std::vector<std::int64_t>& stride = {}) {
        constexpr tw_type type = handles::type_in<A>();
        if (start.size() == count.size() && (stride.empty() || stride.size() == count.size()) &&
            handles::volume(count) == handles::size_of(data)) {
            const bool fits = has_rank(var, start.size());
            check(tw_get_box(file(), var.c_str(), type, fits ? start.data() : nullptr, count.data(),
                             stride.empty() ? nullptr : stride.data(),
                             fits ? std::ranges::data(data) : nullptr));
            return;
        }
        const tw_status code =
            tw_get_box(file(), var.c_str(), type, nullptr, nullptr, nullptr, nullptr);
        throw Error(code, "get_box of '" + var + "': start, count, stride and data differ in size");
    }
    /// tw_read: reads what get_deferred has requested @note Collective
    void read() { check(tw_read(file())); }

protected:
    OpenFile() = default;
    OpenFile(handles::SessionPtr session, tw_file file) : owned_(std::move(session), file) {}
    OpenFile(OpenFile&& other) noexcept = default;
    OpenFile& operator=(OpenFile&& other) noexcept {
        if (this != &other) {
            end();
            owned_.swap(other.owned_);
        }
        return *this;
    }
    ~OpenFile() { end(); }

    tw_file file() const noexcept { return owned_.get(); }
    void check(tw_status code) const { owned_.check(code); }
    /// Tests if a variable has this number of dimensions.
    bool has_rank(const std::string& var, std::size_t n) const {
        int rank = -1;
        (void)tw_inq_var(file(), var.c_str(), nullptr, &rank, nullptr);
        return rank >= 0 && n == static_cast<std::size_t>(rank);
    }

private:
    std::string name_of(tw_item item, const char* var, int index) const {
        const char* name = nullptr;
        check(tw_inq_name(file(), item, var, index, &name));
        return name;
    }
    void end() noexcept try {
        if (file() == nullptr || owned_.unwinding()) return;
        const tw_session session = owned_.session();
        const tw_status code = tw_close(owned_.address());
        if (code == TW_OK || owned_.session_ptr()->unseen) return;
        owned_.session_ptr()->unseen.emplace(code, tw_error_message(session));
    } catch (const std::exception&) {  // there is no memory for the text
    }

    handles::Owned<tw_file> owned_;
};

/// A file open for reading (Session::open, Restart::read).
class Reader : public OpenFile {
public:
    Reader() = default;

    /// Calls tw_prefetch. @note Collective
    void prefetch() { check(tw_prefetch(file())); }
    /// Calls tw_inq_var_storage.
    Storage storage(const std::string& var) const {
        Storage s;
        int nd = 0, filters = 0, id[TW_MAX_FILTERS], level[TW_MAX_FILTERS];
        check(tw_inq_var(file(), var.c_str(), nullptr, &nd, nullptr));
        s.chunks.resize(static_cast<std::size_t>(nd));
        check(tw_inq_var_storage(file(), var.c_str(), s.chunks.data(), &filters, id, level));
        if (nd > 0 && s.chunks.front() == 0) s.chunks.clear();
        for (int k = 0; k < filters; ++k) s.filters.push_back({id[k], level[k]});
        return s;
    }

private:
    friend class Session;
    friend class Restart;
    using OpenFile::OpenFile;
};

}  // namespace thalweg
