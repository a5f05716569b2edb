// Ways to read a restart file.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "copy_block.hpp"
#include "input.hpp"
#include "netcdf_c.hpp"
#include "reading.hpp"

namespace thalweg::bench {
namespace {

/// A lower bound: each of P ranks reads a contiguous part of the file without regard to its format.
/// All parts together are as large as the fields, or as the file if it is shorter.
class RawRead : public ReadMethod {
public:
    RawRead(const Context& context, const Arrays& arrays) : context_(context), arrays_(arrays) {}
    ~RawRead() override {
        if (file_ >= 0) ::close(file_);
    }

    void open(const std::string& path) override {
        file_ = ::open(path.c_str(), O_RDONLY);
        struct stat info {};
        if (file_ < 0 || fstat(file_, &info) != 0) fail(path);
        bytes_ = std::min<std::int64_t>(context_.problem.step_bytes(), info.st_size);
    }

    void read() override {
        const Problem& p = context_.problem;
        std::int64_t at = bytes_ * p.rank() / p.ranks();
        const std::int64_t end = bytes_ * (p.rank() + 1) / p.ranks();
        // If the share is larger than the arrays, fill them again from the start.
        for (std::int64_t to = 0; at < end;) {
            const std::int64_t n = std::min(end - at, p.memory_bytes() - to);
            const ssize_t got =
                ::pread(file_, arrays_.memory + to, static_cast<std::size_t>(n), at);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) fail("pread");
            at += got;
            to = (to + got) % p.memory_bytes();
        }
    }

    void close() override {
        ::close(file_);
        file_ = -1;
    }

private:
    [[noreturn]] static void fail(const std::string& what) {
        throw std::system_error(errno, std::generic_category(), "raw: " + what);
    }

    Context context_;
    Arrays arrays_;
    std::int64_t bytes_ = 0;
    int file_ = -1;
};

class LibraryRead : public ReadMethod {
public:
    LibraryRead(const Context& context, const Arrays& arrays, bool together)
        : input_(context, context.options.settings), arrays_(arrays), together_(together) {}

    void open(const std::string& path) override { input_.open(path); }
    void read() override {
        if (!together_) return input_.get(0, arrays_);
        input_.ask(0, arrays_);
        input_.read();
    }
    void close() override { input_.close(); }

private:
    LibraryInput input_;
    Arrays arrays_;
    bool together_;
};

class PnetcdfRead : public ReadMethod {
public:
    PnetcdfRead(const Context& context, const Arrays& arrays) : input_(context), arrays_(arrays) {}

    void open(const std::string& path) override { input_.open(path); }
    void read() override { input_.read(0, arrays_); }
    void close() override { input_.close(); }

private:
    PnetcdfInput input_;
    Arrays arrays_;
};

/// Reads through netCDF-C and HDF5.
class Netcdf4Read : public ReadMethod {
public:
    Netcdf4Read(const Context& context, const Arrays& arrays)
        : context_(context),
          arrays_(arrays),
          scratch_(static_cast<std::size_t>(context.problem.largest_part_bytes())) {}

    void open(const std::string& path) override {
        check_nc(nc_open_par(path.c_str(), NC_NOWRITE, context_.comm, MPI_INFO_NULL, &file_),
                 "nc_open_par " + path);
    }

    void read() override {
        for (const Variable& v : context_.problem.variables()) {
            const Group& g = context_.problem.group(v);
            int id = 0;
            check_nc(nc_inq_varid(file_, v.name.c_str(), &id), "nc_inq_varid");
            check_nc(nc_var_par_access(file_, id, NC_COLLECTIVE), "nc_var_par_access");
            std::vector<std::size_t> start{0}, count{1};
            start.insert(start.end(), g.part.start.begin(), g.part.start.end());
            count.insert(count.end(), g.part.count.begin(), g.part.count.end());
            if (g.part.elements() == 0) std::fill(count.begin(), count.end(), 0);
            void* to = g.same_order ? arrays_.of(v) : scratch_.data();
            check_nc(g.spec->type == Element::f4
                         ? nc_get_vara_float(file_, id, start.data(), count.data(),
                                             static_cast<float*>(to))
                         : nc_get_vara_double(file_, id, start.data(), count.data(),
                                              static_cast<double*>(to)),
                     "nc_get_vara " + v.name);
            if (!g.same_order) from_file_order(g, g.part, to, arrays_.of(v));
        }
    }

    void close() override { check_nc(nc_close(file_), "nc_close"); }

private:
    Context context_;
    Arrays arrays_;
    std::vector<std::byte> scratch_;
    int file_ = -1;
};

std::unique_ptr<ReadMethod> make_raw_read(const Context& context, const Arrays& arrays) {
    return std::make_unique<RawRead>(context, arrays);
}
std::unique_ptr<ReadMethod> make_together(const Context& context, const Arrays& arrays) {
    return std::make_unique<LibraryRead>(context, arrays, true);
}
std::unique_ptr<ReadMethod> make_one_by_one(const Context& context, const Arrays& arrays) {
    return std::make_unique<LibraryRead>(context, arrays, false);
}
std::unique_ptr<ReadMethod> make_pnetcdf_read(const Context& context, const Arrays& arrays) {
    return std::make_unique<PnetcdfRead>(context, arrays);
}
std::unique_ptr<ReadMethod> make_netcdf4_read(const Context& context, const Arrays& arrays) {
    return std::make_unique<Netcdf4Read>(context, arrays);
}

}  // namespace

const std::vector<ReadMethodInfo>& read_methods() {
    static const std::vector<ReadMethodInfo> table = {
        {"raw", "every rank reads 1/P of the bytes with pread, without a format: the baseline",
         Reads::all, false, make_raw_read},
        {"thalweg", "all variables requested with TW_DEFERRED, one tw_read", Reads::all, true,
         make_together},
        {"thalweg-get", "one tw_get per variable", Reads::all, true, make_one_by_one},
        {"pnetcdf", "plain PnetCDF: every rank reads its block, one collective get per variable",
         Reads::classic, true, make_pnetcdf_read},
        {"netcdf4", "the same with parallel netCDF-C, from a netCDF-4 file", Reads::netcdf4, true,
         make_netcdf4_read},
    };
    return table;
}

}  // namespace thalweg::bench
