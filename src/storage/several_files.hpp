// A source of several files that are sources of their own, one of them open at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "storage/source.hpp"

namespace thalweg::detail {

class SeveralFiles : public Source {
public:
    const char* format() const override { return files_.front()->format(); }
    bool byte_of_any_sign() const override { return files_.front()->byte_of_any_sign(); }

    Status refresh(Comm& comm) override {
        forget();
        for (const auto& file : files_) {
            Status status = file->refresh(comm);
            file->forget();
            if (!status.ok()) return status;
        }
        count_records();
        return {};
    }

    void forget() override {
        if (open_ >= 0) at(open_).forget();
        open_ = -1;
    }

protected:
    Source& at(int file) const { return *files_[file]; }

    /// Ranges of one file, as it has them.
    Status read_of(int number, std::span<const ReadRange> ranges) {
        if (open_ != number) forget();
        open_ = number;
        Source& file = at(number);
        const ReadCounts before = file.counts();
        throttle_.begin();
        Status status = file.read(ranges);
        throttle_.moved(file.counts().bytes - before.bytes);
        counts_.calls += file.counts().calls - before.calls;
        counts_.bytes += file.counts().bytes - before.bytes;
        counts_.seconds += file.counts().seconds - before.seconds;
        return status;
    }

    /// Those that all files with a record dimension have.
    void count_records() {
        bool any = false;
        for (const auto& file : files_) {
            if (file->definitions().record_dim() < 0) continue;
            records_ = any ? std::min(records_, file->records()) : file->records();
            any = true;
        }
    }

    std::vector<std::unique_ptr<Source>> files_;

private:
    int open_ = -1;  ///< the file that was read last
};

}  // namespace thalweg::detail
