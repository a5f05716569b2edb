// SPDX-License-Identifier: Apache-2.0
#include "dataset/reader.hpp"

#include <algorithm>

#include "comm/clock.hpp"
#include "decomposition/match.hpp"
#include "layout/writers.hpp"
#include "storage/posix/file_system.hpp"

namespace thalweg::detail {

Reader::Reader(Team& team, SessionResources& session, std::string path, int serial,
               FileOptions options)
    : team_(team),
      session_(session),
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
    arena_ = session_.arena(status);
    if (!status.ok()) return status;
    if (status = choose_readers(); !status.ok()) return status;
    source_ = open_source(team_.world(), path_, reads(), status);
    if (!status.ok()) return status;
    source_->limit(static_cast<double>(options_.bandwidth) / static_cast<double>(readers_.size()));
    figures_.format = source_->format();  // a short word
    figures_.readers = readers_.size();
    return options_.read_ahead ? make_shelf() : status;
}

bool Reader::reads() const {
    return std::find(readers_.begin(), readers_.end(), team_.rank()) != readers_.end();
}

Status Reader::find(const std::string& name, int& variable) const {
    variable = source_->definitions().find_variable(name);
    if (variable >= 0) return {};
    if (const std::string why = source_->missing(name); !why.empty())
        return failure(TW_EUNSUPPORTED, "{}: '{}': {} (rank {})", path_, name, why, team_.rank());
    return no_variable(source_->definitions(), path_, name, team_.rank());
}

Status Reader::with_place(Status status, int variable) const {
    if (!status.ok())
        status.text =
            fmt::format("{}: variable '{}': {} (rank {})", path_,
                        source_->definitions().variables[variable].name, status.text, team_.rank());
    return status;
}

/// Finds the memory dimension of each dimension of the file.
Status Reader::match(const Wish& wish, const Variable& v, Request& request) const {
    if (v.shape.size() > static_cast<std::size_t>(max_dims))
        return failure(TW_EUNSUPPORTED, "it has {} dimensions; the maximum is {}", v.shape.size(),
                       max_dims);
    const std::vector<std::string> dims = source_->definitions().fixed_dims(v);
    if (!wish.decomposition) {
        // Replicated: as if this rank were the one that holds all.
        request.decomposition = replicate(0, dims, v.shape, options_.wording);
        for (std::size_t f = 0; f < dims.size(); ++f) request.order.push_back(static_cast<int>(f));
        return {};
    }
    request.decomposition = wish.decomposition;
    const Decomposition& d = *wish.decomposition;
    request.order = wish.order;
    if (wish.order.empty())
        if (Status s = match_dimensions(d, dims, v.shape, request.order); !s.ok()) return s;
    if (d.listed) (void)d.listed->in_order(request.order, v.shape);  // made here, if need be
    return {};
}

Status Reader::check(const Wish& wish, Request& request) const {
    if (Status status = find(wish.name, request.variable); !status.ok()) return status;
    const Variable& v = source_->definitions().variables[request.variable];
    auto checked = [&]() -> Status {
        if (!wish.wrong.ok()) return wish.wrong;
        if (!valid_type(wish.type)) return failure(TW_ETYPE, "{}", no_type(wish.type));
        const auto type = static_cast<tw_type>(wish.type);
        if (!valid_type(v.type)) return source_->check(request.variable, 0);
        if ((type == TW_CHAR) != (v.type == TW_CHAR))
            return failure(TW_ETYPE, "it has type {}, not {}", name_of(v.type), name_of(type));
        if (v.record && (wish.record < 0 || wish.record >= source_->records()))
            return failure(TW_EBOUNDS, "no record {}; the file has {} records",
                           options_.wording.index(wish.record), source_->records());
        request.record = v.record ? wish.record : 0;
        if (Status status = match(wish, v, request); !status.ok()) return status;
        ArrayView& view = request.view;
        view.data = static_cast<const char*>(wish.data);
        view.type = type;
        const Decomposition& d = *request.decomposition;
        Status fits = wish.n >= 0
                          ? check_dense(d, wish.n, view)
                          : check_strided(d, wish.rank, wish.extent, wish.byte_stride, view);
        if (!fits.ok()) return fits;
        // As in writing: a byte of CDF-1 and CDF-2 is signed or unsigned, as the user likes.
        if (v.type == TW_BYTE && type == TW_UBYTE && source_->byte_of_any_sign())
            view.type = TW_BYTE;
        if (wish.data == nullptr && d.held > 0)
            return failure(TW_EARG, "the array is missing (null pointer)");
        return readable(request.variable, request.record);
    };
    return with_place(checked(), request.variable);
}

Status Reader::get(const Wish& wish) {
    Request request;
    Status mine = alone([&] { return check(wish, request); });
    return perform(Call::get, {&request, 1}, std::move(mine));
}

Status Reader::get_deferred(const Wish& wish) {
    Request request;
    if (Status status = check(wish, request); !status.ok()) return status;
    const Variable& v = variable(request.variable);
    const Decomposition& d = *request.decomposition;
    request.glimpse = Glimpse(d, request.order, held_by(d, request.order, v.shape), request.view);
    deferred_.push_back(std::move(request));
    return {};
}

/// Whether the arrays are still what they were when they were asked to be filled.
Status Reader::check_deferred(std::span<const Request> requests) const {
    return alone([&]() -> Status {
        std::vector<Glimpsed> all;
        for (const Request& r : requests) all.push_back({&variable(r.variable).name, &r.glimpse});
        Status status = compare_glimpses(std::move(all));
        if (!status.ok())
            status.text = fmt::format("{}: {} (rank {})", path_, status.text, team_.rank());
        return status;
    });
}

/// What was prefetched together is read together.
Status Reader::read(const Status& mine) {
    const std::vector<Request> requests = std::exchange(deferred_, {});
    const std::vector<std::size_t> ends = std::exchange(prefetched_, {});
    const Status usable = mine.ok() ? check_deferred(requests) : mine;
    Status result;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= ends.size(); ++i) {
        const std::size_t end = i < ends.size() ? ends[i] : requests.size();
        Status status =
            perform(Call::read, std::span(requests).subspan(begin, end - begin), usable);
        begin = end;
        const bool goes_on = status.ok() || status.code == TW_ERANGE;
        if (result.ok()) result = std::move(status);
        if (!goes_on) break;
    }
    return result;
}

Status Reader::sync() {
    Status status = agree_on(Call::sync, {}, {});
    return status.ok() ? refresh() : status;
}

Status Reader::refresh() {
    const ReadAhead::Pause pause(ahead_.get());
    Status status = source_->refresh(team_.world());
    if (ahead_) ahead_->read_again();
    return status;
}

Status Reader::show(std::int64_t records, const std::vector<std::string>& lacking) {
    source_->show(records);
    lacking_.assign(source_->definitions().variables.size(), 0);
    for (const std::string& name : lacking)
        if (const int at = source_->definitions().find_variable(name); at >= 0) lacking_[at] = 1;
    return {};
}

Status Reader::readable(int variable, std::int64_t record) const {
    if (!lacking_.empty() && lacking_[variable] != 0)
        return failure(TW_ESTATE, "not all of it was written before the last tw_sync");
    return source_->check(variable, record);
}

Status Reader::close() {
    Status status = source_ ? agree_on(Call::close, {}, {}) : Status{};
    if (!session_.meeting().parted()) leave();
    return status;
}

void Reader::leave() {
    (void)alone([&]() -> Status {  // not worth an error
        figures_ = figures();
        return {};
    });
    ahead_.reset();
    segments_.clear();
    plans_.clear();
    source_.reset();
}

void Reader::add(ReadFigures& figures, const StreamCounts& counts) {
    figures.unpack += counts.pack + counts.move;
    figures.wait += counts.wait;
    figures.messages += counts.messages;
    figures.message_bytes += counts.message_bytes;
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

}  // namespace thalweg::detail
