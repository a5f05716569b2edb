// Makes small files, and damages them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netcdf.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "system/random.hpp"

namespace fuzz {

/// Returns the last value of an option.
inline const char* option(int argc, char** argv, const char* name, const char* otherwise) {
    for (int i = argc - 2; i > 0; --i)
        if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
    return otherwise;
}

/// Writes a small file by netCDF-C: some dimensions, variables, records, attributes.
inline void write_file(const std::string& path, std::uint64_t seed) {
    const auto ok = [](int status) {
        if (status == NC_NOERR) return;
        std::fprintf(stderr, "reference: %s\n", nc_strerror(status));
        std::exit(2);
    };
    Random random(seed);
    const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA};
    int id = 0, dims[3] = {}, var = 0;
    ok(nc_create(path.c_str(), NC_CLOBBER | modes[random.below(3)], &id));
    ok(nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
    ok(nc_def_dim(id, "y", static_cast<std::size_t>(random.between(1, 5)), &dims[1]));
    ok(nc_def_dim(id, "x", static_cast<std::size_t>(random.between(1, 5)), &dims[2]));
    ok(nc_put_att_text(id, NC_GLOBAL, "title", 5, "fuzzy"));
    for (int v = static_cast<int>(random.between(1, 4)); v > 0; --v) {
        const int first = static_cast<int>(random.below(2)),
                  nd = static_cast<int>(random.below(4 - first));
        ok(nc_def_var(id, ("v" + std::to_string(v)).c_str(),
                      static_cast<nc_type>(random.between(NC_BYTE, NC_DOUBLE)), nd, dims + first,
                      &var));
        const double numbers[] = {1, 2, 3};
        ok(nc_put_att_double(id, var, "numbers", NC_DOUBLE,
                             static_cast<std::size_t>(random.below(4)), numbers));
    }
    ok(nc_enddef(id));
    // Write fill values everywhere, which creates the records.
    int nvars = 0, nd = 0, of[3] = {};
    ok(nc_inq_nvars(id, &nvars));
    for (int v = 0; v < nvars; ++v) {
        ok(nc_inq_var(id, v, nullptr, nullptr, &nd, of, nullptr));
        if (nd == 0 || of[0] != dims[0]) continue;
        const std::size_t at[3] = {static_cast<std::size_t>(random.below(3)), 0, 0},
                          one[3] = {1, 1, 1};
        nc_type type = 0;
        ok(nc_inq_vartype(id, v, &type));
        const double value = 65;
        ok(type == NC_CHAR ? nc_put_vara_text(id, v, at, one, "A")
                           : nc_put_vara_double(id, v, at, one, &value));
    }
    ok(nc_close(id));
}

inline std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Changes bytes, mostly among the first `reach`: flips bits, overwrites words with critical
/// numbers, truncates, inserts and repeats.
inline void change(std::string& bytes, Random& random, std::int64_t reach) {
    static const std::uint64_t numbers[] = {0,           1,
                                            2,           3,
                                            4,           5,
                                            6,           10,
                                            11,          12,
                                            255,         256,
                                            0x7fffffff,  0x80000000,
                                            0xfffffffc,  0xffffffff,
                                            0x100000000, 0x7fffffffffffffff,
                                            ~0ULL,       1ULL << 62,
                                            1ULL << 40,  0x20000000ULL};
    for (std::int64_t changes = random.between(1, 4); changes > 0 && !bytes.empty(); --changes) {
        const auto size = static_cast<std::int64_t>(bytes.size());
        const std::int64_t at = random.below(random.percent(90) ? std::min(size, reach) : size);
        const auto s = static_cast<std::size_t>(at);
        switch (random.below(8)) {
            case 0:
            case 1: bytes[s] = static_cast<char>(bytes[s] ^ (1 << random.below(8))); break;
            case 2: bytes[s] = static_cast<char>(random.next()); break;
            case 3: bytes.resize(s); break;
            case 4: bytes.insert(s, bytes, s, static_cast<std::size_t>(random.below(40))); break;
            default: {
                const int width = random.percent(50) ? 4 : 8;
                const std::uint64_t number = numbers[random.below(std::size(numbers))];
                const std::size_t word = s / 4 * 4;
                for (int i = 0; i < width && word + static_cast<std::size_t>(i) < bytes.size(); ++i)
                    bytes[word + static_cast<std::size_t>(i)] =
                        static_cast<char>(number >> (8 * (width - 1 - i)));
            }
        }
    }
}

}  // namespace fuzz
