// Lower bounds of all methods: writing the bytes, and copying them once.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "method.hpp"

namespace pio_bench {
namespace {

class Floor : public Method {
public:
    void begin() override {}
    void decompose() override {}
    void free_decompositions() override {}
    void end() override {}
    bool writes() const override { return false; }
};

[[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error("raw: " + what + ": " + std::strerror(errno));
}

class Raw : public Floor {
public:
    explicit Raw(const Context& context) : context_(context) {}

    void open(const std::string& path) override {
        const bool creates = context_.rank == 0;
        if (creates) file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        MPI_Barrier(context_.comm);
        if (!creates) file_ = ::open(path.c_str(), O_WRONLY);
        if (file_ < 0) fail(path);
    }

    // Writes one variable after another. Each rank writes a contiguous part, and repeats its own
    // values if the part is longer.
    void step(int record) override {
        const std::int64_t bytes = context_.workload.bytes();
        std::int64_t at = bytes * context_.rank / context_.ranks;
        const std::int64_t end = bytes * (context_.rank + 1) / context_.ranks;
        while (at < end) {
            const std::int64_t before = at;
            for (const Variable& v : context_.workload.variables) {
                const auto mine = static_cast<std::int64_t>(v.values.size() * sizeof(float));
                at += write(v.values.data(), std::min(mine, end - at), record * bytes + at);
            }
            if (at == before)
                at += write(spare_.data(), std::min<std::int64_t>(end - at, 1 << 20),
                            record * bytes + at);
        }
    }

    void close() override {
        if (::close(file_) != 0) fail("close");
        MPI_Barrier(context_.comm);
    }

private:
    std::int64_t write(const void* from, std::int64_t n, std::int64_t at) const {
        std::int64_t done = 0;
        while (done < n) {
            const ssize_t written =
                ::pwrite(file_, static_cast<const char*>(from) + done,
                         static_cast<std::size_t>(n - done), static_cast<off_t>(at + done));
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) fail("pwrite");
            done += written;
        }
        return done;
    }

    Context context_;
    int file_ = -1;
    std::vector<char> spare_ = std::vector<char>(1 << 20);  // data for ranks that hold nothing
};

class Pack : public Floor {
public:
    explicit Pack(const Context& context) : context_(context) {
        std::size_t n = 0;
        for (const Variable& v : context.workload.variables) n += v.values.size();
        packed_.resize(n);
    }
    void open(const std::string&) override {}
    void close() override {}
    void step(int) override {
        std::uint32_t* to = packed_.data();
        for (const Variable& v : context_.workload.variables)
            for (const float value : v.values) {
                std::uint32_t bits = 0;
                std::memcpy(&bits, &value, sizeof bits);
                *to++ = __builtin_bswap32(bits);
            }
    }

private:
    Context context_;
    std::vector<std::uint32_t> packed_;
};

}  // namespace

std::unique_ptr<Method> make_raw(const Context& context) { return std::make_unique<Raw>(context); }
std::unique_ptr<Method> make_pack(const Context& context) {
    return std::make_unique<Pack>(context);
}

}  // namespace pio_bench
