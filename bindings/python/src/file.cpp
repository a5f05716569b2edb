// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "session.hpp"

namespace thalweg::python {

namespace {

class File {
public:
    /// @param path  path; none if this rank's arguments are invalid, so that the call fails on all
    ///              ranks
    File(const Session& session, std::optional<std::string> path,
         std::optional<std::string> settings, bool create)
        : session_(session.state()), path_(path.value_or("")) {
        tw_session s = session_->get();
        const char* name = path ? path->c_str() : nullptr;
        const char* options = settings ? settings->c_str() : nullptr;
        check(without_gil(s,
                          [&] {
                              return create ? tw_create(s, name, options, &file_)
                                            : tw_open(s, name, options, &file_);
                          }),
              about({}, true));
    }
    File(SessionRef session, tw_file file, std::string path)
        : session_(std::move(session)), file_(file), path_(std::move(path)) {}
    ~File() {
        // The session closes an open file later, which writes these arrays, so let the session keep
        // them.
        if (session_->handle == nullptr) return;
        for (Held& held : deferred_) session_->kept.push_back(std::move(held));
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    bool is_open() const { return file_ != nullptr && session_->handle != nullptr; }

    void def_dim(const std::string& name, std::int64_t length) {
        call({}, false, [&] { return tw_def_dim(file_, name.c_str(), length); });
    }
    void def_var(const std::string& name, int type, const std::string& dims,
                 const Decomposition* d) {
        tw_decomposition held = handle_of(d);
        call(name, false, [&] {
            return tw_def_var(file_, name.c_str(), static_cast<tw_type>(type), dims.c_str(), held);
        });
    }
    /// @param values  a text as bytes, or an array
    void put_att(const std::string& var, const std::string& name, nb::handle values) {
        const Array a = array_of(values, Access::read);
        const tw_type type = nb::isinstance<nb::bytes>(values) ? TW_CHAR : a.type;
        call(var, false, [&] {
            return tw_put_att(file_, var.c_str(), name.c_str(), type, a.elements(), a.data());
        });
    }
    void set_var(const std::string& var, const std::string& settings) {
        call(var, false, [&] { return tw_set_var(file_, var.c_str(), settings.c_str()); });
    }
    void set_record(std::int64_t record, bool drop_later) {
        call({}, false, [&] {
            return tw_set_record(file_, record, drop_later ? TW_DROP_LATER : TW_KEEP_LATER);
        });
    }
    void enddef() {
        call({}, true, [&] { return tw_enddef(file_); });
    }

    void put(const std::string& name, nb::handle values, bool deferred) {
        Array a = array_of(values, Access::read);
        call(name, false, [&] {
            return tw_put_array(file_, name.c_str(), a.view(), deferred ? TW_DEFERRED : 0);
        });
        if (deferred) deferred_.push_back(std::move(a.held));
    }
    /// Replaces put() on a rank without a usable array. Always returns an error.
    void put_nothing(const std::string& name) {
        call(name, false, [&] { return tw_put(file_, name.c_str(), no_type, nullptr, -1); });
    }
    void put_record(const std::string& name, const Decomposition* d, std::int64_t record,
                    nb::handle values) {
        const Array a = array_of(values, Access::read);
        tw_decomposition held = handle_of(d);
        call(name, false,
             [&] { return tw_put_record_array(file_, name.c_str(), held, record, a.view(), 0); });
    }
    /// @param values  contiguous array
    void put_box(const std::string& name, Integers start, Integers count, Integers stride,
                 nb::handle values) {
        const Array a = array_of(values, Access::read);
        call(name, false, [&] {
            const bool fits = has_rank(name, std::ssize(start));
            return tw_put_box(file_, name.c_str(), a.type, fits ? start.data() : nullptr,
                              count.data(), stride.data(), fits ? a.data() : nullptr);
        });
    }
    void end_step() {
        written([&] { return tw_end_step(file_); });
    }
    void sync(bool durable) {
        written([&] { return tw_sync(file_, durable); });
    }
    /// Returns the address of the C handle, for histories.
    std::uintptr_t handle() const {
        (void)session_->get();
        return reinterpret_cast<std::uintptr_t>(file_);
    }
    void close() {
        if (file_ == nullptr) return;
        // tw_close makes the handle invalid even if it fails, unless another thread is in the
        // session.
        written([&] { return tw_close(&file_); });
        deferred_.clear();
        wanted_.clear();
    }

    nb::tuple inq() const {
        tw_file_info info;
        ask([&] { return tw_inq(file_, &info); });
        return nb::make_tuple(info.format, info.ndims, info.nvars, info.natts, info.records,
                              info.unlimited);
    }
    std::string dim_name(int index) const { return name_of(TW_DIMENSION, "", index); }
    std::string var_name(int index) const { return name_of(TW_VARIABLE, "", index); }
    std::string att_name(const std::string& var, int index) const {
        return name_of(TW_ATTRIBUTE, var, index);
    }
    std::int64_t dim(const std::string& name) const {
        std::int64_t length = 0;
        ask([&] { return tw_inq_dim(file_, name.c_str(), &length); });
        return length;
    }
    /// Returns (type, names of dimensions, lengths, number of attributes).
    nb::tuple var(const std::string& name) const {
        tw_type type = TW_BYTE;
        int rank = 0, attributes = 0;
        ask([&] { return tw_inq_var(file_, name.c_str(), &type, &rank, &attributes); }, name);
        nb::list names, lengths;
        for (int d = 0; d < rank; ++d) {
            const char* dim = "";
            std::int64_t length = 0;
            ask([&] { return tw_inq_var_dim(file_, name.c_str(), d, &dim, &length); }, name);
            names.append(dim);
            lengths.append(length);
        }
        return nb::make_tuple(static_cast<int>(type), nb::tuple(names), nb::tuple(lengths),
                              attributes);
    }
    /// Returns a tuple: lengths of the chunks, and a list of the filters' numbers and levels.
    nb::tuple storage(const std::string& name) const {
        int filters = 0, rank = 0, id[TW_MAX_FILTERS], level[TW_MAX_FILTERS];
        ask([&] { return tw_inq_var(file_, name.c_str(), nullptr, &rank, nullptr); }, name);
        Integers chunk(static_cast<std::size_t>(rank));
        ask(
            [&] {
                return tw_inq_var_storage(file_, name.c_str(), chunk.data(), &filters, id, level);
            },
            name);
        nb::list chunks, all;
        for (const std::int64_t length : chunk)
            if (length > 0) chunks.append(length);
        for (int k = 0; k < filters; ++k) all.append(nb::make_tuple(id[k], level[k]));
        return nb::make_tuple(nb::tuple(chunks), nb::tuple(all));
    }
    /// Returns a tuple: the type, and the values as bytes.
    nb::tuple att(const std::string& var, const std::string& name) const {
        tw_type type = TW_BYTE;
        std::int64_t n = 0;
        ask([&] { return tw_inq_att(file_, var.c_str(), name.c_str(), &type, &n); }, var);
        std::vector<char> bytes(static_cast<std::size_t>(n * size_of(type)));
        ask([&] { return tw_get_att(file_, var.c_str(), name.c_str(), type, n, bytes.data()); },
            var);
        return nb::make_tuple(static_cast<int>(type), nb::bytes(bytes.data(), bytes.size()));
    }

    void get(const std::string& name, const Decomposition* d, std::int64_t record, nb::handle out,
             bool deferred) {
        Array a = array_of(out, Access::write);
        tw_decomposition held = handle_of(d);
        call(name, !deferred, [&] {
            return tw_get_array(file_, name.c_str(), held, record, a.view(),
                                deferred ? TW_DEFERRED : 0);
        });
        if (deferred) wanted_.push_back(std::move(a.held));
    }
    /// Replaces get() on a rank without a usable array. The call fails on all ranks.
    void get_nothing(const std::string& name) {
        call(name, true,
             [&] { return tw_get(file_, name.c_str(), nullptr, 0, no_type, nullptr, -1); });
    }
    /// @param out  contiguous array; none if this rank's arguments are invalid, so that the call
    ///             fails on all ranks
    void get_box(const std::string& name, Integers start, Integers count, Integers stride,
                 nb::handle out) {
        Array a;
        a.type = no_type;
        if (!out.is_none()) a = array_of(out, Access::write);
        call(name, true, [&] {
            const bool fits = has_rank(name, std::ssize(start));
            return tw_get_box(file_, name.c_str(), a.type, fits ? start.data() : nullptr,
                              count.data(), stride.data(), fits && a.held ? a.data() : nullptr);
        });
    }
    void read() {
        // No request remains after the read, even if it fails.
        const auto end = [&] { wanted_.clear(); };
        try {
            call({}, true, [&] { return tw_read(file_); });
        } catch (...) {
            end();
            throw;
        }
        end();
    }
    void prefetch() {
        call({}, true, [&] { return tw_prefetch(file_); });
    }

private:
    About about(std::string_view variable, bool collective) const {
        return {path_, variable, collective};
    }
    tw_session session() const {
        tw_session s = session_->get();
        if (file_ == nullptr)
            raise_error(TW_ECLOSED, path_ + ": the file is closed", about({}, false));
        return s;
    }
    template <class F>
    void call(std::string_view variable, bool collective, F&& body) {
        check(without_gil(session(), body), about(variable, collective));
    }
    /// Makes a call after which, if it succeeds, the deferred arrays are no longer needed.
    template <class F>
    void written(F&& body) {
        tw_session s = session();
        const Outcome outcome = without_gil(s, body);
        if (outcome.code == TW_OK || outcome.code == TW_ERANGE) deferred_.clear();
        check(outcome, about({}, true));
    }
    template <class F>
    void ask(F&& body, std::string_view variable = {}) const {
        tw_session s = session();
        Outcome outcome;
        outcome.code = body();
        if (outcome.code != TW_OK && outcome.code != TW_ERANGE) {
            outcome.take(s);
            raise_error(outcome, about(variable, false));
        }
    }
    /// Tests if a variable has this number of dimensions.
    bool has_rank(const std::string& name, std::ptrdiff_t n) const {
        int rank = -1;
        (void)tw_inq_var(file_, name.c_str(), nullptr, &rank, nullptr);
        return n == rank;
    }
    std::string name_of(tw_item item, const std::string& var, int index) const {
        const char* text = "";
        ask([&] { return tw_inq_name(file_, item, var.c_str(), index, &text); });
        return text;
    }

    SessionRef session_;
    tw_file file_ = nullptr;
    std::string path_;
    std::vector<Held> deferred_;  ///< arrays of deferred puts that are not written yet
    std::vector<Held> wanted_;    ///< arrays that the next read will fill
};

}  // namespace

nb::object file_object(SessionRef session, tw_file file, std::string path) {
    return nb::cast(new File(std::move(session), file, std::move(path)),
                    nb::rv_policy::take_ownership);
}

std::int64_t size_of(tw_type type) {
    switch (type) {
        case TW_SHORT:
        case TW_USHORT: return 2;
        case TW_INT:
        case TW_UINT:
        case TW_FLOAT: return 4;
        case TW_DOUBLE:
        case TW_INT64:
        case TW_UINT64: return 8;
        default: return 1;
    }
}

void bind_file(nb::module_& module) {
    nb::class_<File>(module, "File")
        .def(nb::init<const Session&, std::optional<std::string>, std::optional<std::string>,
                      bool>(),
             nb::arg("session"), nb::arg("path").none(), nb::arg("settings").none(),
             nb::arg("create"))
        .def_prop_ro("is_open", &File::is_open)
        .def("def_dim", &File::def_dim)
        .def("def_var", &File::def_var, nb::arg("name"), nb::arg("type"), nb::arg("dims"),
             nb::arg("decomposition").none())
        .def("put_att", &File::put_att)
        .def("set_var", &File::set_var)
        .def("set_record", &File::set_record)
        .def("enddef", &File::enddef)
        .def("put", &File::put)
        .def("put_nothing", &File::put_nothing)
        .def("put_record", &File::put_record, nb::arg("name"), nb::arg("decomposition").none(),
             nb::arg("record"), nb::arg("values"))
        .def("put_box", &File::put_box)
        .def("end_step", &File::end_step)
        .def("sync", &File::sync)
        .def("handle", &File::handle)
        .def("close", &File::close)
        .def("inq", &File::inq)
        .def("dim_name", &File::dim_name)
        .def("var_name", &File::var_name)
        .def("att_name", &File::att_name)
        .def("dim", &File::dim)
        .def("var", &File::var)
        .def("storage", &File::storage)
        .def("att", &File::att)
        .def("get", &File::get, nb::arg("name"), nb::arg("decomposition").none(), nb::arg("record"),
             nb::arg("out"), nb::arg("deferred"))
        .def("get_nothing", &File::get_nothing)
        .def("get_box", &File::get_box, nb::arg("name"), nb::arg("start"), nb::arg("count"),
             nb::arg("stride"), nb::arg("out").none())
        .def("read", &File::read)
        .def("prefetch", &File::prefetch);
}

}  // namespace thalweg::python
