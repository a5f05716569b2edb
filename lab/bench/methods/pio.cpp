// Writes through PIO's C interface only, as models do.
// SPDX-License-Identifier: Apache-2.0
#include <pio.h>

#include <map>
#include <stdexcept>

#include "methods/peers.hpp"

namespace thalweg::bench {
namespace {

void check(int code, const char* call) {
    if (code == PIO_NOERR) return;
    char text[PIO_MAX_NAME + 1] = "";
    PIOc_strerror(code, text);
    throw std::runtime_error(std::string(call) + ": " + text);
}

/// Keeps an I/O system and its decompositions for all files, or, with a file for each step, for one
/// file.
class Pio : public Method {
public:
    explicit Pio(const Context& context) : context_(context) {
        for (const Group& g : problem().groups()) {
            maps_.emplace_back();
            for (const std::int64_t index : g.indices()) maps_.back().push_back(index + 1);
        }
        if (!each_file_anew()) begin();
    }

    ~Pio() override {
        if (iosystem_ >= 0) PIOc_finalize(iosystem_);
    }

    void open(const std::string& path) override {
        if (each_file_anew()) begin();
        int iotype = PIO_IOTYPE_PNETCDF;
        check(
            PIOc_createfile(iosystem_, &file_, &iotype, path.c_str(), PIO_CLOBBER | PIO_64BIT_DATA),
            "PIOc_createfile");
        std::map<std::string, int> dims;
        check(PIOc_def_dim(file_, "time", PIO_UNLIMITED, &dims["time"]), "PIOc_def_dim");
        for (const Dimension& dim : problem().workload().dims)
            check(PIOc_def_dim(file_, dim.name.c_str(), dim.length, &dims[dim.name]),
                  "PIOc_def_dim");
        variables_.clear();
        for (const Variable& v : problem().variables()) {
            const Group& g = problem().group(v);
            std::vector<int> ids{dims["time"]};
            for (const std::string& name : g.spec->file_order) ids.push_back(dims[name]);
            int id = 0;
            check(PIOc_def_var(file_, v.name.c_str(), type_of(g), static_cast<int>(ids.size()),
                               ids.data(), &id),
                  "PIOc_def_var");
            variables_.push_back(id);
        }
        check(PIOc_enddef(file_), "PIOc_enddef");
    }

    void step(int step) override {
        const int record = each_file_anew() ? 0 : step;
        for (std::size_t i = 0; i < variables_.size(); ++i) {
            const Variable& v = problem().variables()[i];
            const Group& g = problem().group(v);
            void* const values = const_cast<void*>(problem().values(v, step));
            if (g.replicated) {
                const PIO_Offset start = record, count = 1;
                check(PIOc_put_vara_double(file_, variables_[i], &start, &count,
                                           static_cast<double*>(values)),
                      "PIOc_put_vara_double");
                continue;
            }
            check(PIOc_setframe(file_, variables_[i], record), "PIOc_setframe");
            check(PIOc_write_darray(file_, variables_[i],
                                    decompositions_[static_cast<std::size_t>(v.group)],
                                    g.local_elements(), values, nullptr),
                  "PIOc_write_darray");
        }
        if (!each_file_anew()) check(PIOc_sync(file_), "PIOc_sync");
    }

    void close() override {
        check(PIOc_closefile(file_), "PIOc_closefile");
        if (!each_file_anew()) return;
        for (const int id : decompositions_)
            if (id >= 0) check(PIOc_freedecomp(iosystem_, id), "PIOc_freedecomp");
        decompositions_.clear();
        check(PIOc_finalize(iosystem_), "PIOc_finalize");
        iosystem_ = -1;
    }

private:
    const Problem& problem() const { return context_.problem; }
    bool each_file_anew() const { return problem().workload().file_per_step; }
    static int type_of(const Group& g) {
        return g.spec->type == Element::f4 ? PIO_FLOAT : PIO_DOUBLE;
    }

    void begin() {
        check(
            PIOc_Init_Intracomm(context_.comm, 1, problem().ranks(), 0, PIO_REARR_BOX, &iosystem_),
            "PIOc_Init_Intracomm");
        PIOc_Set_IOSystem_Error_Handling(iosystem_, PIO_RETURN_ERROR);
        for (std::size_t i = 0; i < maps_.size(); ++i) {
            const Group& g = problem().groups()[i];
            decompositions_.push_back(-1);
            if (g.replicated) continue;
            const std::vector<int> lengths(g.shape.begin(), g.shape.end());
            check(
                PIOc_InitDecomp(iosystem_, type_of(g), static_cast<int>(lengths.size()),
                                lengths.data(), static_cast<int>(maps_[i].size()), maps_[i].data(),
                                &decompositions_.back(), nullptr, nullptr, nullptr),
                "PIOc_InitDecomp");
        }
    }

    Context context_;
    int iosystem_ = -1, file_ = 0;
    std::vector<std::vector<PIO_Offset>> maps_;  ///< indices counted from 1; 0 in a halo or hole
    std::vector<int> decompositions_, variables_;
};

}  // namespace

std::unique_ptr<Method> make_pio(const Context& context) { return std::make_unique<Pio>(context); }

}  // namespace thalweg::bench
