// Parallel netCDF-4: every rank writes its block through HDF5, one collective call per variable.
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>
#include <netcdf_par.h>

#include <algorithm>

#include "copy_block.hpp"
#include "netcdf_c.hpp"
#include "registry.hpp"

namespace thalweg::bench {
namespace {

// HDF5 stores the size of a chunk in 32 bits.
constexpr std::int64_t largest_chunk = (std::int64_t{1} << 32) - 1;

class Netcdf4 : public Method {
public:
    Netcdf4(const Context& context, bool syncs) : context_(context), syncs_(syncs) {
        MPI_Info_create(&info_);
        for (const auto& [name, value] : context.options.hints)
            MPI_Info_set(info_, name.c_str(), value.c_str());
        scratch_.resize(static_cast<std::size_t>(context.problem.largest_part_bytes()));
    }

    ~Netcdf4() override { MPI_Info_free(&info_); }

    void open(const std::string& path) override {
        report_ = {};
        PhaseTimer timer(report_.phases.open);
        const Problem& p = context_.problem;
        check_nc(nc_create_par(path.c_str(), NC_CLOBBER | NC_NETCDF4, context_.comm, info_, &file_),
                 "nc_create_par " + path);
        int before = 0;
        check_nc(nc_set_fill(file_, NC_NOFILL, &before), "nc_set_fill");
        ids_ = define_netcdf(file_, p);
        for (std::size_t i = 0; i < ids_.variables.size(); ++i) {
            const std::vector<std::size_t> chunk = chunk_of(p.group(p.variables()[i]));
            if (!chunk.empty())
                check_nc(nc_def_var_chunking(file_, ids_.variables[i], NC_CHUNKED, chunk.data()),
                         "nc_def_var_chunking");
            const Options& o = context_.options;
            if (o.deflate > 0 || o.shuffle)
                check_nc(nc_def_var_deflate(file_, ids_.variables[i], o.shuffle, o.deflate > 0,
                                            o.deflate),
                         "nc_def_var_deflate");
        }
        check_nc(nc_enddef(file_), "nc_enddef");
        for (const int id : ids_.variables)
            check_nc(nc_var_par_access(file_, id, NC_COLLECTIVE), "nc_var_par_access");
    }

    void step(int step) override {
        const Problem& p = context_.problem;
        for (std::size_t i = 0; i < p.variables().size(); ++i) {
            const Variable& v = p.variables()[i];
            const Group& g = p.group(v);
            const void* data = p.values(v, step);
            if (!g.same_order) {
                PhaseTimer timer(report_.phases.remap);
                to_file_order(g, g.part, data, scratch_.data());
                data = scratch_.data();
            }
            write(ids_.variables[i], g, data, step);
        }
    }

    void close() override {
        PhaseTimer timer(report_.phases.close);
        skip_fsync(!syncs_);
        const int status = nc_close(file_);
        skip_fsync(false);
        check_nc(status, "nc_close");
    }

    FileReport report() override { return report_; }

private:
    /// Returns the chunk lengths; empty if the library chooses. A chunk with the whole record of a
    /// variable needs the fewest calls.
    std::vector<std::size_t> chunk_of(const Group& g) const {
        std::vector<std::size_t> chunk{1};
        for (const std::int64_t n : g.shape) chunk.push_back(static_cast<std::size_t>(n));
        if (context_.options.netcdf4_chunk == Chunk::library || g.replicated) return {};
        std::size_t d = 1;
        if (context_.options.netcdf4_chunk == Chunk::level && g.shape.size() > 2) chunk[d++] = 1;
        std::int64_t bytes = g.bytes() / (d == 2 ? g.shape[0] : 1);
        for (; bytes > largest_chunk && d < chunk.size(); ++d) {
            bytes /= g.shape[d - 1];
            chunk[d] = 1;
        }
        return chunk;
    }

    void write(int id, const Group& g, const void* data, int step) {
        PhaseTimer timer(report_.phases.write);
        std::vector<std::size_t> start{static_cast<std::size_t>(step)}, count{1};
        for (std::size_t d = 0; d < g.shape.size(); ++d) {
            start.push_back(static_cast<std::size_t>(g.part.start[d]));
            count.push_back(static_cast<std::size_t>(g.part.count[d]));
        }
        if (g.part.elements() == 0 || (g.replicated && context_.problem.rank() != 0))
            std::fill(count.begin(), count.end(), 0);
        const int status = g.spec->type == Element::f4
                               ? nc_put_vara_float(file_, id, start.data(), count.data(),
                                                   static_cast<const float*>(data))
                               : nc_put_vara_double(file_, id, start.data(), count.data(),
                                                    static_cast<const double*>(data));
        check_nc(status, "nc_put_vara");
        ++report_.writes;
    }

    Context context_;
    bool syncs_;
    MPI_Info info_ = MPI_INFO_NULL;
    std::vector<std::byte> scratch_;
    int file_ = -1;
    NetcdfIds ids_;
    FileReport report_;
};

}  // namespace

std::unique_ptr<Method> make_netcdf4(const Context& context) {
    return std::make_unique<Netcdf4>(context, true);
}

std::unique_ptr<Method> make_netcdf4_nosync(const Context& context) {
    return std::make_unique<Netcdf4>(context, false);
}

}  // namespace thalweg::bench
