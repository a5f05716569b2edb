// The pack pass on several threads, for models that run one rank on many cores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "exchange/pack/copy.hpp"

namespace thalweg::detail {

/// Threads that divide copies among them, kept by a session. They sleep between copies, and make no
/// MPI calls. They are not OpenMP threads, as the model may use another OpenMP runtime.
class Packers {
public:
    /// @param threads  number of threads, including the caller; if the system cannot start all of
    ///                 them, fewer are used
    explicit Packers(int threads);
    ~Packers();
    Packers(const Packers&) = delete;
    Packers& operator=(const Packers&) = delete;

    int threads() const { return std::ssize(helpers_) + 1; }

    /// Runs copy_box on all threads, each with a part of one dimension. Small copies run on the
    /// calling thread alone. Only one thread at a time may call it.
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
        int along = 0;  ///< dimension that is divided among the threads
    };
    std::int64_t part(int thread) const;
    void help(int thread);

    Copy copy_;
    std::mutex lock_;
    std::condition_variable begun_, done_;
    std::int64_t copies_ = 0;  ///< number of copies so far, by which a helper finds a new one
    int busy_ = 0;             ///< number of helpers that are still copying
    std::int64_t misfits_ = 0;
    bool ends_ = false;
    std::vector<std::thread> helpers_;
};

/**
 * Returns the number of threads that a rank may use.
 * @param asked    number in the settings; 0: the value of OMP_NUM_THREADS, or 1 if it is not set
 * @param sharers  number of ranks on the node
 * @return at least 1 and at most the number of processors in this rank's affinity mask. If the mask
 *     has all processors of the machine, the ranks of the node share them equally.
 */
int allowed_threads(int asked, int sharers);

}  // namespace thalweg::detail
