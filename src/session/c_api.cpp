// The C functions: checks of handles, and the way from a Status to a code and a text.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <sstream>

#include "comm/clock.hpp"
#include "session/attributes.hpp"
#include "session/calls.hpp"

using namespace thalweg;

namespace {

Status close_file(tw_file_impl& file) {
    Status status;
    file.closed = true;
    if (file.file) status = file.file->close();
    if (file.reader) status = file.reader->close();
    // Figures are not worth an error.
    (void)alone([&]() -> Status {
        if (file.file) file.session->finished.push_back(file.file->figures());
        if (file.reader) file.session->finished_inputs.push_back(file.reader->figures());
        return {};
    });
    file.file.reset();
    file.reader.reset();
    return status;
}

/// What tw_create and tw_open check alike. @note Collective
Status check_request(tw_session session, const char* path, const char* settings, tw_file* file,
                     Settings& own) {
    Comm& world = session->team->world();
    Status status = alone([&]() -> Status {
        if (file == nullptr) return failure(TW_EARG, "no place for the file's handle");
        return session->settings.for_file(text_or_empty(settings), own);
    });
    if (status = agree(world, status); !status.ok()) return status;
    *file = nullptr;
    if (status = own.check_alike(world); !status.ok()) return status;
    return check_path(session, path);
}

/// The handle of a file that is to be written or read, and room for it. @note Collective
template <class Kind>
Status new_handle(tw_session session, const char* path, const Settings& own,
                  std::unique_ptr<Kind> tw_file_impl::*kind,
                  std::unique_ptr<tw_file_impl>& handle) {
    const int serial = ++session->created;
    Status made = alone([&]() -> Status {
        session->files.reserve(session->files.size() + 1);
        handle = std::make_unique<tw_file_impl>();
        handle->session = session;
        handle->path = path;
        (*handle).*kind = std::make_unique<Kind>(*session->team, *session, handle->path, serial,
                                                 session->options_for(own));
        return {};
    });
    return session->team->agree(made);
}

/// A file that is new, or there already. @note Collective
Status start_writing(tw_session session, const char* path, const Settings& own, tw_file* file) {
    if (Status status = check_unused(session, path); !status.ok()) return status;
    std::unique_ptr<tw_file_impl> handle;
    Status status = new_handle(session, path, own, &tw_file_impl::file, handle);
    if (!status.ok()) return status;
    if (status = handle->file->begin(); !status.ok()) return status;
    *file = handle.get();
    session->files.push_back(std::move(handle));
    return {};
}

void set_log_level(const std::string& level) {
    // spdlog's default logger writes to standard output, which belongs to the model.
    static const bool once = [] {
        spdlog::set_default_logger(std::make_shared<spdlog::logger>(
            "thalweg", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
        spdlog::set_pattern("thalweg: %l: %v");
        return true;
    }();
    (void)once;
    spdlog::set_level(spdlog::level::from_str(level == "warning" ? "warn" : level));
}

Status start(MPI_Comm comm, const char* settings, tw_session session) {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (!initialized) return failure(TW_EMPI, "MPI is not initialized");
    if (comm == MPI_COMM_NULL) return failure(TW_EARG, "the communicator is MPI_COMM_NULL");
    prepare_mpi_io();
    Status status = Settings::read(text_or_empty(settings), session->settings);
    if (status.ok()) {
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        session->watchdog = Watchdog::make(session->settings.number("watchdog"), rank);
    }
    const Standing standing(session->watchdog.get(), "tw_init");
    std::unique_ptr<Comm> world = make_mpi_comm(comm);
    if (status = agree(*world, status); !status.ok()) return status;
    if (status = session->settings.check_alike(*world); !status.ok()) return status;
    set_log_level(session->settings.text("log"));
    const auto node_size = static_cast<int>(session->settings.number("node_size"));
    if (const auto number = static_cast<int>(session->settings.number("servers")); number > 0) {
        session->servers = Servers::make(std::move(world), node_size, number,
                                         session->settings.text("server_ranks") == "last", status);
        if (!status.ok()) return status;
        if (session->servers->is_server()) {
            session->role = TW_SERVER;
            return {};
        }
        world = session->servers->take_model();
    }
    session->team = Team::make(std::move(world), node_size, status);
    if (status.ok()) session->model = make_mpi_comm(session->team->world().handle());
    return status;
}

}  // namespace

extern "C" {

const char* tw_strerror(int status) {
    switch (status) {
#define TW_STATUS_TEXT(name, value, text)                                                          \
    case value: return #name ": " text;
        TW_STATUS_TABLE(TW_STATUS_TEXT)
#undef TW_STATUS_TEXT
    }
    return "unknown status";
}

int tw_init(MPI_Comm comm, const char* settings, tw_session* session) {
    if (session == nullptr) return TW_EARG;
    *session = new (std::nothrow) tw_session_impl;
    if (*session == nullptr) return TW_ENOMEM;
    const int code = guarded(*session, [&] { return start(comm, settings, *session); });
    if ((*session)->role == TW_SERVER) {
        (*session)->servers->serve();
        return code;
    }
    if (code == TW_OK && (*session)->settings.flag("print_config")) tw_print_config(*session);
    return code;
}

int tw_finalize(tw_session* session) {
    if (session == nullptr || *session == nullptr) return TW_EHANDLE;
    tw_session s = *session;
    const std::unique_ptr<Watchdog> watchdog = std::move(s->watchdog);  // to the very end
    const Standing standing(watchdog.get(), "tw_finalize");
    int code = TW_OK;
    if (s->team) {
        code = guarded(s, [&]() -> Status {
            Status first;
            for (const auto& f : s->files) {
                if (f->closed) continue;
                if (s->team->rank() == 0)
                    spdlog::warn("{}: still open at tw_finalize; closed now", f->path);
                Status status = close_file(*f);
                if (first.ok()) first = std::move(status);
            }
            const std::string target = s->settings.text("summary");
            if (!target.empty()) {
                s->summarize();
                Status written;
                if (s->team->rank() == 0) {
                    if (target == "table") {
                        std::fputs(summary_table(s->summary).c_str(), stdout);
                        std::fflush(stdout);
                    } else {
                        std::ofstream out(target);
                        out << s->summary << "\n";
                        if (!out)
                            written = failure(TW_EIO, "cannot write the summary to '{}'", target);
                    }
                }
                written = agree(s->team->world(), written);
                if (first.ok()) first = std::move(written);
            }
            return first;
        });
        // The text goes with the session, so it is said here.
        if (code != TW_OK && s->team->rank() == 0) spdlog::error("{}", s->error);
        // A file that an exception left open still uses them.
        s->files.clear();
        s->threads.reset();
        s->memory.reset();
    }
    s->model.reset();
    s->team.reset();
    s->servers.reset();
    delete s;
    *session = nullptr;
    return code;
}

int tw_inq_role(tw_session session, int* role) {
    if (session == nullptr) return TW_EHANDLE;
    if (role == nullptr) return report(session, failure(TW_EARG, "no place for the role"));
    *role = session->role;
    return TW_OK;
}

int tw_model_comm(tw_session session, MPI_Comm* comm) {
    if (session == nullptr) return TW_EHANDLE;
    if (comm == nullptr) return report(session, failure(TW_EARG, "no place for the communicator"));
    *comm = session->model ? session->model->handle() : MPI_COMM_NULL;
    return TW_OK;
}

const char* tw_error_message(tw_session session) {
    return session == nullptr ? "" : session->error.c_str();
}

int tw_print_config(tw_session session) {
    if (session == nullptr || !session->team) return TW_EHANDLE;
    if (session->team->rank() == 0) {
        std::fputs(session->settings.table().c_str(), stdout);
        std::fflush(stdout);
    }
    return TW_OK;
}

int tw_summary(tw_session session, const char** json) {
    if (session == nullptr || !session->team) return TW_EHANDLE;
    return guarded(session, [&]() -> Status {
        const std::string& text = session->summarize();
        if (json == nullptr) return failure(TW_EARG, "no place for the summary");
        *json = text.c_str();
        return {};
    });
}

int tw_print_summary(tw_session session) {
    if (session == nullptr || !session->team) return TW_EHANDLE;
    return guarded(session, [&] {
        const std::string table = summary_table(session->summarize());
        if (session->team->rank() == 0) {
            std::fputs(table.c_str(), stdout);
            std::fflush(stdout);
        }
        return Status{};
    });
}

int tw_create(tw_session session, const char* path, const char* settings, tw_file* file) {
    if (session == nullptr || !session->team) return TW_EHANDLE;
    return guarded(session, path, [&]() -> Status {
        Settings own;
        Status status = check_request(session, path, settings, file, own);
        if (!status.ok()) return status;
        if (own.text("mode") != "read")
            return failure(TW_ESETTING, "{}: mode={} is for tw_open; tw_create makes a new file",
                           path, own.text("mode"));
        return start_writing(session, path, own, file);
    });
}

int tw_set_record(tw_file file, int64_t record, int later) {
    return with_file(file, [&](File& f) { return f.set_record(record, later); });
}

int tw_def_dim(tw_file file, const char* name, int64_t length) {
    return with_file(file,
                     [&](File& f) { return f.define_dimension(text_or_empty(name), length); });
}

int tw_def_var(tw_file file, const char* name, tw_type type, const char* dims,
               tw_decomposition decomposition) {
    return with_file(file, [&](File& f) {
        if (decomposition != nullptr && decomposition->session != file->session)
            return failure(TW_EHANDLE, "{}: variable '{}': the decomposition is of another session",
                           file->path, text_or_empty(name));
        return f.define_variable(text_or_empty(name), type, text_or_empty(dims),
                                 decomposition == nullptr ? nullptr : decomposition->decomposition);
    });
}

int tw_put_att(tw_file file, const char* var, const char* name, tw_type type, int64_t n,
               const void* values) {
    return with_file(file, [&](File& f) -> Status {
        Attribute a;
        Status status = make_attribute(file->path, name, type, n, values, a);
        return status.ok() ? f.put_attribute(text_or_empty(var), std::move(a)) : status;
    });
}

int tw_put_att_text(tw_file file, const char* var, const char* name, const char* text) {
    if (text == nullptr)
        return with_file(file, [&](File&) {
            return failure(TW_EARG, "{}: attribute '{}': no text given", file->path,
                           text_or_empty(name));
        });
    return tw_put_att(file, var, name, TW_CHAR, static_cast<int64_t>(std::strlen(text)), text);
}

int tw_set_var(tw_file file, const char* var, const char* settings) {
    return with_file(
        file, [&](File& f) { return f.set_variable(text_or_empty(var), text_or_empty(settings)); });
}

int tw_enddef(tw_file file) {
    return with_file(file, [](File& f) { return f.end_definitions(); });
}

int tw_put(tw_file file, const char* var, tw_type type, const void* data, int64_t n) {
    return with_file(file,
                     [&](File& f) { return f.put(text_or_empty(var), type, data, n, false); });
}

int tw_put_deferred(tw_file file, const char* var, tw_type type, const void* data, int64_t n) {
    return with_file(file, [&](File& f) { return f.put(text_or_empty(var), type, data, n, true); });
}

int tw_put_strided(tw_file file, const char* var, tw_type type, const void* data, int rank,
                   const int64_t* extent, const int64_t* byte_stride, int flags) {
    return with_file(file, [&](File& f) -> Status {
        if (flags != TW_COPY && flags != TW_DEFERRED)
            return failure(TW_EARG, "{}: variable '{}': there are no flags {}", file->path,
                           text_or_empty(var), flags);
        return f.put_strided(text_or_empty(var), type, data, rank, extent, byte_stride,
                             (flags & TW_DEFERRED) != 0);
    });
}

int tw_put_box(tw_file file, const char* var, tw_type type, const int64_t* start,
               const int64_t* count, const void* data) {
    return with_file(
        file, [&](File& f) { return f.put_box(text_or_empty(var), type, start, count, data); });
}

int tw_end_step(tw_file file) {
    return with_file(file, [](File& f) { return f.end_step(); });
}

int tw_sync(tw_file file, int durable) {
    if (file != nullptr && file->reader)
        return with_reader(file, [](Reader& r) { return r.sync(); });
    return with_file(file, [&](File& f) { return f.sync(durable != 0); });
}

int tw_close(tw_file* file) {
    if (file == nullptr || *file == nullptr) return TW_EHANDLE;
    tw_file f = *file;
    const int code = guarded(f->session, f->path.c_str(), [&]() -> Status {
        if (f->closed) return failure(TW_ECLOSED, "{}: the file is closed", f->path);
        return close_file(*f);
    });
    *file = nullptr;
    return code;
}

int tw_open(tw_session session, const char* path, const char* settings, tw_file* file) {
    if (session == nullptr || !session->team) return TW_EHANDLE;
    return guarded(session, path, [&]() -> Status {
        Settings own;
        Status status = check_request(session, path, settings, file, own);
        if (!status.ok()) return status;
        if (own.text("mode") == "append") return start_writing(session, path, own, file);
        std::unique_ptr<tw_file_impl> handle;
        status = new_handle(session, path, own, &tw_file_impl::reader, handle);
        if (!status.ok()) return status;
        if (status = handle->reader->open(); !status.ok()) return status;
        *file = handle.get();
        session->files.push_back(std::move(handle));
        return {};
    });
}

}  // extern "C"
