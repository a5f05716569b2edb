// Services, which decide when the work of a file is done. A file in data mode has one service,
// which takes the puts of its ranks and writes them: in their collective calls (inline), on
// threads, or on servers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "layout/grid.hpp"
#include "service/batch.hpp"

namespace thalweg::detail {

/// The destination of a file's data, chosen when its definitions end.
struct Target {
    LayoutChoice layout;
    std::vector<int> writers;          ///< ranks; empty with servers
    std::unique_ptr<Storage> storage;  ///< with servers it is not opened
    Order order = Order::big_endian;   ///< byte order of the storage
    FileMap map;
};

class Service {
public:
    virtual ~Service() = default;

    /// Puts a part, checked by the caller; local unless a step is too large for the buffers. A rank
    /// whose own check failed calls this, too, and gets its error back.
    /// @param part      part with the declared holding and the record of the open step
    /// @param deferred  the array does not change until the step ends
    virtual Status put(Status checked, const Part& part, bool deferred) = 0;
    /// Checks that sections and records of a variable can be put. Local.
    virtual Status allow_records(int variable) const = 0;
    /// Checks that there is room for a part, together with similar ones of so many records, so that
    /// a refused put has no effect. Local.
    virtual Status check_room(const Part& part, std::int64_t records) = 0;
    /// Takes a part of any record and holding. Local.
    virtual Status put_part(const Part& part, bool deferred) = 0;
    /// Returns the error of values that did not fit: now, and again on all ranks when they meet.
    virtual Status take_misfits() = 0;
    /// Returns an error of a writer, which becomes the file's own.
    virtual Status poll() = 0;

    /// Agrees with all ranks before a close; see agree_on().
    /// @note Collective, as are the next ones
    virtual Status agree_to_close(Agreed& agreed) = 0;
    virtual Status end_step() = 0;
    virtual Status sync(bool durable) = 0;
    /// Fills elements never put of fixed-size variables, so that they can be read; publishes
    /// nothing else. Variables that were filled once, or written completely, stay as they are.
    /// @param variables  the same on every rank
    virtual Status fill(std::span<const int> variables) = 0;
    /// Writes what is left when no step is open: boxes, fixed-size variables, fill values.
    virtual Status write_rest(const Agreed& agreed) = 0;
    /// Waits until everything is written.
    virtual Status finish(bool durable) = 0;
    /// Waits, before a close after an error, until the steps that all ranks have ended are written,
    /// as far as the error permits.
    virtual void finish_steps() {}
    /// Completes the file under its present name, or leaves it after an error.
    virtual Status close(bool good) = 0;

    /// Returns the records of the file, as far as this rank knows after sync(): some rank knows
    /// all.
    virtual std::int64_t records() const = 0;
    /// Tests if all puts are in the file, so that another service may continue it. Local.
    virtual bool is_at_rest() const { return false; }
    /// Prepares for another service: fills elements never put of the fixed-size variables.
    /// @param records  receives the number of complete records
    /// @note Collective; the status is the same on every rank
    virtual Status end_at_rest(std::int64_t& records) {
        (void)records;
        return {};
    }

    /// Tests if it writes at any time, not only in calls.
    virtual bool writes_any_time() const { return false; }
    /// Tests if finish() has nothing to wait for on this rank. Local.
    virtual bool finished() const { return true; }
    virtual void add_figures(FileFigures& figures) const = 0;
};

/// The service that a file's options name; inline where a system cannot do it.
/// @param status  this rank's own failure so far, with service=inline; becomes that of all ranks
/// @note Collective
std::unique_ptr<Service> make_service(FileContext& file, Target& target, Batch& batch,
                                      Status& status);

/// Writes everything after this step in the background. If that is impossible, `service` and the
/// file's option do not change.
/// @return an error of the file, the same on every rank
/// @note Collective
Status go_on_in_background(FileContext& file, Target& target, Batch& batch,
                           std::unique_ptr<Service>& service);

}  // namespace thalweg::detail
