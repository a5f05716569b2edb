// A file that is written: in define mode, in data mode, closed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dataset/box_puts.hpp"
#include "dataset/choose.hpp"
#include "dataset/define_mode.hpp"
#include "dataset/file_names.hpp"
#include "dataset/file_references.hpp"
#include "dataset/variable_files.hpp"
#include "service/service.hpp"

namespace thalweg::detail {

class File {
public:
    /// @param serial  of the file in its session, the same on every rank
    File(Team& team, SessionResources& session, std::string path, int serial, FileOptions options)
        : file_(team, session, std::move(path), serial, options), asked_(std::move(options)) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    int serial() const { return file_.serial; }
    const Definitions& definitions() const { return file_.definitions; }
    /// This rank's figures so far.
    FileFigures figures() const;
    std::int64_t steps() const { return file_.figures.steps; }

    // For what reads the file while it is written; once the definitions have ended.
    const std::string& path() const { return file_.path; }
    const std::string& data_path() const { return file_.data_path; }
    const FileOptions& options() const { return file_.options; }
    Format format() const { return file_.format; }
    const Status& failed() const { return file_.failed; }
    bool several_files() const { return file_.in_files() || file_.options.by_variable; }
    /// Whether it may be written at any time.
    bool written_any_time() const {
        return data_ && data_->service && data_->service->writes_any_time();
    }
    /// Whether this rank knows of boxes in it, or of tw_put_record.
    bool boxed() const { return data_ && data_->batch.boxed; }
    const LateAttributes& late_attributes() const { return file_.late; }
    /// Without boxes: records that are in the file when a tw_sync has succeeded.
    std::int64_t counted_records() const;

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
    const Source* contents() const { return define_.contents(); }

    /// Makes the file, or opens the one that is there. @note Collective, as are the next ones
    Status begin();
    Status end_definitions();
    Status put(const std::string& name, int type, const void* data, std::int64_t n, bool deferred);
    Status put_strided(const std::string& name, int type, const void* data, int rank,
                       const std::int64_t* extent, const std::int64_t* byte_stride, bool deferred);
    // Local.
    Status put_box(const std::string& name, int type, const std::int64_t* start,
                   const std::int64_t* count, const std::int64_t* stride, const void* data,
                   int ndims);
    Status put_record(const std::string& name,
                      const std::shared_ptr<const Decomposition>& decomposition,
                      std::int64_t record, int type, const void* data, std::int64_t n,
                      bool deferred);
    Status put_record_strided(const std::string& name,
                              const std::shared_ptr<const Decomposition>& decomposition,
                              std::int64_t record, int type, const void* data, int rank,
                              const std::int64_t* extent, const std::int64_t* byte_stride,
                              bool deferred);

    Status end_step();
    Status sync(bool durable);
    Status close();
    /// Hands the file over without waiting for a service that still writes it. If `later`, the same
    /// on every rank, complete() has to follow; else the file is closed.
    Status close_later(bool& later);
    /// After close_later(): whether this rank has nothing to wait for in complete(). Local.
    bool written() const { return data_->service->finished(); }
    /// Waits until everything is written, and gives the file its name.
    /// @param status  of what came before: after a failure the file keeps its temporary name
    Status complete(Status status = {});
    /// Closes the file, which never gets its own name. `why` is known to all ranks and returned.
    Status abandon(Status why);
    /// The same without a meeting: some rank has given up the file, and all ranks come here.
    void leave(const Status& why);
    /// Another file may take the name from now on; this one cannot be completed any more. Local.
    void release_names() { names_.release(); }

private:
    /// Data mode: what there is from the end of the definitions until the file is closed.
    struct Data {
        explicit Data(FileContext& file) : batch(file) {}
        Target target;
        bool storage_open = false;  ///< on the ranks, or by the servers
        Batch batch;
        std::unique_ptr<Service> service;
        std::optional<BoxPuts> boxes;
        bool may_change = false;        ///< service=auto: to background, once that pays
        double computing = 0;           ///< of the session when data mode began
        planning::Proposal proposal{};  ///< of the cost model
        double first_step = 0;          ///< seconds in the calls that made and ended it
    };

    Status take_names();
    Status check_defining(const char* what) const;
    Status begin_data();
    Status put_record(const std::string& name, const RecordToPut& put);
    std::int64_t queue_bytes() const;
    Status choose_all(bool& writers_asked);
    OutputTimes agree_on(OutputTimes mine) const;
    Status ask_file_system(Surroundings& surroundings) const;
    Status ask_cost_model(Surroundings& surroundings) const;
    Status check_shared();
    Status open_storage();
    Status begin_file();
    template <class Check>
    Status put_array(const std::string& name, int type, const void* data, bool deferred,
                     Check&& check);
    OutputTimes output_times() const;
    void note_steps() const;
    bool is_time_to_change(OutputTimes& times);
    Status reconsider_service();
    void note_service(const OutputTimes& times);
    Status hand_over();
    Status publish();
    Status end();

    FileContext file_;
    const FileOptions asked_;  ///< before anything was chosen
    FileNames names_{file_};
    FileReferences references_{file_};
    VariableFiles variables_{file_};
    DefineMode define_{file_};
    std::unique_ptr<Data> data_;
    bool in_data_mode_ = false;
};

}  // namespace thalweg::detail
