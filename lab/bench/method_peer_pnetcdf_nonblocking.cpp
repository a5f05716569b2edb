// PnetCDF's non-blocking interface: all variables of a step are posted, then one wait writes them.
// The posted blocks must stay until then, so there are blocks in file order for a whole step.
// SPDX-License-Identifier: Apache-2.0
#include <pnetcdf.h>

#include "copy_block.hpp"
#include "pnetcdf_file.hpp"
#include "registry.hpp"

namespace thalweg::bench {
namespace {

class PeerPnetcdfNonblocking : public Method {
public:
    explicit PeerPnetcdfNonblocking(const Context& context)
        : context_(context), file_(context), throttle_(throttle_of(context)) {
        std::int64_t bytes = 0;
        for (const Variable& v : context.problem.variables()) {
            const Group& g = context.problem.group(v);
            offsets_.push_back(bytes);
            if (!g.same_order) bytes += g.local_bytes();
            step_bytes_ += g.local_bytes();
        }
        blocks_.resize(static_cast<std::size_t>(bytes));
    }

    void open(const std::string& path) override {
        report_ = {};
        PhaseTimer timer(report_.phases.open);
        file_.create(path);
    }

    void step(int step) override {
        const Problem& p = context_.problem;
        const int n = static_cast<int>(p.variables().size());
        requests_.assign(n, NC_REQ_NULL);
        statuses_.assign(n, NC_NOERR);
        for (int i = 0; i < n; ++i) {
            const Variable& v = p.variables()[i];
            const Group& g = p.group(v);
            const void* data = p.values(v, step);
            if (!g.same_order) {
                PhaseTimer timer(report_.phases.remap);
                to_file_order(g, g.part, data, blocks_.data() + offsets_[i]);
                data = blocks_.data() + offsets_[i];
            }
            PhaseTimer timer(report_.phases.put);
            file_.range(g, step, start_, count_);
            const int status =
                g.spec->type == Element::f4
                    ? ncmpi_iput_vara_float(file_.id(), file_.variable(i), start_.data(),
                                            count_.data(), static_cast<const float*>(data),
                                            &requests_[i])
                    : ncmpi_iput_vara_double(file_.id(), file_.variable(i), start_.data(),
                                             count_.data(), static_cast<const double*>(data),
                                             &requests_[i]);
            check_ncmpi(status, "ncmpi_iput_vara " + v.name);
        }
        PhaseTimer timer(report_.phases.write);
        throttle_.begin();
        check_ncmpi(ncmpi_wait_all(file_.id(), n, requests_.data(), statuses_.data()),
                    "ncmpi_wait_all");
        throttle_.moved(step_bytes_);
        for (int i = 0; i < n; ++i)
            check_ncmpi(statuses_[i], "ncmpi_wait_all " + p.variables()[i].name);
        ++report_.writes;
    }

    void close() override {
        PhaseTimer timer(report_.phases.close);
        file_.close();
    }

    FileReport report() override { return report_; }

private:
    Context context_;
    PnetcdfFile file_;
    detail::Throttle throttle_;
    std::int64_t step_bytes_ = 0;  ///< bytes of this rank
    std::vector<std::int64_t> offsets_;
    std::vector<std::byte> blocks_;
    std::vector<int> requests_, statuses_;
    std::vector<MPI_Offset> start_, count_;
    FileReport report_;
};

}  // namespace

std::unique_ptr<Method> make_peer_pnetcdf_nonblocking(const Context& context) {
    return std::make_unique<PeerPnetcdfNonblocking>(context);
}

}  // namespace thalweg::bench
