// When the work of a file is done. A file in data mode has one service, which takes what its ranks
// put and writes it: in the calls in which they meet (inline), on threads, or on servers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "layout/grid.hpp"
#include "service/batch.hpp"

namespace thalweg::detail {

/// Where the data of a file go, as chosen when its definitions end.
struct Target {
    LayoutChoice layout;
    std::vector<int> writers;          ///< ranks; without servers
    std::unique_ptr<Storage> storage;  ///< with servers it is not opened
    Order order = Order::big_endian;   ///< of the storage
    FileMap map;
};

class Service {
public:
    virtual ~Service() = default;

    /// tw_put, checked by the caller; local unless a step is too large for the buffers. A rank
    /// whose own check failed comes here, too, and is returned its error.
    /// @param part      of the declared holding and the record of the open step
    /// @param deferred  the array stays as it is until the step ends
    virtual Status put(Status checked, const Part& part, bool deferred) = 0;
    /// Checks that sections and records of a variable can be put. Local.
    virtual Status allow_records(int variable) const = 0;
    /// Checks that there is room for a part, and for others like it of so many records together, so
    /// that a put that is refused leaves nothing. Local.
    virtual Status check_room(const Part& part, std::int64_t records) = 0;
    /// Takes a part of any record and holding. Local.
    virtual Status put_part(const Part& part, bool deferred) = 0;
    /// Values that did not fit in what was put: told now, and to all ranks when they meet.
    virtual Status take_misfits() = 0;
    /// A failure of a writer, which becomes the file's own.
    virtual Status poll() = 0;

    /// The meeting before a close, see agree_on(). @note Collective, as are the next ones
    virtual Status agree_to_close(Agreed& agreed) = 0;
    virtual Status end_step() = 0;
    virtual Status sync(bool durable) = 0;
    /// Fills what was never put of fixed-size variables, so that they can be read; nothing else is
    /// published. Variables that were filled once, or written whole, stay as they are.
    /// @param variables  the same on every rank
    virtual Status fill(std::span<const int> variables) = 0;
    /// What is left when no step is open: the boxes, the fixed-size variables, fill values.
    virtual Status write_rest(const Agreed& agreed) = 0;
    /// Waits until everything is written.
    virtual Status finish(bool durable) = 0;
    /// Waits, before a close after a failure, until the steps that all ranks have ended are
    /// written, as far as the failure allows.
    virtual void finish_steps() {}
    /// Completes the file under the name that it has, or leaves it where it failed.
    virtual Status close(bool good) = 0;

    /// Records of the file, as far as this rank knows after sync(): some rank knows all.
    virtual std::int64_t records() const = 0;
    /// Whether all that was put is in the file, in which another service may go on. Local.
    virtual bool is_at_rest() const { return false; }
    /// Before another service goes on: fills what was never put of the fixed-size variables.
    /// @param records  receives how many are complete
    /// @note Collective; the status is the same on every rank
    virtual Status end_at_rest(std::int64_t& records) {
        (void)records;
        return {};
    }

    /// Whether it writes at any time, not only in calls.
    virtual bool writes_any_time() const { return false; }
    /// Whether finish() has nothing to wait for on this rank. Local.
    virtual bool finished() const { return true; }
    virtual void add_figures(FileFigures& figures) const = 0;
};

/// The service that a file's options name; inline where a system cannot do it.
/// @param status  this rank's own failure so far, with service=inline; becomes that of all ranks
/// @note Collective
std::unique_ptr<Service> make_service(FileContext& file, Target& target, Batch& batch,
                                      Status& status);

/// At the end of a step: what follows is written in the background. Where that cannot be, `service`
/// stays what it is, and so does the file's option.
/// @return a failure of the file, the same on every rank. @note Collective
Status go_on_in_background(FileContext& file, Target& target, Batch& batch,
                           std::unique_ptr<Service>& service);

}  // namespace thalweg::detail
