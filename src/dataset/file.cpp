// SPDX-License-Identifier: Apache-2.0
#include "dataset/file.hpp"

#include <array>
#include <cmath>

#include "comm/clock.hpp"
#include "comm/log.hpp"
#include "comm/trace.hpp"
#include "dataset/choose_layout.hpp"
#include "dataset/described.hpp"
#include "dataset/explain.hpp"
#include "plan/last_proposal.hpp"
#include "storage/classic/header_reader.hpp"
#include "storage/posix/paths.hpp"
#include "storage/tiles/tiles.hpp"

namespace thalweg::detail {

// ---- define mode --------------------------------------------------------------------------------

Status File::check_defining(const char* what) const {
    if (Status status = file_.usable(); !status.ok()) return status;
    if (in_data_mode_)
        return failure(TW_ESTATE,
                       "{}: {} after the definitions had ended (with tw_enddef or the first "
                       "tw_put, tw_end_step or tw_sync)",
                       file_.path, what);
    return {};
}

/// @note Collective
Status File::take_names() {
    if (!file_.options.append) return names_.create([this] { return references_.drop(); });
    // Before it is read: what another run adds meanwhile would be lost.
    Status status = names_.take_existing();
    return status.ok() ? define_.open_existing() : status;
}

Status File::begin() {
    Stopwatch watch(file_.figures.open);
    const TraceFile traced(file_.path);
    const Span span("open");
    Status status = variables_.check();
    if (status.ok()) status = references_.find();
    if (status.ok()) status = take_names();
    if (status.ok() && file_.options.append) status = references_.begin();
    if (!status.ok()) {
        names_.discard();
        file_.closed = true;
    }
    return status;
}

Status File::define_dimension(const std::string& name, std::int64_t length) {
    Status s = check_defining("a dimension was defined");
    return s.ok() ? define_.define_dimension(name, length) : s;
}

Status File::define_variable(const std::string& name, int type, const std::string& dims,
                             std::shared_ptr<const Decomposition> decomposition) {
    Status s = check_defining("a variable was defined");
    return s.ok() ? define_.define_variable(name, type, dims, std::move(decomposition)) : s;
}

Status File::put_attribute(const std::string& variable, Attribute attribute) {
    if (Status s = file_.usable(); !s.ok()) return s;
    return in_data_mode_ ? define_.put_late_attribute(variable, std::move(attribute))
                         : define_.put_attribute(variable, std::move(attribute));
}

Status File::define(Definitions definitions) {
    Status s = check_defining("definitions were given");
    if (s.ok()) file_.definitions = std::move(definitions);
    return s;
}

Status File::set_variable(const std::string& variable, const std::string& settings) {
    Status s = check_defining("tw_set_var was called");
    return s.ok() ? detail::set_variable(file_.definitions, file_.path, variable, settings) : s;
}

Status File::set_record(std::int64_t record, int later) {
    Status s = check_defining("tw_set_record was called");
    return s.ok() ? define_.set_record(record, later) : s;
}

// ---- the end of define mode ---------------------------------------------------------------------

Status File::end_definitions() {
    if (Status status = file_.usable(); !status.ok()) return status;
    if (in_data_mode_)
        return failure(TW_ESTATE, "{}: the definitions have already ended", file_.path);
    Stopwatch watch(file_.figures.open);
    const Span span("open");
    if (Status status = file_.enter(Call::enddef, -1, {}, {}); !status.ok()) return status;
    // Every rank knows of a failure here, so that later calls need not ask the others.
    return file_.keep(together([&] { return begin_file(); }));
}

/// One rank asks the file system, for all to choose alike. @note Collective
Status File::ask_file_system(Surroundings& around) const {
    std::array<std::int64_t, 3> answers{};
    Status status = alone([&]() -> Status {
        if (file_.team.rank() != 0) return {};
        const FileSystem system = file_system_at(file_.data_path);
        answers = {system.magic, system.block, file_.options.stripe_size};
        if (system.lustre && answers[2] < 0) answers[2] = stripe_size_of(file_.data_path);
        return {};
    });
    file_.team.world().broadcast(answers.data(), sizeof answers, 0);
    around.file_system = file_system_of(answers[0], answers[1]);
    around.stripe_size = answers[2];
    return status;
}

/// About those that a service would take for this rank's queue.
std::int64_t File::queue_bytes() const {
    if (file_.options.queue >= 0) return file_.options.queue;
    std::int64_t held = 0;
    for (const Variable& v : file_.definitions.variables)
        held += v.decomposition->held * v.element();
    return std::min(2 * held, file_.options.staging);
}

/// One rank asks the cost model, for all to choose alike. @note Collective
Status File::ask_cost_model(Surroundings& around) const {
    if (!asks_cost_model(file_.options, file_.format, around)) return {};
    Team& team = file_.team;
    auto& last = file_.session.last_proposal;
    std::vector<std::int64_t> words;
    Status status = team.agree(alone([&]() -> Status {
        around.folder = folder_of(file_.path);
        if (!last) last = std::make_shared<planning::LastProposal>();
        // What files have taken goes along with what the ranks hold.
        const auto told = last->told();
        words.assign(told.begin(), told.end());
        const auto held = held_words(file_.definitions, team.rank(), team.size());
        words.insert(words.end(), held.begin(), held.end());
        return {};
    }));
    if (!status.ok()) return status;
    team.all_reduce(words, Reduce::max);
    const std::span<const std::int64_t> all(words);
    last->hear(all.first(planning::LastProposal::words));
    struct Answer {
        char method[16], writers[32], why[256];
        double seconds, usual;
        int kind, way;
    } answer{};
    answer.kind = -1;
    status = alone([&]() -> Status {
        if (team.rank() != 0) return {};
        planning::Run run;
        const Held held =
            held_of(file_.definitions, all.subspan(planning::LastProposal::words), team.size());
        if (!describe_run(file_.options, file_.definitions, around, held, run)) return {};
        const planning::Proposal p = last->of(run, asked_of(file_.options));
        p.method.copy(answer.method, sizeof answer.method - 1);
        p.writers.copy(answer.writers, sizeof answer.writers - 1);
        p.why.copy(answer.why, sizeof answer.why - 1);
        answer.seconds = p.seconds;
        answer.usual = p.usual;
        answer.kind = p.kind;
        answer.way = p.way;
        return {};
    });
    team.world().broadcast(&answer, sizeof answer, 0);
    around.proposal = {answer.method, answer.writers, answer.seconds, answer.usual,
                       answer.why,    answer.kind,    answer.way};
    return status;
}

/// @note Collective
Status File::choose_all(bool& writers_asked) {
    Surroundings around;
    around.nodes = file_.team.topology().nodes;
    around.ranks = file_.team.size();
    around.servers = file_.session.port() != nullptr;
    around.existing = file_.existing.is;
    around.machine = file_.session.machine();
    if (file_.options.service == "auto" && !around.servers) {
        around.room = find_room(file_.team, queue_bytes());
        around.outputs = agree_on(file_.session.outputs);
    }
    Status asked = ask_file_system(around);
    if (Status s = ask_cost_model(around); asked.ok()) asked = std::move(s);
    Choice choice;
    const auto take = [&]() -> Status {
        if (!asked.ok()) return asked;
        choice = choose(file_.options, file_.definitions, file_.format, around);
        data_->target.storage = make_storage(choice.storage);
        data_->target.order = data_->target.storage->order();
        FileOptions& options = file_.options;
        file_.figures.settings = explain(asked_, file_.existing.is, file_.format, around, choice);
        options.storage = choice.storage;
        options.writers = choice.writers;
        options.alignment = choice.alignment;
        options.method = file_.figures.method = choice.method;
        options.service = file_.figures.service = choice.service;
        data_->may_change = choice.may_change;
        data_->proposal = around.proposal;
        data_->computing = file_.session.computing();
        file_.figures.why_service = choice.why_service;
        file_.figures.storage = data_->target.storage->name();
        file_.figures.format = name_of(file_.format);
        writers_asked = choice.writers_asked;
        return {};
    };
    if (Status status = file_.team.agree(alone(take)); !status.ok()) return status;
    if (file_.team.rank() == 0) report(choice.remarks, file_.path);
    return {};
}

/// The first writer of each node looks whether it is the file that was claimed. @note Collective
Status File::check_shared() {
    Team& team = file_.team;
    const Topology& topology = team.topology();
    if (topology.nodes == 1) return {};
    const auto& writers = data_->target.writers;
    const auto first = std::find_if(writers.begin(), writers.end(), [&](int rank) {
        return topology.node_of[rank] == topology.node;
    });
    const bool looks = first != writers.end() && *first == team.rank();
    return team.agree(
        alone([&] { return looks ? check_identity(file_.data_path, file_.claimed) : Status{}; }));
}

/// Creates the file, or opens it to be written on. @note Collective
Status File::open_storage() {
    if (Status status = check_shared(); !status.ok()) return status;
    const FileOptions& options = file_.options;
    Target& target = data_->target;
    const auto mine = std::find(target.writers.begin(), target.writers.end(), file_.team.rank());
    const bool writer = mine != target.writers.end();
    const auto cut = [&]() -> Status {
        target.storage = make_tile_storage(
            std::move(target.storage), target.layout.grid,
            writer ? static_cast<int>(mine - target.writers.begin()) : -1, file_.path);
        return {};
    };
    if (target.layout.grid.own_files)
        if (Status status = file_.team.agree(alone(cut)); !status.ok()) return status;
    StorageOptions storage = file_.storage_options();  // takes no memory
    // Every writer holds itself to its part, so that none has to ask the others.
    storage.rate = 1.0 * options.bandwidth / target.writers.size();
    storage.keeper = target.writers.front();
    storage.one_writer = target.writers.size() == 1;
    storage.behind = options.service == "background" || data_->may_change;
    storage.apart = options.service == "background";
    const auto& node_of = file_.team.topology().node_of;
    storage.beside_keeper = node_of[file_.team.rank()] == node_of[storage.keeper];
    Comm& world = file_.team.world();
    return file_.existing.is ? target.storage->open(world, file_.path, file_.definitions, storage,
                                                    writer, target.map)
                             : target.storage->create(world, file_.data_path, file_.definitions,
                                                      storage, writer, target.map);
}

/// @note Collective
Status File::begin_file() {
    if (Status s = define_.compare(); !s.ok()) return s;
    if (Status s = define_.settle(); !s.ok()) return s;
    if (Status s = variables_.check_definitions(); !s.ok()) return s;
    Team& team = file_.team;
    if (Status s = team.agree(alone([&]() -> Status {
            data_ = std::make_unique<Data>(file_);
            const ClassicHeader* header =
                file_.existing.is ? contents()->classic_header() : nullptr;
            if (header != nullptr) data_->target.map = header->map;
            return {};
        }));
        !s.ok())
        return s;
    bool writers_asked = false;
    if (Status s = choose_all(writers_asked); !s.ok()) return s;
    Target& target = data_->target;
    const Grid* const tiles = contents() != nullptr ? contents()->tiles() : nullptr;
    if (Status s = choose_layout(file_, writers_asked, tiles, target); !s.ok()) return s;
    if (file_.in_files())
        if (Status s =
                team.agree(alone([&] { return names_.claim_tiles(target.layout.grid.parts()); }));
            !s.ok())
            return s;
    if (file_.options.service != "servers") {
        if (Status s = open_storage(); !s.ok()) return s;
        data_->storage_open = true;
    }
    Status status;
    data_->service = make_service(file_, target, data_->batch, status);
    if (status.ok() && file_.in_files() && names_.on_several_nodes())
        status = team.agree(alone([&] { return names_.check_begun(); }));
    if (!status.ok()) return status;
    data_->boxes.emplace(file_, data_->batch, *data_->service);
    data_->storage_open = in_data_mode_ = true;
    return {};
}

// ---- data mode ----------------------------------------------------------------------------------

/// The first call that needs data mode ends the definitions.
Status File::begin_data() {
    if (file_.closed) return file_.usable();
    return in_data_mode_ ? Status{} : end_definitions();
}

/// @param check  completes the view of the array, given the decomposition
template <class Check>
Status File::put_array(const std::string& name, int type, const void* data, bool deferred,
                       Check&& check) {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(file_.figures.put);
    Span span("put");
    int at = -1;
    ArrayView view;
    view.data = static_cast<const char*>(data);
    view.type = static_cast<tw_type>(type);
    Status status = file_.find_variable(name, type, at);
    if (status.ok()) {
        const Variable& v = file_.variable(at);
        span.variable(v.name).record(v.record ? data_->batch.record : -1);
        span.bytes(v.decomposition->held * v.element());
        if (data_->batch[at].boxed)
            status = failure(TW_ESTATE,
                             "{}: variable '{}': tw_put_box or tw_put_record has written this "
                             "record in this step; call tw_end_step before tw_put (rank {})",
                             file_.path, name, file_.team.rank());
        else if (data == nullptr && v.decomposition->stored > 0)
            status =
                failure(TW_EARG, "{}: variable '{}': the data are missing (null pointer) (rank {})",
                        file_.path, name, file_.team.rank());
        else
            status = file_.in_variable(check(*v.decomposition, view), at);
        if (status.ok()) {
            Batch::Part& part = data_->batch[at];
            part.form = view.dense ? Form::either : view.form;
            if (deferred)
                part.glimpse = Glimpse(*v.decomposition, v.order,
                                       held_by(*v.decomposition, v.order, v.shape), view);
            file_.use_netcdf_byte_rule(at, view.type);
        }
    }
    return data_->service->put(std::move(status), at, view, deferred);
}

Status File::put(const std::string& name, int type, const void* data, std::int64_t n,
                 bool deferred) {
    return put_array(name, type, data, deferred, [&](const Decomposition& d, ArrayView& view) {
        return check_dense(d, n, view);
    });
}

Status File::put_strided(const std::string& name, int type, const void* data, int rank,
                         const std::int64_t* extent, const std::int64_t* byte_stride,
                         bool deferred) {
    return put_array(name, type, data, deferred, [&](const Decomposition& d, ArrayView& view) {
        return check_strided(d, rank, extent, byte_stride, view);
    });
}

Status File::put_box(const std::string& name, int type, const std::int64_t* start,
                     const std::int64_t* count, const std::int64_t* stride, const void* data,
                     int ndims) {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(file_.figures.put);
    Span span("put");
    span.variable(name);
    return data_->boxes->put_box(name, {type, start, count, stride, data, ndims});
}

Status File::put_record(const std::string& name,
                        const std::shared_ptr<const Decomposition>& decomposition,
                        std::int64_t record, int type, const void* data, std::int64_t n,
                        bool deferred) {
    RecordToPut put{decomposition, record, type, data};
    put.n = n;
    put.deferred = deferred;
    return put_record(name, put);
}

Status File::put_record_strided(const std::string& name,
                                const std::shared_ptr<const Decomposition>& decomposition,
                                std::int64_t record, int type, const void* data, int rank,
                                const std::int64_t* extent, const std::int64_t* byte_stride,
                                bool deferred) {
    RecordToPut put{decomposition, record, type, data};
    put.deferred = deferred;
    put.strided = true;
    put.rank = rank;
    put.extent = extent;
    put.byte_stride = byte_stride;
    return put_record(name, put);
}

Status File::put_record(const std::string& name, const RecordToPut& put) {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(file_.figures.put);
    Span span("put");
    span.variable(name).record(put.record);
    return data_->boxes->put_record(name, put);
}

Status File::end_step() {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(file_.figures.step);
    Span span("step");
    span.record(data_->batch.record);
    const double begin = now();
    Status status = data_->service->end_step();
    if (file_.figures.steps == 1)
        data_->first_step = file_.figures.put + file_.figures.step + (now() - begin);
    if (!data_->may_change || file_.leaving || !status.ok()) return status;
    return reconsider_service();
}

// ---- service=auto -------------------------------------------------------------------------------

/// What this rank knows of this file's outputs.
OutputTimes File::output_times() const {
    const FileFigures f = figures();
    OutputTimes times;
    times.outputs = f.steps;
    times.pack = std::max(f.put, f.remap);
    times.write = f.write;
    times.computing = file_.session.computing() - (data_ ? data_->computing : 0);
    return times;
}

/// For the next proposal: what a step of this file has taken in the model's calls.
void File::note_steps() const {
    if (!data_ || file_.options.service != "inline" || data_->batch.boxed) return;
    const FileFigures f = figures();
    // The first step of a session meets memory that nobody has touched before.
    const bool first = file_.session.outputs.outputs == 0;
    const std::int64_t steps = f.steps - (first ? 1 : 0);
    const double seconds = f.put + f.step - (first ? data_->first_step : 0);
    if (steps > 0 && file_.session.last_proposal)
        file_.session.last_proposal->note(data_->proposal, seconds / static_cast<double>(steps));
}

/// The slowest rank's of all that costs time, and of what the model does meanwhile the fastest
/// one's.
/// @note Collective
OutputTimes File::agree_on(OutputTimes mine) const {
    constexpr double ns = 1e9;
    std::array<std::int64_t, 4> words{mine.outputs, std::llround(mine.pack * ns),
                                      std::llround(mine.write * ns),
                                      -std::llround(mine.computing * ns)};
    file_.team.all_reduce(words, Reduce::max);
    return {words[0], words[1] / ns, words[2] / ns, -words[3] / ns};
}

/// After 2, 4, 8, ... steps of the file; the ranks have just met.
/// @param times  receives what was measured, where that decides. @note Collective
bool File::is_time_to_change(OutputTimes& times) {
    const std::int64_t steps = file_.figures.steps;
    if (file_.options.background_after > 0) return steps >= file_.options.background_after;
    if (steps < 2 || (steps & (steps - 1)) != 0) return false;
    times = file_.session.outputs;
    times = agree_on(times += output_times());
    return pays_in_background(times);
}

/// A step has ended: what follows may be written in the background from now on. @note Collective
Status File::reconsider_service() {
    OutputTimes times;
    if (!is_time_to_change(times)) return {};
    data_->may_change = false;
    Status status = go_on_in_background(file_, data_->target, data_->batch, data_->service);
    data_->boxes.emplace(file_, data_->batch, *data_->service);
    (void)alone([&]() -> Status {
        note_service(times);
        return {};
    });
    return file_.keep(std::move(status));
}

/// What became of the service, for the log and the summary.
void File::note_service(const OutputTimes& times) {
    FileFigures& f = file_.figures;
    const bool changed = file_.options.service == "background";
    f.service = file_.options.service;
    f.why_service =
        !changed ? "its steps do not fit into the queue, or boxes wait for other records"
        : times.outputs > 0
            ? in_words(times)
            : fmt::format("in the background after {} steps", file_.options.background_after);
    for (ChosenSetting& row : f.settings)
        if (row.name == "service") row = {row.name, row.asked, f.service, f.why_service};
    if (file_.team.rank() == 0)
        log::info("{}: service {} from record {} on: {}", file_.path, f.service,
                  file_.options.wording.index(data_->batch.record), f.why_service);
}

Status File::sync(bool durable) {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(file_.figures.step);
    Status status = data_->service->sync(durable);
    return status.ok() ? references_.refresh() : status;
}

std::int64_t File::counted_records() const {
    return std::max(data_ ? data_->batch.record : 0, file_.existing.kept);
}

FileFigures File::figures() const {
    FileFigures f = file_.figures;
    if (data_ && data_->service) data_->service->add_figures(f);
    return f;
}

// ---- the end: completed and given its name, or given up -----------------------------------------

/// Everything that the ranks have to do together before a file can be completed. With a service the
/// writers have it all then, and may still be at it.
Status File::hand_over() {
    Batch& batch = data_->batch;
    Service& service = *data_->service;
    Agreed agreed;
    if (Status s = service.agree_to_close(agreed); !s.ok()) return s;
    Status misfit;
    if (batch.step_is_open(agreed)) {
        misfit = end_step();
        // A rank may see a failure before the others do; they stop together.
        Status ended = file_.team.agree(misfit.code == TW_ERANGE ? Status{} : misfit);
        if (!ended.ok()) return file_.keep(std::move(ended));
        agreed.put.assign(agreed.put.size(), 0);  // the step took the fixed-size ones with it
    }
    if (Status s = define_.compare(); !s.ok()) return s;
    Status status = service.write_rest(agreed);
    return status.ok() ? misfit : status;
}

/// The meeting with which a close begins, and what is left to write.
Status File::end() {
    file_.leaving = true;
    Status status = begin_data();
    const double begin = now(), stepped = file_.figures.step;
    if (status.ok())
        status = hand_over();
    else if (data_ && data_->storage_open)
        status = file_.enter(Call::close, -1, {}, {});
    // A step that this has ended counts as one.
    file_.figures.close += now() - begin - (file_.figures.step - stepped);
    return status;
}

Status File::close() {
    if (file_.closed) return file_.usable();
    Status status = end();
    // Else all ranks end it in the order in which they find it.
    return file_.session.meeting().parted() ? status : complete(std::move(status));
}

Status File::close_later(bool& later) {
    later = false;
    if (file_.closed) return file_.usable();
    Status status = end();
    if (file_.session.meeting().parted()) return status;
    later = written_any_time() && (status.ok() || status.code == TW_ERANGE);
    return later ? status : complete(std::move(status));
}

/// Names the complete file, and its references after it. @note Collective
Status File::publish() {
    const Status referred = references_.prepare();
    if (Status status = variables_.make_shards(); !status.ok()) return status;
    Status named = file_.team.agree(alone([&] { return names_.publish(); }));
    Status published = references_.publish(named.ok());  // those that could be made
    if (!named.ok()) return named;
    return referred.ok() ? published : referred;
}

Status File::complete(Status status) {
    Stopwatch watch(file_.figures.close);
    const TraceFile traced(file_.path);
    const Span span("close");
    const auto good = [&] { return status.ok() || status.code == TW_ERANGE; };
    Service* service = data_ ? data_->service.get() : nullptr;
    if (service != nullptr && good())
        if (Status written = service->finish(file_.options.durable); !written.ok())
            status = file_.keep(std::move(written));
    if (data_ && data_->storage_open) {
        Status closed = service != nullptr ? service->close(good())
                                           : data_->target.storage->close(data_->batch.record, {});
        closed = file_.team.agree(closed);
        data_->storage_open = false;
        if (good() && !closed.ok()) status = std::move(closed);
    }
    if (good()) {
        Status published = publish();
        if (status.ok() || !published.ok()) status = std::move(published);
    } else if (!in_data_mode_) {
        names_.discard();  // never had data
    }
    names_.release();
    (void)alone([&]() -> Status {
        if (good()) note_steps();
        if (data_) file_.session.outputs += output_times();
        file_.figures = figures();
        return {};
    });
    file_.closed = true;
    data_.reset();
    return status;
}

void File::leave(const Status& why) {
    if (file_.closed) return;
    (void)file_.keep(why);
    (void)complete(file_.failed);
}

Status File::abandon(Status why) {
    Status first = file_.keep(std::move(why));
    (void)close();
    return first;
}

}  // namespace thalweg::detail
