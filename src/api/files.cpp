// The C functions of files that are written, and tw_open.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include <thalweg/alone.h>

#include "api/attributes.hpp"
#include "api/new_handle.hpp"
#include "base/hash.hpp"
#include "storage/posix/paths.hpp"

using namespace thalweg::detail;

namespace {

/// The arguments of tw_create and tw_open, as this rank has translated them.
struct Request {
    Call call;
    const char* path;
    const char* settings;
    Settings own = {};
    std::string absolute = {};  ///< absolute path, the same on all ranks
    bool writes = false;
};

Status make(tw_session session, const Request& request, NewHandle& handle) {
    return handle.make(request.absolute, request.own, session->options_for(request.own),
                       request.writes);
}

/// Creates the file, or opens it.
/// @note Collective
Status begin_file(tw_file_impl& made) {
    return made.file ? made.file->begin() : made.reader->open();
}

/// Translates the arguments and makes the handle. Rank 0 determines the file to which the path
/// leads. Local.
Status prepare(tw_session session, Request& request, NewHandle& handle) {
    if (Status s = session->settings.for_file(text_or_empty(request.settings), request.own);
        !s.ok())
        return s;
    request.writes = request.call == Call::create || request.own.text("mode") == "append";
    const Status named = make_absolute(text_or_empty(request.path), request.absolute);
    if (session->rank == 0 && !named.ok()) return named;
    if (request.writes)
        if (Status s = check_unused(session, request.absolute); !s.ok()) return s;
    return make(session, request, handle);
}

/// Tests if a new file can be claimed before the ranks agree: no earlier file of its path is still
/// being closed. The same on every rank that makes the same call.
bool may_claim_early(tw_session session, const Request& request) {
    return request.call == Call::create && request.own.text("mode") == "read" &&
           session->files.closing.empty() && session->files.late.empty();
}

/// Checks that all ranks make the same call with the same path, before the file begins.
/// @note Collective
Status agree_on(tw_session session, tw_file* file, Request& request, NewHandle& handle) {
    const Status mine = file == nullptr
                            ? failure(TW_EARG, "the pointer for the file's handle is null")
                            : prepare(session, request, handle);
    const char* const path = text_or_empty(request.path);
    std::array<std::int64_t, 6 + FileNames::early_words> any{};
    const FileNames::EarlyWords early = std::span(any).last<FileNames::early_words>();
    const auto tell = [&](std::size_t at, std::int64_t value) {
        std::ranges::copy(equality_words(value), any.begin() + at);
    };
    if (mine.ok()) {
        tell(0, request.own.hash());
        tell(2, static_cast<std::int64_t>(hash_of(path)));
        tell(4, static_cast<std::int64_t>(hash_of(request.absolute)));
        if (may_claim_early(session, request)) handle.written()->claim_early(early);
    }
    if (Status s = enter(session, request.call, path, mine, 0, {any, {}, {}}); !s.ok()) return s;
    const auto alike = [&](std::size_t at) { return are_alike(std::span(any).subspan(at, 2)); };
    if (!alike(0)) return request.own.compare(session->team->world());
    if (alike(2) && alike(4)) {
        if (may_claim_early(session, request)) handle.written()->accept_early(early);
        return {};
    }
    // The ranks' paths or working folders differ, so use rank 0's.
    if (Status s = share_path(session->team->world(), path, request.absolute); !s.ok()) return s;
    return session->team->agree(make(session, request, handle));
}

/// Finds the decomposition whose handle was passed for a variable; the result is null for a null
/// handle.
Status find_decomposition(const tw_file_impl& file, const char* variable,
                          tw_decomposition decomposition,
                          std::shared_ptr<const Decomposition>& held) {
    Status status = decomposition_of(decomposition, file.session, held);
    if (!status.ok())
        reword(status, "{}: variable '{}': {}", file.path(), OfVariable{text_or_empty(variable)},
               status.text);
    return status;
}

/// Calls put(DataMode&), and notes that the file has data that cannot be read yet.
template <class F>
tw_status with_put(tw_file file, F&& put, const char* call = __builtin_FUNCTION()) {
    if (file == nullptr) return no_handle(call);
    const auto checked = [&]() -> Status {
        if (Status s = check_written(*file); !s.ok()) return s;
        if (Status s = file->file->begin_data(); !s.ok()) return s;
        Status status = put(file->file->data_mode());
        if (status.ok() || status.code == TW_ERANGE) file->readback->note_put();
        return status;
    };
    return guarded(file, checked, call);
}

tw_status put_record(tw_file file, const char* var, tw_decomposition decomposition,
                     std::int64_t record, const tw_array& array, int flags,
                     const char* call = __builtin_FUNCTION()) {
    const auto put = [&](DataMode& mode) -> Status {
        std::shared_ptr<const Decomposition> held;
        if (Status s = find_decomposition(*file, var, decomposition, held); !s.ok()) return s;
        constexpr int deferred = TW_DEFERRED | TW_BORROWED;
        if (Status s = check_flags(file->path(), var, flags, deferred | TW_PACKED); !s.ok())
            return s;
        return mode.parts().put_record(text_or_empty(var),
                                       {held, record, array, (flags & deferred) != 0,
                                        (flags & TW_BORROWED) != 0, (flags & TW_PACKED) != 0});
    };
    return with_put(file, put, call);
}

tw_status put_box(tw_file file, const char* var, BoxToPut box, int flags,
                  const char* call = __builtin_FUNCTION()) {
    const auto put = [&](DataMode& mode) -> Status {
        if (Status s = check_flags(file->path(), var, flags, TW_ALONE | TW_PACKED); !s.ok())
            return s;
        box.alone = (flags & TW_ALONE) != 0;
        box.packed = (flags & TW_PACKED) != 0;
        return mode.parts().put_box(text_or_empty(var), box);
    };
    return with_put(file, put, call);
}

}  // namespace

extern "C" {

tw_status tw_create(tw_session session, const char* path, const char* settings, tw_file* file) {
    tell(file, tw_file{});
    if (!is_model(session)) return no_model(session);
    return guarded(session, CallObject{path}, [&]() -> Status {
        NewHandle handle(session);
        Request request{Call::create, path, settings};
        if (Status s = agree_on(session, file, request, handle); !s.ok()) return s;
        if (Status s = settle_path(session, request.absolute); !s.ok()) return s;
        if (request.own.text("mode") != "read")
            return failure(TW_ESETTING,
                           "{}: mode={} is only for tw_open; tw_create creates a new file",
                           request.absolute, request.own.text("mode"));
        return handle.begin(begin_file, file);
    });
}

tw_status tw_set_record(tw_file file, int64_t record, tw_later later) {
    return with_file(file, [&](File& f) { return f.definitions().set_record(record, later); });
}

tw_status tw_def_dim(tw_file file, const char* name, int64_t length) {
    return with_definitions(
        file, [&](auto& f) { return f.define_dimension(text_or_empty(name), length); });
}

tw_status tw_def_var(tw_file file, const char* name, tw_type type, const char* dims,
                     tw_decomposition decomposition) {
    return with_file(file, [&](File& f) -> Status {
        std::shared_ptr<const Decomposition> held;
        if (Status s = find_decomposition(*file, name, decomposition, held); !s.ok()) return s;
        return f.definitions().define_variable(text_or_empty(name), type, text_or_empty(dims),
                                               std::move(held));
    });
}

tw_status tw_put_att(tw_file file, const char* var, const char* name, tw_type type, int64_t n,
                     const void* values) {
    return with_definitions(file, [&](auto& f) -> Status {
        Attribute a;
        Status status = make_attribute(file->path(), name, type, n, values, a);
        return status.ok() ? f.put_attribute(text_or_empty(var), std::move(a)) : status;
    });
}

tw_status tw_put_att_text(tw_file file, const char* var, const char* name, const char* text) {
    if (text == nullptr)
        return with_definitions(file, [&](auto&) {
            return failure(TW_EARG, "{}: attribute '{}': the text is missing (null pointer)",
                           file->path(), text_or_empty(name));
        });
    return tw_put_att(file, var, name, TW_CHAR, std::strlen(text), text);
}

tw_status tw_set_var(tw_file file, const char* var, const char* settings) {
    return with_definitions(
        file, [&](auto& f) { return f.set_variable(text_or_empty(var), text_or_empty(settings)); });
}

tw_status tw_enddef(tw_file file) {
    return with_file(file, [](File& f) { return f.end_definitions(); });
}

tw_status tw_put(tw_file file, const char* var, tw_type type, const void* data, int64_t n) {
    return with_put(file, [&](DataMode& mode) {
        return mode.put(text_or_empty(var), tw_dense(type, data, n), false);
    });
}

tw_status tw_put_array(tw_file file, const char* var, tw_array array, int flags) {
    return with_put(file, [&](DataMode& mode) -> Status {
        if (Status s = check_flags(file->path(), var, flags, TW_DEFERRED); !s.ok()) return s;
        return mode.put(text_or_empty(var), array, (flags & TW_DEFERRED) != 0);
    });
}

tw_status tw_put_box(tw_file file, const char* var, tw_type type, const int64_t* start,
                     const int64_t* count, const int64_t* stride, const void* data) {
    return put_box(file, var, {type, start, count, stride, data}, 0);
}

tw_status tw_put_box_as(tw_file file, const char* var, tw_type type, const int64_t* start,
                        const int64_t* count, const int64_t* stride, const void* data, int flags) {
    return put_box(file, var, {type, start, count, stride, data}, flags);
}

tw_status tw_put_record(tw_file file, const char* var, tw_decomposition decomposition,
                        int64_t record, tw_type type, const void* data, int64_t n) {
    return put_record(file, var, decomposition, record, tw_dense(type, data, n), 0);
}

tw_status tw_put_record_array(tw_file file, const char* var, tw_decomposition decomposition,
                              int64_t record, tw_array array, int flags) {
    return put_record(file, var, decomposition, record, array, flags);
}

tw_status tw_end_step(tw_file file) {
    return with_file(file, [&](File& f) {
        file->readback->note_put();
        Status begun = f.begin_data();
        return begun.ok() ? f.data_mode().end_step() : begun;
    });
}

tw_status tw_sync(tw_file file, int durable) {
    if (file != nullptr && file->reader) return guarded(file, [&] { return file->reader->sync(); });
    return with_file(file, [&](File& f) {
        Status status = f.sync(durable != 0);
        if (!status.ok() && status.code != TW_ERANGE) return status;
        Status synced = file->readback->synced();
        return synced.ok() ? status : synced;
    });
}

tw_status tw_close(tw_file* file) {
    if (file == nullptr || *file == nullptr) return no_handle();
    tw_file f = *file;
    const auto close = [&]() -> Status {
        if (f->about && !f->about->left.ok() && f->about->was_read) return {};
        Status open = check_open(*f);
        return open.ok() ? close_file(*f) : open;
    };
    const CallObject of{f->path().c_str(), f};  // the call belongs to no step
    const tw_status code = guarded(f->session, of, close, "tw_close");
    if (!was_refused(code)) *file = nullptr;
    return code;
}

tw_status tw_open(tw_session session, const char* path, const char* settings, tw_file* file) {
    tell(file, tw_file{});
    if (!is_model(session)) return no_model(session);
    return guarded(session, CallObject{path}, [&]() -> Status {
        NewHandle handle(session);
        Request request{Call::open, path, settings};
        if (Status s = agree_on(session, file, request, handle); !s.ok()) return s;
        if (Status s = settle_path(session, request.absolute); !s.ok()) return s;
        return handle.begin(begin_file, file);
    });
}

}  // extern "C"
