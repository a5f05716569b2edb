// Parses damaged headers: whatever the bytes are, parsing must end, use little memory, and give
// consistent results. A target for libFuzzer (LLVMFuzzerTestOneInput); without it, main() makes
// inputs by changing headers that netCDF-C wrote.
//
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz/inputs.hpp"
#include "storage/classic/header_reader.hpp"

namespace {

using namespace thalweg::detail;

[[noreturn]] void wrong(const char* what, const Status& status) {
    std::fprintf(stderr, "header: %s: %d %s\n", what, status.code, status.text.c_str());
    std::abort();
}

std::size_t memory_of(const Definitions& d) {
    std::size_t bytes = d.dims.size() * sizeof(Dimension);
    const auto add = [&](const std::vector<Attribute>& attributes) {
        for (const Attribute& a : attributes) bytes += sizeof a + a.name.size() + a.values.size();
    };
    add(d.attributes);
    for (const Variable& v : d.variables) {
        bytes += sizeof v + v.name.size() + 12 * v.dims.size();
        add(v.attributes);
    }
    return bytes;
}

void check(const Definitions& d, const ClassicHeader& header) {
    const Status none;
    if (header.map.offset.size() != d.variables.size()) wrong("offsets", none);
    for (std::size_t i = 0; i < d.variables.size(); ++i) {
        const Variable& v = d.variables[i];
        std::int64_t bytes = v.element(), end = 0;
        for (const std::int64_t n : v.shape)
            if (n <= 0 || __builtin_mul_overflow(bytes, n, &bytes)) wrong("a shape", none);
        if (v.shape.size() + (v.record ? 1 : 0) != v.dims.size()) wrong("dimensions", none);
        if (header.map.offset[i] < header.bytes ||
            __builtin_add_overflow(bytes, header.map.offset[i], &end))
            wrong("an offset", none);
    }
    std::int64_t end = 0;
    if (header.records < 0 ||
        __builtin_mul_overflow(header.records, header.map.record_bytes, &end) ||
        __builtin_add_overflow(end, header.map.record_begin, &end))
        wrong("records", none);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span bytes(reinterpret_cast<const char*>(data), size);
    ClassicHeader header, scanned;
    Definitions definitions;
    const Status status =
        parse_classic_header(bytes, static_cast<std::int64_t>(size), "input", header, &definitions);
    if (status.code != TW_OK && status.code != TW_EFORMAT) wrong("status", status);
    if (memory_of(definitions) > 4096 + 64 * size) wrong("memory", status);
    if (status.ok()) check(definitions, header);

    // Parses the same bytes from a file, of which the beginning is read first.
    const int fd = memfd_create("header", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
    std::vector<char> read;
    const Status again = read_classic_header(fd, "input", read, scanned);
    close(fd);
    if (again.code != status.code || again.text != status.text) wrong("another status", again);
    if (status.ok() &&
        (std::ssize(read) != header.bytes || scanned.bytes != header.bytes ||
         scanned.records != header.records || scanned.map.offset != header.map.offset))
        wrong("another header", again);
    return 0;
}

#ifndef THALWEG_LIBFUZZER

/// Usage: header [--seconds S] [--seed N]
int main(int argc, char** argv) {
    const double seconds = std::atof(fuzz::option(argc, argv, "--seconds", "2"));
    const auto seed =
        static_cast<std::uint64_t>(std::atoll(fuzz::option(argc, argv, "--seed", "1")));
    std::vector<std::string> corpus;
    for (std::uint64_t i = 0; i < 12; ++i) {
        const std::string path = "fuzz_header_" + std::to_string(getpid()) + ".nc";
        fuzz::write_file(path, mix(seed, i));
        corpus.push_back(fuzz::content(path));
        std::remove(path.c_str());
    }
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t n = 0;
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
           seconds)
        for (int i = 0; i < 100; ++i, ++n) {
            Random random(mix(seed, 1000 + n));
            std::string bytes = random.pick(corpus);
            fuzz::change(bytes, random, 400);
            LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                   bytes.size());
        }
    std::printf("header: %llu inputs, seed %llu\n", static_cast<unsigned long long>(n),
                static_cast<unsigned long long>(seed));
    return 0;
}

#endif
