// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <map>

#include "history/files/saved_state.hpp"
#include "in_session.hpp"
#include "streams/command.hpp"

namespace thalweg::app {

namespace {

constexpr int exit_wrong = 1;

/// A variable of the restart, as a file that is appended to wants it defined.
struct Defined {
    std::string name, dims;
    tw_type type{};
};

/// Lists the variables of a file, and adds the lengths of their dimensions.
std::vector<Defined> variables_of(tw_file file, std::map<std::string, std::int64_t>& lengths) {
    std::vector<Defined> found;
    const char* name = nullptr;
    for (int v = 0; tw_inq_name(file, TW_VARIABLE, nullptr, v, &name) == TW_OK; ++v) {
        Defined one{name, {}, {}};
        int nd = 0;
        (void)tw_inq_var(file, one.name.c_str(), &one.type, &nd, nullptr);
        for (int d = 0; d < nd; ++d) {
            std::int64_t length = 0;
            (void)tw_inq_var_dim(file, one.name.c_str(), d, &name, &length);
            one.dims += (d > 0 ? " " : "") + std::string(name);
            lengths[name] = length;
        }
        found.push_back(std::move(one));
    }
    return found;
}

/// Removes a stream from the histories in a restart.
/// @param files  receives the paths of the stream's files that are not complete
void remove_stream(Session& io, const HistoryOptions& options, std::vector<std::string>& files) {
    const auto check = [&](tw_status code) {
        if (code != TW_OK) throw Error(code, tw_error_message(io.handle()));
    };
    std::map<std::string, std::string> states;  // of the histories, by attribute
    std::vector<Defined> variables;
    std::map<std::string, std::int64_t> lengths;
    with_reader(io, options.restart, [&](const Reader& file) {
        const char* name = nullptr;
        for (int a = 0; tw_inq_name(file.handle(), TW_ATTRIBUTE, nullptr, a, &name) == TW_OK; ++a)
            if (std::string(name).starts_with(history::state_attributes)) states[name];
        for (auto& [attribute, text] : states) text = file.get_att_text("", attribute);
        variables = variables_of(file.handle(), lengths);
    });
    const auto refuse = [&](detail::Status why) {
        why.text = options.restart + ": " + why.text;
        throw_failure(why);
    };
    detail::Status missing = detail::failure(TW_ENOTFOUND, "it has no state of a history");
    std::pair<std::string, std::string> changed;  // an attribute and its new text
    for (auto& [attribute, text] : states) {
        detail::Status removed = history::forget_stream(options.forget, text, files);
        if (removed.code == TW_ENOTFOUND) {
            missing = std::move(removed);
            continue;
        }
        if (removed.ok() && !changed.first.empty())
            removed =
                detail::failure(TW_EARG, "several histories have a stream '{}'", options.forget);
        if (!removed.ok()) refuse(std::move(removed));
        changed = {attribute, text};
    }
    if (changed.first.empty()) refuse(std::move(missing));
    for (const std::string& path : files) {
        if (std::filesystem::exists(path + ".part"))
            throw Error(TW_ESTATE, path + ".part is not complete: run thalweg recover first");
        if (!std::filesystem::exists(path))
            throw Error(TW_ENOTFOUND, path + ", which '" + options.forget +
                                          "' has begun, is not there: call thalweg history in the "
                                          "folder of the run");
    }
    tw_file file = nullptr;
    check(tw_open(io.handle(), options.restart.c_str(), "mode=append", &file));
    for (const auto& [name, length] : lengths) check(tw_def_dim(file, name.c_str(), length));
    for (const Defined& one : variables)
        check(tw_def_var(file, one.name.c_str(), one.type, one.dims.c_str(), nullptr));
    check(tw_put_att_text(file, "", changed.first.c_str(), changed.second.c_str()));
    check(tw_enddef(file));
    check(tw_close(&file));
}

/// Gives a file another name, with a number, so that the stream can begin a file of its name.
void put_aside(const std::string& path) {
    const std::filesystem::path old = path;
    std::filesystem::path aside;
    for (int n = 1; aside.empty() || std::filesystem::exists(aside); ++n)
        aside = old.parent_path() /
                fmt::format("{}.before{}{}", old.stem().string(), n, old.extension().string());
    std::filesystem::rename(old, aside);
    fmt::print("{} is now {}\n", path, aside.string());
}

}  // namespace

int forget_stream(const HistoryOptions& options) {
    return in_session("history", exit_wrong, [&](Session& io, const Ranks& ranks) {
        std::vector<std::string> files;
        remove_stream(io, options, files);
        if (ranks.rank != 0) return 0;
        try {
            for (const std::string& path : files) put_aside(path);
        } catch (const std::filesystem::filesystem_error& error) {
            fmt::print(stderr, "thalweg: history: {}\n", error.what());
            return exit_wrong;
        }
        fmt::print("{}: stream '{}' begins anew at this restart\n", options.restart,
                   options.forget);
        return 0;
    });
}

}  // namespace thalweg::app
