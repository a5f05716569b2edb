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
    std::vector<int> writers;          ///< ranks that write; empty with servers
    std::unique_ptr<Storage> storage;  ///< not opened on a model rank if there are servers
    Order order = Order::big_endian;   ///< byte order of the storage
    FileMap map;
};

class Service {
public:
    virtual ~Service() = default;

    /// Puts parts; a put that is refused changes nothing. Local, unless the parts are by_put and a
    /// step is too large for the buffers.
    /// @param checked  outcome of the caller's checks; a rank whose own check failed calls it, too,
    ///     and gets its error back
    /// @return also an error of a writer, which becomes the file's own; or the error for values
    ///     that did not fit, which the next agreement returns on all ranks
    virtual Status put(const Status& checked, const PartsToPut& put) = 0;

    /// @note Collective, as are the functions up to close()
    virtual Status end_step() = 0;
    virtual Status sync(bool durable) = 0;
    /// Fills the elements of fixed-size variables that were never put, so that they can be read.
    /// Writes nothing else. Skips variables that were filled or written completely before.
    /// @param variables  the same on every rank
    virtual Status fill(std::span<const int> variables) = 0;
    /// Agrees with all ranks that the file is closed, ends an open step, and writes everything
    /// left: boxes, fixed-size variables, fill values. With a queue, only passes it to the writers.
    virtual Status hand_over(Agreed& agreed) = 0;
    /// Waits until everything is written, and completes the file under its present name; after an
    /// error, leaves it as it is.
    /// @param all   false: after an error, waits only for the steps that all ranks have ended
    /// @param good  no error so far
    virtual Status close(bool all, bool good) = 0;

    /// Tests if close() has nothing to wait for on this rank. Local.
    virtual bool finished() const { return true; }
    virtual void add_figures(FileFigures& figures) const = 0;
};

/// Ends the step that is open when the ranks close a file, if there is one.
/// @param misfit  receives the error for values that did not fit
/// @return another failure, the same on every rank
/// @note Collective
Status end_open_step(Service& service, FileContext& file, const Batch& batch, Agreed& agreed,
                     Status& misfit);

/// Makes the service that a file's options name; inline where the system cannot support it.
/// @param status  this rank's own failure so far, with service=inline; becomes that of all ranks
/// @note Collective
std::unique_ptr<Service> make_service(FileContext& file, Target& target, Batch& batch,
                                      Status& status);

}  // namespace thalweg::detail
