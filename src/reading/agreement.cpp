// The agreement of all ranks before a call on a file that is read.
// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "exchange/read/scatter.hpp"
#include "reading/request.hpp"

namespace thalweg::detail {

namespace {

/// Tests if an array can have a form, given its extents. An array without extents includes the
/// halo.
bool has_form(const ArrayView& view, Form form) { return !view.dense && view.form == form; }

std::string describe(const ReadContext& file, const ReadRequest& r) {
    const Variable& v = file.variable(r.variable);
    std::string text = fmt::format("variable '{}'", v.name);
    if (v.record) text += fmt::format(", record {}", file.options.wording.index(r.record));
    return text + (r.decomposition->replicated
                       ? std::string(", the whole")
                       : fmt::format(", decomposition {}", r.decomposition->serial));
}

/// Checks that the form of each array, with or without halo, is the same on all ranks.
Status compare_forms(const ReadContext& file, std::span<const ReadRequest> requests) {
    std::vector<std::int64_t> words;
    words.assign(2 * requests.size(), 0);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        words[2 * i] = has_form(requests[i].view, Form::without_halo);
        words[2 * i + 1] = has_form(requests[i].view, Form::with_halo);
    }
    file.team.all_reduce(words, Reduce::max);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (words[2 * i] == 0 || words[2 * i + 1] == 0) continue;
        const ReadRequest& r = requests[i];
        Status mine;
        if (has_form(r.view, Form::with_halo))
            mine = file.with_place(
                failure(TW_EMISMATCH,
                        "some ranks pass the array with its halo and others without: here {} has "
                        "the halo; {} would be without. If the arrays have the same extent for all "
                        "boxes, declare it with tw_pad",
                        extents_in_words(*r.decomposition, Form::with_halo),
                        extents_in_words(*r.decomposition, Form::without_halo)),
                r.variable);
        return agree(file.team.world(), mine);
    }
    return {};
}

}  // namespace

Status agree_on(ReadContext& file, Call call, std::span<const ReadRequest> requests,
                const Status& mine) {
    Scatter::prepare(file.team, *file.arena);
    std::uint64_t hash = requests.size();
    if (mine.ok()) {
        for (const ReadRequest& r : requests)
            for (const std::int64_t word : {static_cast<std::int64_t>(r.variable), r.record,
                                            static_cast<std::int64_t>(r.decomposition->serial)})
                hash = (hash ^ word) * 1099511628211ULL + 1;
    }
    std::int64_t forms = 0;
    for (const ReadRequest& r : requests) {
        if (has_form(r.view, Form::without_halo)) forms |= 1;
        if (has_form(r.view, Form::with_halo)) forms |= 2;
    }
    const auto describe_all = [&] {
        std::string text = "of " + file.path;
        for (const ReadRequest& r : requests) text += ", " + describe(file, r);
        return text;
    };
    Status status = file.session.call_agreement()
                        .enter({call, file.serial, static_cast<std::int64_t>(hash),
                                call == Call::close, std::ref(describe_all)},
                               mine, {}, {{&forms, 1}})
                        .status;
    return status.ok() && forms == 3 ? compare_forms(file, requests) : status;
}

}  // namespace thalweg::detail
