// The news that ranks have entered collective calls, which the servers of a file pass on to servers
// of other nodes, as those cannot see it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "service/queue/unit_sources.hpp"
#include "service/servers/server_place.hpp"

namespace thalweg::detail {

class DeadlockNews {
public:
    /// @param file  serial number of the file
    DeadlockNews(const ServerPlace& place, std::int64_t file) : place_(place), file_(file) {}

    /// Takes a message, which is from the rank itself or from another server.
    void take(const Message& message, UnitWriterSources& sources);
    /// Informs the servers of other nodes. Waits first until nothing has changed for a while:
    /// usually the other ranks are only a little behind.
    void spread(const UnitWriterSources& sources);

private:
    const ServerPlace& place_;
    std::int64_t file_;
    Deadlock seen_;       ///< latest state of the ranks that this server knows of
    double seen_at_ = 0;  ///< time when it was new, in seconds
    Deadlock sent_;       ///< state that was last sent to other servers
};

}  // namespace thalweg::detail
