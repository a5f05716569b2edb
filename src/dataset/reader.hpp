// An existing file under reading: what is asked for, and what all ranks agree on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/segment.hpp"
#include "comm/team.hpp"
#include "exchange/scatter.hpp"
#include "exchange/section.hpp"
#include "service/deferred.hpp"
#include "service/file_options.hpp"
#include "storage/source.hpp"
#include "telemetry/telemetry.hpp"

namespace thalweg::detail {

/// What tw_get and its relatives are given.
struct Wish {
    std::string name;
    std::shared_ptr<const Decomposition> decomposition;  ///< null: every rank wants the whole
    std::vector<int> order;  ///< memory dimension of each of the variable's; empty: by the names
    std::int64_t record = 0;
    int type = 0;
    void* data = nullptr;
    std::int64_t n = 0;  ///< elements of a dense array; -1 for a strided one
    int rank = 0;
    const std::int64_t* extent = nullptr;
    const std::int64_t* byte_stride = nullptr;
    Status wrong;  ///< what the caller has found already
};

/// What tw_get_box is given; of all dimensions of the variable.
struct BoxWish {
    std::string name;
    int type = 0;
    const std::int64_t* start = nullptr;
    const std::int64_t* count = nullptr;
    const std::int64_t* stride = nullptr;  ///< null: all 1
    void* data = nullptr;
    int ndims = -1;  ///< of start, count and stride; -1: as many as the variable has
};

class Reader {
public:
    /// @param serial  of the file in its session, the same on every rank
    Reader(Team& team, SessionResources& session, std::string path, int serial,
           FileOptions options);
    int serial() const { return serial_; }

    /// Of an open file.
    const Source& contents() const { return *source_; }
    /// Of a file that is being written: as if there were no more records, and not those variables,
    /// until it is refreshed. Local.
    Status show(std::int64_t records, const std::vector<std::string>& lacking);
    /// This rank's figures so far.
    ReadFigures figures();
    /// TW_ENOTFOUND, or the variable's number.
    Status find(const std::string& name, int& variable) const;

    /// @note Collective, as are the next ones but get_deferred
    Status open();
    Status get(const Wish& wish);
    Status get_deferred(const Wish& wish);  ///< local
    Status get_box(const BoxWish& wish);
    /// @param mine  this rank's own failure so far
    Status read(const Status& mine = {});
    Status prefetch();
    Status sync();
    Status refresh();  ///< the same without a meeting
    Status close();
    /// The same without a meeting: some rank has given up the file, and all ranks come here.
    void leave();

private:
    /// Plans that are kept: as many kinds of variables, or of records, as a restart has.
    static constexpr std::size_t most_plans = 16;
    /// Bytes of a rank that a model may find in a cache after a read.
    static constexpr std::int64_t in_cache = std::int64_t(8) << 20;

    Status choose_readers();
    struct Request {
        int variable = 0;
        std::int64_t record = 0;
        std::shared_ptr<const Decomposition> decomposition;
        std::vector<int> order;
        ArrayView view;
        Glimpse glimpse;  ///< of an array that is deferred
    };
    /// What a call reads: a place for each part of each variable and record, in the order of the
    /// file; and which of them each request takes.
    struct Selection {
        Space space;
        std::vector<PlaceSource> sources;  ///< of each place
        struct Run {
            std::size_t first = 0, count = 0;
        };
        std::vector<Run> places;  ///< of each request
    };
    struct Plan {
        std::vector<std::int64_t> key;
        std::optional<bool> straight;      ///< whether it is read so, once that is known
        std::unique_ptr<Scatter> scatter;  ///< null until there is a use for it
    };
    /// What a rank makes of a call by itself, before all agree: later, others would wait for one
    /// that had no memory for it.
    struct Task {
        Selection selection;
        std::vector<std::int64_t> key;  ///< of its plan
        /// Of each place, if the plan is not there yet.
        std::vector<std::vector<WantedBox>> boxes;
        std::vector<Delivery> deliveries;
        std::vector<std::size_t> request_of;  ///< of each delivery
        std::vector<std::int64_t> misfits;    ///< of each request
    };

    const Variable& variable(int number) const { return source_->definitions().variables[number]; }
    bool reads() const;
    Status readable(int variable, std::int64_t record) const;
    Status check(const Wish& wish, Request& request) const;
    Status match(const Wish& wish, const Variable& variable, Request& request) const;
    Status with_place(Status status, int variable) const;
    Status check_deferred(std::span<const Request> requests) const;
    static void add(ReadFigures& figures, const StreamCounts& counts);

    // reader_agreement.cpp
    std::string describe(const Request& request) const;
    Status agree_on(Call call, std::span<const Request> requests, const Status& mine);
    Status compare_forms(std::span<const Request> requests);

    // reader_plan.cpp
    Status perform(Call call, std::span<const Request> requests, Status mine);
    Selection select(std::span<const Request> requests) const;
    /// The boxes of the variable that a request fills.
    std::vector<WantedBox> wanted(const Request& request, bool with_halo) const;
    /// @param ahead  whether it goes by way of what is read ahead
    Task prepare(std::span<const Request> requests, bool ahead) const;
    void add_deliveries(std::span<const Request> requests, Task& task) const;
    std::vector<std::int64_t> key_of(std::span<const Request> requests, const Selection& s) const;
    Plan& plan_for(Task& task);
    StreamOptions stream_options() const;
    Scatter* scatter_of(Plan& plan, Task& task, Status& status);
    bool long_runs(const Space& space, std::span<const Delivery> deliveries) const;
    std::int64_t shortest_run() const;
    std::span<char> straight_buffer();
    Status take_straight(Task& task);
    Status take(Plan& plan, Task& task);

    // reader_box.cpp
    struct BoxRequest {
        int variable = 0;
        std::int64_t first = 0, stride = 1;  ///< of its records
        std::int64_t records = 0;            ///< none: nothing is wanted
        Section section;                     ///< of each of them
        Index count{};                       ///< of its array
        ArrayView view;
    };
    /// What may be wanted of a part of a variable, whatever the record.
    struct BoxPart {
        Place place;
        PlaceSource source;
        std::optional<WantedBox> wanted;  ///< by this rank
    };
    /// What all ranks together want.
    struct BoxBounds {
        Box box;
        std::int64_t first = 0, last = -1;  ///< record
        std::int64_t most = 0;              ///< records of a rank
    };
    Status check(const BoxWish& wish, BoxRequest& request) const;
    Status check_dimension(const BoxWish& wish, const Variable& v, std::size_t d) const;
    std::vector<BoxPart> box_parts(const BoxRequest& request, const Box& bounds) const;
    Delivery box_delivery(const BoxRequest& request, const BoxPart& part) const;
    BoxBounds box_bounds(const BoxRequest& request);
    bool boxes_straight(const BoxRequest& request, std::span<const BoxPart> own,
                        std::span<const BoxPart> all, const BoxBounds& bounds);
    Status take_box(const BoxRequest& request, std::span<const BoxPart> parts,
                    std::int64_t& misfits);
    Status scatter_boxes(const BoxRequest& request, std::span<const BoxPart> parts,
                         const BoxBounds& bounds, std::int64_t& misfits);
    std::unique_ptr<Scatter> box_scatter(std::span<const BoxPart> parts, std::size_t records,
                                         bool wanted, Status& status);

    // reader_ahead.cpp
    Status make_shelf();
    std::vector<PlaceSource> later(std::span<const PlaceSource> sources, int records) const;
    void expect(const std::vector<PlaceSource>& sources, const Scatter& scatter, bool asked,
                bool spare);
    void look_ahead(const Selection& selection, const Scatter& scatter, bool good);

    Team& team_;
    SessionResources& session_;
    std::string path_;
    int serial_;
    FileOptions options_;
    std::vector<int> readers_;
    std::unique_ptr<Source> source_;
    Memory* arena_ = nullptr;
    std::vector<char> lacking_;  ///< of each variable, where not all are written
    std::vector<Request> deferred_;
    std::vector<std::size_t> prefetched_;  ///< numbers of deferred requests before which calls of
                                           ///< prefetch came
    std::vector<Plan> plans_;              ///< the latest first
    std::vector<char> buffer_;             ///< of what is read straight
    std::vector<std::unique_ptr<Segment>> segments_;  ///< of the node's readers, for the shelf
    Shelf shelf_;
    std::unique_ptr<ReadAhead> ahead_;  ///< on readers, if anything is read ahead
    ReadFigures figures_;
};

}  // namespace thalweg::detail
