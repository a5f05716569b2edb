// Data mode of a file: puts, steps, sync and close.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "comm/clock.hpp"
#include "dataset/file.hpp"
#include "exchange/copy.hpp"
#include "storage/system.hpp"
#include "storage/tiles.hpp"

namespace thalweg {

namespace {

std::int64_t bit(int i) { return static_cast<std::int64_t>(std::uint64_t(1) << (i % 64)); }

bool has_bit(std::span<const std::int64_t> words, std::size_t i) {
    return (static_cast<std::uint64_t>(words[i / 64]) >> (i % 64)) & 1;
}

}  // namespace

Status File::keep(Status status) {
    if (!status.ok() && failed_.ok()) failed_ = status;
    return status;
}

// ---- puts ---------------------------------------------------------------------------------------

Status File::check_put(const std::string& name, int type, const void* data, int& variable) {
    if (Status s = usable(); !s.ok()) return s;
    variable = definitions_.find_variable(name);
    if (variable < 0)
        return failure(TW_ENOTFOUND, "{}: there is no variable '{}' (rank {})", path_, name,
                       team_.rank());
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    if (!valid_type(type))
        return failure(TW_ETYPE, "{}: variable '{}': there is no type {} (rank {})", path_, name,
                       type, team_.rank());
    if ((type == TW_CHAR) != (v.type == TW_CHAR))
        return failure(TW_ETYPE,
                       "{}: variable '{}' is of type {}; {} cannot be converted (rank {})", path_,
                       name, name_of(v.type), name_of(static_cast<tw_type>(type)), team_.rank());
    if (data == nullptr && v.decomposition->stored > 0)
        return failure(TW_EARG, "{}: variable '{}': no data given (rank {})", path_, name,
                       team_.rank());
    return {};
}

Status File::with_place(Status status, int variable) const {
    if (!status.ok())
        status.text = fmt::format("{}: variable '{}': {} (rank {})", path_,
                                  definitions_.variables[static_cast<std::size_t>(variable)].name,
                                  status.text, team_.rank());
    return status;
}

Status File::put(const std::string& name, int type, const void* data, std::int64_t n,
                 bool deferred) {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(figures_.put);
    int variable = -1;
    ArrayView view;
    view.data = static_cast<const char*>(data);
    view.type = static_cast<tw_type>(type);
    Status status = check_put(name, type, data, variable);
    if (status.ok()) status = with_place(check_dense(decomposition_of(variable), n), variable);
    return accept(std::move(status), variable, view, deferred);
}

Status File::put_strided(const std::string& name, int type, const void* data, int rank,
                         const std::int64_t* extent, const std::int64_t* byte_stride,
                         bool deferred) {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(figures_.put);
    int variable = -1;
    ArrayView view;
    view.data = static_cast<const char*>(data);
    view.type = static_cast<tw_type>(type);
    Status status = check_put(name, type, data, variable);
    if (status.ok())
        status = with_place(
            check_strided(decomposition_of(variable), rank, extent, byte_stride, view), variable);
    return accept(std::move(status), variable, view, deferred);
}

/// The first call that needs data mode ends the definitions.
Status File::begin_data() {
    if (state_ == State::defining) return end_definitions();
    if (state_ == State::closed || broken_) return usable();
    return {};
}

Status File::accept(Status checked, int variable, ArrayView view, bool deferred) {
    if (service_) return accept_queued(std::move(checked), variable, view, deferred);
    // A collective put is joined by the ranks whose own check failed, too.
    if (immediate_ && !deferred) return put_now(std::move(checked), variable, view);
    if (!checked.ok()) return checked;
    use_netcdf_byte_rule(variable, view);
    Pending& pending = pending_[static_cast<std::size_t>(variable)];
    if (deferred) {
        pending.view = view;
        misfits_[static_cast<std::size_t>(variable)] = 0;
    } else if (Status status = stage(variable, view); !status.ok()) {
        return status;
    }
    pending.put = true;
    return {};
}

/// In the classic formats without unsigned types, and in netCDF-4's classic model, a byte is signed
/// or unsigned, as the user likes (netCDF User's Guide).
void File::use_netcdf_byte_rule(int variable, ArrayView& view) const {
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    if (v.type == TW_BYTE && view.type == TW_UBYTE && !has_new_types(format_)) view.type = TW_BYTE;
}

/// The held blocks, dense one behind the other.
std::int64_t File::stage_blocks(const Variable& v, const ArrayView& view, char* to,
                                RowKernel kernel, const char* fill) {
    const Decomposition& d = *v.decomposition;
    const auto size = static_cast<std::int64_t>(v.element());
    std::vector<int> same(static_cast<std::size_t>(d.nd()));
    for (std::size_t i = 0; i < same.size(); ++i) same[i] = static_cast<int>(i);
    std::int64_t misfits = 0;
    for (std::size_t b = 0; b < d.blocks.size(); ++b) {
        const Box& box = d.blocks[b];
        if (box.volume() == 0) continue;
        HeldBox held;
        held.block = static_cast<int>(b);
        const Strided from = locate(d, same, held, view);
        Index stride = strides_of(std::span(box.count.data(), static_cast<std::size_t>(box.nd)));
        for (int i = 0; i < box.nd; ++i) stride[i] *= size;
        misfits +=
            packers_.copy_box(box.nd, box.count, to, stride, from.base, from.stride, kernel, fill);
        to += box.volume() * size;
    }
    return misfits;
}

/// The array of a list as it is; what is in holes is nobody's business, and not looked at.
std::int64_t File::stage_list(const Variable& v, const ArrayView& view, char* to, RowKernel kernel,
                              const char* fill) {
    const Decomposition& d = *v.decomposition;
    const auto size = static_cast<std::int64_t>(v.element());
    const std::vector<std::int64_t> extent = d.listed_extent();
    Index dense = strides_of(extent);
    for (std::int64_t& s : dense) s *= size;
    const auto nd = static_cast<int>(extent.size());
    if (d.listed->list->elements == d.listed->length) {
        Index count{}, stride = view.stride;
        std::copy(extent.begin(), extent.end(), count.begin());
        if (view.dense)
            for (int i = 0; i < nd; ++i)
                stride[i] = dense[i] / size * static_cast<std::int64_t>(size_of(view.type));
        return packers_.copy_box(nd, count, to, dense, view.data, stride, kernel, fill);
    }
    ArrayView copy;
    copy.data = to;
    copy.type = v.type;
    std::int64_t misfits = 0;
    for (const HeldBox& held : held_by(d, v.order, v.shape)) {
        const Strided from = locate(d, v.order, held, view), into = locate(d, v.order, held, copy);
        const int along = held.list->dims.back();
        held.list->for_runs(held.box, [&](const Box& part, std::int64_t position, const Run&) {
            misfits += copy_box(
                part.nd, part.count, const_cast<char*>(into.base) + position * into.stride[along],
                into.stride, from.base + position * from.stride[along], from.stride, kernel, fill);
        });
    }
    return misfits;
}

/// Copies the held elements, converted to the file's type, so that the budget is known from the
/// definitions.
Status File::stage(int variable, const ArrayView& view) {
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    const Decomposition& d = *v.decomposition;
    Pending& pending = pending_[static_cast<std::size_t>(variable)];
    if (!staging_ && staging_bytes_ > 0) {
        staging_ = make_private_memory(staging_bytes_);
        if (!staging_)
            return failure(TW_ENOMEM,
                           "{}: variable '{}': no memory for {} bytes of copies (rank {})", path_,
                           v.name, staging_bytes_, team_.rank());
        figures_.staging_bytes = static_cast<std::int64_t>(staging_bytes_);
    }
    char* const copy = staging_ ? staging_->data() + pending.staged_at : nullptr;
    char fill[8];
    v.fill_value(fill);
    const RowKernel kernel = pack_kernel(view.type, v.type, Order::native);
    std::int64_t& misfits = misfits_[static_cast<std::size_t>(variable)];
    misfits = d.listed ? stage_list(v, view, copy, kernel, fill)
                       : stage_blocks(v, view, copy, kernel, fill);
    pending.view = {};
    pending.view.data = copy;
    pending.view.type = v.type;
    pending.view.bare = true;
    return {};
}

// ---- agreement ----------------------------------------------------------------------------------

/// One exchange of words before any collective work: which call this is, whether anyone failed, and
/// who has put what.
Status File::agree_on(Call call, int variable, const Status& mine, Agreed& agreed) {
    Stopwatch watch(figures_.wait);
    (void)poll_service();
    if (service_) service_->outbox().meet();
    if (stream_) stream_->prepare();
    stream_used_ = false;
    const std::size_t n = definitions_.variables.size();
    const std::size_t map_words = (n + 63) / 64;
    const std::int64_t which = (std::int64_t(serial_) << 32) | (variable + 1);
    std::vector<std::int64_t> words(4 + 2 * map_words, 0);
    words[0] = std::int64_t(1) << static_cast<int>(call);
    words[1] = which;
    words[2] = ~which;
    words[3] = (failed_.ok() ? 0 : 1) | (mine.ok() ? 0 : 2);
    const std::span put(words.data() + 4, map_words);
    const std::span lacking(words.data() + 4 + map_words, map_words);
    for (std::size_t i = 0; i < n; ++i) {
        const Variable& v = definitions_.variables[i];
        const Pending& p = pending_[i];
        const auto s = static_cast<int>(i);
        if (p.put)
            put[i / 64] |= bit(s);
        else if (v.decomposition->held > 0 || v.decomposition->replicated)
            lacking[i / 64] |= bit(s);
    }
    team_.all_reduce(words, Reduce::bit_or);
    // A rank that closes cannot come back, so the others follow it.
    const bool closes = ((words[0] >> static_cast<int>(Call::close)) & 1) != 0;
    const bool same_file = ((words[1] & words[2]) >> 32) == 0;
    if ((words[3] & 1) != 0) {
        // Ranks may learn of a service's failure at different times, and only some close then.
        broken_ = closes && same_file;
        Status status = thalweg::agree(team_.world(), failed_);
        if (failed_.ok()) failed_ = status;
        return status;
    }
    if ((words[3] & 2) != 0) {
        Status status = thalweg::agree(team_.world(), mine);
        broken_ = closes && same_file;
        return broken_ ? keep(std::move(status)) : status;
    }
    if ((words[0] & (words[0] - 1)) != 0 || (words[1] & words[2]) != 0) {
        static const char* const names[] = {"tw_enddef", "tw_put", "tw_end_step", "tw_sync",
                                            "tw_close"};
        std::string here = fmt::format("{} of {}", names[static_cast<int>(call)], path_);
        if (variable >= 0)
            here += ", variable '" +
                    definitions_.variables[static_cast<std::size_t>(variable)].name + "'";
        std::vector<char> first(here.begin(), here.end());
        team_.world().broadcast(first, 0);
        const std::string theirs(first.begin(), first.end());
        Status status;
        if (theirs != here)
            status = failure(TW_EMISMATCH,
                             "the ranks are in different calls: {} on rank 0, {} on rank {}",
                             theirs, here, team_.rank());
        status = thalweg::agree(team_.world(), status);
        broken_ = closes;
        return broken_ ? keep(std::move(status)) : status;
    }
    std::vector<std::int64_t> missing(map_words, 0);
    bool any_missing = false;
    agreed.put.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
        agreed.put[i] = has_bit(put, i);
        agreed.any_record |= agreed.put[i] && definitions_.variables[i].record;
        if (agreed.put[i] && has_bit(lacking, i) && call != Call::put) {
            missing[i / 64] |= bit(static_cast<int>(i));
            any_missing = true;
        }
    }
    return any_missing ? missing_variables(missing) : Status{};
}

/// Names the ranks that lack the first variable that is missing.
Status File::missing_variables(const std::vector<std::int64_t>& missing) {
    std::size_t variable = 0;
    while (!has_bit(missing, variable)) ++variable;
    const Variable& v = definitions_.variables[variable];
    const char lacks =
        !pending_[variable].put && (v.decomposition->held > 0 || v.decomposition->replicated);
    const auto all = team_.world().gather({&lacks, 1}, 0);
    std::vector<char> text;
    if (team_.rank() == 0) {
        std::vector<std::string> ranks;
        std::size_t number = 0;
        for (std::size_t r = 0; r < all.size(); ++r) {
            if (!all[r][0]) continue;
            if (++number <= 16) ranks.push_back(std::to_string(r));
        }
        if (number > 16) ranks.push_back(fmt::format("and {} more", number - 16));
        const std::string message =
            fmt::format("{}: variable '{}' of record {} was not put on rank {}, but on others",
                        path_, v.name, records_, fmt::join(ranks, ", "));
        text.assign(message.begin(), message.end());
    }
    team_.world().broadcast(text, 0);
    return {TW_EMISSING, std::string(text.begin(), text.end())};
}

// ---- writing ------------------------------------------------------------------------------------

/// Moves one space of the file: the record at hand, or the fixed-size variables.
Status File::write_space(const Space& space, bool records, const std::vector<Action>& actions) {
    if (std::all_of(actions.begin(), actions.end(), [](Action a) { return a == Action::skip; }))
        return {};
    if (stream_used_) {  // a second pass without an agreement in between
        stream_->prepare();
        team_.barrier();
    }
    stream_used_ = true;
    const std::int64_t base =
        records ? map_.record_begin + records_ * map_.record_bytes : fixed_base_;
    const std::int64_t record = records ? records_ : 0;
    std::vector<const ArrayView*> arrays(space.places.size(), nullptr);
    for (std::size_t i = 0; i < space.places.size(); ++i) {
        const auto v = static_cast<std::size_t>(space.places[i].variable);
        if (pending_[v].put && definitions_.variables[v].decomposition->held > 0)
            arrays[i] = &pending_[v].view;
    }
    Status status;
    if (storage_->collective()) {
        status = team_.agree(storage_->reserve(base, space.bytes));
        if (!status.ok()) return status;
    }
    if (direct_) {
        std::vector<Action> fills(actions.size(), Action::skip);
        bool any = false;
        for (std::size_t i = 0; i < actions.size(); ++i) {
            const Variable& v =
                definitions_.variables[static_cast<std::size_t>(space.places[i].variable)];
            if (actions[i] == Action::fill ||
                (actions[i] == Action::data && !v.decomposition->whole)) {
                fills[i] = Action::fill;
                any = true;
            }
        }
        if (any) {
            const std::vector<const ArrayView*> none(arrays.size(), nullptr);
            status = stream_->run(space, base, record, fills, none, *storage_, misfits_);
            status = team_.agree(status);
        }
        if (status.ok())
            status = direct_->run(space, base, record, actions, arrays, *storage_, misfits_);
    } else {
        status = stream_->run(space, base, record, actions, arrays, *storage_, misfits_);
    }
    return status;
}

Status File::publish_records(bool durable) {
    Status status = storage_->set_records(records_, durable);
    return status.ok() ? storage_->catch_up() : status;
}

/// All ranks learn what became of a write; on success the record is published.
Status File::finish_write(Status mine, Written written, bool durable) {
    if (storage_->collective()) {
        Status complete = storage_->complete();
        if (mine.ok()) mine = std::move(complete);
    }
    if (durable) {  // a collective matter for some drivers, so whatever this rank's own luck
        Status synced = storage_->sync();
        if (mine.ok()) mine = std::move(synced);
    }
    Status misfit;
    for (std::size_t i = 0; i < misfits_.size(); ++i) {
        const Variable& v = definitions_.variables[i];
        if (misfits_[i] == 0 || (v.record && written == Written::fixed)) continue;
        if (misfit.ok())
            misfit =
                failure(TW_ERANGE, "{}: {} values of variable '{}' do not fit type {} (rank {})",
                        path_, misfits_[i], v.name, name_of(v.type), team_.rank());
        misfits_[i] = 0;
    }
    std::int64_t words[2] = {mine.ok() ? 0 : 1, misfit.ok() ? 0 : 1};
    {
        Stopwatch watch(figures_.wait);
        team_.all_reduce(words, Reduce::max);
    }
    if (words[0] != 0) return keep(thalweg::agree(team_.world(), mine));
    if (written == Written::record_complete) {
        // A failure here is rank 0's alone: it is kept, and told to all by the next agreement.
        ++records_;
        Status published = publish_records(durable);
        if (!published.ok()) {
            if (team_.size() > 1) published.text += fmt::format(" (rank {})", team_.rank());
            failed_ = std::move(published);
        }
    }
    if (words[1] != 0) return thalweg::agree(team_.world(), misfit);
    return {};
}

Status File::put_now(Status checked, int variable, ArrayView view) {
    Agreed agreed;
    if (Status status = agree_on(Call::put, variable, checked, agreed); !status.ok()) return status;
    use_netcdf_byte_rule(variable, view);
    const auto at = static_cast<std::size_t>(variable);
    const Variable& v = definitions_.variables[at];
    Pending& pending = pending_[at];
    pending.view = view;
    pending.put = true;
    const Space& space = v.record ? record_ : fixed_;
    std::vector<Action> actions(space.places.size(), Action::skip);
    for (std::size_t i = 0; i < actions.size(); ++i)
        if (space.places[i].variable == variable) actions[i] = Action::data;
    Status status = finish_write(write_space(space, v.record, actions), Written::record, false);
    pending.put = false;
    pending.written = true;
    if (!v.record) filled_[at] = 1;
    return status;
}

/// Writes the fixed-size variables that were put; with `last`, fills those that never were.
Status File::write_fixed(const Agreed& agreed, bool last) {
    std::vector<Action> actions(fixed_.places.size(), Action::skip);
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const auto v = static_cast<std::size_t>(fixed_.places[i].variable);
        if (agreed.put[v])
            actions[i] = Action::data;
        else if (last && !filled_[v])
            actions[i] = Action::fill;
        if (actions[i] != Action::skip) filled_[v] = 1;
    }
    return write_space(fixed_, false, actions);
}

Status File::end_step() {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(figures_.step);
    if (service_) return end_step_queued();
    Agreed agreed;
    if (Status s = agree_on(Call::end_step, -1, {}, agreed); !s.ok()) return s;
    if (records_ >= most_records(format_))
        return keep(failure(TW_EFORMAT, "{}: record {} is more than format {} can count; cdf5 can",
                            path_, records_, name_of(format_)));
    Status status = write_fixed(agreed, false);
    std::vector<Action> actions(record_.places.size(), Action::skip);
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const auto v = static_cast<std::size_t>(record_.places[i].variable);
        if (agreed.put[v])
            actions[i] = Action::data;
        else if (!pending_[v].written)
            actions[i] = Action::fill;
    }
    Status records = write_space(record_, true, actions);
    if (status.ok()) status = std::move(records);
    status = finish_write(std::move(status),
                          record_.places.empty() ? Written::fixed : Written::record_complete,
                          options_.durable);
    for (Pending& p : pending_) p.put = p.written = false;
    ++figures_.steps;
    return status;
}

Status File::sync(bool durable) {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(figures_.step);
    Agreed agreed;
    if (Status s = agree_on(Call::sync, -1, {}, agreed); !s.ok()) return s;
    if (service_) return finish_queued(UnitKind::fixed, agreed, durable);
    Status status = write_fixed(agreed, false);
    status = finish_write(std::move(status), Written::fixed, durable);
    if (status.ok()) status = keep(team_.agree(publish_records(durable)));
    for (std::size_t i = 0; i < pending_.size(); ++i)
        if (!definitions_.variables[i].record) pending_[i].put = false;
    return status;
}

/// Calls act(own name, data's name) for the files of this rank: the one file on rank 0, and of a
/// set each on one of the ranks.
template <class Do>
Status File::for_files(Do&& act) const {
    const int n = in_files() ? layout_choice_.grid.parts() : 1;
    const std::string suffix = data_path_.substr(path_.size());
    Status status;
    for (int k = team_.rank(); k < n && status.ok(); k += team_.size()) {
        const std::string own = in_files() ? tile_path(path_, k) : path_;
        status = act(own, own + suffix);
    }
    return status;
}

Status File::rename_to_final() {
    if (options_.live) return {};
    return for_files([&](const std::string& own, const std::string& data) -> Status {
        if (std::rename(data.c_str(), own.c_str()) != 0)
            return failure(TW_EIO, "{}: cannot rename to {}: {}", data, own, std::strerror(errno));
        if (!options_.durable) return {};
        const auto slash = own.rfind('/');
        const std::string folder = slash == std::string::npos ? "." : own.substr(0, slash + 1);
        const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0) return system_failure(own, "cannot open the folder to sync it");
        Status status = sync_file(fd, own + ": the folder", true);
        ::close(fd);
        return status;
    });
}

/// Everything that is due before a file can have its name.
Status File::complete() {
    Agreed agreed;
    if (Status s = agree_on(Call::close, -1, {}, agreed); !s.ok()) return s;
    bool open_step = agreed.any_record;
    for (std::size_t i = 0; i < pending_.size(); ++i)
        open_step |= pending_[i].written && definitions_.variables[i].record;
    Status misfit;
    if (open_step) {
        misfit = end_step();
        Status ended = misfit.code == TW_ERANGE ? Status{} : misfit;
        // With a service a rank may see a failure before the others do; they stop together.
        if (service_) ended = team_.agree(ended);
        if (!ended.ok()) return keep(std::move(ended));
        agreed.put.assign(agreed.put.size(), 0);  // the step took the fixed-size ones with it
    }
    if (Status s = compare_definitions(); !s.ok()) return s;
    if (service_) {
        Status status = finish_queued(UnitKind::last, agreed, options_.durable);
        return status.ok() ? misfit : status;
    }
    Status status = finish_write(write_fixed(agreed, true), Written::fixed, options_.durable);
    return status.ok() ? misfit : status;
}

Status File::close() {
    if (state_ == State::closed) return usable();
    Status status = begin_data();
    if (status.ok()) status = complete();
    Stopwatch watch(figures_.close);
    const bool good = status.ok() || status.code == TW_ERANGE;
    if (storage_open_) {
        if (!good) late_.clear();
        Status closed = service_ ? service_->close(good, late_) : storage_->close(records_, late_);
        if (closed.ok() && options_.durable && good) closed = sync_closed();
        closed = team_.agree(closed);
        storage_open_ = false;
        if (good && !closed.ok()) status = std::move(closed);
    }
    if (status.ok() || status.code == TW_ERANGE) {
        Status renamed = team_.agree(rename_to_final());
        if (!renamed.ok()) status = std::move(renamed);
    } else if (state_ == State::defining && !options_.live && team_.rank() == 0) {
        unlink(first_data_path().c_str());  // never had data
    }
    figures_ = figures();
    state_ = State::closed;
    service_.reset();
    stream_.reset();
    direct_.reset();
    storage_.reset();
    pending_ = {};
    staging_.reset();
    return status;
}

Status File::abandon(Status why) {
    Status first = keep(std::move(why));
    (void)close();
    return first;
}

FileFigures File::figures() const {
    FileFigures f = figures_;
    if (stream_) {
        f.remap += stream_->counts().pack + stream_->counts().move;
        f.wait += stream_->counts().wait;
        f.messages = stream_->counts().messages;
        f.message_bytes = stream_->counts().message_bytes;
    }
    if (direct_) f.remap += direct_->pack_seconds();
    if (service_) {
        const WriteCounts counts = service_->counts();
        f.write = counts.seconds;
        f.bytes = counts.bytes;
        f.writes = counts.calls;
        f.queue_waits = service_->outbox().waits;
        f.queue_wait = service_->outbox().wait_seconds;
        f.queue_bytes = service_->outbox().most_bytes;
    } else if (storage_) {
        f.write = storage_->counts().seconds;
        f.bytes = storage_->counts().bytes;
        f.writes = storage_->counts().calls;
    }
    return f;
}

/// The late attributes were written after the storage's own sync.
Status File::sync_closed() const {
    return for_files([](const std::string&, const std::string& data) {
        const int fd = ::open(data.c_str(), O_RDWR | O_CLOEXEC);
        if (fd < 0) return system_failure(data, "cannot open to sync");
        Status status = sync_file(fd, data, true);
        ::close(fd);
        return status;
    });
}

}  // namespace thalweg
