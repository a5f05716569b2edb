// Output as it was before parallel libraries: rank 0 gathers one variable at a time, brings it into
// file order and writes it through plain netCDF-C.
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <algorithm>
#include <limits>

#include "copy_block.hpp"
#include "netcdf_c.hpp"
#include "registry.hpp"

namespace thalweg::bench {
namespace {

// Size of netCDF-C's buffer in bytes. The default writes small pieces; a user who measures would
// increase it.
constexpr std::size_t large_buffer = std::size_t{4} << 20;

class PeerSerial : public Method {
public:
    PeerSerial(const Context& context, std::size_t buffer_hint)
        : context_(context), buffer_hint_(buffer_hint) {
        const Problem& p = context_.problem;
        for (const Group& g : p.groups()) {
            if (g.elements() > std::numeric_limits<int>::max())
                throw UsageError(
                    "peer-serial: a variable of 2^31 elements or more does not fit "
                    "into the counts of MPI_Gatherv");
            Pieces pieces;
            int at = 0;
            for (int r = 0; r < p.ranks(); ++r) {
                pieces.parts.push_back(p.part_of(g, r));
                const int n = static_cast<int>(pieces.parts.back().elements());
                pieces.counts.push_back(n);
                pieces.offsets.push_back(at);
                at += n;
            }
            pieces_.push_back(std::move(pieces));
        }
        if (p.rank() == 0) {
            const auto n = static_cast<std::size_t>(p.largest_variable_bytes());
            gathered_.resize(n);
            global_.resize(n);
        }
    }

    void open(const std::string& path) override {
        report_ = {};
        report_.messages = 0;
        PhaseTimer timer(report_.phases.open);
        if (context_.problem.rank() != 0) return;
        std::size_t buffer = buffer_hint_;
        const int mode = NC_CLOBBER | classic_create_mode(context_.options.format);
        check_nc(nc__create(path.c_str(), mode, 0, &buffer, &file_), "nc__create " + path);
        int before = 0;
        check_nc(nc_set_fill(file_, NC_NOFILL, &before), "nc_set_fill");
        ids_ = define_netcdf(file_, context_.problem);
        check_nc(nc_enddef(file_), "nc_enddef");
    }

    void step(int step) override {
        const Problem& p = context_.problem;
        for (std::size_t i = 0; i < p.variables().size(); ++i) {
            const Variable& v = p.variables()[i];
            const Group& g = p.group(v);
            const void* data = p.values(v, step);
            if (!g.replicated) data = gather(v, g, data);
            if (p.rank() == 0) write(ids_.variables[i], g, data, step);
        }
    }

    void close() override {
        PhaseTimer timer(report_.phases.close);
        if (context_.problem.rank() == 0) check_nc(nc_close(file_), "nc_close");
    }

    FileReport report() override { return report_; }

private:
    struct Pieces {  // the pieces of a group, indexed by rank
        std::vector<Part> parts;
        std::vector<int> counts, offsets;
    };

    const void* gather(const Variable& v, const Group& g, const void* mine) {
        PhaseTimer timer(report_.phases.remap);
        const Problem& p = context_.problem;
        const Pieces& pieces = pieces_[v.group];
        const MPI_Datatype type = g.spec->type == Element::f4 ? MPI_FLOAT : MPI_DOUBLE;
        MPI_Gatherv(mine, pieces.counts[p.rank()], type, gathered_.data(), pieces.counts.data(),
                    pieces.offsets.data(), type, 0, context_.comm);
        if (p.rank() != 0) {
            ++report_.messages;
            return nullptr;
        }
        const std::int64_t size = element_bytes(g.spec->type);
        for (int r = 0; r < p.ranks(); ++r)
            place_in_global(g, pieces.parts[r], gathered_.data() + pieces.offsets[r] * size,
                            global_.data());
        return global_.data();
    }

    void write(int id, const Group& g, const void* data, int step) {
        PhaseTimer timer(report_.phases.write);
        std::vector<std::size_t> start(g.shape.size() + 1, 0), count{1};
        start[0] = static_cast<std::size_t>(step);
        for (const std::int64_t n : g.shape) count.push_back(static_cast<std::size_t>(n));
        const int status = g.spec->type == Element::f4
                               ? nc_put_vara_float(file_, id, start.data(), count.data(),
                                                   static_cast<const float*>(data))
                               : nc_put_vara_double(file_, id, start.data(), count.data(),
                                                    static_cast<const double*>(data));
        check_nc(status, "nc_put_vara");
        ++report_.writes;
    }

    Context context_;
    std::size_t buffer_hint_;
    std::vector<Pieces> pieces_;
    std::vector<std::byte> gathered_, global_;
    int file_ = -1;
    NetcdfIds ids_;
    FileReport report_;
};

}  // namespace

std::unique_ptr<Method> make_peer_serial(const Context& context) {
    return std::make_unique<PeerSerial>(context, large_buffer);
}

std::unique_ptr<Method> make_peer_serial_default(const Context& context) {
    return std::make_unique<PeerSerial>(context, NC_SIZEHINT_DEFAULT);
}

}  // namespace thalweg::bench
