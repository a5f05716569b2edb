// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf_file.hpp"

#include <pnetcdf.h>

#include <algorithm>
#include <stdexcept>

namespace thalweg::bench {

void check_ncmpi(int status, const std::string& what) {
    if (status != NC_NOERR)
        throw std::runtime_error("PnetCDF: " + what + ": " + ncmpi_strerror(status));
}

PnetcdfFile::PnetcdfFile(const Context& context) : context_(context) {
    MPI_Info_create(&info_);
    for (const auto& [name, value] : context.options.hints)
        MPI_Info_set(info_, name.c_str(), value.c_str());
}

PnetcdfFile::~PnetcdfFile() { MPI_Info_free(&info_); }

void PnetcdfFile::create(const std::string& path) {
    const Problem& p = context_.problem;
    const std::string& format = context_.options.format;
    const int mode = NC_CLOBBER | (format == "cdf1"   ? 0
                                   : format == "cdf2" ? NC_64BIT_OFFSET
                                                      : NC_64BIT_DATA);
    check_ncmpi(ncmpi_create(context_.comm, path.c_str(), mode, info_, &file_),
                "ncmpi_create " + path);
    int time = 0;
    check_ncmpi(ncmpi_def_dim(file_, "time", NC_UNLIMITED, &time), "ncmpi_def_dim time");
    std::vector<int> dims;
    for (const Dimension& d : p.workload().dims) {
        int id = 0;
        check_ncmpi(ncmpi_def_dim(file_, d.name.c_str(), d.length, &id), "ncmpi_def_dim " + d.name);
        dims.push_back(id);
    }
    variables_.clear();
    for (const Variable& v : p.variables()) {
        const Group& g = p.group(v);
        std::vector<int> ids{time};
        for (const std::string& name : g.spec->file_order)
            for (std::size_t d = 0; d < dims.size(); ++d)
                if (p.workload().dims[d].name == name) ids.push_back(dims[d]);
        int id = 0;
        check_ncmpi(
            ncmpi_def_var(file_, v.name.c_str(), g.spec->type == Element::f4 ? NC_FLOAT : NC_DOUBLE,
                          static_cast<int>(ids.size()), ids.data(), &id),
            "ncmpi_def_var " + v.name);
        variables_.push_back(id);
    }
    check_ncmpi(ncmpi_enddef(file_), "ncmpi_enddef");
}

void PnetcdfFile::close() { check_ncmpi(ncmpi_close(file_), "ncmpi_close"); }

void PnetcdfFile::range(const Group& g, int step, std::vector<MPI_Offset>& start,
                        std::vector<MPI_Offset>& count) const {
    start.assign(1, step);
    count.assign(1, 1);
    start.insert(start.end(), g.part.start.begin(), g.part.start.end());
    count.insert(count.end(), g.part.count.begin(), g.part.count.end());
    if (g.part.elements() == 0 || (g.replicated && context_.problem.rank() != 0))
        std::fill(count.begin(), count.end(), 0);
}

}  // namespace thalweg::bench
