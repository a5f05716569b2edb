// SPDX-License-Identifier: Apache-2.0
#include "fields/describe.hpp"

#include <stdexcept>

namespace thalweg::bench {
namespace {

std::string join(const std::vector<std::string>& names, std::string text = "") {
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    return text;
}

}  // namespace

void check_tw(tw_session session, int status, const char* what) {
    if (status == TW_OK) return;
    const std::string text = session == nullptr ? "" : tw_error_message(session);
    throw std::runtime_error(std::string(what) + ": " +
                             (text.empty() ? tw_strerror(status) : text));
}

tw_decomposition decompose(tw_session session, const Problem& problem, const Group& g) {
    if (g.replicated) return nullptr;
    tw_decomposition made = nullptr;
    const std::string names = join(g.spec->memory_order);
    std::vector<std::int64_t> shape, start, count, halo;
    for (const int d : g.memory_axis) {
        halo.push_back(g.halo_of(shape.size()));
        shape.push_back(g.shape[static_cast<std::size_t>(d)]);
    }
    if (g.list) {
        const auto first = g.spec->file_order.begin() + static_cast<std::ptrdiff_t>(g.list->first);
        const std::vector<std::string> listed(first,
                                              first + static_cast<std::ptrdiff_t>(g.list->count));
        check_tw(session,
                 tw_decompose_list(session, names.c_str(), shape.data(), join(listed).c_str(),
                                   static_cast<std::int64_t>(g.list->indices.size()),
                                   g.list->indices.data(), TW_LIST_UNIQUE, &made),
                 "tw_decompose_list");
        return made;
    }
    for (const Part& box : g.boxes)
        for (const int d : g.memory_axis) {
            start.push_back(box.start[static_cast<std::size_t>(d)]);
            count.push_back(box.count[static_cast<std::size_t>(d)]);
        }
    const int boxes = static_cast<int>(g.boxes.size());
    if (problem.workload().block[0] > 0)
        check_tw(session,
                 tw_decompose_halo(session, names.c_str(), boxes, shape.data(), start.data(),
                                   count.data(), halo.data(), halo.data(), &made),
                 "tw_decompose_halo");
    else
        check_tw(session,
                 tw_decompose(session, names.c_str(), boxes, shape.data(), start.data(),
                              count.data(), &made),
                 "tw_decompose");
    return made;
}

void define(tw_session session, tw_file file, const Problem& p,
            const std::vector<tw_decomposition>& decompositions) {
    check_tw(session, tw_def_dim(file, "time", TW_UNLIMITED), "tw_def_dim");
    for (const Dimension& d : p.workload().dims)
        check_tw(session, tw_def_dim(file, d.name.c_str(), d.length), "tw_def_dim");
    for (const Variable& v : p.variables()) {
        const Group& g = p.group(v);
        check_tw(
            session,
            tw_def_var(file, v.name.c_str(), type_of(g), join(g.spec->file_order, "time").c_str(),
                       decompositions[static_cast<std::size_t>(v.group)]),
            "tw_def_var");
    }
    check_tw(session, tw_enddef(file), "tw_enddef");
}

}  // namespace thalweg::bench
