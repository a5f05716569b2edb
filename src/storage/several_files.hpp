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
        ahead_.end_prepare();
        ahead_.forget();
        for (const auto& file : files_) {
            Status status = file->refresh(comm);
            file->forget();
            if (!status.ok()) return status;
        }
        count_records();
        return {};
    }
    Status read(std::span<const ReadRange> ranges) override { return here_.read(ranges); }
    void forget() override { here_.forget(); }
    RangeReader& ahead() override { return ahead_; }

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
            contents_.records = any ? std::min(records(), file->records()) : file->records();
            any = true;
        }
    }

    std::vector<std::unique_ptr<Source>> files_;

private:
    /// Reads one file after another.
    class FileByFile final : public RangeReader {
    public:
        /// @param ahead  use those readers of the files that read ahead
        FileByFile(SeveralFiles& source, bool ahead) : source_(source), ahead_(ahead) {}

        bool prepare(std::span<const ReadRange> ranges) override {
            bool ready = true;
            (void)source_.for_files(ranges, [&](int number, const auto& own) -> Status {
                if (prepared_ != number) end_prepare();
                prepared_ = number;
                ready = ready && reader(number).prepare(own);
                return {};
            });
            return ready;
        }
        void end_prepare() override {
            if (prepared_ >= 0) reader(prepared_).end_prepare();
            prepared_ = -1;
        }
        Status read(std::span<const ReadRange> ranges) override {
            return source_.for_files(ranges, [&](int number, const auto& own) {
                if (open_ != number) forget();
                open_ = number;
                const ReadCounts& counts = source_.at(number).counts();
                const ReadCounts before = counts;
                source_.throttle_.begin();
                Status status = reader(number).read(own);
                source_.throttle_.moved(counts.bytes - before.bytes);
                source_.counts_.calls += counts.calls - before.calls;
                source_.counts_.bytes += counts.bytes - before.bytes;
                source_.counts_.seconds += counts.seconds - before.seconds;
                return status;
            });
        }
        void forget() override {
            if (open_ >= 0) reader(open_).forget();
            open_ = -1;
        }

    private:
        RangeReader& reader(int file) const {
            return ahead_ ? source_.at(file).ahead() : source_.at(file);
        }

        SeveralFiles& source_;
        bool ahead_;
        int open_ = -1;      ///< file that was read last
        int prepared_ = -1;  ///< file that was prepared last
    };

    FileByFile here_{*this, false}, ahead_{*this, true};
};

}  // namespace thalweg::detail
