// Writes with the library under test: a block, or an index list.
// SPDX-License-Identifier: Apache-2.0
#include <thalweg/thalweg.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "irregular/methods.hpp"

namespace thalweg::bench::irregular {
namespace {

std::string variable_name(int v) { return "v" + std::to_string(v); }

class Library : public Writer {
public:
    explicit Library(const Context& context) : context_(context) {
        // Settings in the environment would override those of the method.
        for (const char* name : {"THALWEG_METHOD", "THALWEG_STORAGE", "THALWEG_FORMAT"})
            unsetenv(name);
        const std::string settings = "format=" + context.options.format + "; " +
                                     context.options.settings + "; " + context.settings;
        try {
            check(tw_init(context.rank_group.comm(), settings.c_str(), &session_), "tw_init");
            measure_set_up(context.rank_group, [&] { describe(); });
        } catch (...) {
            tw_finalize(&session_);
            throw;
        }
    }
    ~Library() override { tw_finalize(&session_); }

    void open(const std::string& path) override {
        check(tw_create(session_, path.c_str(), nullptr, &file_), "tw_create");
        check(tw_def_dim(file_, "time", TW_UNLIMITED), "tw_def_dim");
        for (const Dim& dim : context_.map.dims())
            check(tw_def_dim(file_, dim.name.c_str(), dim.length), "tw_def_dim");
        const std::string dims = "time " + context_.map.flattened.names();
        for (int v = 0; v < context_.variables; ++v)
            check(
                tw_def_var(file_, variable_name(v).c_str(), TW_FLOAT, dims.c_str(), decomposition_),
                "tw_def_var");
        check(tw_enddef(file_), "tw_enddef");
    }

    void step(int step) override {
        const int flags = context_.options.copy_puts ? 0 : TW_DEFERRED;
        for (int v = 0; v < context_.variables; ++v)
            check(tw_put_array(file_, variable_name(v).c_str(),
                               tw_dense(TW_FLOAT, context_.fields.values(v, step),
                                        context_.fields.elements()),
                               flags),
                  "tw_put_array");
        check(tw_end_step(file_), "tw_end_step");
    }

    void close() override { check(tw_close(&file_), "tw_close"); }

    std::string details() override {
        const char* text = nullptr;
        check(tw_summary(session_, TW_SUMMARY_JSON, &text), "tw_summary");
        return nlohmann::ordered_json::parse(text).at("files").back().dump();
    }

private:
    void describe() {
        const IndexMap& map = context_.map;
        std::vector<std::int64_t> shape;
        for (const Dim& dim : map.dims()) shape.push_back(dim.length);
        const std::string dims = map.flattened.names();
        if (context_.share == Share::box) {
            const Part box = box_of(map, context_.rank_group.rank(), context_.rank_group.ranks());
            check(tw_decompose(session_, dims.c_str(), 1, shape.data(), box.start.data(),
                               box.count.data(), &decomposition_),
                  "tw_decompose");
            return;
        }
        const List& list = list_of(map, context_.share);
        check(tw_decompose_list(session_, dims.c_str(), shape.data(), list.listed_names().c_str(),
                                static_cast<std::int64_t>(list.indices.size()), list.indices.data(),
                                TW_LIST_UNIQUE, &decomposition_),
              "tw_decompose_list");
    }

    void check(int status, const char* what) const {
        if (status == TW_OK) return;
        const std::string text = tw_error_message(session_);
        throw std::runtime_error(std::string(what) + ": " +
                                 (text.empty() ? tw_strerror(status) : text));
    }

    Context context_;
    tw_session session_ = nullptr;
    tw_decomposition decomposition_ = nullptr;
    tw_file file_ = nullptr;
};

}  // namespace

std::unique_ptr<Writer> make_library(const Context& context) {
    return std::make_unique<Library>(context);
}

}  // namespace thalweg::bench::irregular
