// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <pnetcdf.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <stdexcept>

#include "irregular/measure.hpp"
#include "pnetcdf_file.hpp"

namespace thalweg::bench::irregular {
namespace {

/// Converts a number of the file to the machine's byte order.
float from_file(std::uint32_t word) {
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap32(word);
    return std::bit_cast<float>(word);
}

/// Returns the offset of each variable's records. Uses PnetCDF, so that it also checks the header.
std::vector<MPI_Offset> record_offsets(const IndexMap& map, int variables, int steps,
                                       const std::string& path, MPI_Offset& record_bytes) {
    int file = 0;
    check_ncmpi(ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file),
                "ncmpi_open");
    struct Closer {
        int file;
        ~Closer() { ncmpi_close(file); }
    } closer{file};
    int unlimited = -1;
    MPI_Offset records = 0;
    check_ncmpi(ncmpi_inq_unlimdim(file, &unlimited), "ncmpi_inq_unlimdim");
    check_ncmpi(ncmpi_inq_dimlen(file, unlimited, &records), "ncmpi_inq_dimlen");
    check_ncmpi(ncmpi_inq_recsize(file, &record_bytes), "ncmpi_inq_recsize");
    if (records != steps) throw std::runtime_error(fmt::format("{} records", records));
    std::vector<MPI_Offset> offsets;
    for (int v = 0; v < variables; ++v) {
        int id = 0, ndims = 0;
        const std::string name = "v" + std::to_string(v);
        check_ncmpi(ncmpi_inq_varid(file, name.c_str(), &id), name);
        check_ncmpi(ncmpi_inq_varndims(file, id, &ndims), name);
        if (static_cast<std::size_t>(ndims) != map.dims().size() + 1)
            throw std::runtime_error(name + ": wrong number of dimensions");
        std::vector<int> dims(static_cast<std::size_t>(ndims));
        check_ncmpi(ncmpi_inq_vardimid(file, id, dims.data()), name);
        for (int d = 1; d < ndims; ++d) {
            MPI_Offset length = 0;
            check_ncmpi(ncmpi_inq_dimlen(file, dims[static_cast<std::size_t>(d)], &length), name);
            if (length != map.dims()[static_cast<std::size_t>(d - 1)].length)
                throw std::runtime_error(name + ": wrong shape");
        }
        offsets.emplace_back();
        check_ncmpi(ncmpi_inq_varoffset(file, id, &offsets.back()), name);
    }
    return offsets;
}

/// Checks the elements [begin, end) of a record. Adds their number of fill values to `filled`.
std::string check_part(std::ifstream& file, MPI_Offset at, std::uint32_t field, std::int64_t begin,
                       std::int64_t end, std::int64_t& filled) {
    std::vector<std::uint32_t> words(std::size_t{1} << 18);
    for (file.seekg(at + begin * 4); begin < end;) {
        const std::int64_t n = std::min(static_cast<std::int64_t>(words.size()), end - begin);
        if (!file.read(reinterpret_cast<char*>(words.data()), n * 4))
            return "the file is too short";
        for (std::int64_t i = 0; i < n; ++i) {
            const float value = from_file(words[static_cast<std::size_t>(i)]);
            if (value == NC_FILL_FLOAT)
                ++filled;
            else if (value != field_number<float>(field, begin + i))
                return fmt::format("element {}: wrong value", begin + i);
        }
        begin += n;
    }
    return {};
}

}  // namespace

std::string check_file(const RankGroup& rank_group, const IndexMap& map, bool lists, int variables,
                       int steps, const std::string& path) {
    const std::int64_t begin = map.elements() * rank_group.rank() / rank_group.ranks();
    const std::int64_t end = map.elements() * (rank_group.rank() + 1) / rank_group.ranks();
    const std::int64_t unheld = lists ? map.elements() - map.held : 0;
    std::vector<std::int64_t> filled(static_cast<std::size_t>(variables * steps), 0);
    std::string wrong;
    try {
        MPI_Offset record_bytes = 0;
        const auto offsets = record_offsets(map, variables, steps, path, record_bytes);
        std::ifstream file(path, std::ios::binary);
        for (int i = 0; i < variables * steps && wrong.empty(); ++i) {
            const int v = i % variables, s = i / variables;
            wrong = check_part(file, offsets[static_cast<std::size_t>(v)] + s * record_bytes,
                               static_cast<std::uint32_t>((v + s) % variables), begin, end,
                               filled[static_cast<std::size_t>(i)]);
            if (!wrong.empty()) wrong = fmt::format("v{}, step {}: {}", v, s, wrong);
        }
    } catch (const std::exception& e) {
        wrong = e.what();
    }
    wrong = rank_group.first_text(wrong);
    if (!wrong.empty()) return wrong;
    // All other elements were compared, so it is enough to count the fill values.
    for (int i = 0; i < variables * steps; ++i)
        if (const std::int64_t n = rank_group.sum(filled[static_cast<std::size_t>(i)]); n != unheld)
            return fmt::format("v{}, step {}: {} fill values instead of {}", i % variables,
                               i / variables, n, unheld);
    return {};
}

}  // namespace thalweg::bench::irregular
