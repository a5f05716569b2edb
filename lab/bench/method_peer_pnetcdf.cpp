// PnetCDF as its tutorials use it: the user brings a block into file order and writes it by one
// blocking collective call per variable.
// SPDX-License-Identifier: Apache-2.0
#include <pnetcdf.h>

#include "copy_block.hpp"
#include "pnetcdf_file.hpp"
#include "registry.hpp"

namespace thalweg::bench {
namespace {

class PeerPnetcdf : public Method {
public:
    explicit PeerPnetcdf(const Context& context)
        : context_(context),
          file_(context),
          scratch_(static_cast<std::size_t>(context.problem.largest_part_bytes())),
          throttle_(throttle_of(context)) {}

    void open(const std::string& path) override {
        report_ = {};
        PhaseTimer timer(report_.phases.open);
        file_.create(path);
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
            PhaseTimer timer(report_.phases.write);
            file_.range(g, step, start_, count_);
            throttle_.begin();
            const int status =
                g.spec->type == Element::f4
                    ? ncmpi_put_vara_float_all(file_.id(), file_.variable(i), start_.data(),
                                               count_.data(), static_cast<const float*>(data))
                    : ncmpi_put_vara_double_all(file_.id(), file_.variable(i), start_.data(),
                                                count_.data(), static_cast<const double*>(data));
            check_ncmpi(status, "ncmpi_put_vara_all " + v.name);
            throttle_.moved(g.local_bytes());
            ++report_.writes;
        }
    }

    void close() override {
        PhaseTimer timer(report_.phases.close);
        file_.close();
    }

    FileReport report() override { return report_; }

private:
    Context context_;
    PnetcdfFile file_;
    std::vector<std::byte> scratch_;
    detail::Throttle throttle_;
    std::vector<MPI_Offset> start_, count_;
    FileReport report_;
};

}  // namespace

std::unique_ptr<Method> make_peer_pnetcdf(const Context& context) {
    return std::make_unique<PeerPnetcdf>(context);
}

}  // namespace thalweg::bench
