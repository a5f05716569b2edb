// Writes through PIO's C interface only, as models do.
// SPDX-License-Identifier: Apache-2.0
#include <pio.h>

#include <map>
#include <stdexcept>

#include "method.hpp"

namespace pio_bench {
namespace {

void check(int code, const char* call) {
    if (code == PIO_NOERR) return;
    char text[PIO_MAX_NAME + 1] = "";
    PIOc_strerror(code, text);
    throw std::runtime_error(std::string(call) + ": " + text);
}

class Pio : public Method {
public:
    explicit Pio(const Context& context) : context_(context) {
        const std::map<std::string, int> types{{"pnetcdf", PIO_IOTYPE_PNETCDF},
                                               {"netcdf", PIO_IOTYPE_NETCDF},
                                               {"netcdf4c", PIO_IOTYPE_NETCDF4C},
                                               {"netcdf4p", PIO_IOTYPE_NETCDF4P}};
        const auto found = types.find(context.options.iotype);
        if (found == types.end())
            throw std::runtime_error("--iotype " + context.options.iotype + ": there is none");
        iotype_ = found->second;
        for (const Layout& layout : workload().layouts) {
            const std::vector<std::int64_t> dofs = layout.degrees_of_freedom();
            maps_.emplace_back(dofs.begin(), dofs.end());
        }
    }

    void begin() override {
        check(PIOc_Init_Intracomm(context_.comm, context_.options.io_tasks,
                                  context_.ranks / context_.options.io_tasks, 0, PIO_REARR_BOX,
                                  &iosystem_),
              "PIOc_Init_Intracomm");
        PIOc_Set_IOSystem_Error_Handling(iosystem_, PIO_RETURN_ERROR);
    }

    void decompose() override {
        for (std::size_t i = 0; i < maps_.size(); ++i) {
            const Layout& layout = workload().layouts[i];
            if (layout.dims.empty()) {
                decompositions_.push_back(-1);
                continue;
            }
            std::vector<int> lengths;
            for (const Dim& dim : layout.dims) lengths.push_back(static_cast<int>(dim.length));
            int id = 0;
            check(PIOc_InitDecomp(iosystem_, PIO_FLOAT, static_cast<int>(lengths.size()),
                                  lengths.data(), static_cast<int>(maps_[i].size()),
                                  maps_[i].data(), &id, nullptr, nullptr, nullptr),
                  "PIOc_InitDecomp");
            decompositions_.push_back(id);
        }
    }

    void open(const std::string& path) override {
        int iotype = iotype_;
        check(
            PIOc_createfile(iosystem_, &file_, &iotype, path.c_str(), PIO_CLOBBER | PIO_64BIT_DATA),
            "PIOc_createfile");
        std::map<std::string, int> dims;
        check(PIOc_def_dim(file_, "time", PIO_UNLIMITED, &dims["time"]), "PIOc_def_dim");
        variables_.clear();
        for (const Variable& v : workload().variables) {
            const Layout& layout = workload().layout_of(v);
            std::vector<int> ids{dims["time"]};
            for (const Dim& dim : layout.dims) {
                if (dims.count(dim.name) == 0)
                    check(PIOc_def_dim(file_, dim.name.c_str(), dim.length, &dims[dim.name]),
                          "PIOc_def_dim");
                ids.push_back(dims[dim.name]);
            }
            int id = 0;
            check(PIOc_def_var(file_, v.name.c_str(), layout.dims.empty() ? PIO_DOUBLE : PIO_FLOAT,
                               static_cast<int>(ids.size()), ids.data(), &id),
                  "PIOc_def_var");
            variables_.push_back(id);
        }
        check(PIOc_enddef(file_), "PIOc_enddef");
    }

    void step(int record) override {
        for (std::size_t i = 0; i < variables_.size(); ++i) {
            const Variable& v = workload().variables[i];
            if (workload().layout_of(v).dims.empty()) {
                const PIO_Offset start = record, count = 1;
                const double value = static_cast<double>(v.values.front());
                check(PIOc_put_vara_double(file_, variables_[i], &start, &count, &value),
                      "PIOc_put_vara_double");
                continue;
            }
            check(PIOc_setframe(file_, variables_[i], record), "PIOc_setframe");
            check(PIOc_write_darray(file_, variables_[i],
                                    decompositions_[static_cast<std::size_t>(v.layout)],
                                    static_cast<PIO_Offset>(v.values.size()),
                                    const_cast<float*>(v.values.data()), nullptr),
                  "PIOc_write_darray");
        }
        const int syncs = context_.options.syncs + (workload().file_per_step ? 0 : 1);
        for (int i = 0; i < syncs; ++i) check(PIOc_sync(file_), "PIOc_sync");
    }

    void close() override { check(PIOc_closefile(file_), "PIOc_closefile"); }

    void free_decompositions() override {
        for (const int id : decompositions_)
            if (id >= 0) check(PIOc_freedecomp(iosystem_, id), "PIOc_freedecomp");
        decompositions_.clear();
    }

    void end() override { check(PIOc_finalize(iosystem_), "PIOc_finalize"); }

    std::int64_t verify(const std::string& path, int records) override {
        int iotype = iotype_;
        check(PIOc_openfile(iosystem_, &file_, &iotype, path.c_str(), PIO_NOWRITE),
              "PIOc_openfile");
        std::int64_t wrong = 0;
        for (std::size_t i = 0; i < variables_.size(); ++i) {
            const Variable& v = workload().variables[i];
            if (workload().layout_of(v).dims.empty()) continue;
            const auto& map = maps_[static_cast<std::size_t>(v.layout)];
            std::vector<float> values(map.size(), -1);
            for (int record = 0; record < records; ++record) {
                check(PIOc_setframe(file_, variables_[i], record), "PIOc_setframe");
                check(PIOc_read_darray(file_, variables_[i],
                                       decompositions_[static_cast<std::size_t>(v.layout)],
                                       static_cast<PIO_Offset>(values.size()), values.data()),
                      "PIOc_read_darray");
                for (std::size_t k = 0; k < map.size(); ++k)
                    if (map[k] > 0 && values[k] != v.values[k]) ++wrong;
            }
        }
        check(PIOc_closefile(file_), "PIOc_closefile");
        return wrong;
    }

private:
    const Workload& workload() const { return context_.workload; }

    Context context_;
    int iotype_ = 0, iosystem_ = 0, file_ = 0;
    std::vector<std::vector<PIO_Offset>> maps_;
    std::vector<int> decompositions_, variables_;
};

}  // namespace

std::unique_ptr<Method> make_pio(const Context& context) { return std::make_unique<Pio>(context); }

}  // namespace pio_bench
