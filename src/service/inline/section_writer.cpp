// SPDX-License-Identifier: Apache-2.0
#include "service/inline/section_writer.hpp"

#include <algorithm>

#include "base/waiting.hpp"
#include "base/words.hpp"
#include "exchange/pack/dense.hpp"
#include "index/runs.hpp"
#include "storage/chunked/chunk_grid.hpp"

namespace thalweg::detail {

namespace {

/// Number of plans that are kept: enough for models that alternate between a few sets of
/// decompositions.
constexpr std::size_t most_plans = 4;

/// Bytes of pieces that are written while they are in cache.
constexpr std::int64_t cached = 1 << 20;

/// Adds the bytes of a rank's packed values: of all, and of those with short runs.
void count_runs(const Definitions& definitions, const Holdings& holdings,
                std::array<std::int64_t, 2>& bytes) {
    for (std::size_t i = 0; i < holdings.size(); ++i)
        for (const HeldBox& held : holdings[i]->packed) {
            const Variable& v = definitions.variables[i];
            Box run = held.box;
            run.count = extents_of_run(held, held.box);
            const std::int64_t all = elements_of(held) * v.element();
            bytes[0] += all;
            const std::int64_t typical = runs_of(run, v.shape).length * v.element();
            if (typical < ShareWriter::shortest_in_place) bytes[1] += all;
        }
}

}  // namespace

Status SectionWriter::begin(Status mine) {
    const FileOptions& options = file_.options;
    Team& team = file_.team;
    // A rank that has failed still takes part, with a map of its own.
    sections_ =
        make_spaces(file_.definitions, mine.ok() ? target_.map : plain_map(file_.definitions));
    layout_ = options.method == "direct" ? make_record_layout(team.size(), options.alignment)
                                         : make_layout(target_.layout);
    file_.figures.writers = target_.writers.size();
    can_copy_ = team.topology().nodes == 1 && options.method != "direct" &&
                !target_.storage->collective() &&
                !(has_chunks(file_.format) && needs_whole_chunks(file_.definitions));
    const auto writer = std::ranges::find(target_.writers, team.rank());
    if (can_copy_ && writer != target_.writers.end())
        share_writer_.emplace(file_.definitions, sections_, *layout_,
                              static_cast<int>(writer - target_.writers.begin()), *target_.storage,
                              progress_, options.piece > 0 ? options.piece : 2 * cached, nullptr);
    // If no variable has a decomposition yet, the first puts will bring them.
    const bool later =
        std::all_of(file_.holdings.begin(), file_.holdings.end(),
                    [](const auto& holding) { return holding->decomposition->replicated; });
    return later ? team.agree(mine) : make_plan({}, std::move(mine));
}

/// Makes a plan, and puts it at the front of the list.
/// @param mine  this rank's own failure so far
/// @note Collective; the status is the same on every rank
Status SectionWriter::make_plan(std::span<const WholePut> puts, Status mine) {
    const FileOptions& options = file_.options;
    Team& team = file_.team;
    const bool direct = options.method == "direct";
    const std::int64_t members = team.topology().members.size();
    Status status = std::move(mine);
    Memory* arena = file_.session.arena(status);
    Memory nothing;  // stands in on a rank without memory, until all ranks know
    if (arena == nullptr) arena = &nothing;
    std::unique_ptr<Plan> plan = change(puts);
    const std::vector<FileSection> both{sections_.fixed, sections_.record};
    if (direct) {
        // Bytes that are packed before they are written. If writes are not collective: few enough
        // to be still in cache. If each variable is written by a collective call of its own
        // (pnetcdf-blocking): as many as the buffer holds. If one collective call writes a step: as
        // many as the staging memory holds, so that the whole step is packed.
        const std::int64_t budget = !target_.storage->collective() ? cached
                                    : options.pnetcdf_blocking ? std::max(cached, options.buffer)
                                                               : std::max(cached, options.staging);
        plan->direct =
            std::make_unique<Direct>(team, file_.packers, file_.definitions, target_.order, budget);
    }
    plan->stream = WritePipeline::make(
        team, file_.packers, *arena, *layout_, target_.writers, file_.definitions, plan->holdings,
        both, target_.order,
        {options.buffer * members, std::max<std::int64_t>(0, options.piece), direct}, status);
    if (!status.ok()) return status;
    file_.figures.buffer_bytes = static_cast<std::int64_t>(arena->size()) / members;
    if (plans_.size() == most_plans) {
        count(*plans_.back(), earlier_);
        plans_.pop_back();
    }
    plans_.insert(plans_.begin(), std::move(plan));
    return {};
}

/// Sends the writers the boxes in which the ranks pack values, if most runs of them are long.
/// @note Collective; the status is the same on every rank
Status SectionWriter::share_boxes(Plan& plan) {
    Team& team = file_.team;
    std::array<std::int64_t, 2> bytes{};
    count_runs(file_.definitions, plan.holdings, bytes);
    team.all_reduce(bytes, Reduce::sum);
    const bool has_long_runs = bytes[1] <= bytes[0] / 4;
    std::vector<Packet> packets;
    plan.boxes.clear();
    Status status = catch_errors([&] {
        if (!has_long_runs) return;
        const std::vector<char> words = to_bytes(PackedBoxes(plan.holdings).words());
        for (const int writer : target_.writers) packets.push_back({writer, words});
    });
    if (!status.ok()) packets.clear();
    bool have = true;
    if (has_long_runs) packets = team.world().exchange(packets, have);
    if (!have) status = out_of_memory();
    if (status.ok())
        status = catch_errors([&] {
            for (const Packet& packet : packets)
                plan.boxes.emplace_back(to_words(packet.bytes).data(), file_.definitions.variables);
        });
    if (status = team.agree(status); status.ok()) plan.has_long_runs = has_long_runs;
    return status;
}

/// Adds the counts of a plan to those of others.
void SectionWriter::count(const Plan& plan, StreamCounts& all) {
    const StreamCounts& own = plan.stream->counts();
    all.pack += own.pack + (plan.direct ? plan.direct->pack_seconds() : 0);
    all.move += own.move;
    all.wait += own.wait;
    all.messages += own.messages;
    all.message_bytes += own.message_bytes;
}

void SectionWriter::prepare() {
    if (!plans_.empty()) plans_.front()->stream->prepare();
    used_ = copied_ = false;
}

/// Makes a plan for the holdings of some puts. Other variables keep their holdings of the current
/// plan, or of the definitions.
std::unique_ptr<SectionWriter::Plan> SectionWriter::change(std::span<const WholePut> puts) const {
    auto plan = std::make_unique<Plan>();
    plan->holdings = plans_.empty() ? file_.holdings : plans_.front()->holdings;
    for (const WholePut& p : puts) {
        std::shared_ptr<const Holding>& holding = plan->holdings[p.variable];
        if (holding->key == p.key) continue;
        const Variable& v = file_.variable(p.variable);
        const std::shared_ptr<const Holding>& declared = file_.holdings[p.variable];
        if (p.part != nullptr)
            holding = p.part->holding;
        else if (declared->key != p.key && Holding::has_holder(p.key))
            holding = hold_whole(file_.team.rank(), Holding::holder_of(p.key),
                                 file_.definitions.fixed_dims(v), v.shape, file_.options.wording);
        else  // if it is not the declared one, this rank holds nothing
            holding = declared;
    }
    return plan;
}

Status SectionWriter::choose(std::span<const WholePut> puts) {
    const auto fits = [&](const std::unique_ptr<Plan>& plan) {
        return std::all_of(puts.begin(), puts.end(), [&](const WholePut& p) {
            return plan->holdings[p.variable]->key == p.key;
        });
    };
    const auto found = std::find_if(plans_.begin(), plans_.end(), fits);
    if (found == plans_.begin() && !plans_.empty()) return {};
    if (found != plans_.end())
        std::rotate(plans_.begin(), found, found + 1);
    else if (Status s = make_plan(puts, {}); !s.ok())
        return s;
    // Another plan may have overwritten the control words of this one.
    plans_.front()->stream->prepare();
    file_.team.barrier_on_node();
    return {};
}

void SectionWriter::begin_pass(bool records) {
    records_ = records;
    actions_.assign(places().size(), Action::skip);
    parts_.assign(places().size(), nullptr);
}

Status SectionWriter::write(std::int64_t record, std::span<std::int64_t> misfits) {
    if (std::all_of(actions_.begin(), actions_.end(), [](Action a) { return a == Action::skip; }))
        return {};
    if (plans_.empty())
        if (Status s = choose({}); !s.ok()) return s;
    Plan& plan = *plans_.front();
    if (copied_ && can_copy_) {
        if (!plan.has_long_runs)
            if (Status s = share_boxes(plan); !s.ok()) return s;
        if (*plan.has_long_runs) return write_copies(plan, record);
    }
    if (used_) {  // this is a second pass without an agreement in between
        plan.stream->prepare();
        file_.team.barrier_on_node();
    }
    used_ = true;
    const FileSection& space = sections_.of(records_);
    const std::int64_t base = sections_.base(records_, record);
    Storage& storage = *target_.storage;
    if (storage.collective())
        if (Status s = file_.team.agree(storage.reserve(base, space.bytes)); !s.ok()) return s;
    if (plan.direct) return run_direct(plan, record, misfits);
    return plan.stream->run(space, base, record, actions_, parts_, storage, misfits);
}

/// Writes values that the ranks of the node have packed, from where they lie. Local: only writers
/// have something to do.
Status SectionWriter::write_copies(const Plan& plan, std::int64_t record) {
    if (!share_writer_) return {};
    return catch_errors([&] {
        std::vector<std::vector<PackedValues>> values(places().size());
        std::vector<std::vector<const PackedValues*>> boxes(places().size());
        std::vector<ShareWriter::Work> work;
        for (std::size_t i = 0; i < places().size(); ++i) {
            if (actions_[i] == Action::skip) continue;
            const int at = places()[i].variable;
            const Variable& v = file_.variable(at);
            const bool put = actions_[i] == Action::data;
            for (std::size_t place = 0; put && place < plan.boxes.size(); ++place) {
                const char* data = copies_.find(static_cast<int>(place), {at, record});
                if (data == nullptr) continue;
                for (const HeldBox& held : plan.boxes[place].of(at)) {
                    values[i].push_back({at, record, held, 0, data});
                    data += elements_of(held) * v.element();
                }
            }
            for (const PackedValues& box : values[i]) boxes[i].push_back(&box);
            const bool covered = put && plan.holdings[at]->decomposition->whole;
            work.push_back({i, {{0, v.elements()}}, boxes[i], covered, true});
        }
        const Waiting system(the_file_system);
        return share_writer_->write(records_, record, work, true);
    });
}

/// Writes by the method direct, after filling the elements that no rank holds.
Status SectionWriter::run_direct(Plan& plan, std::int64_t record, std::span<std::int64_t> misfits) {
    const FileSection& space = sections_.of(records_);
    const std::int64_t base = sections_.base(records_, record);
    std::vector<Action> fills(actions_.size(), Action::skip);
    const std::vector<const Part*> none(parts_.size(), nullptr);
    for (std::size_t i = 0; i < actions_.size(); ++i) {
        const Holding& holding = *plan.holdings[space.places[i].variable];
        if (actions_[i] == Action::fill ||
            (actions_[i] == Action::data && !holding.decomposition->whole))
            fills[i] = Action::fill;
    }
    Status status;
    if (std::count(fills.begin(), fills.end(), Action::fill) > 0)
        status = file_.team.agree(
            plan.stream->run(space, base, record, fills, none, *target_.storage, misfits));
    if (!status.ok()) return status;
    status = plan.direct->run(space, base, record, actions_, parts_, *target_.storage, misfits);
    if (!status.ok() || target_.storage->collective() || file_.team.rank() != 0) return status;
    return plan.direct->write_padding(space, base, record, actions_, *target_.storage);
}

Status SectionWriter::write_alone(const Part& part, std::span<std::int64_t> misfits) {
    if (!alone_)
        alone_.emplace(file_.team, file_.packers, file_.definitions, target_.order, cached);
    begin_pass(false);
    set(sections_.fixed.place_of(part.variable), Action::data, &part);
    return alone_->run(sections_.fixed, sections_.base(false, 0), 0, actions_, parts_,
                       *target_.storage, misfits);
}

void SectionWriter::add_figures(FileFigures& f) const {
    StreamCounts all = earlier_;
    for (const auto& plan : plans_) count(*plan, all);
    f.times[FileTimes::remap] += all.pack + all.move;
    f.times[FileTimes::wait] += all.wait;
    f.messages = all.messages;
    f.message_bytes = all.message_bytes;
}

}  // namespace thalweg::detail
