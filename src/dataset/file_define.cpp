// Define mode of a file, and its end: comparing, laying out, planning.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "comm/clock.hpp"
#include "comm/log.hpp"
#include "comm/text.hpp"
#include "dataset/file.hpp"
#include "definitions/first_attributes.hpp"
#include "storage/netcdf4/chunk_grid.hpp"
#include "storage/posix/file_system.hpp"
#include "storage/spaces.hpp"
#include "storage/tiles/tiles.hpp"

namespace thalweg::detail {

File::File(Team& team, ArenaSource& arena, std::string path, int serial, FileOptions options)
    : team_(team),
      arena_source_(arena),
      packers_(arena.packers()),
      path_(std::move(path)),
      options_(std::move(options)),
      serial_(serial) {
    options_.live |= options_.append;
    data_path_ = path_;
    figures_.path = path_;
    figures_.service = "inline";
    figures_.threads = packers_.threads();
}

File::~File() { arena_source_.meeting().forget(serial_); }

Status File::usable() const {
    if (state_ == State::closed) return failure(TW_ECLOSED, "{}: the file is closed", path_);
    if (!failed_.ok()) return {failed_.code, failed_.text};
    return {};
}

Status File::keep(Status status) {
    if (!status.ok() && failed_.ok()) failed_ = status;
    return status;
}

Status File::usable_for(const char* what) const {
    if (Status status = usable(); !status.ok()) return status;
    if (state_ != State::defining)
        return failure(TW_ESTATE,
                       "{}: {} after the definitions had ended (with tw_enddef or the first "
                       "tw_put, tw_end_step or tw_sync)",
                       path_, what);
    return {};
}

Status File::begin() {
    Stopwatch watch(figures_.open);
    Status status = options_.append ? open() : create();
    if (!status.ok()) {
        discard();
        state_ = State::closed;
    }
    return status;
}

/// One rank takes the name, and all learn where the data go. @note Collective
Status File::create() {
    std::vector<char> data;
    Status status = alone([&]() -> Status {
        if (team_.rank() != 0) return {};
        Status own = claim(in_files() ? tile_path(path_, 0) : path_);
        if (own.ok()) data.assign(claims_[0]->data_path().begin(), claims_[0]->data_path().end());
        return own;
    });
    if (status = detail::agree(team_.world(), status); !status.ok()) return status;
    team_.world().broadcast(data, 0);
    return detail::agree(team_.world(), alone([&]() -> Status {
                             data_path_.assign(data.begin(), data.end());
                             return {};
                         }));
}

/// Takes a name for as long as the file is written. Local.
Status File::claim(const std::string& path) {
    ClaimRequest request;
    request.path = path;
    request.live = options_.live;
    request.existing = options_.append;
    request.stripe_count = options_.stripe_count;
    request.stripe_size = options_.stripe_size;
    claims_.reserve(claims_.size() + 1);
    std::unique_ptr<Claim> claim;
    std::vector<std::string> said;
    std::string of_stripes;
    Status status = Claim::take(request, claim, said, of_stripes);
    for (const std::string& line : said) log::warn("{}: {}", path, line);
    if (!of_stripes.empty() && team_.rank() == 0) log::info("{}: {}", path, of_stripes);
    if (status.ok()) claims_.push_back(std::move(claim));
    return status;
}

/// The names of a set of files but the first, which is taken. Local.
Status File::claim_tiles() {
    Status status;
    for (int k = team_.rank(); k < layout_choice_.grid.parts() && status.ok(); k += team_.size())
        if (k > 0) status = claim(tile_path(path_, k));
    return status;
}

/// Removes what was created, and gives up its names.
void File::discard() {
    for (const auto& claim : claims_) claim->discard();
    claims_.clear();
}

Status File::define_dimension(const std::string& name, std::int64_t length) {
    if (Status s = usable_for("a dimension was defined"); !s.ok()) return s;
    return detail::define_dimension(definitions_, path_, name, length);
}

Status File::define_variable(const std::string& name, int type, const std::string& dims,
                             std::shared_ptr<const Decomposition> decomposition) {
    if (Status s = usable_for("a variable was defined"); !s.ok()) return s;
    if (source_) {
        // In a file that is there, the name of the record dimension is no guess.
        const Definitions& its = source_->definitions();
        const std::vector<std::string> names = split_names(dims);
        const int record = its.record_dim();
        if (record >= 0 && !names.empty() && definitions_.record_dim() < 0 &&
            definitions_.find_dim(names.front()) < 0 &&
            its.dims[static_cast<std::size_t>(record)].name == names.front())
            if (Status s = define_dimension(names.front(), TW_UNLIMITED); !s.ok()) return s;
    }
    return detail::define_variable(definitions_, path_, team_.rank(), name, type, dims,
                                   std::move(decomposition), options_.wording);
}

Status File::put_attribute(const std::string& variable, Attribute attribute) {
    if (Status s = usable(); !s.ok()) return s;
    int at = -1;
    if (Status s = check_attribute(definitions_, path_, variable, attribute, at); !s.ok()) return s;
    if (state_ != State::defining) {
        if (at >= 0 && attribute.name == "_FillValue")
            return failure(TW_ESTATE,
                           "{}: _FillValue of '{}' must be set before the definitions end", path_,
                           variable);
        if (!has_new_types(format_) && attribute.type > TW_DOUBLE)
            return failure(TW_EFORMAT,
                           "{}: attribute '{}' has type {}, which format {} does not support; use "
                           "{}",
                           path_, attribute.name, name_of(attribute.type), name_of(format_),
                           is_netcdf4(format_) ? "netcdf4" : "cdf5");
        late_.emplace_back(at, std::move(attribute));
        return {};
    }
    set_attribute(at < 0 ? definitions_.attributes
                         : definitions_.variables[static_cast<std::size_t>(at)].attributes,
                  std::move(attribute));
    return {};
}

Status File::define(Definitions definitions) {
    if (Status s = usable_for("definitions were given"); !s.ok()) return s;
    definitions_ = std::move(definitions);
    return {};
}

Status File::set_variable(const std::string& variable, const std::string& settings) {
    if (Status s = usable_for("tw_set_var was called"); !s.ok()) return s;
    return detail::set_variable(definitions_, path_, variable, settings);
}

/// Every rank must have defined the same, but for attributes that are rank 0's.
Status File::compare_definitions() {
    if (options_.first_attributes)
        if (Status s = take_first_attributes(team_, definitions_, &late_); !s.ok()) return s;
    std::vector<std::string> lines;
    Status status = alone([&]() -> Status {
        lines = describe(definitions_, options_.wording);
        if (source_) lines.push_back(describe_start());
        for (const auto& [variable, attribute] : late_) {
            lines.push_back(describe(
                variable < 0 ? "" : definitions_.variables[static_cast<std::size_t>(variable)].name,
                attribute));
        }
        return {};
    });
    if (status = team_.agree(status); !status.ok()) return status;
    return check_alike(team_, path_, lines);
}

/// One rank asks the file system, for all to choose alike.
Status File::ask_file_system(std::span<std::int64_t, 3> answers) const {
    Status status = alone([&]() -> Status {
        if (team_.rank() != 0) return {};
        const FileSystem system = file_system_at(data_path_);
        answers[0] = system.magic;
        answers[1] = system.block;
        answers[2] = options_.stripe_size;
        if (system.lustre && answers[2] < 0) answers[2] = stripe_size_of(data_path_);
        return {};
    });
    team_.world().broadcast(answers.data(), answers.size_bytes(), 0);
    return status;
}

void File::choose_storage(std::span<const std::int64_t, 3> answers) {
    const std::string storage =
        options_.storage == "auto" && is_netcdf4(format_) ? "netcdf4" : options_.storage;
    const WayOfWriting way =
        choose_way(file_system_of(answers[0], answers[1]), team_.topology().nodes,
                   {storage, options_.writers, options_.alignment, answers[2], ""});
    if (!way.warning.empty() && team_.rank() == 0) log::warn("{}: {}", path_, way.warning);
    writers_asked_ = options_.writers != "auto" || way.writers == "1";
    options_.storage = way.storage;
    options_.writers = way.writers;
    options_.alignment = way.alignment;
    if (options_.method == "auto") options_.method = "record";
    storage_ = make_storage(options_.storage);
    order_ = storage_->order();
}

/// Of chunks that have to be whole, every writer needs all parts; it has those of a file of its
/// own. They are filtered by the writers, so that there are as many as ranks; with a service, one.
void File::choose_packed_method() {
    if (!is_netcdf4(format_) || !needs_whole_chunks(definitions_) || in_files()) return;
    const bool inline_ = options_.service == "inline";
    const std::string method = inline_ && options_.method != "serial" ? "record" : "serial";
    if (method != options_.method && team_.rank() == 0)
        log::info("{}: method={} is not possible, using {}: {}", path_, options_.method, method,
                  inline_ ? "each writer needs whole chunks"
                          : "with a service, one writer compresses all chunks");
    options_.method = method;
    if (!writers_asked_) options_.writers = fmt::format("{}/node", team_.size());
}

Status File::plan() {
    Stopwatch watch(figures_.plan);
    Status status;
    const auto members = static_cast<std::int64_t>(team_.topology().members.size());
    const StreamOptions options{options_.buffer * members,
                                std::max<std::int64_t>(0, options_.piece),
                                options_.method == "direct"};
    Memory* arena = arena_source_.arena(status);
    if (!status.ok()) return status;
    std::vector<Space> spaces;
    const auto lay_out = [&]() -> Status {
        fixed_ = make_space(definitions_, map_, false, fixed_base_);
        std::int64_t record_base = 0;
        record_ = make_space(definitions_, map_, true, record_base);
        spaces = {fixed_, record_};
        filled_.assign(definitions_.variables.size(), existing_.is);
        misfits_.assign(definitions_.variables.size(), 0);
        make_pending();
        if (options_.method != "direct") {
            layout_ = make_layout(layout_choice_);
            return {};
        }
        // Plain writes go while the packed elements are in cache; a variable that is one collective
        // is packed as far as the buffer reaches, a step that is one collective whole.
        constexpr std::int64_t cached = 1 << 20;
        const std::int64_t budget = !storage_->collective() ? cached
                                    : options_.pnetcdf_blocking
                                        ? std::max(cached, options_.buffer)
                                        : std::max(cached, options_.staging);
        direct_ =
            std::make_unique<Direct>(team_, packers_, definitions_, storage_->order(), budget);
        fill_layout_ = make_record_layout(team_.size(), options_.alignment);
        return {};
    };
    if (status = team_.agree(alone(lay_out)); !status.ok()) return status;
    figures_.writers = static_cast<int>(writers_.size());
    stream_ = Stream::make(team_, packers_, *arena, direct_ ? *fill_layout_ : *layout_, writers_,
                           definitions_, spaces, storage_->order(), options, status);
    if (!status.ok()) return status;
    figures_.buffer_bytes = static_cast<std::int64_t>(arena->size()) / members;
    auto bytes = static_cast<std::int64_t>(staging_bytes_);
    team_.all_reduce({&bytes, 1}, Reduce::max);
    immediate_ = bytes > options_.staging;
    if (immediate_ && team_.rank() == 0)
        log::info(
            "{}: a step has up to {} bytes per rank, more than 'staging' ({}): tw_put is "
            "collective; tw_put_deferred stays local",
            path_, bytes, options_.staging);
    return {};
}

/// Space for the copies of what is put of each variable, one after another.
void File::make_pending() {
    pending_.resize(definitions_.variables.size());
    staging_bytes_ = 0;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        const Variable& v = definitions_.variables[i];
        pending_[i].staged_at = staging_bytes_;
        const Decomposition& d = *v.decomposition;
        const auto size = static_cast<std::size_t>(d.listed ? d.stored : d.held) * v.element();
        staging_bytes_ += (size + 63) / 64 * 64;
    }
}

Status File::end_definitions() {
    if (Status status = usable(); !status.ok()) return status;
    if (state_ == State::data)
        return failure(TW_ESTATE, "{}: the definitions have already ended", path_);
    Stopwatch watch(figures_.open);
    if (Status status = enter(Call::enddef, -1, {}, {}); !status.ok()) return status;
    // Every rank knows of a failure here, so that later calls need not ask the others.
    return keep(alone([&] { return begin_file(); }));
}

Status File::choose_format() {
    if (options_.format == "auto" && options_.storage == "netcdf4") options_.format = "netcdf4";
    format_ = options_.format == "auto" ? detail::choose_format(definitions_)
                                        : format_of(options_.format);
    if (options_.storage != "auto" && (options_.storage == "netcdf4") != is_netcdf4(format_))
        return failure(TW_ESETTING, "storage={} cannot write format {}", options_.storage,
                       name_of(format_));
    if (Status status = check_format(definitions_, format_); !status.ok()) return status;
    for (const auto& [name, value] : options_.packing)
        if (!is_netcdf4(format_) && value != "0" && value != "no" && value != "auto" &&
            team_.rank() == 0)
            log::warn("{}: setting {}={} has no effect in format {}", path_, name, value,
                      name_of(format_));
    if (!is_netcdf4(format_)) {
        tell_of_ignored();
        return {};
    }
    for (Variable& v : definitions_.variables)
        if (Status s = choose_packing(definitions_, options_.packing, v); !s.ok()) return s;
    return {};
}

/// Variables may be told how netCDF-4 is to store them by a program that leaves the format to its
/// user.
void File::tell_of_ignored() const {
    if (team_.rank() != 0) return;
    std::vector<std::string> ignored;
    for (const Variable& v : definitions_.variables) {
        std::vector<std::string> settings;
        for (const auto& [name, value] : v.settings)
            if (name != "fill") settings.push_back(name + "=" + value);
        if (!settings.empty())
            ignored.push_back(fmt::format("'{}' ({})", v.name, joined(settings, "; ")));
    }
    if (ignored.empty()) return;
    const std::size_t more = ignored.size() > 8 ? ignored.size() - 8 : 0;
    ignored.resize(ignored.size() - more);
    log::info(
        "{}: format {} has no chunks or filters; ignoring settings of variables: "
        "{}{}",
        path_, name_of(format_), joined(ignored, ", "),
        more == 0 ? "" : fmt::format(" and {} more", more));
}

/// What does not depend on who writes.
StorageOptions File::storage_options() const {
    StorageOptions o;
    o.format = format_;
    o.header_pad = options_.header_pad;
    o.blocking = options_.pnetcdf_blocking;
    o.stripe_count = options_.stripe_count;
    o.stripe_size = options_.stripe_size;
    o.existing = existing_;
    o.durable = options_.durable;
    o.wording = options_.wording;
    o.live = options_.live;
    return o;
}

Status File::begin_file() {
    if (Status status = compare_definitions(); !status.ok()) return status;
    const auto use_definitions = [&]() -> Status {
        Status own = source_ ? adopt_contents() : choose_format();
        if (!own.ok()) own.text = path_ + ": " + own.text;
        return own;
    };
    if (Status status = team_.agree(alone(use_definitions)); !status.ok()) return status;
    std::array<std::int64_t, 3> answers{};
    const Status asked = ask_file_system(answers);
    const auto choose = [&]() -> Status {
        choose_storage(answers);
        choose_service();
        choose_packed_method();
        figures_.service = options_.service;
        figures_.method = options_.method;
        figures_.storage = storage_->name();
        figures_.format = name_of(format_);
        return {};
    };
    if (Status status = team_.agree(asked.ok() ? alone(choose) : asked); !status.ok())
        return status;
    if (Status status = team_.agree(alone([&] { return choose_layout(); })); !status.ok())
        return status;
    if (in_files())
        if (Status status = team_.agree(alone([&] { return claim_tiles(); })); !status.ok())
            return status;
    if (options_.service == "servers") {
        if (Status status = plan_service(); !status.ok()) return status;
        storage_open_ = true;
        state_ = State::data;
        return {};
    }
    if (layout_choice_.grid.own_files) {
        const auto mine = std::find(writers_.begin(), writers_.end(), team_.rank());
        storage_ = make_tile_storage(
            std::move(storage_), layout_choice_.grid,
            mine == writers_.end() ? -1 : static_cast<int>(mine - writers_.begin()), path_);
    }
    const bool writer = std::find(writers_.begin(), writers_.end(), team_.rank()) != writers_.end();
    StorageOptions storage = storage_options();  // takes no memory
    // Every writer holds itself to its part, so that none has to ask the others.
    storage.rate = static_cast<double>(options_.bandwidth) / static_cast<double>(writers_.size());
    storage.keeper = writers_.front();
    storage.one_writer = writers_.size() == 1;
    storage.behind = options_.service == "background";
    Status status =
        existing_.is
            ? storage_->open(team_.world(), path_, definitions_, storage, writer, map_)
            : storage_->create(team_.world(), data_path_, definitions_, storage, writer, map_);
    if (!status.ok()) return status;
    storage_open_ = true;
    if (options_.service == "inline")
        status = plan();
    else
        status = plan_service();
    if (!status.ok()) return status;
    state_ = State::data;
    return {};
}

}  // namespace thalweg::detail
