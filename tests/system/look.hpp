// Checks a file with "T" (time, y, x) and "h" (y, x) as other programs see it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netcdf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"

// Returns the description of an error in the file, or "". value(record, element) gives the expected
// value; for "h", record is -1.
template <class Value>
std::string look_at(const std::string& path, std::int64_t rows, std::int64_t columns,
                    std::size_t wanted_records, bool with_fixed, Value&& value) {
    int id = 0;
    if (const int status = nc_open(path.c_str(), NC_NOWRITE, &id); status != NC_NOERR)
        return "'" + path + "': " + nc_strerror(status);
    std::string wrong;
    std::size_t records = 0;
    int time = 0, var = 0;
    if (nc_inq_unlimdim(id, &time) != NC_NOERR || nc_inq_dimlen(id, time, &records) != NC_NOERR)
        wrong = "no record dimension";
    else if (records != wanted_records)
        wrong = check::text("{} records, expected {}", records, wanted_records);
    for (std::size_t r = 0; wrong.empty() && r < records + (with_fixed ? 1 : 0); ++r) {
        const bool fixed = r == records;
        std::vector<float> got(static_cast<std::size_t>(rows * columns));
        const std::size_t first[3] = {r, 0, 0};
        const std::size_t n[3] = {1, static_cast<std::size_t>(rows),
                                  static_cast<std::size_t>(columns)};
        const int skip = fixed ? 1 : 0;
        if (nc_inq_varid(id, fixed ? "h" : "T", &var) != NC_NOERR ||
            nc_get_vara_float(id, var, first + skip, n + skip, got.data()) != NC_NOERR)
            wrong = "cannot read record " + std::to_string(r);
        for (std::int64_t i = 0; wrong.empty() && i < rows * columns; ++i)
            if (got[static_cast<std::size_t>(i)] !=
                value(fixed ? -1 : static_cast<std::int64_t>(r), i))
                wrong = check::text("record {} is wrong at element {}", r, i);
    }
    nc_close(id);
    return wrong.empty() ? wrong : path + ": " + wrong;
}
