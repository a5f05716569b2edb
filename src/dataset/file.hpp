// A file under construction: netCDF's define and data mode, steps, and what becomes of errors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/meeting.hpp"
#include "dataset/deferred.hpp"
#include "definitions/definitions.hpp"
#include "exchange/direct.hpp"
#include "exchange/stream.hpp"
#include "service/background.hpp"
#include "service/inline_file.hpp"
#include "service/served_file.hpp"
#include "storage/claim/claim.hpp"
#include "storage/source.hpp"
#include "storage/storage.hpp"
#include "telemetry/telemetry.hpp"

namespace thalweg::detail {

/// What a file is told by its session.
struct FileOptions {
    Wording wording;  ///< of texts
    std::string method = "auto", storage = "auto", format = "auto", writers = "auto";
    std::string readers = "auto";
    bool read_ahead = false;
    std::string tiles = "auto";                         ///< auto or MxN
    bool tile_files = false;                            ///< with method tiles: a file each
    std::int64_t writer_first = 0, writer_stride = -1;  ///< -1: spread evenly
    std::int64_t stripe_count = -1, stripe_size = -1;   ///< -1: the folder's
    std::int64_t alignment = -1;                        ///< -1: the file system's
    std::int64_t piece = 0;
    std::int64_t straight = -1;  ///< bytes of a run from which on each rank reads its own
    std::int64_t buffer = 0;     ///< bytes a rank
    std::int64_t staging = 0;    ///< bytes a rank
    std::int64_t header_pad = 0;
    bool first_attributes = false;  ///< they are those of rank 0, not the same on all
    bool append = false;            ///< the file is there, and is written on under its name
    bool pnetcdf_blocking = false, live = false, durable = false;
    std::string service = "inline";  ///< inline, background or servers
    std::int64_t queue = -1;         ///< bytes a rank; -1: two steps, at most `staging`
    bool queue_inline = false;       ///< who finds the queue full writes
    std::int64_t bandwidth = 0;      ///< bytes a second of all writers, or readers; 0: no limit
    VariableSettings packing;        ///< of all variables
};

/// What all files of a session share, made when first needed.
class ArenaSource {
public:
    virtual ~ArenaSource() = default;
    /// Node memory for exchanges. @note Collective
    virtual Memory* arena(Status& status) = 0;
    /// The threads that write behind the model. @note Collective
    virtual Background* background(Status& status) = 0;
    /// The threads that copy.
    virtual Packers& packers() = 0;
    /// The way to the servers; null where there are none.
    virtual Port* port() = 0;
    /// Where the ranks find out whether they are in the same call.
    virtual Meeting& meeting() = 0;
};

class File {
public:
    /// @param serial  of the file in its session, the same on every rank
    File(Team& team, ArenaSource& arena, std::string path, int serial, FileOptions options);
    ~File();
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    int serial() const { return serial_; }

    /// This rank's figures so far.
    FileFigures figures() const;
    const Definitions& definitions() const { return definitions_; }

    // For what reads the file while it is written; once the definitions have ended.
    const std::string& path() const { return path_; }
    const std::string& data_path() const { return data_path_; }
    const FileOptions& options() const { return options_; }
    Format format() const { return format_; }
    const Status& failed() const { return failed_; }
    bool several_files() const { return in_files(); }
    /// Whether it may be written at any time.
    bool written_behind() const { return service_ != nullptr && !service_->in_calls(); }
    /// Whether this rank knows of boxes in it, or of tw_put_record.
    bool boxed() const { return boxed_; }
    /// Attributes that were put later: the variable, or -1.
    const std::vector<std::pair<int, Attribute>>& late_attributes() const { return late_; }
    /// Without boxes: records that are in the file when a tw_sync has succeeded.
    std::int64_t counted_records() const { return std::max(records_, existing_.kept); }

    // Local, in define mode. See thalweg.h for the meaning of all.
    Status define_dimension(const std::string& name, std::int64_t length);
    Status define_variable(const std::string& name, int type, const std::string& dims,
                           std::shared_ptr<const Decomposition> decomposition);
    Status put_attribute(const std::string& variable, Attribute attribute);
    Status define(Definitions definitions);  ///< all of them, in place of the single calls
    Status set_variable(const std::string& variable, const std::string& settings);

    /// In a file that is there: the record that the first step writes. @param later  enum tw_later
    Status set_record(std::int64_t record, int later);
    /// What was in the file when it was opened; null for a new one.
    const Source* contents() const { return source_.get(); }

    /// Makes the file, or opens the one that is there. @note Collective, as are the next ones
    Status begin();
    Status end_definitions();
    Status put(const std::string& name, int type, const void* data, std::int64_t n, bool deferred);
    Status put_strided(const std::string& name, int type, const void* data, int rank,
                       const std::int64_t* extent, const std::int64_t* byte_stride, bool deferred);
    // Local. See thalweg.h.
    Status put_box(const std::string& name, int type, const std::int64_t* start,
                   const std::int64_t* count, const void* data);
    Status put_record(const std::string& name,
                      const std::shared_ptr<const Decomposition>& decomposition,
                      std::int64_t record, int type, const void* data, std::int64_t n);
    Status put_record_strided(const std::string& name,
                              const std::shared_ptr<const Decomposition>& decomposition,
                              std::int64_t record, int type, const void* data, int rank,
                              const std::int64_t* extent, const std::int64_t* byte_stride);
    Status end_step();
    Status sync(bool durable);
    Status close();
    /// Hands the file over without waiting for a service that still writes it. If `later`, the same
    /// on every rank, complete() has to follow; else the file is closed.
    Status close_later(bool& later);
    /// After close_later(): whether this rank has nothing to wait for in complete(). Local.
    bool written() const;
    /// Waits until everything is written, and gives the file its name.
    /// @param status  of what came before: after a failure the file keeps its temporary name
    Status complete(Status status = {});
    /// Closes the file, which never gets its own name. `why` is known to all ranks and returned.
    Status abandon(Status why);
    /// The same without a meeting: some rank has given up the file, and all ranks come here.
    void leave(const Status& why);

private:
    enum class State { defining, data, closed };
    struct Pending {
        bool put = false;
        bool written = false;      ///< in this step already, by a collective put
        Form form = Form::either;  ///< of the array that was put
        Glimpse glimpse;           ///< of one that is deferred
        /// Whether what was put is still in the model's memory.
        bool deferred() const { return put && view.data != nullptr && !view.bare; }
        ArrayView view;
        std::size_t staged_at = 0;  ///< where in the staging memory its copy goes
        bool boxed = false;         ///< in this step by boxes of the same record
        char* queued = nullptr;     ///< with a service: where in the queue its copy is
        std::int64_t mark = 0;      ///< of it
    };
    /// What the ranks together have put.
    struct Agreed {
        std::vector<char> put;  ///< per variable
        bool any_record = false;
    };
    /// How a decomposition that was not told at definition holds a variable.
    struct Placed {
        int variable = 0;
        std::shared_ptr<const Decomposition> decomposition;
        std::vector<int> order;
        std::vector<HeldBox> held;
    };

    Status usable() const;
    Status usable_for(const char* what) const;
    Status create();
    Status claim(const std::string& path);
    Status claim_tiles();
    void discard();
    Status compare_definitions();
    Status choose_format();
    void tell_of_ignored() const;
    Status ask_file_system(std::span<std::int64_t, 3> answers) const;
    void choose_storage(std::span<const std::int64_t, 3> answers);
    void choose_packed_method();
    StorageOptions storage_options() const;
    Status begin_file();
    Status plan();
    void make_pending();
    Status choose_writers();
    std::vector<int> writers_in_parts(int parts, int mine);
    Status choose_layout();
    Status check_tiles() const;
    bool in_files() const { return options_.tile_files && options_.method == "tiles"; }
    Status check_put(const std::string& name, int type, const void* data, int& variable);
    Status check_type(const std::string& name, int type, int& variable) const;
    Status with_place(Status status, int variable) const;
    const Decomposition& decomposition_of(int variable) const {
        return *definitions_.variables[static_cast<std::size_t>(variable)].decomposition;
    }
    Status begin_data();
    Status accept(Status checked, int variable, ArrayView view, bool deferred);
    void use_netcdf_byte_rule(int variable, ArrayView& view) const;
    Status check_deferred(bool records) const;
    Status stage(int variable, const ArrayView& view);
    std::int64_t stage_blocks(const Variable& v, const ArrayView& view, char* to, RowKernel kernel,
                              const char* fill);
    std::int64_t stage_list(const Variable& v, const ArrayView& view, char* to, RowKernel kernel,
                            const char* fill);
    Status enter(Call call, int variable, const Status& mine, std::span<std::int64_t> words);
    Status agree_on(Call call, int variable, const Status& mine, Agreed& agreed);
    Status missing_variables(const std::vector<std::int64_t>& missing);
    Status mixed_forms(std::size_t variable, bool put);
    Status write_space(const Space& space, bool records, const std::vector<Action>& actions);
    Status write_fixed(const Agreed& agreed, bool last);
    enum class Written { fixed, record, record_complete };
    Status publish_records(bool durable);
    Status finish_write(Status mine, Written written, bool durable);
    Status publish();
    Status put_now(Status checked, int variable, ArrayView view);
    Status end();
    Status hand_over();
    Status keep(Status status);

    // In a file that is there (file_append.cpp)
    Status open();
    Status check_whole() const;
    Status adopt_contents();
    std::string describe_start() const;

    // With a service (file_service.cpp; boxes: file_boxes.cpp)
    void choose_service();
    Status plan_holdings();
    Status plan_service();
    void plan_queue(ServicePlan& plan);
    Status poll_service();
    Status accept_queued(Status checked, int variable, ArrayView view, bool deferred);
    Status queue_variable(int variable, const ArrayView& view);
    Status queue_parts(int variable, const ArrayView* view);
    Status queue_range(int variable, const ArrayView& view, Parcel& parcel);
    Status queue_deferred(bool records, const Agreed& agreed);
    Parcel open_parcel(UnitKind kind) const;
    Status publish_queued(UnitKind kind);
    Status mismatch(Call call, int variable);
    Status no_room(const Variable& v);
    void gather_open();
    Status end_step_agreed(const Status& lost, const Agreed& agreed);
    Status allow_boxes(int variable) const;
    Status use_boxes(int variable, std::int64_t first, std::int64_t records);
    Status make_inline_file();
    Status turn_to_boxes();
    FileService& boxes_service() { return service_ ? *service_ : *early_; }
    Status check_records(int variable, std::int64_t first, std::int64_t records) const;
    Status place(int variable, const std::shared_ptr<const Decomposition>& decomposition,
                 const Placed*& placed);
    template <class Check>
    Status put_placed(const std::string& name,
                      const std::shared_ptr<const Decomposition>& decomposition,
                      std::int64_t record, int type, const void* data, Check&& check);
    Status queue_whole(int variable, const ArrayView& view);
    Status queue_box(int variable, std::int64_t record, const HeldBox& held, const Box& part,
                     const Strided& from, tw_type type);
    bool goes_as_boxes(const Variable& v) const;
    Status no_room_for_boxes(const Variable& v) const;
    Status publish_boxes();
    Status take_misfits(bool records);
    Status end_step_queued();
    Status queue_rest(UnitKind kind, const Agreed& agreed);
    Status agree_on_misfits(Status mine);
    Status sync_queued(const Agreed& agreed, bool durable);

    Team& team_;
    ArenaSource& arena_source_;
    Packers& packers_;
    std::string path_;
    std::string
        data_path_;  ///< where the data are before the file is complete; of a set, the first
    std::vector<std::unique_ptr<Claim>> claims_;  ///< the one file on rank 0; of a set, this rank's
    FileOptions options_;
    State state_ = State::defining;
    Status failed_;  ///< the first failure after which data may be missing; returned ever after
    bool leaving_ = false;  ///< in tw_close, which ends the file whatever comes out
    int serial_;
    Definitions definitions_;
    std::vector<std::pair<int, Attribute>> late_;  ///< attributes after the definitions ended
    std::unique_ptr<Source> source_;               ///< what is there; null for a new file
    Existing existing_;
    Format format_ = Format::cdf2;
    std::unique_ptr<Storage> storage_;
    bool storage_open_ = false;
    FileMap map_;
    Space fixed_, record_;
    std::int64_t fixed_base_ = 0;
    LayoutChoice layout_choice_;
    std::vector<int> writers_;  ///< ranks; without servers
    bool writers_asked_ = false;
    std::unique_ptr<Layout> layout_;
    std::unique_ptr<Layout> fill_layout_;  ///< with direct: who fills what no rank holds
    std::unique_ptr<Stream> stream_;
    std::unique_ptr<Direct> direct_;
    std::vector<Pending> pending_;
    std::unique_ptr<Memory> staging_;    ///< copies of put data; kept from step to step
    std::size_t staging_bytes_ = 0;      ///< of all variables of this rank
    std::vector<char> filled_;           ///< fixed variables that were written, or are there
    std::vector<std::int64_t> misfits_;  ///< values that did not fit, of each variable
    bool stream_used_ = false;           ///< since the last agreement
    std::int64_t records_ = 0;
    bool immediate_ = false;  ///< a step exceeds the staging budget: puts are collective

    // With a service
    std::unique_ptr<FileService> service_;
    bool together_ = false;  ///< ranks agree before they publish
    bool in_parts_ = false;  ///< a step exceeds the queue: variables go in parts
    std::int64_t part_bytes_ = 0;
    Order order_ = Order::big_endian;         ///< of the storage
    std::vector<std::vector<HeldBox>> held_;  ///< of each variable, what this rank holds
    Holdings told_;                           ///< the same as it lies in the queue
    std::vector<FillValue> fill_;
    Status misfit_;                      ///< of this rank, until all ranks have learnt of it
    std::unique_ptr<InlineFile> early_;  ///< boxes before the ranks have met, with service inline
    /// The file has boxes: of this rank, or where the ranks agree before they publish, of any.
    bool boxed_ = false;
    bool given_ = false;  ///< this rank has given records
    bool has_records_ = false;
    std::vector<Placed> placed_;        ///< the latest ones
    std::vector<Parcel::Entry> boxes_;  ///< of the open unit
    std::int64_t open_bytes_ = 0;       ///< of them, with what describes them
    std::int64_t boxes_mark_ = 0;       ///< where the first of them lies in the queue
    std::int64_t box_records_ = 0;
    std::int64_t steps_ = 0;  ///< with a service: ended since the ranks met
    FileFigures figures_;
};

}  // namespace thalweg::detail
