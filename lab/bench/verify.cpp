// SPDX-License-Identifier: Apache-2.0
#include "verify.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netcdf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "methods/peers.hpp"

namespace thalweg::bench {
namespace {

constexpr std::int64_t piece_bytes = std::int64_t{1} << 20;

/// Compares n numbers with a field from an index on. Adds fill values to `filled` if they may
/// occur.
/// @return position of the first wrong number; -1 if there is none
template <class T>
std::int64_t first_wrong(std::uint32_t field, std::int64_t index, const T* numbers, std::int64_t n,
                         bool may_be_filled, double& filled) {
    bool wrong = false;  // no early exit, so that the compiler can vectorize the loop
    for (std::int64_t i = 0; i < n; ++i) wrong |= numbers[i] != field_number<T>(field, index + i);
    for (std::int64_t i = 0; wrong && i < n; ++i) {
        if (numbers[i] == field_number<T>(field, index + i)) continue;
        if (!may_be_filled || numbers[i] != static_cast<T>(NC_FILL_FLOAT)) return i;
        ++filled;
    }
    return -1;
}

struct File {
    explicit File(const std::string& path) {
        check_nc(nc_open(path.c_str(), NC_NOWRITE, &id), "nc_open");
    }
    ~File() { nc_close(id); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int id = 0;
};

/// Checks this rank's share of the slowest dimension of a variable in a record.
void check_record(const File& file, int var, const Problem& p, const Variable& v, int record,
                  int step, bool may_be_filled, double& filled) {
    const Group& g = p.group(v);
    const std::int64_t slowest = g.shape.empty() ? 1 : g.shape[0], row = g.elements() / slowest;
    const std::int64_t most = std::max<std::int64_t>(1, piece_bytes / 8 / row);
    std::vector<std::size_t> start(g.shape.size() + 1, 0), count{1};
    for (const std::int64_t n : g.shape) count.push_back(static_cast<std::size_t>(n));
    start[0] = static_cast<std::size_t>(record);
    std::vector<double> buffer(static_cast<std::size_t>(most * row));
    const std::int64_t end = slowest * (p.rank() + 1) / p.ranks();
    for (std::int64_t i = slowest * p.rank() / p.ranks(); i < end; i += most) {
        const std::int64_t n = std::min(most, end - i);
        if (!g.shape.empty()) {
            start[1] = static_cast<std::size_t>(i);
            count[1] = static_cast<std::size_t>(n);
        }
        const auto compare = [&]<class T>(T* numbers, auto get) {
            check_nc(get(file.id, var, start.data(), count.data(), numbers), v.name);
            return first_wrong(p.field(v, step), i * row, numbers, n * row, may_be_filled, filled);
        };
        const std::int64_t wrong =
            g.spec->type == Element::f4
                ? compare(reinterpret_cast<float*>(buffer.data()), nc_get_vara_float)
                : compare(buffer.data(), nc_get_vara_double);
        if (wrong >= 0)
            throw std::runtime_error(
                fmt::format("{}, step {}, element {}: wrong value", v.name, step, i * row + wrong));
    }
}

/// Checks this rank's share of all variables. Throws what is wrong.
/// @param unheld  elements of each group's variables that no rank holds
/// @return number of fill values in each variable and record
std::vector<double> check_file(const Problem& p, const std::string& path, Steps steps,
                               const std::vector<double>& unheld) {
    const File file(path);
    int unlimited = -1;
    std::size_t records = 0;
    check_nc(nc_inq_unlimdim(file.id, &unlimited), "nc_inq_unlimdim");
    check_nc(nc_inq_dimlen(file.id, unlimited, &records), "no unlimited dimension");
    if (records != static_cast<std::size_t>(steps.number))
        throw std::runtime_error(fmt::format("{} records instead of {}", records, steps.number));
    std::vector<double> filled;
    for (const Variable& v : p.variables()) {
        const Group& g = p.group(v);
        int var = 0, ndims = 0;
        nc_type type = NC_NAT;
        check_nc(nc_inq_varid(file.id, v.name.c_str(), &var), v.name);
        check_nc(nc_inq_varndims(file.id, var, &ndims), v.name);
        check_nc(nc_inq_vartype(file.id, var, &type), v.name);
        if (ndims != static_cast<int>(g.shape.size()) + 1)
            throw std::runtime_error(v.name + ": wrong rank");
        if (type != (g.spec->type == Element::f4 ? NC_FLOAT : NC_DOUBLE))
            throw std::runtime_error(v.name + ": wrong type");
        std::vector<int> dims(static_cast<std::size_t>(ndims));
        check_nc(nc_inq_vardimid(file.id, var, dims.data()), v.name);
        for (std::size_t d = 0; d < g.shape.size(); ++d) {
            std::size_t length = 0;
            check_nc(nc_inq_dimlen(file.id, dims[d + 1], &length), v.name);
            if (static_cast<std::int64_t>(length) != g.shape[d])
                throw std::runtime_error(v.name + ": wrong shape");
        }
        for (int r = 0; r < steps.number; ++r) {
            filled.push_back(0);
            check_record(file, var, p, v, r, steps.first + r,
                         unheld[static_cast<std::size_t>(v.group)] > 0, filled.back());
        }
    }
    return filled;
}

}  // namespace

std::string check_values(const RankGroup& ranks, const Problem& p, FileKind kind,
                         const std::string& path, Steps steps) {
    if (kind == FileKind::bytes) {
        const std::int64_t bytes = file_bytes(ranks, path);
        return bytes == p.step_bytes() * steps.number ? ""
                                                      : fmt::format("{} bytes in the file", bytes);
    }
    std::vector<double> unheld;
    for (const Group& g : p.groups()) {
        double held = 0;
        if (g.list)
            for (const std::int64_t index : g.list->indices) held += index >= 0;
        unheld.push_back(g.list ? static_cast<double>(g.list->listed()) - ranks.sum(held) : 0);
        if (g.list) unheld.back() *= static_cast<double>(g.elements() / g.list->listed());
    }
    std::vector<double> filled(p.variables().size() * static_cast<std::size_t>(steps.number));
    std::string wrong;
    try {
        filled = check_file(p, path, steps, unheld);
    } catch (const std::exception& e) {
        wrong = e.what();
    }
    wrong = ranks.first_text(wrong);
    // All other elements were compared, so it is enough to count the fill values.
    for (std::size_t i = 0; i < filled.size() && wrong.empty(); ++i) {
        const Variable& v = p.variables()[i / static_cast<std::size_t>(steps.number)];
        const double wanted = unheld[static_cast<std::size_t>(v.group)];
        const double found = wanted > 0 ? ranks.sum(filled[i]) : 0;
        if (found != wanted)
            wrong = fmt::format("{}: {} fill values instead of {}", v.name, found, wanted);
    }
    return wrong;
}

std::string check_arrays(const RankGroup& ranks, const Problem& p, const std::byte* arrays,
                         int step) {
    std::string wrong;
    for (const Variable& v : p.variables()) {
        const auto bytes = static_cast<std::size_t>(p.group(v).local_bytes());
        if (bytes > 0 && std::memcmp(arrays + p.offset(v, 0), p.values(v, step), bytes) != 0)
            wrong = "variable " + v.name + " is wrong";
    }
    return ranks.first_text(wrong);
}

std::uint64_t hash_file(const RankGroup& ranks, const std::string& path) {
    const std::int64_t bytes = file_bytes(ranks, path);
    const std::int64_t pieces = (bytes + piece_bytes - 1) / piece_bytes;
    const int file = ::open(path.c_str(), O_RDONLY);
    std::vector<std::uint64_t> words(piece_bytes / 8);
    std::uint64_t sum = ranks.rank() == 0 ? static_cast<std::uint64_t>(bytes) : 0;
    for (std::int64_t i = pieces * ranks.rank() / ranks.ranks();
         i < pieces * (ranks.rank() + 1) / ranks.ranks(); ++i) {
        std::fill(words.begin(), words.end(), 0);
        if (::pread(file, words.data(), piece_bytes, i * piece_bytes) < 0) break;
        std::uint64_t h = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u + 1;
        for (const std::uint64_t w : words) h = (std::rotl(h, 23) ^ w) * 0xC2B2AE3D27D4EB4Fu;
        sum += h ^ (h >> 29);
    }
    ::close(file);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, ranks.comm());
    return sum;
}

std::int64_t file_bytes(const RankGroup& ranks, const std::string& path) {
    std::int64_t bytes = -1;
    struct stat s {};
    if (ranks.rank() == 0 && ::stat(path.c_str(), &s) == 0) bytes = s.st_size;
    MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, ranks.comm());
    return bytes;
}

}  // namespace thalweg::bench
