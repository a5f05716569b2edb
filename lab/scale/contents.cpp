// SPDX-License-Identifier: Apache-2.0
#include "contents.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "problem.hpp"

namespace thalweg::scale {

namespace {

/// A workload of thalweg-bench whose ranks hold boxes.
class Boxes : public Contents {
public:
    Boxes(const bench::Options& options, int rank, int ranks) : problem_(options, rank, ranks) {
        const bench::Workload& w = problem_.workload();
        for (const bench::Dimension& d : w.dims) dims_.emplace_back(d.name, d.length);
        for (const bench::Group& g : problem_.groups()) add(g);
        name_variables();
        grid_ = problem_.grid();
        decomposition_ = cuts(w);
        reduced_ = w.cut;
    }

    void fill() override { problem_.fill(); }
    const void* values(const Variable& variable, int step) const override {
        const bench::Group& g = problem_.groups()[static_cast<std::size_t>(variable.group)];
        return problem_.values(
            problem_.variables()[static_cast<std::size_t>(g.first + variable.member)], step);
    }

private:
    void add(const bench::Group& g) {
        Group made{g.spec->prefix,
                   g.spec->count,
                   g.spec->type == bench::Element::f4 ? TW_FLOAT : TW_DOUBLE,
                   g.spec->file_order,
                   -1,
                   g.part.elements()};
        if (!g.replicated) {
            Holding held{g.spec->memory_order, {}};
            for (const int axis : g.memory_axis) {
                const auto d = static_cast<std::size_t>(axis);
                held.shape.push_back(g.shape[d]);
                held.start.push_back(g.part.start[d]);
                held.count.push_back(g.part.count[d]);
            }
            made.holding = static_cast<int>(holdings_.size());
            holdings_.push_back(std::move(held));
        }
        groups_.push_back(std::move(made));
    }

    /// Returns the process grid as text. Neighbours along the last dimension have consecutive
    /// ranks.
    std::string cuts(const bench::Workload& w) const {
        std::string text;
        const auto add = [&](std::size_t axis) {
            if (grid_[axis] > 1)
                text = fmt::format("{}={}{}{}", w.axes[axis].front(), grid_[axis],
                                   text.empty() ? "" : ",", text);
        };
        add(w.fastest);
        for (std::size_t a = 0; a < grid_.size(); ++a)
            if (a != w.fastest) add(a);
        return text.empty() ? w.axes.front().front() : text;
    }

    bench::Problem problem_;
};

}  // namespace

std::int64_t Contents::step_bytes() const {
    std::int64_t bytes = 0;
    for (const Group& g : groups_) {
        std::int64_t each = g.element();
        for (const std::string& name : g.dims)
            each *= std::find_if(dims_.begin(), dims_.end(), [&](const auto& d) {
                        return d.first == name;
                    })->second;
        bytes += each * g.count;
    }
    return bytes;
}

void Contents::name_variables() {
    for (std::size_t g = 0; g < groups_.size(); ++g)
        for (int i = 0; i < groups_[g].count; ++i)
            variables_.push_back(
                {fmt::format("{}{:0{}}", groups_[g].prefix, i + 1, groups_[g].count > 99 ? 3 : 2),
                 static_cast<int>(g), i});
}

nlohmann::ordered_json Contents::plan() const {
    nlohmann::ordered_json plan;
    for (const auto& [name, length] : dims_) plan["dimensions"][name] = length;
    plan["variables"] = nlohmann::ordered_json::array();
    for (const Group& g : groups_) {
        std::string dims;
        for (const std::string& name : g.dims) dims += (dims.empty() ? "" : " ") + name;
        plan["variables"].push_back({{"count", g.count},
                                     {"type", g.type == TW_FLOAT ? "float" : "double"},
                                     {"dims", dims}});
    }
    plan["decomposition"] = decomposition_;
    if (list_run_ > 0) plan["list_run"] = list_run_;
    return plan;
}

std::unique_ptr<Contents> make_contents(const bench::Options& options, int rank, int ranks) {
    if (auto lists = make_lists(options, rank, ranks)) return lists;
    return std::make_unique<Boxes>(options, rank, ranks);
}

}  // namespace thalweg::scale
