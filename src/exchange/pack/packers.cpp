// SPDX-License-Identifier: Apache-2.0
#include "exchange/pack/packers.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/system/processors.hpp"
#include "base/system/thread.hpp"

namespace thalweg::detail {

namespace {

/// Number of elements whose copy takes about as long as waking a thread.
constexpr std::int64_t smallest = 1 << 15;

}  // namespace

Packers::Packers(int threads) {
    const std::lock_guard lock(lock_);  // wait until the number of threads is known
    helpers_.reserve(std::max(0, threads - 1));
    for (int i = 1; i < threads; ++i) {
        std::thread& helper = helpers_.emplace_back();
        if (start_thread(
                helper, [this, i] { help(i); }, "packs")
                .ok())
            continue;
        helpers_.pop_back();  // the threads that have started share the copies
        return;
    }
}

Packers::~Packers() {
    {
        const std::lock_guard lock(lock_);
        ends_ = true;
    }
    begun_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
}

/// Copies the part of the current copy that belongs to a thread.
std::int64_t Packers::part(int thread) const {
    const Copy& c = copy_;
    const std::int64_t n = c.count[c.along];
    const std::int64_t begin = n * thread / threads(), end = n * (thread + 1) / threads();
    if (begin == end) return 0;
    Index count = c.count;
    count[c.along] = end - begin;
    return detail::copy_box(c.nd, count, c.to + begin * c.to_stride[c.along], c.to_stride,
                            c.from + begin * c.from_stride[c.along], c.from_stride, c.kernel,
                            c.fill);
}

void Packers::help(int thread) {
    std::int64_t seen = 0;
    std::unique_lock lock(lock_);
    for (;;) {
        begun_.wait(lock, [&] { return ends_ || copies_ > seen; });
        if (ends_) return;
        seen = copies_;
        lock.unlock();
        const std::int64_t misfits = part(thread);
        lock.lock();
        misfits_ += misfits;
        if (--busy_ == 0) done_.notify_one();
    }
}

std::int64_t Packers::copy_box(int nd, const Index& count, char* to, const Index& to_stride,
                               const char* from, const Index& from_stride, RowKernel kernel,
                               const char* fill) {
    std::int64_t volume = 1;
    int along = 0;
    for (int d = 0; d < nd; ++d) {
        volume *= count[d];
        // Cuts the slowest dimension that is long enough, otherwise the longest.
        if (count[along] < threads() && count[d] > count[along]) along = d;
    }
    if (helpers_.empty() || volume < smallest)
        return detail::copy_box(nd, count, to, to_stride, from, from_stride, kernel, fill);
    {
        const std::lock_guard lock(lock_);
        copy_ = {nd, count, to_stride, from_stride, to, from, kernel, fill, along};
        misfits_ = 0;
        busy_ = helpers_.size();
        ++copies_;
    }
    begun_.notify_all();
    const std::int64_t misfits = part(0);
    std::unique_lock lock(lock_);
    done_.wait(lock, [&] { return busy_ == 0; });
    return misfits_ + misfits;
}

int allowed_threads(int asked, int sharers) {
    if (asked == 0) asked = model_threads();
    const int all = sysconf(_SC_NPROCESSORS_ONLN);
    int processors = count(own_processors());
    if (processors >= all) processors = all / std::max(1, sharers);
    return std::clamp(asked, 1, std::max(1, processors));
}

}  // namespace thalweg::detail
