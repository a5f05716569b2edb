// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <pnetcdf.h>

#include <stdexcept>

#include "copy_block.hpp"
#include "pnetcdf_file.hpp"

namespace thalweg::bench {

LibraryInput::LibraryInput(const Context& context, const std::string& settings)
    : problem_(context.problem) {
    check(tw_init(context.comm, settings.c_str(), &session_), "tw_init");
    for (const Group& g : problem_.groups()) {
        tw_decomposition decomposition = nullptr;
        std::vector<std::int64_t> shape, start, count;
        std::string names;
        for (const int d : g.memory_axis) {
            shape.push_back(g.shape[static_cast<std::size_t>(d)]);
            start.push_back(g.part.start[static_cast<std::size_t>(d)]);
            count.push_back(g.part.count[static_cast<std::size_t>(d)]);
        }
        for (const std::string& name : g.spec->memory_order) names += name + " ";
        if (!g.replicated)
            check(tw_decompose(session_, names.c_str(), 1, shape.data(), start.data(), count.data(),
                               &decomposition),
                  "tw_decompose");
        decompositions_.push_back(decomposition);
    }
}

void LibraryInput::open(const std::string& path) {
    check(tw_open(session_, path.c_str(), nullptr, &file_), "tw_open");
}

void LibraryInput::get_all(int flags, int record, const Arrays& arrays) {
    for (const Variable& v : problem_.variables()) {
        const Group& g = problem_.group(v);
        const tw_type type = g.spec->type == Element::f4 ? TW_FLOAT : TW_DOUBLE;
        check(
            tw_get_array(file_, v.name.c_str(), decompositions_[static_cast<std::size_t>(v.group)],
                         record, tw_dense(type, arrays.of(v), g.part.elements()), flags),
            "tw_get_array");
    }
}

void LibraryInput::check(int status, const char* what) const {
    if (status != TW_OK)
        throw std::runtime_error(std::string(what) + ": " + tw_error_message(session_));
}

PnetcdfInput::PnetcdfInput(const Context& context)
    : context_(context),
      throttle_(throttle_of(context)),
      scratch_(static_cast<std::size_t>(context.problem.largest_part_bytes())) {}

void PnetcdfInput::open(const std::string& path) {
    check_ncmpi(ncmpi_open(context_.comm, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file_),
                "ncmpi_open");
}

void PnetcdfInput::read(int record, const Arrays& arrays) {
    for (const Variable& v : context_.problem.variables()) {
        const Group& g = context_.problem.group(v);
        int id = 0;
        check_ncmpi(ncmpi_inq_varid(file_, v.name.c_str(), &id), "ncmpi_inq_varid");
        std::vector<MPI_Offset> start{record}, count{1};
        start.insert(start.end(), g.part.start.begin(), g.part.start.end());
        count.insert(count.end(), g.part.count.begin(), g.part.count.end());
        if (g.part.elements() == 0) count[0] = 0;
        void* to = g.same_order ? arrays.of(v) : scratch_.data();
        throttle_.begin();
        check_ncmpi(g.spec->type == Element::f4
                        ? ncmpi_get_vara_float_all(file_, id, start.data(), count.data(),
                                                   static_cast<float*>(to))
                        : ncmpi_get_vara_double_all(file_, id, start.data(), count.data(),
                                                    static_cast<double*>(to)),
                    "ncmpi_get_vara_all " + v.name);
        throttle_.moved(g.local_bytes());
        if (!g.same_order) from_file_order(g, g.part, to, arrays.of(v));
    }
}

void PnetcdfInput::close() { check_ncmpi(ncmpi_close(file_), "ncmpi_close"); }

}  // namespace thalweg::bench
