// SPDX-License-Identifier: Apache-2.0
#include "dataset/reader.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <new>
#include <string_view>

#include "comm/clock.hpp"
#include "exchange/straight.hpp"
#include "layout/writers.hpp"
#include "storage/file_system.hpp"

namespace thalweg {

namespace {

/// Plans that are kept: as many kinds of variables, or of records, as a restart has.
constexpr std::size_t most_plans = 16;

/// Bytes of a rank that a model may find in a cache after a read.
constexpr std::int64_t in_cache = std::int64_t(8) << 20;

/// Bytes of a run from which on ranks read their own: what Linux reads ahead in a file.
constexpr std::int64_t shortest_run = std::int64_t(128) << 10;

/// With halos some elements are wanted by several ranks; one in so many may be.
constexpr std::int64_t most_twice = 4;

/// What is read straight at a time stays in the second level of cache.
constexpr std::int64_t straight_piece = std::int64_t(512) << 10;

bool has_halo(const ArrayView& view) { return view.dense || view.with_halo; }

void add(ReadFigures& figures, const StreamCounts& counts) {
    figures.unpack += counts.pack + counts.move;
    figures.wait += counts.wait;
    figures.messages += counts.messages;
    figures.message_bytes += counts.message_bytes;
}

}  // namespace

Reader::Reader(Team& team, ArenaSource& arena, std::string path, int serial, FileOptions options)
    : team_(team),
      arena_source_(arena),
      path_(std::move(path)),
      serial_(serial),
      options_(std::move(options)) {}

/// One rank asks the file system, for all to choose alike.
Status Reader::choose_readers() {
    bool parallel = false;
    Status status = alone([&]() -> Status {
        plans_.reserve(most_plans);
        parallel = team_.rank() == 0 && file_system_at(path_).sharing == Sharing::parallel;
        return {};
    });
    team_.world().broadcast(&parallel, sizeof parallel, 0);
    const auto choose = [&]() -> Status {
        if (options_.readers == "auto")
            options_.readers = parallel ? "4/node" : std::to_string(team_.size());
        WriterWish wish;
        wish.count = parse_writers(options_.readers);
        wish.as_possible = true;
        return pick_writers(team_.topology(), wish, readers_);
    };
    return team_.agree(status.ok() ? alone(choose) : status);
}

Status Reader::open() {
    Stopwatch watch(figures_.open);
    Status status;
    arena_ = arena_source_.arena(status);
    if (!status.ok()) return status;
    if (status = choose_readers(); !status.ok()) return status;
    source_ = open_source(team_.world(), path_, reads(), status);
    if (!status.ok()) return status;
    source_->limit(static_cast<double>(options_.bandwidth) / static_cast<double>(readers_.size()));
    figures_.format = source_->format();  // a short word
    figures_.readers = static_cast<int>(readers_.size());
    return options_.read_ahead ? make_shelf() : status;
}

bool Reader::reads() const {
    return std::find(readers_.begin(), readers_.end(), team_.rank()) != readers_.end();
}

/// Memory for what is read ahead, and the thread that reads.
Status Reader::make_shelf() {
    if (!shelf_.memory.empty() || !source_->reads_behind()) return {};
    const auto bytes = static_cast<std::size_t>(Shelf::data_at + options_.staging);
    Status status = share_segments(team_.node(), reads() ? bytes : 0, false, segments_);
    const auto fill = [&]() -> Status {
        for (const auto& segment : segments_)
            shelf_.memory.push_back(segment ? segment->data() : nullptr);
        if (!reads()) return {};
        const auto me = static_cast<std::size_t>(team_.topology().node_rank);
        ahead_ = std::make_unique<ReadAhead>(*source_, shelf_.memory[me] + Shelf::data_at,
                                             options_.staging);
        return ahead_->start();
    };
    if (status.ok()) status = alone(fill);
    if (status = team_.agree(status); !status.ok()) {
        ahead_.reset();
        shelf_.memory.clear();
        segments_.clear();
        return status;
    }
    shelf_.ahead = ahead_.get();
    return {};
}

Status Reader::find(const std::string& name, int& variable) const {
    variable = source_->definitions().find_variable(name);
    if (variable >= 0) return {};
    if (const std::string why = source_->missing(name); !why.empty())
        return failure(TW_EUNSUPPORTED, "{}: '{}': {} (rank {})", path_, name, why, team_.rank());
    return failure(TW_ENOTFOUND, "{}: there is no variable '{}' (rank {})", path_, name,
                   team_.rank());
}

Status Reader::with_place(Status status, int variable) const {
    if (!status.ok())
        status.text =
            fmt::format("{}: variable '{}': {} (rank {})", path_,
                        source_->definitions().variables[static_cast<std::size_t>(variable)].name,
                        status.text, team_.rank());
    return status;
}

/// Finds the memory dimension of each dimension of the file.
Status Reader::match(const Wish& wish, const Variable& v, Request& request) const {
    if (v.shape.size() > static_cast<std::size_t>(max_dims))
        return failure(TW_EUNSUPPORTED, "it has {} dimensions; at most {} can be read",
                       v.shape.size(), max_dims);
    std::vector<std::string> dims;
    for (std::size_t k = v.record ? 1 : 0; k < v.dims.size(); ++k)
        dims.push_back(source_->definitions().dims[static_cast<std::size_t>(v.dims[k])].name);
    if (!wish.decomposition) {
        // Replicated: as if this rank were the one that holds all.
        request.decomposition = replicate(0, dims, v.shape);
        for (std::size_t f = 0; f < dims.size(); ++f) request.order.push_back(static_cast<int>(f));
        return {};
    }
    request.decomposition = wish.decomposition;
    const Decomposition& d = *wish.decomposition;
    for (std::size_t f = 0; f < dims.size(); ++f) {
        if (std::count(dims.begin(), dims.end(), dims[f]) > 1)
            return failure(TW_ESHAPE, "dimension '{}' occurs twice; it can only be read as a whole",
                           dims[f]);
        const auto m = std::find(d.dims.begin(), d.dims.end(), dims[f]) - d.dims.begin();
        if (m == d.nd() || dims.size() != d.dims.size())
            return failure(TW_ESHAPE, "its dimensions are ({}), the decomposition's ({})",
                           fmt::join(dims, " "), fmt::join(d.dims, " "));
        if (d.shape[static_cast<std::size_t>(m)] != v.shape[f])
            return failure(TW_ESHAPE, "dimension '{}' has length {}, in the decomposition {}",
                           dims[f], v.shape[f], d.shape[static_cast<std::size_t>(m)]);
        request.order.push_back(static_cast<int>(m));
    }
    if (dims.empty())
        return failure(TW_ESHAPE, "it has no dimensions, the decomposition has ({})",
                       fmt::join(d.dims, " "));
    if (d.listed) (void)d.listed->in_order(request.order, v.shape);  // made here, if need be
    return {};
}

Status Reader::check(const Wish& wish, Request& request) const {
    if (Status status = find(wish.name, request.variable); !status.ok()) return status;
    const Variable& v =
        source_->definitions().variables[static_cast<std::size_t>(request.variable)];
    auto checked = [&]() -> Status {
        if (!wish.wrong.ok()) return wish.wrong;
        if (!valid_type(wish.type)) return failure(TW_ETYPE, "there is no type {}", wish.type);
        const auto type = static_cast<tw_type>(wish.type);
        if (!valid_type(v.type)) return source_->check(request.variable, 0);
        if ((type == TW_CHAR) != (v.type == TW_CHAR))
            return failure(TW_ETYPE, "it is of type {}, not {}", name_of(v.type), name_of(type));
        if (v.record && (wish.record < 0 || wish.record >= source_->records()))
            return failure(TW_EBOUNDS, "there is no record {}; the file has {}", wish.record,
                           source_->records());
        request.record = v.record ? wish.record : 0;
        if (Status status = match(wish, v, request); !status.ok()) return status;
        ArrayView& view = request.view;
        view.data = static_cast<const char*>(wish.data);
        view.type = type;
        const Decomposition& d = *request.decomposition;
        Status fits = wish.n >= 0
                          ? check_dense(d, wish.n)
                          : check_strided(d, wish.rank, wish.extent, wish.byte_stride, view);
        if (!fits.ok()) return fits;
        // As in writing: a byte of CDF-1 and CDF-2 is signed or unsigned, as the user likes.
        if (v.type == TW_BYTE && type == TW_UBYTE && source_->byte_of_any_sign())
            view.type = TW_BYTE;
        if (wish.data == nullptr && d.held > 0) return failure(TW_EARG, "no array given");
        return source_->check(request.variable, request.record);
    };
    return with_place(checked(), request.variable);
}

Status Reader::get(const Wish& wish) {
    if (!broken_.ok()) return broken_;
    Request request;
    Status mine = alone([&] { return check(wish, request); });
    return perform(Call::get, {&request, 1}, std::move(mine));
}

Status Reader::get_deferred(const Wish& wish) {
    if (!broken_.ok()) return broken_;
    Request request;
    if (Status status = check(wish, request); !status.ok()) return status;
    deferred_.push_back(std::move(request));
    return {};
}

/// What was prefetched together is read together.
Status Reader::read() {
    if (!broken_.ok()) return broken_;
    const std::vector<Request> requests = std::exchange(deferred_, {});
    const std::vector<std::size_t> ends = std::exchange(prefetched_, {});
    Status result;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= ends.size(); ++i) {
        const std::size_t end = i < ends.size() ? ends[i] : requests.size();
        Status status = perform(Call::read, std::span(requests).subspan(begin, end - begin), {});
        begin = end;
        const bool goes_on = status.ok() || status.code == TW_ERANGE;
        if (result.ok()) result = std::move(status);
        if (!goes_on) break;
    }
    return result;
}

Status Reader::prefetch() {
    if (!broken_.ok()) return broken_;
    const std::size_t begin = prefetched_.empty() ? 0 : prefetched_.back();
    const auto requests = std::span<const Request>(deferred_).subspan(begin);
    Task task;
    Status status = alone([&]() -> Status {
        task = prepare(requests, true);
        prefetched_.reserve(prefetched_.size() + 1);
        return {};
    });
    status = agree_on(Call::prefetch, requests, status);
    if (!status.ok() || requests.empty()) return status;
    if (status = make_shelf(); !status.ok()) return status;
    const Scatter* scatter = scatter_of(plan_for(task), task, status);
    if (scatter == nullptr) return status;
    prefetched_.push_back(deferred_.size());
    expect(task.selection.sources, *scatter, true, false);
    return {};
}

/// Has it read ahead, as far as there is room and memory.
void Reader::expect(const std::vector<PlaceSource>& sources, const Scatter& scatter, bool asked,
                    bool spare) try {
    if (!ahead_) return;
    const std::int64_t first = ahead_->expect(sources, asked, spare);
    scatter.read_ahead(ahead_->expected(), first, *ahead_);
} catch (const std::bad_alloc&) {  // then it is read when it is wanted
}

/// The same of a later record; nothing if there is none.
std::vector<PlaceSource> Reader::later(std::span<const PlaceSource> sources, int records) const {
    std::vector<PlaceSource> result(sources.begin(), sources.end());
    bool any = false;
    for (PlaceSource& s : result) {
        if (!variable(s.variable).record) continue;
        any = true;
        s.record += records;
        if (s.record >= source_->records() || !source_->check(s.variable, s.record).ok()) return {};
    }
    if (!any) result.clear();
    return result;
}

/// After a read: the next record of the same is likely to be read next. Where nothing else is, the
/// one behind it follows, so that the file system has work while the next one is taken.
void Reader::look_ahead(const Selection& selection, const Scatter& scatter, bool good) try {
    ahead_->release();
    std::vector<PlaceSource> next[2];
    if (options_.read_ahead && good)
        for (int i : {0, 1}) next[i] = later(selection.sources, i + 1);
    ahead_->forget(selection.sources, next);
    for (int i : {0, 1}) {
        if (next[i].empty() || (i == 1 && ahead_->expects_others(selection.sources))) return;
        expect(next[i], scatter, false, i == 1);
    }
} catch (const std::bad_alloc&) {  // then it is not ahead
}

Status Reader::sync() {
    if (!broken_.ok()) return broken_;
    if (Status status = agree_on(Call::sync, {}, {}); !status.ok()) return status;
    const ReadAhead::Pause pause(ahead_.get());
    return source_->refresh(team_.world());
}

Status Reader::close() {
    Status status;
    if (broken_.ok() && source_) status = agree_on(Call::close, {}, {});
    (void)alone([&]() -> Status {  // not worth an error
        figures_ = figures();
        return {};
    });
    ahead_.reset();
    segments_.clear();
    plans_.clear();
    source_.reset();
    return status;
}

ReadFigures Reader::figures() {
    ReadFigures f = figures_;
    f.path = path_;
    if (!source_) return f;
    for (const Plan& plan : plans_)
        if (plan.scatter) add(f, plan.scatter->counts());
    const ReadAhead::Pause pause(ahead_.get());
    f.calls = source_->counts().calls;
    f.bytes = source_->counts().bytes;
    f.file = source_->counts().seconds;
    if (ahead_) f.ahead = ahead_->counts().taken;
    if (ahead_) f.unused = ahead_->counts().unused;
    return f;
}

std::string Reader::describe(const Request& r) const {
    const Variable& v = source_->definitions().variables[static_cast<std::size_t>(r.variable)];
    std::string text = fmt::format("variable '{}'", v.name);
    if (v.record) text += fmt::format(", record {}", r.record);
    return text + (r.decomposition->replicated
                       ? std::string(", the whole")
                       : fmt::format(", decomposition {}", r.decomposition->serial));
}

/// The words are those of File::agree_on, so that a rank that is there is found.
Status Reader::agree_on(Call call, std::span<const Request> requests, const Status& mine) {
    Scatter::prepare(team_, *arena_);
    std::uint64_t hash = requests.size();
    if (mine.ok()) {
        for (const Request& r : requests)
            for (const std::int64_t word : {static_cast<std::int64_t>(r.variable), r.record,
                                            static_cast<std::int64_t>(r.decomposition->serial)})
                hash = (hash ^ static_cast<std::uint64_t>(word)) * 1099511628211ULL + 1;
    }
    const std::int64_t which = std::int64_t(serial_) << 32;
    const auto what = static_cast<std::int64_t>(hash);
    std::int64_t words[6] = {
        std::int64_t(1) << static_cast<int>(call), which, ~which, mine.ok() ? 0 : 2, what, ~what};
    team_.all_reduce(words, Reduce::bit_or);
    const bool same_file = (words[1] & words[2]) == 0;
    const bool closes = same_file && ((words[0] >> static_cast<int>(Call::close)) & 1) != 0;
    Status status;
    if (words[3] != 0)
        status = agree(team_.world(), mine);
    else if ((words[0] & (words[0] - 1)) != 0 || !same_file || (words[4] & words[5]) != 0)
        status = mismatch(call, requests, closes);
    if (!status.ok() && closes) broken_ = status;
    return status;
}

Status Reader::mismatch(Call call, std::span<const Request> requests, bool closes) {
    const char* name = call == Call::get        ? "tw_get"
                       : call == Call::read     ? "tw_read"
                       : call == Call::sync     ? "tw_sync"
                       : call == Call::prefetch ? "tw_prefetch"
                                                : "tw_close";
    std::string here;
    std::vector<char> first;
    Status status = alone([&]() -> Status {
        here = fmt::format("{} of {}", name, path_);
        for (const Request& r : requests) here += ", " + describe(r);
        first.assign(here.begin(), here.end());
        return {};
    });
    team_.world().broadcast(first, 0);
    const std::string_view theirs(first.data(), first.size());
    const auto compare = [&]() -> Status {
        if (theirs != here)
            return failure(TW_EMISMATCH,
                           "the ranks are in different calls: {} on rank 0, {} on rank {}", theirs,
                           here, team_.rank());
        return {};
    };
    status = agree(team_.world(), status.ok() ? alone(compare) : status);
    if (status.ok() && !closes)
        status = failure(TW_EMISMATCH, "{}: the ranks ask for different things", path_);
    return status;
}

std::vector<WantedBox> Reader::wanted(const Request& r, bool with_halo) const {
    const Variable& v = source_->definitions().variables[static_cast<std::size_t>(r.variable)];
    return wanted_boxes(*r.decomposition, r.order, v.shape, with_halo);
}

/// Each variable of a record is read once, whoever asks for it.
Reader::Selection Reader::select(std::span<const Request> requests) const {
    using Key = std::array<std::int64_t, 3>;
    const auto key = [&](const Request& r) {
        return Key{source_->position(r.variable, r.record), r.variable, r.record};
    };
    std::map<Key, Selection::Run> found;
    for (const Request& r : requests) found[key(r)] = {};
    Selection s;
    for (auto& [at, run] : found) {
        const int variable = static_cast<int>(at[1]);
        const Variable& v = source_->definitions().variables[static_cast<std::size_t>(variable)];
        run.first = s.sources.size();
        if (v.elements() == 0) continue;
        const auto parts = source_->parts(variable, static_cast<int>(readers_.size()));
        run.count = parts.size();
        for (const SourcePart& part : parts) {
            const Box& box = part.box;
            Place p;
            p.variable = static_cast<int>(s.sources.size());
            p.offset = s.space.bytes;
            p.element = static_cast<std::int64_t>(v.element());
            p.bytes = box.volume() * p.element;
            p.padded = (p.bytes + 3) / 4 * 4;
            p.shape.assign(box.count.begin(), box.count.begin() + box.nd);
            p.grain = part.grain;
            s.space.bytes += p.padded;
            s.space.places.push_back(std::move(p));
            s.sources.push_back({variable, at[2], part});
        }
    }
    for (const Request& r : requests) s.places.push_back(found[key(r)]);
    return s;
}

/// The same plan serves all reads of the same shapes, decompositions and orders.
std::vector<std::int64_t> Reader::key_of(std::span<const Request> requests,
                                         const Selection& s) const {
    std::vector<std::int64_t> key;
    for (const Place& p : s.space.places) {
        const Box& box = s.sources[static_cast<std::size_t>(p.variable)].part.box;
        key.push_back(p.element);
        key.push_back(p.grain);
        key.push_back(box.nd);
        key.insert(key.end(), box.low.begin(), box.low.begin() + box.nd);
        key.insert(key.end(), box.count.begin(), box.count.begin() + box.nd);
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
        key.push_back(static_cast<std::int64_t>(s.places[i].first));
        key.push_back(requests[i].decomposition->serial);
        key.insert(key.end(), requests[i].order.begin(), requests[i].order.end());
    }
    return key;
}

/// Where everything is to go that is asked for.
void Reader::add_deliveries(std::span<const Request> requests, Task& task) const {
    std::int64_t bytes = 0;
    for (const Request& r : requests)
        bytes += r.decomposition->held * static_cast<std::int64_t>(size_of(r.view.type));
    const bool streams = bytes > in_cache;
    const Selection& s = task.selection;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const Request& r = requests[i];
        const Variable& v = variable(r.variable);
        const auto all = wanted(r, has_halo(r.view));
        for (std::size_t k = 0; k < s.places[i].count; ++k) {
            Delivery d;
            d.place = s.places[i].first + k;
            d.boxes = wanted_within(all, s.sources[d.place].part.box);
            if (d.boxes.empty()) continue;
            d.decomposition = r.decomposition.get();
            d.order = r.order;
            d.array = r.view;
            d.kernel = unpack_kernel(v.type, r.view.type, source_->order(r.variable),
                                     streams && !r.decomposition->listed);
            if (d.boxes.front().list) d.origin = origin_of(d);
            task.deliveries.push_back(std::move(d));
            task.request_of.push_back(i);
        }
    }
    task.misfits.assign(requests.size(), 0);
}

Reader::Task Reader::prepare(std::span<const Request> requests, bool ahead) const {
    Task task;
    task.selection = select(requests);
    const Selection& s = task.selection;
    task.key = key_of(requests, s);
    const auto known = std::find_if(plans_.begin(), plans_.end(),
                                    [&](const Plan& plan) { return plan.key == task.key; });
    if (known != plans_.end() && (known->scatter || (!ahead && known->straight == true)))
        return task;
    task.boxes.resize(s.space.places.size());
    if (team_.topology().nodes > 1)
        for (std::size_t i = 0; i < requests.size(); ++i) {
            const auto all = wanted(requests[i], true);
            for (std::size_t k = 0; k < s.places[i].count; ++k) {
                const std::size_t place = s.places[i].first + k;
                const auto part = wanted_within(all, s.sources[place].part.box);
                task.boxes[place].insert(task.boxes[place].end(), part.begin(), part.end());
            }
        }
    return task;
}

/// The plan of a task, which all ranks have or none.
Reader::Plan& Reader::plan_for(Task& task) {
    const auto known = std::find_if(plans_.begin(), plans_.end(),
                                    [&](const Plan& plan) { return plan.key == task.key; });
    if (known != plans_.end()) {
        std::rotate(plans_.begin(), known, known + 1);
        return plans_.front();
    }
    if (plans_.size() == most_plans) {
        if (plans_.back().scatter) add(figures_, plans_.back().scatter->counts());
        plans_.pop_back();
    }
    return *plans_.insert(plans_.begin(), Plan{std::move(task.key), {}, nullptr});
}

/// The exchange of a plan; made when it is first needed. @note Collective
Scatter* Reader::scatter_of(Plan& plan, Task& task, Status& status) {
    if (plan.scatter) return plan.scatter.get();
    const auto members = static_cast<std::int64_t>(team_.topology().members.size());
    StreamOptions options;
    options.budget = options_.buffer * members;
    options.piece = std::max<std::int64_t>(0, options_.piece);
    plan.scatter = Scatter::make(team_, *arena_, std::move(task.selection.space),
                                 std::move(task.boxes), readers_, options, status);
    return plan.scatter.get();
}

/// Whether each rank had better read what it wants itself: all ranks may read, what they want is in
/// long runs, and little of it is wanted by several. @note Collective
bool Reader::long_runs(const Space& space, std::span<const Delivery> deliveries) const {
    if (static_cast<int>(readers_.size()) < team_.size()) return false;
    const RunCounts mine = count_runs(space, deliveries);
    std::int64_t all[] = {mine.bytes, mine.runs, mine.against};
    team_.all_reduce(all, Reduce::sum);
    const std::int64_t shortest = options_.straight < 0 ? shortest_run : options_.straight;
    return all[2] == 0 && all[0] / std::max<std::int64_t>(all[1], 1) >= shortest &&
           all[0] - space.bytes <= space.bytes / most_twice;
}

/// @return this rank's own failure
Status Reader::take_straight(Task& task) {
    if (buffer_.empty()) {
        const std::int64_t piece = options_.piece > 0 ? options_.piece : straight_piece;
        buffer_.resize(
            static_cast<std::size_t>(std::clamp<std::int64_t>(piece, 8, options_.buffer)));
    }
    StreamCounts counts;
    Status status = read_straight(task.selection.space, task.selection.sources, task.deliveries,
                                  *source_, buffer_, counts);
    add(figures_, counts);
    return status;
}

/// @return this rank's own failure
Status Reader::take(Plan& plan, Task& task) {
    const bool nothing_ahead = shelf_.memory.empty();
    if (nothing_ahead && !plan.straight)
        plan.straight = long_runs(task.selection.space, task.deliveries);
    if (nothing_ahead && *plan.straight) return alone([&] { return take_straight(task); });
    Status status;
    Scatter* const scatter = scatter_of(plan, task, status);
    if (scatter == nullptr) return status;
    return scatter->run(task.selection.sources, task.deliveries, *source_,
                        nothing_ahead ? nullptr : &shelf_);
}

Status Reader::perform(Call call, std::span<const Request> requests, Status mine) {
    Task task;
    if (mine.ok())
        mine = alone([&]() -> Status {
            task = prepare(requests, !shelf_.memory.empty());
            add_deliveries(requests, task);
            return {};
        });
    if (Status status = agree_on(call, requests, mine); !status.ok() || requests.empty())
        return status;
    Stopwatch watch(figures_.read);
    ++figures_.reads;
    Plan& plan = plan_for(task);
    Status status = take(plan, task);
    for (std::size_t i = 0; i < task.deliveries.size(); ++i)
        task.misfits[task.request_of[i]] += task.deliveries[i].misfits;
    const auto fit = [&]() -> Status {
        for (std::size_t i = 0; i < requests.size(); ++i)
            if (task.misfits[i] > 0)
                return with_place(failure(TW_ERANGE, "{} values do not fit type {}",
                                          task.misfits[i], name_of(requests[i].view.type)),
                                  requests[i].variable);
        return {};
    };
    if (status.ok()) status = alone(fit);
    status = team_.agree(status);
    if (ahead_ && plan.scatter)
        look_ahead(task.selection, *plan.scatter, status.ok() || status.code == TW_ERANGE);
    return status;
}

}  // namespace thalweg
