// The C functions of files that are read.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/attributes.hpp"
#include "base/text/nearest.hpp"
#include "session/calls.hpp"

using namespace thalweg::detail;

namespace {

/// Finds an element of a list by its number; the error names the number.
template <class List, class T>
Status entry(const tw_file_impl& file, const List& list, int index, const char* what,
             const T*& found) {
    const int n = list.size();
    if (index < 0 || index >= n)
        return failure(TW_EBOUNDS, "{}: no {} {}; there are {}", file.path(), what,
                       file.session->wording.index(index), n);
    found = &list[index];
    return {};
}

template <class T>
Status name_of_entry(const tw_file_impl& file, const NamedList<T>& list, int index,
                     const char* what, const char** name) {
    const T* found = nullptr;
    Status status = entry(file, list, index, what, found);
    if (status.ok()) tell(name, found->name.c_str());
    return status;
}

/// Calls body(contents, variable); see with_contents().
template <class F>
tw_status with_variable(tw_file file, const char* name, F&& body, bool defined = false,
                        const char* call = __builtin_FUNCTION()) {
    const auto find = [&](const Contents& contents) -> Status {
        const Definitions& d = contents.definitions;
        const int at = d.find_variable(text_or_empty(name));
        if (at < 0)
            return no_variable(d, file->path(), text_or_empty(name), file->session->team->rank());
        return body(contents, d.variables[at]);
    };
    return with_contents(file, find, defined, call);
}

/// Calls body(contents, attribute); see with_contents().
template <class F>
tw_status with_attribute(tw_file file, const char* variable, const char* name, F&& body,
                         const char* call = __builtin_FUNCTION()) {
    const auto find = [&](const Contents& contents) {
        const Attribute* a = nullptr;
        Status s = find_attribute(file->path(), contents.definitions, variable, name, a);
        return s.ok() ? body(contents, *a) : s;
    };
    return with_contents(file, find, false, call);
}

tw_status get_array(tw_file file, const char* var, tw_decomposition decomposition,
                    std::int64_t record, const tw_array& array, int flags,
                    const char* call = __builtin_FUNCTION()) {
    return with_reader(
        file,
        [&](auto& r) {
            GetArguments arguments;
            arguments.name = text_or_empty(var);
            arguments.wrong =
                decomposition_of(decomposition, file->session, arguments.decomposition);
            arguments.record = record;
            arguments.array = array;
            if (arguments.wrong.ok())
                arguments.wrong = check_flags(file->path(), var, flags, TW_DEFERRED);
            if ((flags & TW_DEFERRED) != 0) return r.get_deferred(arguments);
            if constexpr (std::is_same_v<decltype(r), Reader&>)
                if (file->exact)
                    return read_exactly(*file->session->team, r, file->path(), std::move(arguments),
                                        file->checksums);
            return r.get(arguments);
        },
        call);
}

}  // namespace

extern "C" {

tw_status tw_inq(tw_file file, tw_file_info* info) {
    return with_contents(file, [&](const Contents& contents) -> Status {
        if (info == nullptr)
            return failure(TW_EARG, "{}: the pointer for the information is null", file->path());
        const Definitions& d = contents.definitions;
        const int record = d.record_dim();
        const Source* source =
            file->reader ? &file->reader->contents() : file->file->definitions().contents();
        info->format = contents.format;
        info->unlimited = record < 0 ? "" : d.dims[record].name.c_str();
        info->ndims = d.dims.size();
        info->nvars = d.variables.size();
        info->natts = d.attributes.size();
        info->ngroups = source != nullptr ? source->contents().groups : 0;
        info->records = contents.records;
        return {};
    });
}

tw_status tw_inq_dim(tw_file file, const char* name, int64_t* length) {
    return with_contents(file, [&](const Contents& contents) -> Status {
        if (length == nullptr)
            return failure(TW_EARG, "{}: the pointer for the length is null", file->path());
        const Definitions& d = contents.definitions;
        const int at = d.find_dim(text_or_empty(name));
        if (at < 0)
            return failure(TW_ENOTFOUND, "{}: no dimension '{}'{}", file->path(),
                           text_or_empty(name),
                           did_you_mean(text_or_empty(name), d.dims.first_names()));
        *length = contents.length(at);
        return {};
    });
}

tw_status tw_inq_name(tw_file file, tw_item item, const char* var, int index, const char** name) {
    return with_contents(file, [&](const Contents& contents) -> Status {
        const Definitions& d = contents.definitions;
        if (item == TW_DIMENSION) return name_of_entry(*file, d.dims, index, "dimension", name);
        if (item == TW_VARIABLE) return name_of_entry(*file, d.variables, index, "variable", name);
        if (item != TW_ATTRIBUTE)
            return failure(TW_EARG, "{}: unknown item {}", file->path(), static_cast<int>(item));
        const NamedList<Attribute>* list = nullptr;
        Status status = attributes_of(file->path(), d, var, list);
        return status.ok() ? name_of_entry(*file, *list, index, "attribute", name) : status;
    });
}

tw_status tw_inq_var(tw_file file, const char* var, tw_type* type, int* ndims, int* natts) {
    const auto describe = [&](const Contents&, const Variable& v) -> Status {
        tell(type, v.type);
        tell(ndims, v.dims.size());
        tell(natts, v.attributes.size());
        return {};
    };
    return with_variable(file, var, describe, true);
}

tw_status tw_inq_var_dim(tw_file file, const char* var, int index, const char** name,
                         int64_t* length) {
    return with_variable(file, var, [&](const Contents& contents, const Variable& v) {
        const int* found = nullptr;
        Status status = entry(*file, v.dims, index, "dimension of the variable", found);
        if (!status.ok()) return status;
        tell(name, contents.definitions.dims[*found].name.c_str());
        tell(length, contents.length(*found));
        return status;
    });
}

tw_status tw_inq_var_storage(tw_file file, const char* var, int64_t* chunk, int* nfilters,
                             int* filter, int* level) {
    const auto describe = [&](const Contents& contents, const Variable& v) -> Status {
        const auto at = static_cast<int>(&v - &contents.definitions.variables[0]);
        const std::optional<VariableStorage> storage =
            file->reader ? file->reader->contents().contents().variables[at].storage
                         : file->readback->stored(at);
        if (!storage)
            return failure(TW_ESTATE,
                           "{}: the file is being written: only of files with chunks, and after "
                           "tw_sync, is known how variables are stored",
                           file->path());
        for (std::size_t d = 0; chunk != nullptr && d < v.dims.size(); ++d)
            chunk[d] = storage->chunk.empty() ? 0 : storage->chunk[d];
        const std::size_t n = std::min<std::size_t>(storage->filters.size(), TW_MAX_FILTERS);
        tell(nfilters, n);
        for (std::size_t i = 0; i < n; ++i) {
            if (filter != nullptr) filter[i] = storage->filters[i].id;
            if (level != nullptr) level[i] = storage->filters[i].level;
        }
        return {};
    };
    return with_variable(file, var, describe, true);
}

tw_status tw_inq_att(tw_file file, const char* var, const char* name, tw_type* type, int64_t* n) {
    return with_attribute(file, var, name, [&](const Contents&, const Attribute& a) -> Status {
        tell(type, a.type);
        tell(n, a.n);
        return {};
    });
}

tw_status tw_get_att(tw_file file, const char* var, const char* name, tw_type type, int64_t n,
                     void* values) {
    return with_attribute(file, var, name, [&](const Contents& contents, const Attribute& a) {
        return get_attribute(file->path(), a, contents.byte_of_any_sign, type, n, values);
    });
}

tw_status tw_get_att_text(tw_file file, const char* var, const char* name, int64_t size,
                          char* text) {
    return with_attribute(file, var, name, [&](const Contents&, const Attribute& a) {
        return get_attribute_text(file->path(), a, size, text);
    });
}

tw_status tw_get(tw_file file, const char* var, tw_decomposition decomposition, int64_t record,
                 tw_type type, void* data, int64_t n) {
    return get_array(file, var, decomposition, record, tw_dense(type, data, n), 0);
}

tw_status tw_get_array(tw_file file, const char* var, tw_decomposition decomposition,
                       int64_t record, tw_array array, int flags) {
    return get_array(file, var, decomposition, record, array, flags);
}

tw_status tw_get_box(tw_file file, const char* var, tw_type type, const int64_t* start,
                     const int64_t* count, const int64_t* stride, void* data) {
    return with_reader(file, [&](auto& r) {
        return r.get_box({text_or_empty(var), type, start, count, stride, data});
    });
}

tw_status tw_read(tw_file file) {
    return with_reader(file, [](auto& r) { return r.read(); });
}

tw_status tw_prefetch(tw_file file) {
    return with_reader(file, [](auto& r) { return r.prefetch(); });
}

}  // extern "C"
