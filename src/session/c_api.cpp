// The C functions: checks of handles, and the way from a Status to a code and a text.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <sstream>

#include "comm/clock.hpp"
#include "comm/communicator.hpp"
#include "comm/log.hpp"
#include "session/attributes.hpp"
#include "session/calls.hpp"
#include "session/outputs.hpp"
#include "session/server_number.hpp"

using namespace thalweg::detail;

namespace {

/// What tw_create and tw_open check alike. @note Collective
/// @param absolute  receives the path that all ranks use
Status check_request(tw_session session, Call call, const char* path, const char* settings,
                     tw_file* file, Settings& own, std::string& absolute) {
    Comm& world = session->team->world();
    Status status = alone([&]() -> Status {
        if (file == nullptr) return failure(TW_EARG, "the pointer for the file's handle is null");
        return session->settings.for_file(text_or_empty(settings), own);
    });
    if (status = enter(session, call, text_or_empty(path), status); !status.ok()) return status;
    if (status = own.check_alike(world); !status.ok()) return status;
    if (status = share_path(world, text_or_empty(path), absolute); !status.ok()) return status;
    return settle_path(session, absolute);
}

/// What a decomposition's handle stands for that is given with a variable; null: none.
Status find_decomposition(const tw_file_impl& file, const char* variable,
                          tw_decomposition decomposition,
                          std::shared_ptr<const Decomposition>& held) {
    Status status = decomposition_of(decomposition, file.session, held);
    if (!status.ok())
        status.text =
            fmt::format("{}: variable '{}': {}", file.path(), text_or_empty(variable), status.text);
    return status;
}

/// The handle of a file that is to be written or read, once begin(it) has succeeded.
/// @note Collective
template <class Kind, class Begin>
Status new_handle(tw_session session, const std::string& path, const Settings& own,
                  std::unique_ptr<Kind> tw_file_impl::*kind, Begin&& begin, tw_file* file) {
    const int serial = ++session->created;
    tw_file_impl made{session, nullptr, nullptr, nullptr, nullptr};
    bool added = false;
    Status status = session->team->agree(alone([&]() -> Status {
        session->files.reserve(session->files.size() + 1);
        made.about = std::make_shared<FileAbout>();
        made.about->path = path;
        made.about->later = own.text("close") == "later";
        made.about->staging = own.number("staging");
        made.*kind = std::make_unique<Kind>(*session->team, *session, path, serial,
                                            session->options_for(own));
        if constexpr (std::is_same_v<Kind, File>)
            made.readback = std::make_unique<Readback>(*session->team, *session, *made.file);
        session->files.reserve(session->files.size() + 1);
        session->file_handles.push_back({session, nullptr, nullptr, nullptr, nullptr});
        added = true;
        return {};
    }));
    if (status.ok()) status = begin(*(made.*kind));
    if (!status.ok()) {
        if (added) session->file_handles.pop_back();
        return status;
    }
    session->file_handles.back() = std::move(made);
    *file = &session->file_handles.back();
    session->files.push_back(*file);
    return {};
}

/// A file that is new, or there already. @note Collective
Status start_writing(tw_session session, const std::string& path, const Settings& own,
                     tw_file* file) {
    if (Status status = check_unused(session, path); !status.ok()) return status;
    return new_handle(
        session, path, own, &tw_file_impl::file, [](File& f) { return f.begin(); }, file);
}

/// What the setting `calibration` names. @note Collective
Status read_calibration(Comm& comm, tw_session_impl& session) {
    const std::string& path = session.settings.text("calibration");
    if (path.empty()) return {};  // the same on every rank
    std::vector<char> content;
    if (Status s = read_on_root(comm, path, "calibration file", content); !s.ok()) return s;
    return agree(
        comm, alone([&]() -> Status {
            session.measured.emplace();
            return parse_machine({content.data(), content.size()}, path, *session.measured);
        }));
}

std::unique_ptr<Watchdog> watchdog_of(const Settings& settings, int rank) {
    return Watchdog::make(settings.number("watchdog"), settings.number("watchdog_abort"), rank);
}

/// @param rank  of this process in what make_world returns. That is collective over its ranks
template <class MakeWorld>
Status start(int rank, MakeWorld&& make_world, const char* settings, tw_session session) {
    std::unique_ptr<Comm> world;
    Status status;
    {
        // Ranks wait for each other from here on: what this rank knows by itself says how long.
        Settings own;
        const bool known = Settings::read(text_or_empty(settings), own).ok();
        const auto watchdog = known ? watchdog_of(own, rank) : nullptr;
        const Standing standing(watchdog.get(), "tw_init");
        world = make_world();
        status = Settings::read(*world, text_or_empty(settings), session->settings);
    }
    if (!status.ok()) return status;
    session->watchdog = watchdog_of(session->settings, world->rank());
    const Standing standing(session->watchdog.get(), "tw_init");
    if (status = session->settings.check_alike(*world); !status.ok()) return status;
    log::set_level(session->settings.text("log"));
    if (status = read_calibration(*world, *session); !status.ok()) return status;
    if (world->rank() == 0)
        for (const std::string& name : session->settings.ignored())
            log::warn("ignoring {} in the environment: not a setting", name);
    // All ranks get the same texts, even where some of them call from another language.
    session->wording.fortran = session->settings.text("language") == "fortran";
    world->broadcast(&session->wording.fortran, sizeof session->wording.fortran, 0);
    const auto node_size = static_cast<int>(session->settings.number("node_size"));
    int number = 0;
    if (status = number_of_servers(*world, *session, number); !status.ok()) return status;
    if (number > 0) {
        session->servers = Servers::make(std::move(world), node_size, number,
                                         session->settings.text("server_ranks") == "last", status);
        if (!status.ok()) return status;
        session->start_trace(session->servers->all());
        if (session->servers->is_server()) {
            session->role = TW_SERVER;
            return {};
        }
        world = session->servers->take_model();
    }
    session->team = Team::make(std::move(world), node_size, status);
    if (!status.ok()) return status;
    session->rank = session->team->rank();
    if (!session->servers) session->start_trace(*session->team);
    session->meetings = std::make_unique<Meeting>(*session->team);
    session->model = session->team->world().duplicate();
    session->watch_mpi();
    return find_output_paths(*session);
}

/// What calls that begin a session have in common. @param begin  makes it; returns a Status
template <class Begin>
int begin_session(tw_session* session, Begin&& begin, const char* call = __builtin_FUNCTION()) {
    if (session == nullptr) return TW_EARG;
    *session = new (std::nothrow) tw_session_impl;
    if (*session == nullptr) return TW_ENOMEM;
    const int code = guarded(*session, begin, call);
    (*session)->begun = now();
    (*session)->in_calls = 0;
    if ((*session)->role == TW_SERVER) {
        (*session)->servers->serve();
        return code;
    }
    if (code == TW_OK && (*session)->settings.flag("print_config")) tw_print_config(*session);
    return code;
}

/// A put, which may become readable.
template <class F>
int with_put(tw_file file, const char* var, F&& put, const char* call = __builtin_FUNCTION()) {
    return with_file(
        file,
        [&](File& f) {
            Status status = put(f);
            if (status.ok() || status.code == TW_ERANGE)
                file->readback->note_put(text_or_empty(var));
            return status;
        },
        call);
}

/// The same by a decomposition that the call names.
template <class F>
int with_record(tw_file file, const char* var, tw_decomposition decomposition, F&& put,
                const char* call = __builtin_FUNCTION()) {
    return with_file(
        file,
        [&](File& f) -> Status {
            std::shared_ptr<const Decomposition> held;
            if (Status s = find_decomposition(*file, var, decomposition, held); !s.ok()) return s;
            Status status = put(f, held);
            if (status.ok() || status.code == TW_ERANGE)
                file->readback->note_record(text_or_empty(var), held.get());
            return status;
        },
        call);
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

#ifndef THALWEG_SERIAL
int tw_init(MPI_Comm comm, const char* settings, tw_session* session) {
    return begin_session(session, [&]() -> Status {
        if (Status status = check_communicator(comm); !status.ok()) return status;
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        return start(
            rank,
            [&] {
                tw_session_impl::tell_of_abandoned(comm);
                return make_mpi_comm(comm);
            },
            settings, *session);
    });
}
#endif

int tw_init_serial(const char* settings, tw_session* session) {
    return begin_session(session, [&] { return start(0, make_own_comm, settings, *session); });
}

int tw_finalize(tw_session* session) {
    if (session == nullptr || *session == nullptr) return no_handle();
    tw_session s = *session;
    std::optional<Inside> inside(std::in_place, *s, "tw_finalize");
    if (!inside->entered()) return refuse(s, "tw_finalize");
    const std::unique_ptr<Watchdog> watchdog = std::move(s->watchdog);  // to the very end
    const bool told = !s->over.ok();
    const Standing standing(watchdog.get(), "tw_finalize");
    int code = TW_OK;
    if (is_model(s)) {
        const auto finish = [&]() -> Status {
            Status first = enter(s, Call::finalize);
            if (s->meetings->parted()) return first;
            complete_files(s, 0);
            if (first.ok()) first = tell_late(s);
            for (std::size_t i = 0; i < s->files.size();) {
                tw_file_impl& f = *s->files[i];
                if (!f.closed) {
                    if (s->team->rank() == 0)
                        log::warn("{}: still open at tw_finalize: closing it", f.path());
                    f.about->later = false;
                    Status status = close_file(f);
                    if (first.ok()) first = std::move(status);
                }
                if (i < s->files.size() && s->files[i] == &f) ++i;  // else it is gone
            }
            for (const auto& r : s->restarts) {
                if (!r->restart.is_open()) continue;
                Status status = r->restart.close();
                if (first.ok()) first = std::move(status);
            }
            Status written = write_outputs(*s);
            if (first.ok()) first = std::move(written);
            return first;
        };
        code = guarded_inside(s, nullptr, finish, 0, "tw_finalize");
        // No later call has to ask for the text, so it is said here.
        if (code != TW_OK && s->rank == 0 && !told) log::error("{}", s->error);
    }
    if (code != TW_OK) keep_text(s->error);
    s->end();
    inside.reset();
    delete s;
    *session = nullptr;
    return code;
}

int tw_abandon(tw_session* session) {
    if (session == nullptr || *session == nullptr) return no_handle();
    bool kept = false;
    {
        const Inside inside(**session, "tw_abandon");
        if (!inside.entered()) return refuse(*session, "tw_abandon");
        kept = (*session)->abandon();
    }
    if (!kept) delete *session;
    *session = nullptr;
    return TW_OK;
}

int tw_cancel(tw_session* session, const char* why) {
    if (session == nullptr || *session == nullptr) return no_handle();
    {
        tw_session_impl& s = **session;
        const Inside inside(s, "tw_cancel");
        if (!inside.entered()) return refuse(*session, "tw_cancel");
        const Standing standing(s.watchdog.get(), "tw_cancel", nullptr, 0);
        s.cancel("cancelled", text_or_empty(why));
    }
    delete *session;
    *session = nullptr;
    return TW_OK;
}

int tw_inq_role(tw_session session, tw_role* role) {
    if (session == nullptr) return no_handle();
    if (role == nullptr)
        return report(session, failure(TW_EARG, "the pointer for the role is null"));
    *role = session->role;
    return TW_OK;
}

#ifndef THALWEG_SERIAL
int tw_model_comm(tw_session session, MPI_Comm* comm) {
    if (session == nullptr) return no_handle();
    if (comm == nullptr)
        return report(session, failure(TW_EARG, "the pointer for the communicator is null"));
    *comm = session->model ? session->model->handle() : MPI_COMM_NULL;
    return TW_OK;
}
#endif

const char* tw_error_message(tw_session session) {
    if (*loose_text() != '\0') return loose_text();
    return session == nullptr ? "" : session->error.c_str();
}

int tw_error_place(tw_session session, const char** file, const char** variable,
                   std::int64_t* record, int* rank) {
    static const ErrorPlace nowhere;
    thread_local ErrorPlace loose;
    const bool is_loose = *loose_text() != '\0';
    if (is_loose) {
        const Status found = alone([&]() -> Status {
            loose = find_place(loose_text());
            return {};
        });
        if (!found.ok()) return found.code;
    }
    const ErrorPlace& place = is_loose ? loose : session != nullptr ? session->place : nowhere;
    tell(file, place.file.c_str());
    tell(variable, place.variable.c_str());
    tell(record, place.record);
    tell(rank, place.rank);
    return TW_OK;
}

int tw_print_config(tw_session session) {
    if (!is_model(session)) return no_model(session);
    return guarded(session, [&]() -> Status {
        if (session->team->rank() == 0) {
            std::fputs(session->settings.table().c_str(), stdout);
            std::fflush(stdout);
        }
        return {};
    });
}

int tw_summary(tw_session session, const char** json) {
    if (!is_model(session)) return no_model(session);
    return guarded(session, [&]() -> Status {
        if (Status status = enter(session, Call::summary); !status.ok()) return status;
        const std::string& text = session->summarize();
        if (json == nullptr) return failure(TW_EARG, "the pointer for the summary is null");
        *json = text.c_str();
        return {};
    });
}

int tw_print_summary(tw_session session) {
    if (!is_model(session)) return no_model(session);
    return guarded(session, [&]() -> Status {
        if (Status status = enter(session, Call::print_summary); !status.ok()) return status;
        const std::string table = summary_table(session->summarize());
        if (session->team->rank() == 0) {
            std::fputs(table.c_str(), stdout);
            std::fflush(stdout);
        }
        return {};
    });
}

int tw_create(tw_session session, const char* path, const char* settings, tw_file* file) {
    tell(file, tw_file{});
    if (!is_model(session)) return no_model(session);
    return guarded(session, path, [&]() -> Status {
        Settings own;
        std::string absolute;
        Status status = check_request(session, Call::create, path, settings, file, own, absolute);
        if (!status.ok()) return status;
        if (own.text("mode") != "read")
            return failure(TW_ESETTING,
                           "{}: mode={} is only for tw_open; tw_create creates a new file",
                           absolute, own.text("mode"));
        return start_writing(session, absolute, own, file);
    });
}

int tw_set_record(tw_file file, int64_t record, tw_later later) {
    return with_file(file, [&](File& f) { return f.set_record(record, later); });
}

int tw_def_dim(tw_file file, const char* name, int64_t length) {
    return with_file(file,
                     [&](File& f) { return f.define_dimension(text_or_empty(name), length); });
}

int tw_def_var(tw_file file, const char* name, tw_type type, const char* dims,
               tw_decomposition decomposition) {
    return with_file(file, [&](File& f) -> Status {
        std::shared_ptr<const Decomposition> held;
        if (Status s = find_decomposition(*file, name, decomposition, held); !s.ok()) return s;
        return f.define_variable(text_or_empty(name), type, text_or_empty(dims), std::move(held));
    });
}

int tw_put_att(tw_file file, const char* var, const char* name, tw_type type, int64_t n,
               const void* values) {
    return with_file(file, [&](File& f) -> Status {
        Attribute a;
        Status status = make_attribute(file->path(), name, type, n, values, a);
        return status.ok() ? f.put_attribute(text_or_empty(var), std::move(a)) : status;
    });
}

int tw_put_att_text(tw_file file, const char* var, const char* name, const char* text) {
    if (text == nullptr)
        return with_file(file, [&](File&) {
            return failure(TW_EARG, "{}: attribute '{}': the text is missing (null pointer)",
                           file->path(), text_or_empty(name));
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
    return with_put(file, var,
                    [&](File& f) { return f.put(text_or_empty(var), type, data, n, false); });
}

int tw_put_strided(tw_file file, const char* var, tw_type type, const void* data, int rank,
                   const int64_t* extent, const int64_t* byte_stride) {
    return with_put(file, var, [&](File& f) {
        return f.put_strided(text_or_empty(var), type, data, rank, extent, byte_stride, false);
    });
}

int tw_put_deferred(tw_file file, const char* var, tw_type type, const void* data, int64_t n) {
    return with_put(file, var,
                    [&](File& f) { return f.put(text_or_empty(var), type, data, n, true); });
}

int tw_put_deferred_strided(tw_file file, const char* var, tw_type type, const void* data, int rank,
                            const int64_t* extent, const int64_t* byte_stride) {
    return with_put(file, var, [&](File& f) {
        return f.put_strided(text_or_empty(var), type, data, rank, extent, byte_stride, true);
    });
}

int tw_put_box(tw_file file, const char* var, tw_type type, const int64_t* start,
               const int64_t* count, const int64_t* stride, const void* data) {
    return tw_put_box_checked(file, var, type, -1, start, count, stride, data);
}

int tw_put_box_checked(tw_file file, const char* var, tw_type type, int ndims, const int64_t* start,
                       const int64_t* count, const int64_t* stride, const void* data) {
    return with_file(file, [&](File& f) {
        Status status = f.put_box(text_or_empty(var), type, start, count, stride, data, ndims);
        if (status.ok() || status.code == TW_ERANGE)
            file->readback->note_box(text_or_empty(var), start, count, stride);
        return status;
    });
}

int tw_put_record(tw_file file, const char* var, tw_decomposition decomposition, int64_t record,
                  tw_type type, const void* data, int64_t n) {
    return with_record(file, var, decomposition, [&](File& f, const auto& held) {
        return f.put_record(text_or_empty(var), held, record, type, data, n, false);
    });
}

int tw_put_record_strided(tw_file file, const char* var, tw_decomposition decomposition,
                          int64_t record, tw_type type, const void* data, int rank,
                          const int64_t* extent, const int64_t* byte_stride) {
    return with_record(file, var, decomposition, [&](File& f, const auto& held) {
        return f.put_record_strided(text_or_empty(var), held, record, type, data, rank, extent,
                                    byte_stride, false);
    });
}

int tw_put_record_deferred(tw_file file, const char* var, tw_decomposition decomposition,
                           int64_t record, tw_type type, const void* data, int64_t n) {
    return with_record(file, var, decomposition, [&](File& f, const auto& held) {
        return f.put_record(text_or_empty(var), held, record, type, data, n, true);
    });
}

int tw_put_record_deferred_strided(tw_file file, const char* var, tw_decomposition decomposition,
                                   int64_t record, tw_type type, const void* data, int rank,
                                   const int64_t* extent, const int64_t* byte_stride) {
    return with_record(file, var, decomposition, [&](File& f, const auto& held) {
        return f.put_record_strided(text_or_empty(var), held, record, type, data, rank, extent,
                                    byte_stride, true);
    });
}

int tw_end_step(tw_file file) {
    return with_file(file, [&](File& f) {
        file->readback->note_step();
        return f.end_step();
    });
}

int tw_sync(tw_file file, int durable) {
    if (file != nullptr && file->reader)
        return guarded(file->session, file->path().c_str(), [&] { return file->reader->sync(); });
    return with_file(file, [&](File& f) {
        Status status = f.sync(durable != 0);
        if (!status.ok() && status.code != TW_ERANGE) return status;
        Status synced = file->readback->synced();
        return synced.ok() ? status : synced;
    });
}

int tw_close(tw_file* file) {
    if (file == nullptr || *file == nullptr) return no_handle();
    tw_file f = *file;
    const int code = guarded(f->session, f->path().c_str(), [&]() -> Status {
        if (f->about && !f->about->left.ok() && f->about->was_read) return {};
        Status open = check_open(*f);
        return open.ok() ? close_file(*f) : open;
    });
    if (!was_refused(code)) *file = nullptr;
    return code;
}

int tw_open(tw_session session, const char* path, const char* settings, tw_file* file) {
    tell(file, tw_file{});
    if (!is_model(session)) return no_model(session);
    return guarded(session, path, [&]() -> Status {
        Settings own;
        std::string absolute;
        Status status = check_request(session, Call::open, path, settings, file, own, absolute);
        if (!status.ok()) return status;
        if (own.text("mode") == "append") return start_writing(session, absolute, own, file);
        return new_handle(
            session, absolute, own, &tw_file_impl::reader, [](Reader& r) { return r.open(); },
            file);
    });
}

}  // extern "C"
