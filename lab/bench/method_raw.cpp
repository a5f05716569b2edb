// A lower bound: writes as many bytes as the other methods into one file, without format or
// exchange.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "registry.hpp"

namespace thalweg::bench {
namespace {

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), "raw: " + what);
}

class Raw : public Method {
public:
    explicit Raw(const Context& context) : context_(context), throttle_(throttle_of(context)) {}

    ~Raw() override {
        if (file_ >= 0) ::close(file_);
    }

    void open(const std::string& path) override {
        report_ = {};
        report_.messages = 0;
        PhaseTimer timer(report_.phases.open);
        const bool creates = context_.problem.rank() == 0;
        if (creates) file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        MPI_Barrier(context_.comm);
        if (!creates) file_ = ::open(path.c_str(), O_WRONLY);
        if (file_ < 0) fail(path);
    }

    void step(int step) override {
        PhaseTimer timer(report_.phases.write);
        const Problem& p = context_.problem;
        const std::int64_t bytes = p.step_bytes();
        std::int64_t at = bytes * p.rank() / p.ranks();
        const std::int64_t end = bytes * (p.rank() + 1) / p.ranks();
        const std::int64_t piece =
            context_.options.raw_piece > 0 ? context_.options.raw_piece : end - at;
        // Write the rank's own fields, repeatedly if its share of the file is larger.
        std::int64_t from = 0;
        while (at < end) {
            const std::int64_t n = std::min({piece, end - at, p.memory_bytes() - from});
            throttle_.begin();
            const ssize_t written = ::pwrite(file_, p.memory() + from, static_cast<std::size_t>(n),
                                             static_cast<off_t>(step * bytes + at));
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) fail("pwrite");
            throttle_.moved(written);
            ++report_.writes;
            at += written;
            from = (from + written) % p.memory_bytes();
        }
    }

    void close() override {
        PhaseTimer timer(report_.phases.close);
        const int status = ::close(file_);
        file_ = -1;
        if (status != 0) fail("close");
    }

    FileReport report() override { return report_; }

private:
    Context context_;
    detail::Throttle throttle_;
    int file_ = -1;
    FileReport report_;
};

}  // namespace

std::unique_ptr<Method> make_raw(const Context& context) { return std::make_unique<Raw>(context); }

}  // namespace thalweg::bench
