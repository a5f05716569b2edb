// The methods of the library under test: the same program with different settings.
// SPDX-License-Identifier: Apache-2.0
#include <thalweg/thalweg.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "registry.hpp"

namespace thalweg::bench {
namespace {

std::string join(const std::vector<std::string>& names, std::string text) {
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    return text;
}

class Library : public Method {
public:
    Library(const Context& context, tw_session session) : context_(context), session_(session) {
        define_decompositions();
    }

    Library(const Context& context, const std::string& method_settings) : context_(context) {
        // Settings in the environment would override those of the method.
        for (const char* name : {"THALWEG_METHOD", "THALWEG_STORAGE", "THALWEG_FORMAT",
                                 "THALWEG_DEFLATE", "THALWEG_SHUFFLE"})
            unsetenv(name);
        const std::string settings =
            method_settings + "; " + context.options.settings + "; " + context.settings;
        try {
            check(tw_init(context.comm, settings.c_str(), &session_), "tw_init");
            define_decompositions();
        } catch (...) {
            tw_finalize(&session_);
            throw;
        }
    }

    ~Library() override { tw_finalize(&session_); }

    void open(const std::string& path) override {
        check(tw_create(session_, path.c_str(), nullptr, &file_), "tw_create");
        const Problem& p = context_.problem;
        check(tw_def_dim(file_, "time", TW_UNLIMITED), "tw_def_dim");
        for (const Dimension& d : p.workload().dims)
            check(tw_def_dim(file_, d.name.c_str(), d.length), "tw_def_dim");
        for (const Variable& v : p.variables()) {
            const Group& g = p.group(v);
            check(tw_def_var(file_, v.name.c_str(), type_of(g),
                             join(g.spec->file_order, "time").c_str(), decompositions_[v.group]),
                  "tw_def_var");
        }
        check(tw_enddef(file_), "tw_enddef");
    }

    void step(int step) override {
        const Problem& p = context_.problem;
        const int flags = context_.options.copy_puts ? 0 : TW_DEFERRED;
        for (const Variable& v : p.variables()) {
            const Group& g = p.group(v);
            check(tw_put_array(file_, v.name.c_str(),
                               tw_dense(type_of(g), p.values(v, step), g.part.elements()), flags),
                  "tw_put_array");
        }
        check(tw_end_step(file_), "tw_end_step");
    }

    void close() override { check(tw_close(&file_), "tw_close"); }

    void finish() override { check(tw_wait(session_, 0), "tw_wait"); }

    FileReport report() override {
        const char* text = nullptr;
        check(tw_summary(session_, TW_SUMMARY_JSON, &text), "tw_summary");
        const auto file = nlohmann::ordered_json::parse(text).at("files").back();
        const auto& seconds = file.at("seconds");
        FileReport r;
        r.phases = {seconds.at("open"), seconds.at("put"),   seconds.at("remap"),
                    seconds.at("wait"), seconds.at("write"), seconds.at("close")};
        r.storage = file.at("storage");
        r.service = file.at("service");
        r.details = file.dump();
        // The library's figures are sums over all ranks, so count them on one rank.
        const bool counts = context_.problem.rank() == 0;
        r.writes = counts ? file.at("writes").get<std::int64_t>() : 0;
        r.messages = counts ? file.at("messages").get<std::int64_t>() : 0;
        return r;
    }

private:
    static tw_type type_of(const Group& g) {
        return g.spec->type == Element::f4 ? TW_FLOAT : TW_DOUBLE;
    }

    void define_decompositions() {
        for (const Group& g : context_.problem.groups())
            decompositions_.push_back(g.replicated ? nullptr : decompose(g));
    }

    void check(int status, const char* what) const {
        if (status == TW_OK) return;
        const std::string text = tw_error_message(session_);
        throw std::runtime_error(std::string(what) + ": " +
                                 (text.empty() ? tw_strerror(status) : text));
    }

    tw_decomposition decompose(const Group& g) const {
        std::vector<std::int64_t> shape, start, count;
        for (const int d : g.memory_axis) {
            shape.push_back(g.shape[d]);
            start.push_back(g.part.start[d]);
            count.push_back(g.part.count[d]);
        }
        tw_decomposition decomposition = nullptr;
        check(tw_decompose(session_, join(g.spec->memory_order, "").c_str(), 1, shape.data(),
                           start.data(), count.data(), &decomposition),
              "tw_decompose");
        return decomposition;
    }

    Context context_;
    tw_session session_ = nullptr;
    std::vector<tw_decomposition> decompositions_;
    tw_file file_ = nullptr;
};

std::unique_ptr<Method> make_classic(const Context& context, const std::string& settings) {
    return std::make_unique<Library>(context, settings + "; format=" + context.options.format);
}

}  // namespace

std::unique_ptr<Method> make_library(const Context& context, tw_session session) {
    return std::make_unique<Library>(context, session);
}

std::unique_ptr<Method> make_serial(const Context& context) {
    return make_classic(context, "method=serial; storage=posix");
}

std::unique_ptr<Method> make_direct(const Context& context) {
    return make_classic(context, "method=direct; storage=pnetcdf-blocking");
}

std::unique_ptr<Method> make_direct_nonblocking(const Context& context) {
    return make_classic(context, "method=direct; storage=pnetcdf");
}

std::unique_ptr<Method> make_slabs(const Context& context) {
    return make_classic(context, "method=slabs; storage=posix");
}

std::unique_ptr<Method> make_record(const Context& context) {
    return make_classic(context, "method=record; storage=posix");
}

std::unique_ptr<Method> make_record_netcdf4(const Context& context) {
    return std::make_unique<Library>(context,
                                     "method=record; storage=netcdf4; format=netcdf4; deflate=" +
                                         std::to_string(context.options.deflate) +
                                         "; shuffle=" + (context.options.shuffle ? "yes" : "no"));
}

std::unique_ptr<Method> make_rows(const Context& context) {
    return make_classic(context, "method=rows; storage=posix");
}

std::unique_ptr<Method> make_rows_pnetcdf(const Context& context) {
    return make_classic(context, "method=rows; storage=pnetcdf-blocking");
}

std::unique_ptr<Method> make_columns(const Context& context) {
    return make_classic(context, "method=columns; storage=posix");
}

std::unique_ptr<Method> make_columns_pnetcdf(const Context& context) {
    return make_classic(context, "method=columns; storage=pnetcdf-blocking");
}

std::unique_ptr<Method> make_tiles(const Context& context) {
    return make_classic(context, "method=tiles; storage=posix");
}

std::unique_ptr<Method> make_tiles_pnetcdf(const Context& context) {
    return make_classic(context, "method=tiles; storage=pnetcdf-blocking");
}

}  // namespace thalweg::bench
