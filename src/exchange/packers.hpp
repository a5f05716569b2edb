// The pack pass on several threads, for models that run one rank on many cores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "exchange/copy.hpp"

namespace thalweg::detail {

/// Threads that share out copies, kept by a session. They sleep between copies, make no MPI calls,
/// and belong to no OpenMP runtime: the model's may be another one.
class Packers {
public:
    /// @param threads  the caller's included; fewer are used if the system starts no more
    explicit Packers(int threads);
    ~Packers();
    Packers(const Packers&) = delete;
    Packers& operator=(const Packers&) = delete;

    int threads() const { return std::ssize(helpers_) + 1; }

    /// Runs copy_box on all threads, each on a part of one dimension; small copies on the caller's
    /// alone. One thread at a time may call it.
    std::int64_t copy_box(int nd, const Index& count, char* to, const Index& to_stride,
                          const char* from, const Index& from_stride, RowKernel kernel,
                          const char* fill);

private:
    struct Copy {
        int nd = 0;
        Index count{}, to_stride{}, from_stride{};
        char* to = nullptr;
        const char* from = nullptr;
        RowKernel kernel = nullptr;
        const char* fill = nullptr;
        int along = 0;  ///< the dimension that is shared out
    };
    std::int64_t part(int thread) const;
    void help(int thread);

    Copy copy_;
    std::mutex lock_;
    std::condition_variable begun_, done_;
    std::int64_t copies_ = 0;  ///< number so far; a helper waits for the next one
    int busy_ = 0;             ///< number of busy helpers
    std::int64_t misfits_ = 0;
    bool ends_ = false;
    std::vector<std::thread> helpers_;
};

/**
 * Returns the number of threads that a rank may use.
 * @param asked    0: the value of OMP_NUM_THREADS, or 1 without it
 * @param sharers  ranks of the node
 * @return at most the processors of this rank's affinity mask; if it is that of the whole machine,
 *         at most this rank's part of them
 */
int allowed_threads(int asked, int sharers);

}  // namespace thalweg::detail
