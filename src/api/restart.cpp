// The C functions of restarts.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "api/attributes.hpp"
#include "session/calls.hpp"

using namespace thalweg::detail;

namespace {

template <class F>
tw_status with_restart(tw_restart restart, F&& body, const char* call = __builtin_FUNCTION()) {
    if (restart == nullptr) return no_handle(call);
    return guarded(restart->session, std::forward<F>(body), call);
}

/// What a restart's file is told: what would cost bits, or the old file before the new one is
/// complete, is not for it.
FileOptions options_of(const tw_restart_impl& restart) {
    FileOptions options = restart.session->options_for(restart.settings);
    options.live = options.append = false;
    options.tile_files = options.by_variable = options.shards = false;
    options.stream.clear();  // of output
    options.packing.erase("quantize");
    return options;
}

/// A file that is written or read. @note Collective
template <class Kind>
Status make_one(const tw_restart_impl& restart, const std::string& path,
                std::unique_ptr<Kind>& made) {
    tw_session session = restart.session;
    const int serial = ++session->created;
    return session->team->agree(alone([&]() -> Status {
        made = std::make_unique<Kind>(*session->team, *session, path, serial, options_of(restart));
        return {};
    }));
}

/// Completes what a call is given. @param possible  flags
Status complete(tw_restart restart, Registration& r, const char* name, const char* dims,
                tw_decomposition decomposition, const tw_array& array, int flags, int possible) {
    r.name = text_or_empty(name);
    r.dims = text_or_empty(dims);
    r.array = array;
    r.optional = (flags & TW_OPTIONAL) != 0;
    r.copied = (flags & TW_COPIED) != 0;
    r.by_position = (flags & TW_BY_POSITION) != 0;
    std::shared_ptr<const Decomposition> held;
    if (Status status = decomposition_of(decomposition, restart->session, held); !status.ok()) {
        status.text = fmt::format("restart: variable '{}': {}", r.name, status.text);
        return status;
    }
    if (decomposition != nullptr) r.declared = decomposition->declared;
    return check_flags("restart", name, flags, possible);
}

tw_status add(tw_restart restart, const char* name, const char* dims,
              tw_decomposition decomposition, const tw_array& array, int flags,
              const char* call = __builtin_FUNCTION()) {
    return with_restart(
        restart,
        [&] {
            Registration r;
            Status status = complete(restart, r, name, dims, decomposition, array, flags,
                                     TW_OPTIONAL | TW_COPIED | TW_BY_POSITION);
            return status.ok() ? restart->restart.add(r) : status;
        },
        call);
}

/// @note Collective
tw_status get(tw_restart restart, const char* name, const char* dims,
              tw_decomposition decomposition, const tw_array& array, int flags,
              const char* call = __builtin_FUNCTION()) {
    return with_restart(
        restart,
        [&] {
            Registration r;
            const Status mine = alone([&] {
                return complete(restart, r, name, dims, decomposition, array, flags,
                                TW_OPTIONAL | TW_BY_POSITION);
            });
            Status status = enter(restart->session, Call::restart_get, text_or_empty(name), mine);
            return status.ok() ? restart->restart.get(r, restart->settings.flag("checksum"))
                               : status;
        },
        call);
}

Status find_read(const tw_restart_impl& restart, const char* var, const char* name,
                 const Attribute*& found) {
    const Definitions* read = restart.restart.read_definitions();
    if (read == nullptr)
        return failure(TW_ESTATE, "restart: attribute '{}': nothing has been read yet",
                       text_or_empty(name));
    return find_attribute("restart", *read, var, name, found);
}

}  // namespace

extern "C" {

tw_status tw_restart_new(tw_session session, const char* settings, tw_restart* restart) {
    tell(restart, tw_restart{});
    if (!is_model(session)) return no_model(session);
    return guarded(session, [&]() -> Status {
        Comm& world = session->team->world();
        Settings own;
        Status status = alone([&]() -> Status {
            if (restart == nullptr)
                return failure(TW_EARG, "the pointer for the restart's handle is null");
            return session->settings.for_file(
                std::string("durable=yes; ") + text_or_empty(settings), own);
        });
        if (status = enter(session, Call::restart_new, "", status); !status.ok()) return status;
        if (status = own.check_alike(world); !status.ok()) return status;
        status = session->team->agree(alone([&]() -> Status {
            session->restarts.reserve(session->restarts.size() + 1);
            session->restarts.push_back(std::unique_ptr<tw_restart_impl>(new tw_restart_impl{
                session, std::move(own), Restart(*session->team, session->wording)}));
            return {};
        }));
        if (status.ok()) *restart = session->restarts.back().get();
        return status;
    });
}

tw_status tw_restart_free(tw_restart* restart) {
    if (restart == nullptr || *restart == nullptr) return no_handle();
    const tw_restart r = *restart;
    const tw_status code = guarded(r->session, [&]() -> Status {
        if (r->restart.is_open())
            return failure(TW_ESTATE, "restart: a file is still open; call tw_restart_close first");
        std::erase_if(r->session->restarts, [&](const auto& own) { return own.get() == r; });
        return {};
    });
    if (code != TW_ESTATE) *restart = nullptr;
    return code;
}

tw_status tw_restart_def_dim(tw_restart restart, const char* name, int64_t length) {
    return with_restart(
        restart, [&] { return restart->restart.define_dimension(text_or_empty(name), length); });
}

tw_status tw_restart_add(tw_restart restart, const char* name, tw_type type, const char* dims,
                         tw_decomposition decomposition, void* data, int64_t n, int flags) {
    return add(restart, name, dims, decomposition, tw_dense(type, data, n), flags);
}

tw_status tw_restart_add_array(tw_restart restart, const char* name, const char* dims,
                               tw_decomposition decomposition, tw_array array, int flags) {
    return add(restart, name, dims, decomposition, array, flags);
}

tw_status tw_restart_set_var(tw_restart restart, const char* var, const char* settings) {
    return with_restart(restart, [&] {
        return restart->restart.set_variable(text_or_empty(var), text_or_empty(settings));
    });
}

tw_status tw_restart_put_att(tw_restart restart, const char* var, const char* name, tw_type type,
                             int64_t n, const void* values) {
    return with_restart(restart, [&] {
        Attribute a;
        Status status = make_attribute("restart", name, type, n, values, a);
        return status.ok() ? restart->restart.put_attribute(text_or_empty(var), std::move(a))
                           : status;
    });
}

tw_status tw_restart_put_att_text(tw_restart restart, const char* var, const char* name,
                                  const char* text) {
    return tw_restart_put_att(restart, var, name, TW_CHAR,
                              text == nullptr ? -1 : static_cast<int64_t>(std::strlen(text)), text);
}

tw_status tw_restart_write(tw_restart restart, const char* path) {
    if (restart == nullptr) return no_handle();
    tw_session session = restart->session;
    return guarded(session, path, [&]() -> Status {
        if (Status s = enter(session, Call::restart_write, text_or_empty(path)); !s.ok()) return s;
        std::string absolute;
        Status status = share_path(session->team->world(), text_or_empty(path), absolute);
        if (status.ok()) status = settle_path(session, absolute);
        if (!status.ok()) return status;
        if (status = check_unused(session, absolute); !status.ok()) return status;
        std::unique_ptr<File> file;
        if (status = make_one(*restart, absolute, file); !status.ok()) return status;
        status = restart->restart.write(*file, absolute, restart->settings.flag("checksum"),
                                        restart->settings.text("attributes") == "first");
        (void)alone([&]() -> Status {  // not worth an error
            session->finished.add(file->figures());
            return {};
        });
        return status;
    });
}

tw_status tw_restart_read(tw_restart restart, const char* path) {
    if (restart == nullptr) return no_handle();
    tw_session session = restart->session;
    return guarded(session, path, [&]() -> Status {
        if (Status s = enter(session, Call::restart_read, text_or_empty(path)); !s.ok()) return s;
        std::string absolute;
        Status status = share_path(session->team->world(), text_or_empty(path), absolute);
        if (!status.ok()) return status;
        if (status = settle_path(session, absolute); !status.ok()) return status;
        std::unique_ptr<Reader> reader;
        if (status = make_one(*restart, absolute, reader); !status.ok()) return status;
        return restart->restart.read(*reader, absolute, restart->settings.flag("checksum"));
    });
}

tw_status tw_restart_open(tw_restart restart, const char* path) {
    if (restart == nullptr) return no_handle();
    tw_session session = restart->session;
    return guarded(session, path, [&]() -> Status {
        if (Status s = enter(session, Call::restart_open, text_or_empty(path)); !s.ok()) return s;
        std::string absolute;
        Status status = share_path(session->team->world(), text_or_empty(path), absolute);
        if (!status.ok()) return status;
        if (status = settle_path(session, absolute); !status.ok()) return status;
        std::unique_ptr<Reader> reader;
        if (status = make_one(*restart, absolute, reader); !status.ok()) return status;
        return restart->restart.open(std::move(reader), absolute);
    });
}

tw_status tw_restart_get(tw_restart restart, const char* name, tw_type type, const char* dims,
                         tw_decomposition decomposition, void* data, int64_t n, int flags) {
    return get(restart, name, dims, decomposition, tw_dense(type, data, n), flags);
}

tw_status tw_restart_get_strided(tw_restart restart, const char* name, tw_type type,
                                 const char* dims, tw_decomposition decomposition, void* data,
                                 int rank, const int64_t* extent, const int64_t* byte_stride,
                                 int flags) {
    return get(restart, name, dims, decomposition,
               tw_strided(type, data, rank, extent, byte_stride), flags);
}

tw_status tw_restart_close(tw_restart restart) {
    return with_restart(restart, [&]() -> Status {
        Status status = enter(restart->session, Call::restart_close);
        return status.ok() ? restart->restart.close() : status;
    });
}

tw_status tw_restart_found(tw_restart restart, const char* name, int* found) {
    return with_restart(restart, [&] {
        bool there = false;
        Status status = restart->restart.found(text_or_empty(name), there);
        if (status.ok()) tell(found, there ? 1 : 0);
        return status;
    });
}

tw_status tw_restart_inq_att(tw_restart restart, const char* var, const char* name, tw_type* type,
                             int64_t* n) {
    return with_restart(restart, [&] {
        const Attribute* a = nullptr;
        Status status = find_read(*restart, var, name, a);
        if (!status.ok()) return status;
        tell(type, a->type);
        tell(n, a->n);
        return status;
    });
}

tw_status tw_restart_get_att(tw_restart restart, const char* var, const char* name, tw_type type,
                             int64_t n, void* values) {
    return with_restart(restart, [&] {
        const Attribute* a = nullptr;
        Status status = find_read(*restart, var, name, a);
        if (!status.ok()) return status;
        return get_attribute("restart", *a, restart->restart.byte_of_any_sign(), type, n, values);
    });
}

tw_status tw_restart_get_att_text(tw_restart restart, const char* var, const char* name,
                                  int64_t size, char* text) {
    return with_restart(restart, [&] {
        const Attribute* a = nullptr;
        Status status = find_read(*restart, var, name, a);
        return status.ok() ? get_attribute_text("restart", *a, size, text) : status;
    });
}

}  // extern "C"
