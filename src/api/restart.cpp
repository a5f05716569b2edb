// The C functions of restarts.
// SPDX-License-Identifier: Apache-2.0
#include "api/new_handle.hpp"

using namespace thalweg::detail;

namespace {

template <class F>
tw_status with_restart(tw_restart restart, F&& body, const char* call = __builtin_FUNCTION()) {
    if (restart == nullptr) return no_handle(call);
    return guarded(restart->session, std::forward<F>(body), call);
}

/// Returns the options for a restart's file. Removes options that would lose precision, or would
/// lose the old file before the new one is complete.
FileOptions options_of(const tw_restart_impl& restart) {
    FileOptions options = restart.session->options_for(restart.settings);
    options.live = options.append = false;
    options.tile_files = options.by_variable = options.shards = false;
    options.packing.erase("quantize");
    if (options.format == "zarr") options.format = "auto";  // a store is not replaced
    return options;
}

/// Begins a collective call that writes or reads a restart file.
/// @note Collective
/// @param detail    another value that must be the same on all ranks
/// @param absolute  receives the absolute path, the same on all ranks
Status begin(tw_session session, Call call, const char* path, std::int64_t detail,
             std::string& absolute) {
    Status status = enter(session, call, text_or_empty(path), {}, detail);
    if (status.ok()) status = share_path(session->team->world(), text_or_empty(path), absolute);
    return status.ok() ? settle_path(session, absolute) : status;
}

tw_status add(tw_restart restart, const char* name, const char* dims,
              tw_decomposition decomposition, const tw_array& array, int flags,
              const char* call = __builtin_FUNCTION()) {
    return with_restart(
        restart,
        [&] {
            Registration r;
            r.name = text_or_empty(name);
            r.dims = text_or_empty(dims);
            r.array = array;
            r.optional = (flags & TW_OPTIONAL) != 0;
            r.copied = (flags & TW_COPIED) != 0;
            r.by_position = (flags & TW_BY_POSITION) != 0;
            std::shared_ptr<const Decomposition> held;
            Status status = decomposition_of(decomposition, restart->session, held);
            if (!status.ok()) {
                reword(status, "restart: variable '{}': {}", OfVariable{r.name}, status.text);
                return status;
            }
            if (decomposition != nullptr) r.declared = decomposition->declared;
            status = check_flags("restart", name, flags, TW_OPTIONAL | TW_COPIED | TW_BY_POSITION);
            return status.ok() ? restart->restart.add(r) : status;
        },
        call);
}

}  // namespace

extern "C" {

tw_status tw_restart_new(tw_session session, const char* settings, tw_restart* restart) {
    tell(restart, tw_restart{});
    if (!is_model(session)) return no_model(session);
    return guarded(session, [&]() -> Status {
        Comm& world = session->team->world();
        Settings own;
        Status status =
            restart == nullptr
                ? failure(TW_EARG, "the pointer for the restart's handle is null")
                : session->settings.for_file(
                      std::string("durable=yes; checksums=yes; ") + text_or_empty(settings), own);
        if (status = enter(session, Call::restart_new, "", status); !status.ok()) return status;
        if (status = own.compare(world); !status.ok()) return status;
        auto about = std::make_shared<FileAbout>();
        about->path = "restart";
        session->files.handles.push_back({.session = session, .about = std::move(about)});
        tw_file file = &session->files.handles.back();
        session->restarts.push_back(std::unique_ptr<tw_restart_impl>(new tw_restart_impl{
            session, std::move(own), Restart(*session->team, session->resources, session->wording),
            file}));
        *restart = file->restart = session->restarts.back().get();
        return {};
    });
}

tw_status tw_restart_free(tw_restart* restart) {
    if (restart == nullptr || *restart == nullptr) return no_handle();
    const tw_restart r = *restart;
    const tw_status code = guarded(r->session, [&]() -> Status {
        *r->file = {.session = r->session, .closed = true};
        std::erase_if(r->session->restarts, [&](const auto& own) { return own.get() == r; });
        return {};
    });
    if (!was_refused(code)) *restart = nullptr;
    return code;
}

tw_status tw_restart_file(tw_restart restart, tw_file* file) {
    tell(file, tw_file{});
    return with_restart(restart, [&]() -> Status {
        if (file == nullptr) return failure(TW_EARG, "the pointer for the file's handle is null");
        *file = restart->file;
        return {};
    });
}

tw_status tw_restart_add(tw_restart restart, const char* name, tw_type type, const char* dims,
                         tw_decomposition decomposition, void* data, int64_t n, int flags) {
    return add(restart, name, dims, decomposition, tw_dense(type, data, n), flags);
}

tw_status tw_restart_add_array(tw_restart restart, const char* name, const char* dims,
                               tw_decomposition decomposition, tw_array array, int flags) {
    return add(restart, name, dims, decomposition, array, flags);
}

tw_status tw_restart_write(tw_restart restart, const char* path) {
    if (restart == nullptr) return no_handle();
    tw_session session = restart->session;
    return guarded(session, CallObject{path}, [&]() -> Status {
        std::string absolute;
        Status status = begin(session, Call::restart_write, path, 0, absolute);
        if (!status.ok()) return status;
        status = session->team->agree(check_unused(session, absolute));
        if (!status.ok()) return status;
        File file(*session->team, session->resources, absolute, ++session->files.created,
                  options_of(*restart));
        status =
            restart->restart.write(file, absolute, restart->settings.text("attributes") == "first");
        session->telemetry.finished.add(file.figures());
        return status;
    });
}

tw_status tw_restart_read(tw_restart restart, const char* path, tw_file* file) {
    const bool keep = file != nullptr;
    tell(file, tw_file{});
    if (restart == nullptr) return no_handle();
    tw_session session = restart->session;
    return guarded(session, CallObject{path}, [&]() -> Status {
        std::string absolute;
        Status status = begin(session, Call::restart_read, path, keep ? 1 : 0, absolute);
        if (!status.ok()) return status;
        const bool checksums = restart->settings.flag("checksums");
        NewHandle handle(session);
        status = session->team->agree(
            handle.make(absolute, restart->settings, options_of(*restart), false));
        if (!status.ok()) return status;
        const auto read = [&](tw_file_impl& f) {
            return restart->restart.read(*f.reader, absolute, checksums);
        };
        tw_file made = nullptr;
        status = handle.begin(read, &made);
        if (!status.ok()) return status;
        made->exact = true;
        made->checksums = checksums;
        if (!keep) return close_file(*made);
        *file = made;
        return status;
    });
}

}  // extern "C"
