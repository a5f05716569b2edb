// A source of several files, each a source of its own. Only one of them is open at a time, and one
// more for the thread that reads ahead.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "storage/source.hpp"

namespace thalweg::detail {

class SeveralFiles : public Source {
public:
    Status refresh(Comm& comm) override {
        forget();
        end_prepare();
        forget_behind();
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

    Status read(std::span<const ReadRange> ranges) override {
        return for_files(ranges, [&](int number, std::span<const ReadRange> own) {
            if (open_ != number) forget();
            open_ = number;
            return read_of(at(number), [&](Source& file) { return file.read(own); });
        });
    }
    bool prepare(std::span<const ReadRange> ranges) override {
        bool ready = true;
        (void)for_files(ranges, [&](int number, std::span<const ReadRange> own) -> Status {
            if (prepared_ != number) end_prepare();
            prepared_ = number;
            ready = ready && at(number).prepare(own);
            return {};
        });
        return ready;
    }
    void end_prepare() override {
        if (prepared_ >= 0) at(prepared_).end_prepare();
        prepared_ = -1;
    }
    Status read_behind(std::span<const ReadRange> ranges) override {
        return for_files(ranges, [&](int number, std::span<const ReadRange> own) {
            if (open_behind_ != number) forget_behind();
            open_behind_ = number;
            return read_of(at(number), [&](Source& file) { return file.read_behind(own); });
        });
    }
    void forget_behind() override {
        if (open_behind_ >= 0) at(open_behind_).forget_behind();
        open_behind_ = -1;
    }

protected:
    Source& at(int file) const { return *files_[file]; }

    using Visit = std::function<Status(int number, std::span<const ReadRange> ranges)>;
    /// Calls visit() once for each file with the ranges that lie in it, until a call fails.
    virtual Status for_files(std::span<const ReadRange> ranges, const Visit& visit) const = 0;

    /// Sets the number of records: the smallest number in any file that has a record dimension.
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
    template <class Read>
    Status read_of(Source& file, Read&& read) {
        const ReadCounts before = file.counts();
        throttle_.begin();
        Status status = read(file);
        throttle_.moved(file.counts().bytes - before.bytes);
        counts_.calls += file.counts().calls - before.calls;
        counts_.bytes += file.counts().bytes - before.bytes;
        counts_.seconds += file.counts().seconds - before.seconds;
        return status;
    }

    int open_ = -1;         ///< file that was read last
    int prepared_ = -1;     ///< file that was prepared last
    int open_behind_ = -1;  ///< file that was last read by the thread that reads ahead
};

}  // namespace thalweg::detail
