// Writes the same file with Thalweg's own calls.
// SPDX-License-Identifier: Apache-2.0
#include <thalweg/thalweg.h>

#include <stdexcept>

#include "method.hpp"

namespace pio_bench {
namespace {

class Thalweg : public Method {
public:
    Thalweg(const Context& context, bool deferred) : context_(context), deferred_(deferred) {
        const int tasks = context.options.io_tasks;
        settings_ = "staging=2GiB; writers=" + std::to_string(tasks) +
                    (tasks > 1 ? ":0:" + std::to_string(context.ranks / tasks) : "");
        check(tw_init(context.comm, settings_.c_str(), &session_), "tw_init");
    }
    ~Thalweg() override { tw_finalize(&session_); }

    // Does nothing, because one session lasts for the whole run, as in a program written for
    // Thalweg.
    void begin() override {}
    void end() override {}

    void decompose() override {
        for (const Layout& layout : workload().layouts)
            decompositions_.push_back(layout.dims.empty() ? nullptr : declare(layout));
    }

    void free_decompositions() override {
        for (tw_decomposition& d : decompositions_)
            if (d != nullptr) tw_free_decomposition(&d);
        decompositions_.clear();
    }

    void open(const std::string& path) override {
        const bool classic = context_.options.iotype.rfind("netcdf4", 0) != 0;
        check(tw_create(session_, path.c_str(), classic ? "format=cdf5" : "format=netcdf4", &file_),
              "tw_create");
        check(tw_def_dim(file_, "time", TW_UNLIMITED), "tw_def_dim");
        for (const Variable& v : workload().variables) {
            const Layout& layout = workload().layout_of(v);
            std::string names = "time";
            for (const Dim& dim : layout.dims) names += " " + dim.name;
            check(tw_def_var(file_, v.name.c_str(), layout.dims.empty() ? TW_DOUBLE : TW_FLOAT,
                             names.c_str(), decompositions_[static_cast<std::size_t>(v.layout)]),
                  "tw_def_var");
        }
        check(tw_enddef(file_), "tw_enddef");
    }

    void step(int) override {
        const auto put = [&](const char* name, tw_array array) {
            check(tw_put_array(file_, name, array, deferred_ ? TW_DEFERRED : 0), "tw_put_array");
        };
        scalars_.resize(workload().variables.size());
        for (std::size_t i = 0; i < scalars_.size(); ++i) {
            const Variable& v = workload().variables[i];
            if (workload().layout_of(v).dims.empty()) {
                scalars_[i] = static_cast<double>(v.values.front());
                put(v.name.c_str(), tw_dense(TW_DOUBLE, &scalars_[i], 1));
            } else {
                put(v.name.c_str(), tw_dense(TW_FLOAT, v.values.data(),
                                             static_cast<std::int64_t>(v.values.size())));
            }
        }
        check(tw_end_step(file_), "tw_end_step");
    }

    void close() override { check(tw_close(&file_), "tw_close"); }
    void wait() override { check(tw_wait(session_, 0), "tw_wait"); }

private:
    const Workload& workload() const { return context_.workload; }

    void check(int status, const char* call) const {
        if (status == TW_OK) return;
        const std::string text = tw_error_message(session_);
        throw std::runtime_error(std::string(call) + ": " +
                                 (text.empty() ? tw_strerror(status) : text));
    }

    tw_decomposition declare(const Layout& layout) const {
        tw_decomposition made = nullptr;
        std::vector<std::int64_t> shape, start, count, halo;
        std::string names;
        for (const int d : layout.memory) {
            const Dim& dim = layout.dims[static_cast<std::size_t>(d)];
            names += (names.empty() ? "" : " ") + dim.name;
            shape.push_back(dim.length);
            halo.push_back(layout.halo_of(halo.size()));
        }
        if (layout.is_list) {
            check(tw_decompose_list(session_, names.c_str(), shape.data(), names.c_str(),
                                    static_cast<std::int64_t>(layout.indices.size()),
                                    layout.indices.data(), TW_LIST_UNIQUE, &made),
                  "tw_decompose_list");
            return made;
        }
        for (const Block& block : layout.blocks) {
            start.insert(start.end(), block.start.begin(), block.start.end());
            count.insert(count.end(), block.count.begin(), block.count.end());
        }
        check(tw_decompose_halo(session_, names.c_str(), static_cast<int>(layout.blocks.size()),
                                shape.data(), start.data(), count.data(), halo.data(), halo.data(),
                                &made),
              "tw_decompose_halo");
        return made;
    }

    Context context_;
    bool deferred_;
    std::string settings_;
    tw_session session_ = nullptr;
    tw_file file_ = nullptr;
    std::vector<tw_decomposition> decompositions_;
    std::vector<double> scalars_;
};

}  // namespace

std::unique_ptr<Method> make_thalweg(const Context& context, bool deferred) {
    return std::make_unique<Thalweg>(context, deferred);
}

}  // namespace pio_bench
