// SPDX-License-Identifier: Apache-2.0
#include "methods/readers.hpp"

#include <fcntl.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <pnetcdf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "fields/loops.hpp"
#include "methods/library.hpp"
#include "methods/peers.hpp"

namespace thalweg::bench {
namespace {

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), "raw: " + what);
}

}  // namespace

RawRead::~RawRead() {
    if (file_ >= 0) ::close(file_);
}

void RawRead::open(const std::string& path) {
    file_ = ::open(path.c_str(), O_RDONLY);
    struct stat info {};
    if (file_ < 0 || fstat(file_, &info) != 0) fail(path);
    bytes_ = std::min<std::int64_t>(context_.problem.step_bytes(), info.st_size);
}

void RawRead::step(int) {
    const Problem& p = context_.problem;
    std::int64_t at = bytes_ * p.rank() / p.ranks();
    const std::int64_t end = bytes_ * (p.rank() + 1) / p.ranks();
    // If the share is larger than the arrays, fill them again from the start.
    for (std::int64_t to = 0; at < end;) {
        const std::int64_t n = std::min(end - at, p.memory_bytes() - to);
        const ssize_t got =
            ::pread(file_, context_.arrays[0] + to, static_cast<std::size_t>(n), at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) fail("pread");
        at += got;
        to = (to + got) % p.memory_bytes();
    }
}

void RawRead::close() {
    ::close(file_);
    file_ = -1;
}

LibraryRead::LibraryRead(const Context& context, How how)
    : Reader(context), how_(how), session_(context.session) {
    for (const Group& g : context.problem.groups())
        decompositions_.push_back(decompose(session_, context.problem, g));
}

void LibraryRead::open(const std::string& path) {
    check_tw(session_, tw_open(session_, path.c_str(), nullptr, &file_), "tw_open");
}

void LibraryRead::get(int record, int flags) {
    for (const Variable& v : context_.problem.variables()) {
        const Group& g = context_.problem.group(v);
        check_tw(
            session_,
            tw_get_array(file_, v.name.c_str(), decompositions_[static_cast<std::size_t>(v.group)],
                         record, tw_dense(type_of(g), array(v, record), g.local_elements()), flags),
            "tw_get_array");
    }
}

void LibraryRead::step(int record) {
    if (how_ == one_by_one) return get(record, 0);
    if (how_ == together || record == 0) get(record, TW_DEFERRED);
    check_tw(session_, tw_read(file_), "tw_read");
    if (how_ != ahead || record + 1 == context_.steps) return;
    get(record + 1, TW_DEFERRED);
    check_tw(session_, tw_prefetch(file_), "tw_prefetch");
}

void LibraryRead::close() { check_tw(session_, tw_close(&file_), "tw_close"); }

PnetcdfRead::PnetcdfRead(const Context& context)
    : Reader(context),
      throttle_(throttle_of(context)),
      scratch_(static_cast<std::size_t>(context.problem.largest_part_bytes())) {}

void PnetcdfRead::open(const std::string& path) {
    check_ncmpi(ncmpi_open(context_.comm, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file_),
                "ncmpi_open");
}

void PnetcdfRead::step(int record) {
    for (const Variable& v : context_.problem.variables()) {
        const Group& g = context_.problem.group(v);
        int id = 0;
        check_ncmpi(ncmpi_inq_varid(file_, v.name.c_str(), &id), "ncmpi_inq_varid");
        std::vector<MPI_Offset> start{record}, count{1};
        start.insert(start.end(), g.part().start.begin(), g.part().start.end());
        count.insert(count.end(), g.part().count.begin(), g.part().count.end());
        if (g.part().elements() == 0) count[0] = 0;
        void* to = g.same_order ? array(v, record) : scratch_.data();
        throttle_.begin();
        check_ncmpi(g.spec->type == Element::f4
                        ? ncmpi_get_vara_float_all(file_, id, start.data(), count.data(),
                                                   static_cast<float*>(to))
                        : ncmpi_get_vara_double_all(file_, id, start.data(), count.data(),
                                                    static_cast<double*>(to)),
                    "ncmpi_get_vara_all " + v.name);
        throttle_.moved(g.local_bytes());
        if (!g.same_order) from_file_order(g, g.part(), to, array(v, record));
    }
}

void PnetcdfRead::close() { check_ncmpi(ncmpi_close(file_), "ncmpi_close"); }

Netcdf4Read::Netcdf4Read(const Context& context)
    : Reader(context), scratch_(static_cast<std::size_t>(context.problem.largest_part_bytes())) {}

void Netcdf4Read::open(const std::string& path) {
    check_nc(nc_open_par(path.c_str(), NC_NOWRITE, context_.comm, MPI_INFO_NULL, &file_),
             "nc_open_par " + path);
}

void Netcdf4Read::step(int record) {
    for (const Variable& v : context_.problem.variables()) {
        const Group& g = context_.problem.group(v);
        int id = 0;
        check_nc(nc_inq_varid(file_, v.name.c_str(), &id), "nc_inq_varid");
        check_nc(nc_var_par_access(file_, id, NC_COLLECTIVE), "nc_var_par_access");
        std::vector<std::size_t> start{static_cast<std::size_t>(record)}, count{1};
        start.insert(start.end(), g.part().start.begin(), g.part().start.end());
        count.insert(count.end(), g.part().count.begin(), g.part().count.end());
        if (g.part().elements() == 0) std::fill(count.begin(), count.end(), 0);
        void* to = g.same_order ? array(v, record) : scratch_.data();
        check_nc(
            g.spec->type == Element::f4
                ? nc_get_vara_float(file_, id, start.data(), count.data(), static_cast<float*>(to))
                : nc_get_vara_double(file_, id, start.data(), count.data(),
                                     static_cast<double*>(to)),
            "nc_get_vara " + v.name);
        if (!g.same_order) from_file_order(g, g.part(), to, array(v, record));
    }
}

void Netcdf4Read::close() { check_nc(nc_close(file_), "nc_close"); }

}  // namespace thalweg::bench
