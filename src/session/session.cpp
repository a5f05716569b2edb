// SPDX-License-Identifier: Apache-2.0
#include "session/session.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/system/arithmetic.hpp"
#include "base/system/free_memory.hpp"
#include "base/system/system_words.hpp"
#include "base/text/size.hpp"
#include "comm/comm.hpp"
#include "storage/posix/paths.hpp"

using namespace thalweg::detail;

namespace {

/// Largest number of closed files whose handles keep their path for messages.
constexpr std::size_t most_closed = 1000;

/// The value of an attribute of MPI_COMM_SELF. MPI_Finalize deletes the attribute, and the deletion
/// notifies the session. A session that ends by itself leaves the attribute in place and only sets
/// `session` to null, because MPICH aborts a program that deletes an attribute within MPI_Finalize,
/// where the end of one session can end an older one.
struct MpiWatch {
    tw_session_impl* session;  ///< null: the session has ended
};

/// The sessions of this process that were abandoned. They still exist.
struct Abandoned {
    std::mutex mutex;
    std::vector<tw_session_impl*> sessions;
};
Abandoned& abandoned_sessions() {
    static auto* const all = new Abandoned;
    return *all;
}

/// Size in bytes, per rank, of exchange buffers that suffice for most files.
constexpr std::int64_t least_buffer = 128 << 10;

std::atomic<bool> fails{false};

/// Begins to watch for an exit that process_fails() tells of. Further calls have no effect.
void watch_exit() {
#ifdef __GLIBC__
    const auto note = [](int status, void*) { fails = status != 0 && mpi_is_running(); };
    static const int watched = on_exit(note, nullptr);
    (void)watched;
#endif
}

}  // namespace

bool thalweg::detail::process_fails() { return fails; }

void thalweg::detail::end_job(MPI_Comm comm, int rank, const char* call, const char* path,
                              const Status& why) {
    std::fprintf(stderr,
                 "thalweg: %s: %s on rank %d in %s, where all ranks work together: the job ends. "
                 "Records that were counted in files are complete\n",
                 path, why.text.c_str(), rank, call);
    std::fflush(stderr);
    MPI_Abort(comm, why.code);
    std::abort();
}

/// Allocates as much memory as the setting asks for, but at most half of the system's free memory.
Memory* SharedResources::arena(Status& status) {
    Team* const team = session_.team.get();
    if (memory_) return memory_.get();
    const std::int64_t members = team->topology().members.size();
    const std::int64_t wanted = session_.settings.number("buffer") * members;
    const std::int64_t least = std::min(wanted, least_buffer * members);
    std::int64_t bytes = wanted;
    if (team->topology().node_rank == 0)
        bytes = std::min(wanted, std::max(least, free_memory().bytes / 2));
    memory_ = team->share_on_node(bytes);
    while (!memory_ && bytes > 0) {
        if (team->topology().node_rank != 0) bytes = 0;
        bytes = bytes / 2 >= least ? bytes / 2 : 0;
        team->reduce_on_node({&bytes, 1}, Reduce::bit_or);
        if (bytes > 0) memory_ = team->share_on_node(bytes);
    }
    const std::int64_t got = memory_ ? memory_->size() : 0;
    if (!memory_ && status.ok())
        status = no_shared_memory(fmt::format(
            "not enough memory for exchange buffers: the {} ranks of a node need at least {} bytes "
            "of shared memory (setting 'buffer' asks for {})",
            members, least, wanted));
    else if (memory_ && got < wanted && team->topology().node_rank == 0)
        log::warn(
            "little memory is free: the exchange buffers of the {} ranks of a node have {} bytes "
            "instead of {} (setting 'buffer'; rank {}){}",
            members, got, wanted, team->rank(), size_limit_words());
    return memory_.get();
}

Background* SharedResources::background(Status& status) {
    Trace* const trace = session_.telemetry.trace.get();
    if (!threads_)
        threads_ =
            Background::make(*session_.team, status, trace != nullptr ? &trace->writer() : nullptr);
    return threads_.get();
}

Packers& SharedResources::packers() {
    if (!packers_) {
        const Team& team = *session_.team;
        const auto asked =
            static_cast<int>(std::max<std::int64_t>(0, session_.settings.number("threads")));
        const auto sharers = static_cast<int>(team.topology().members.size());
        const int allowed = allowed_threads(asked, sharers);
        if (allowed < asked && team.rank() == 0)
            log::info(
                "setting threads is {}, but with {} ranks per node there are processors for "
                "only {}",
                asked, sharers, allowed);
        packers_ = std::make_unique<Packers>(allowed);
    }
    return *packers_;
}

ServerConnection* SharedResources::port() {
    return session_.servers ? &session_.servers->port() : nullptr;
}

CallAgreement& SharedResources::call_agreement() { return *session_.agreement; }

Status SharedResources::find_length(const std::string& dim, std::int64_t& length) const {
    const Decomposition* first = nullptr;
    for (const tw_decomposition_impl& handle : session_.decompositions.handles) {
        if (!handle.declared || handle.of_history) continue;
        const Decomposition& d = *handle.declared->decomposition;
        const auto at = std::ranges::find(d.dims, dim);
        if (at == d.dims.end() || d.by_position()) continue;
        const std::int64_t its = d.shape[at - d.dims.begin()];
        if (first == nullptr) {
            first = &d;
            length = its;
        } else if (its != length) {
            return failure(TW_ESHAPE,
                           "dimension '{}' has length {} in decomposition {} over ({}), but {} in "
                           "decomposition {} over ({}): define it with tw_def_dim",
                           dim, length, first->serial, session_.wording.names(first->dims), its,
                           d.serial, session_.wording.names(d.dims));
        }
    }
    return {};
}

void SharedResources::free() {
    threads_.reset();
    memory_.reset();
    spare_queues.clear();
}

namespace {

/// Returns the value of an environment variable that only tests set, or `usual` if it is not set.
/// Allocates no memory in that case.
std::int64_t tested(const char* name, std::int64_t usual) {
    const char* const text = std::getenv(name);
    std::int64_t value = 0;
    return text != nullptr && parse_size(text, value) ? value : usual;
}

}  // namespace

void tw_session_impl::start_trace(Team& ranks) {
    if (settings.text("trace").empty()) return;
    Status status;
    std::unique_ptr<Trace>& trace = telemetry.trace;
    trace = Trace::make(ranks, tested("THALWEG_TEST_TRACE_MEMORY", 16 << 20), status);
    if (!trace && ranks.rank() == 0) log::warn("the run goes without a trace: {}", status.text);
    if (trace && servers) servers->keep_trace(*trace, telemetry.trace_path);
}

void tw_session_impl::leave_given_up(const Status& why) {
    const CallAgreement::GivenUp given_up = agreement->take_given_up();
    const auto is_left = [&](const tw_file_impl& f) {
        const int serial = f.file ? f.file->about().serial : f.reader->serial();
        return given_up.session || std::find(given_up.files.begin(), given_up.files.end(),
                                             serial) != given_up.files.end();
    };
    // Go through the files in order of creation, which is the same on every rank.
    for (std::size_t i = 0; i < files.open.size();) {
        tw_file_impl& f = *files.open[i];
        if (f.closed || !is_left(f)) {
            ++i;
            continue;
        }
        give_up_file(f, why);
    }
    if (!given_up.session) return;
    complete_files(this, 0);
    calls.over = why;
    end();
}

void tw_session_impl::give_up_file(tw_file_impl& f, const Status& why) {
    if (f.file) f.file->leave(why);
    if (f.reader) f.reader->leave();
    retire(f, why);
}

void tw_session_impl::end_readback(tw_file_impl& f) {
    if (!f.readback) return;
    if (auto figures = f.readback->figures()) telemetry.finished.add(std::move(*figures));
    f.readback.reset();
}

void tw_session_impl::retire(tw_file_impl& f, Status why) {
    end_readback(f);
    f.closed = true;
    f.about->was_read = f.reader != nullptr;
    f.about->left = std::move(why);
    if (f.file) telemetry.finished.add(f.file->figures());
    if (f.reader) telemetry.finished.add(f.reader->figures());
    f.file.reset();
    f.reader.reset();
    std::erase(files.open, &f);
    files.closed.push_back(&f);
    if (files.closed.size() <= most_closed) return;
    tw_file_impl& oldest = *files.closed.front();
    files.closed.pop_front();
    // Keep the information if it contains the reason why all ranks gave up the file.
    if (oldest.about->left.ok()) oldest.about.reset();
}

void tw_session_impl::end() {
    if (mpi_key != MPI_KEYVAL_INVALID) {
        int key = std::exchange(mpi_key, MPI_KEYVAL_INVALID), found = 0;
        MpiWatch* watch = nullptr;
        MPI_Comm_get_attr(MPI_COMM_SELF, key, &watch, &found);
        if (found != 0) watch->session = nullptr;
        MPI_Comm_free_keyval(&key);
    }
    files.closing.clear();
    // A file that is still open after an exception uses the objects below, so free the file first.
    for (tw_file_impl* f : files.open) {
        f->readback.reset();
        f->file.reset();
        f->reader.reset();
        f->closed = true;
    }
    files.open.clear();
    resources.free();
    model.reset();
    agreement.reset();
    team.reset();
    servers.reset();
}

bool tw_session_impl::abandon() {
    // A file that was closed later is complete if its service has written everything, so it can
    // still get its final name.
    for (tw_file_impl* f : files.open)
        if (f->file && !f->closed) f->file->release_names();
    if (mpi_key != MPI_KEYVAL_INVALID && agreement) {
        Abandoned& kept = abandoned_sessions();
        const std::lock_guard lock(kept.mutex);
        kept.sessions.push_back(this);
        return true;
    }
    if (team) give_up(team->world());
    if (model) give_up(*model);
    if (servers) servers->give_up();
    end();
    return false;
}

void tw_session_impl::tell_of_abandoned(MPI_Comm comm) {
    const auto next = [&]() -> tw_session_impl* {
        Abandoned& kept = abandoned_sessions();
        const std::lock_guard lock(kept.mutex);
        for (tw_session_impl* s : kept.sessions)
            if (has_ranks_of(s->servers ? s->servers->all().world() : s->team->world(), comm))
                return s;
        return nullptr;
    };
    while (tw_session_impl* const session = next()) {
        session->end_abandoned();
        delete session;
    }
}

/// Ends this abandoned session. @note Collective, with other ranks in any call of the library
void tw_session_impl::end_abandoned() {
    {
        Abandoned& kept = abandoned_sessions();
        const std::lock_guard lock(kept.mutex);
        std::erase(kept.sessions, this);
    }
    cancel("abandoned", "");
}

bool tw_session_impl::is_abandoned() const {
    Abandoned& kept = abandoned_sessions();
    const std::lock_guard lock(kept.mutex);
    return std::count(kept.sessions.begin(), kept.sessions.end(), this) > 0;
}

void tw_session_impl::cancel(const char* does, const char* why) try {
    if (agreement) {
        const Status mine = failure(TW_ECANCELED, "rank {} has {} the session{}{}", OfRank{rank},
                                    does, *why == '\0' ? "" : ": ", why);
        const Status agreed = agreement->enter({Call::cancel, 0, 0, true, {}}, mine);
        if (!agreement->gave_up()) agreement->give_up_session();
        leave_given_up(agreed);
    }
    end();
} catch (const std::exception&) {
    if (team && team->size() > 1)
        end_job(team->world().handle(), rank, "tw_cancel", "", exception_status());
    end();
}

namespace {

/// Notifies a session of MPI_Finalize, which begins by deleting the attributes of MPI_COMM_SELF,
/// when MPI still works.
int on_deletion(MPI_Comm, int, void* attribute, void*) {
    const OwnArithmetic arithmetic;
    const std::unique_ptr<MpiWatch> watch(static_cast<MpiWatch*>(attribute));
    tw_session_impl* const session = watch->session;
    if (session == nullptr) return MPI_SUCCESS;
    const bool abandoned = session->is_abandoned();
    session->mpi_ends(abandoned);
    if (abandoned) delete session;  // no handle refers to the session any more
    return MPI_SUCCESS;
}

}  // namespace

void tw_session_impl::watch_mpi() {
    if (!mpi_is_running()) return;
    start_hdf5();
    watch_exit();
    auto watch = std::make_unique<MpiWatch>(MpiWatch{this});
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_deletion, &mpi_key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, mpi_key, watch.release());
}

/// Ends the session from within MPI_Finalize. Other ranks get an error from their present or next
/// call.
void tw_session_impl::mpi_ends(bool abandoned) try {
    if (mpi_key == MPI_KEYVAL_INVALID) return;  // tw_finalize has already ended the session
    mpi_key = MPI_KEYVAL_INVALID;
    if (!agreement) return;
    const WatchedCall standing(telemetry.watchdog.get(), "MPI_Finalize", nullptr, 0);
    if (abandoned) return end_abandoned();
    const Status agreed = agreement->enter({Call::mpi_finalize, 0, 0, true, {}});
    if (!agreement->gave_up()) agreement->give_up_session();
    const Status why = failure(TW_EMPI,
                               "MPI_Finalize was called before tw_finalize: open files remain "
                               "under their temporary names (see thalweg recover)");
    if (rank == 0) log::error("{}", why.text);
    leave_given_up(agreed.ok() ? why : agreed);
} catch (const std::exception&) {
    calls.over = exception_status();
    if (team && team->size() > 1)
        end_job(team->world().handle(), rank, "MPI_Finalize", "", calls.over);
}

FileOptions tw_session_impl::options_for(const Settings& s) const {
    FileOptions o;
    o.wording = wording;
    o.method = s.text("method");
    o.pnetcdf_blocking = s.text("storage") == "pnetcdf-blocking";
    o.storage = o.pnetcdf_blocking ? "pnetcdf" : s.text("storage");
    o.format = s.text("format");
    o.writers = s.text("writers");
    o.stripe_count = s.number("stripes");
    o.stripe_size = s.second_number("stripes");
    o.tiles = s.text("tiles");
    o.tile_files = s.text("files") == "tiles";
    o.shards = s.text("files") == "zarr";
    o.by_variable = o.shards || s.text("files") == "variable";
    o.readers = s.text("readers");
    o.read_ahead = s.flag("read_ahead");
    o.common_records = s.flag("common_records");
    o.alignment = s.number("alignment");
    o.piece = s.number("piece");
    o.straight = tested("THALWEG_TEST_STRAIGHT", o.straight);
    o.buffer = s.number("buffer");
    o.staging = s.number("staging");
    o.spacing.header_pad = s.number("header_pad");
    o.first_attributes = s.text("attributes") == "first";
    o.append = s.text("mode") == "append";
    o.live = s.text("publish") == "live";
    o.durable = s.flag("durable");
    o.checksums = s.flag("checksums");
    if (!s.text("manifest").empty()) (void)make_absolute(s.text("manifest"), o.manifest);
    o.run = telemetry.run;
    o.service = s.text("service");
    o.close_later = s.text("close") == "later";
    o.queue = s.number("queue");
    o.bandwidth = s.number("bandwidth");
    for (const char* name : {"deflate", "shuffle", "zstd", "quantize", "chunks", "packing"})
        if (s.given(name)) o.packing[name] = s.text(name);
    return o;
}

const std::string& tw_session_impl::summarize() {
    const SessionTelemetry& t = telemetry;
    AllFigures all = t.finished;
    all.elapsed = now() - t.begun;
    all.in_calls = t.in_calls + t.history_work + now() - t.entered;
    all.histories = t.history_work + t.history_calls;
    for (const tw_file_impl* f : files.open) {
        if (f->file) all.add(f->file->figures());
        if (f->reader) all.add(f->reader->figures());
        if (f->readback)
            if (auto read = f->readback->figures()) all.add(std::move(*read));
    }
    telemetry.summary = thalweg::detail::summarize(team->world(), all);
    return telemetry.summary;
}
