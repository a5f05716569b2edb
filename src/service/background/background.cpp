// SPDX-License-Identifier: Apache-2.0
#include "service/background/background.hpp"

#include <mpi.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/words.hpp"
#include "comm/comm.hpp"
#include "comm/node_exchange.hpp"

namespace thalweg::detail {

std::unique_ptr<Background> Background::make(Team& team, Status& status, TraceLane* lane) {
    auto background = std::make_unique<Background>();
    background->lane_ = lane;
    background->memory_ = team.node().share(4096);
    Status mine;
    if (!background->memory_) mine = no_shared_memory();
    status = team.agree(mine);
    if (!status.ok()) return nullptr;
    int level = MPI_THREAD_FUNNELED;
    if (mpi_is_running()) MPI_Query_thread(&level);
    if (level == MPI_THREAD_SINGLE && team.rank() == 0)
        log::info(
            "MPI runs at thread level MPI_THREAD_SINGLE, as MPI_Init asks for; service background "
            "works there, as its threads make no MPI calls. By the standard, a program with "
            "threads "
            "asks MPI_Init_thread for MPI_THREAD_FUNNELED");
    return background;
}

Background::~Background() {
    if (!thread_.started()) return;
    stop_ = true;
    ring(doorbell());
    thread_.join();
}

Status Background::add(std::shared_ptr<UnitWriter> unit_writer) {
    {
        const std::lock_guard lock(lock_);
        unit_writers_.push_back(std::move(unit_writer));
    }
    if (thread_.started()) return {};
    return thread_.start([this] { run(); }, "writes");
}

void Background::remove(const std::shared_ptr<UnitWriter>& unit_writer) {
    unit_writer->retire();
    const std::lock_guard lock(lock_);
    std::erase(unit_writers_, unit_writer);
}

void Background::run() {
    const TraceInto into(lane_);
    while (!stop_) {
        const std::uint32_t heard = doorbell().load(std::memory_order_acquire);
        std::vector<std::shared_ptr<UnitWriter>> unit_writers;
        {
            const std::lock_guard lock(lock_);
            unit_writers = unit_writers_;
        }
        bool worked = false;
        for (const auto& unit_writer : unit_writers) worked |= unit_writer->work();
        if (!worked && !stop_) wait_briefly(doorbell(), heard, nullptr, 0.1);
    }
}

namespace {

class BackgroundFile final : public Publisher, public UnitWriterEvents {
public:
    BackgroundFile(Team& team, Background& background, const ServicePlan& plan, const FileMap& map,
                   const std::vector<int>& writers, Storage& storage, SpareQueues& spares)
        : Publisher(team, plan, spares),
          background_(background),
          writer_ranks_(writers),
          storage_(storage) {
        sections_ = make_spaces(*plan.definitions, map);
    }

    ~BackgroundFile() override {
        if (unit_writer_) background_.remove(unit_writer_);
    }

    Status begin() {
        std::vector<int> local;  // numbers of the writers on this node
        const Topology& topology = team_.topology();
        for (std::size_t w = 0; w < writer_ranks_.size(); ++w)
            if (topology.node_of[writer_ranks_[w]] == topology.node) local.push_back(w);
        const Status made = make_queue(local.size(), background_.doorbell(), "writers");
        SegmentName name;
        if (unit_queue_) name = unit_queue_->memory().name();
        // The shared memory of all ranks of the node, for its writers.
        const std::vector<SegmentName> all = share_names(team_.node(), name);
        if (Status status = team_.agree(made); !status.ok()) return status;
        if (Status status = team_.agree(begin_writing(local, all)); !status.ok()) return status;
        Placement* const mine = placement();
        std::int64_t words[] = {mine != nullptr ? 1 : 0,
                                mine != nullptr && !mine->beside_header_writer() ? 1 : 0};
        team_.all_reduce(words, Reduce::max);
        places_ = words[0] != 0;
        far_ = words[1] != 0;
        // On a single node, exchange() is not called, through which writers that share no memory
        // with the header writer would get places in the file.
        if (!far_ || collective()) return {};
        return failure(TW_ENOMEM, "{}: the writers cannot share memory", OfFile{plan_.path});
    }

    bool collective() const override { return team_.topology().nodes > 1; }

    bool publish(UnitPart& unit_part, std::int64_t keep) override {
        // This fails only on a single node: on several nodes, the ranks agree before they publish,
        // so none is stuck.
        const bool published = unit_queue_->publish(unit_part, keep);
        Status status = catch_errors([&] { return storage_.catch_up(); });
        if (!status.ok() && unit_writer_) unit_writer_->state().fail_here(std::move(status));
        if (collective()) exchange(unit_part);
        return published;
    }

    Status finish(bool durable, std::int64_t& records) override {
        unit_queue_->drain();
        Status status = team_.agree(unit_queue_->region().failure());
        if (!status.ok()) {
            unit_queue_->region().fail(status);
            return status;
        }
        settle();
        // All writers have written everything. Ask again for this writer's error: counting records
        // may fail after the last unit, and the system reports such an error only once.
        if (unit_writer_ && status.ok()) {
            const auto held = unit_writer_->hold();
            status = unit_writer_->state().failure();
            if (status.ok() && durable) status = storage_.sync();
            records = unit_writer_->progress().records();
        }
        status = team_.agree(status);
        if (status.ok() && unit_writer_ && unit_writer_->rounds().counts_records()) {
            status = unit_writer_->commit_all(durable);
            if (status.ok()) status = storage_.catch_up();
        }
        status = team_.agree(status);
        if (!status.ok()) unit_queue_->region().fail(status);
        return status;
    }

    Status close(bool good, const LateAttributes& late) override {
        if (!good) count_written();
        if (unit_writer_) background_.remove(unit_writer_);
        std::int64_t records = 0;
        if (unit_writer_)
            records =
                good ? unit_writer_->progress().records() : unit_writer_->progress().counted();
        // Not every rank has a writer. With a file per writer, the record counts may differ after
        // an error.
        if (!plan_.layout.grid.own_files) team_.all_reduce({&records, 1}, Reduce::max);
        Status status = team_.agree(storage_.close(records, late));
        closed_ = true;
        return status;
    }

    WriteCounts counts() const override {
        return unit_writer_ ? unit_writer_->state().counts() : WriteCounts{};
    }
    int writers() const override { return writer_ranks_.size(); }

private:
    /// Rank of the sender that stands for all ranks of other nodes.
    static constexpr int others = -1;

    /// Starts the writer of this rank, if it has one.
    /// @param local  numbers of the writers on this node
    /// @param names  names of the queues of this node's ranks
    Status begin_writing(const std::vector<int>& local, const std::vector<SegmentName>& names) {
        const auto own =
            std::ranges::find(local, team_.rank(), [&](int w) { return writer_ranks_[w]; });
        if (own == local.end()) return {};
        plan_.rank = team_.rank();
        plan_.local_writer = own - local.begin();
        plan_.node_writers = local.size();
        unit_writer_ = std::make_shared<UnitWriter>(plan_, sections_, *own, storage_, *this);
        for (const SegmentName& name : names)
            if (Status s = unit_writer_->add_region(name); !s.ok()) return s;
        if (team_.topology().nodes > 1) {
            unit_writer_->sources().add_sender(others);
            unit_writer_->rounds().others_have(0);
        }
        return background_.add(unit_writer_);
    }

    /// Wakes the threads of the node's writers, which may wait for this one's progress.
    void report() override { ring(background_.doorbell()); }

    /// Returns the interface by which this rank's writer gets places in the file; null if the
    /// writer knows the places beforehand.
    Placement* placement() const { return unit_writer_ ? storage_.placement() : nullptr; }

    /// Gives places in the file to chunks of writers on other nodes than the header writer's, and
    /// reports to the header writer the places of chunks that these writers have written.
    /// @note Collective
    void agree_on_places() { bring_places(team_.world(), writer_ranks_.front(), placement()); }

    /// Waits until everything is in the file and the header writer knows the places, or the file
    /// has failed.
    /// @note Collective
    void settle() {
        for (bool waits = places_; waits;) {
            std::int64_t words[] = {0, 0};
            if (unit_writer_) {
                const auto held = unit_writer_->hold();
                words[0] = unit_writer_->settle_all() ? 0 : 1;
                words[1] = unit_writer_->state().failure().ok() ? 0 : 1;
            }
            if (far_) agree_on_places();
            team_.all_reduce(words, Reduce::max);
            waits = words[0] != 0 && words[1] == 0;
        }
    }

    /// Counts, after an error, the records that all writers have written. Repeats this while it
    /// makes progress: places reported by one writer may let another one continue.
    /// @note Collective
    void count_written() {
        for (int quiet = 0; quiet < 2;) {
            std::int64_t any = unit_writer_ && unit_writer_->count_written() ? 1 : 0;
            if (far_) agree_on_places();
            team_.all_reduce({&any, 1}, Reduce::max);
            quiet = any != 0 ? 0 : quiet + 1;
        }
    }

    /// Sends data for other nodes' writers from this thread, as the writing thread makes no MPI
    /// calls.
    void exchange(const UnitPart& unit_part) {
        std::vector<Packet> packets;
        Span span("exchange");
        // Exchange the writers' progress, too: the first writer counts in the header only the
        // records that all writers have written.
        std::int64_t words[] = {unit_writer_ ? unit_writer_->rounds().done() : INT64_MAX,
                                catch_errors([&] { pack(unit_part, packets); }).ok() ? 1 : 0};
        team_.all_reduce(words, Reduce::min);
        // Before the first writer counts records, it must know the places of their chunks.
        if (far_) agree_on_places();
        if (unit_writer_) unit_writer_->rounds().others_have(words[0]);
        if (words[1] == 0) {
            packets.clear();
            no_memory_for_messages();
        }
        // Also limit the data that wait on the receiving side.
        while (unit_writer_ && unit_writer_->sources().waiting_bytes() > plan_.queue.bytes)
            sleep_seconds(200e-6);
        std::int64_t bytes = 0;
        for (const Packet& p : packets) bytes += p.bytes.size();
        span.bytes(bytes);
        bool have = true;
        const std::vector<Packet> received = exchange_by_nodes(team_, packets, have);
        Status status = team_.agree(have ? Status{} : out_of_memory());
        const auto deliver = [&] {
            std::vector<char> message;
            for (const Packet& p : received)
                message.insert(message.end(), p.bytes.begin(), p.bytes.end());
            unit_writer_->sources().deliver(others, std::move(message));
        };
        if (status.ok() && unit_writer_) status = catch_errors(deliver);
        if (!status.ok()) no_memory_for_messages();
        if (unit_writer_) ring(background_.doorbell());
    }

    /// Stops the writers of this node from waiting for others; the ranks get the error at their
    /// next collective call.
    void no_memory_for_messages() {
        fail_here(
            failure(TW_ENOMEM, "{}: no memory for messages to other nodes", OfFile{plan_.path}));
    }

    void fail_here(const Status& status) {
        unit_queue_->region().fail(status);
        if (unit_writer_) unit_writer_->state().fail(status);
    }

    /// Makes the messages to writers on other nodes.
    void pack(const UnitPart& unit_part, std::vector<Packet>& packets) {
        const Topology& topology = team_.topology();
        const auto& variables = plan_.definitions->variables;
        const UnitPart packed =
            with_data(unit_part, unit_queue_->memory().base(), variables, *plan_.boxes);
        boxed_ |= unit_part.head.boxed;
        for (std::size_t w = 0; w < writer_ranks_.size(); ++w) {
            const int rank = writer_ranks_[w];
            if (topology.node_of[rank] == topology.node) continue;
            Packet packet;
            packet.rank = rank;
            // With boxes, every rank may know of more records.
            if (append_clipped(packed, *layout_, w, sections_, variables, packet.bytes) || boxed_)
                packets.push_back(std::move(packet));
        }
    }

    Background& background_;
    std::vector<int> writer_ranks_;
    Storage& storage_;
    std::shared_ptr<UnitWriter> unit_writer_;  ///< exists on writers
    bool boxed_ = false;                       ///< the file is written by boxes (see unit_part.hpp)
    bool places_ = false;                      ///< writers get places in the file while they write
    /// Some writers with places_ do not share memory with the header writer.
    bool far_ = false;
};

}  // namespace

std::unique_ptr<Publisher> make_background_file(Team& team, Background& background,
                                                const ServicePlan& plan, const FileMap& map,
                                                const std::vector<int>& writers, Storage& storage,
                                                SpareQueues& spares, Status& status) {
    auto file =
        std::make_unique<BackgroundFile>(team, background, plan, map, writers, storage, spares);
    status = file->begin();
    if (!status.ok()) return nullptr;
    return file;
}

}  // namespace thalweg::detail
