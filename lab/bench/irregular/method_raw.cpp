// A lower bound: writes as many bytes as the other methods into one file, without format or
// exchange.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "irregular/methods.hpp"

namespace thalweg::bench::irregular {
namespace {

class Raw : public Writer {
public:
    explicit Raw(const Context& context)
        : context_(context), memory_(reinterpret_cast<const char*>(context.fields.all().data())) {
        // All ranks write the same number of bytes, including those that hold nothing.
        bytes_ = static_cast<std::int64_t>(context.fields.all().size() * sizeof(float));
        if (bytes_ > 0) return;
        spare_.resize(std::size_t{1} << 20);
        memory_ = spare_.data();
        bytes_ = static_cast<std::int64_t>(spare_.size());
    }
    ~Raw() override {
        if (file_ >= 0) ::close(file_);
    }

    void open(const std::string& path) override {
        const bool creates = context_.rank_group.rank() == 0;
        if (creates) file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        MPI_Barrier(context_.rank_group.comm());
        if (!creates) file_ = ::open(path.c_str(), O_WRONLY);
        if (file_ < 0) fail(path);
    }

    void step(int step) override {
        const int rank = context_.rank_group.rank(), ranks = context_.rank_group.ranks();
        const std::int64_t bytes =
            context_.map.elements() * context_.variables * static_cast<std::int64_t>(sizeof(float));
        std::int64_t at = bytes * rank / ranks;
        const std::int64_t end = bytes * (rank + 1) / ranks;
        for (std::int64_t from = 0; at < end;) {
            const std::int64_t n = std::min(end - at, bytes_ - from);
            const ssize_t written = ::pwrite(file_, memory_ + from, static_cast<std::size_t>(n),
                                             static_cast<off_t>(step * bytes + at));
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) fail("pwrite");
            at += written;
            from = (from + written) % bytes_;
        }
    }

    void close() override {
        const int status = ::close(file_);
        file_ = -1;
        if (status != 0) fail("close");
    }

private:
    [[noreturn]] static void fail(const std::string& what) {
        throw std::system_error(errno, std::generic_category(), "raw: " + what);
    }

    Context context_;
    const char* memory_;
    std::int64_t bytes_;
    std::vector<char> spare_;
    int file_ = -1;
};

}  // namespace

std::unique_ptr<Writer> make_raw(const Context& context) { return std::make_unique<Raw>(context); }

}  // namespace thalweg::bench::irregular
