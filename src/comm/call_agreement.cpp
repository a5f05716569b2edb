// SPDX-License-Identifier: Apache-2.0
#include "comm/call_agreement.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/words.hpp"

namespace thalweg::detail {

namespace {

enum Head : std::size_t { calls, file, not_file, flags, detail, not_detail, head_words };

/// Names of the calls, in the order of Call.
constexpr std::array names{"tw_decompose",     "tw_decompose_list",
                           "tw_fill_halo",     "tw_wait",
                           "tw_pad",           "tw_create",
                           "tw_open",          "tw_summary",
                           "tw_restart_new",   "tw_restart_write",
                           "tw_restart_read",  "tw_history_open",
                           "tw_history_ready", "tw_history_end_step",
                           "tw_history_save",  "tw_history_load",
                           "tw_history_close", "tw_finalize",
                           "tw_cancel",        "MPI_Finalize before tw_finalize",
                           "tw_enddef",        "tw_put",
                           "tw_end_step",      "tw_sync",
                           "tw_close",         "tw_get",
                           "tw_get_box",       "tw_read",
                           "tw_prefetch"};
static_assert(names.size() == static_cast<std::size_t>(Call::prefetch) + 1);

constexpr std::int64_t knew_failure = 1, refuses = 2, leaves = 4;

}  // namespace

const char* name_of(Call call) { return names[static_cast<std::size_t>(call)]; }

bool is_collective(const char* function) {
    // These functions make the calls `decompose` and `get`, too.
    const std::string_view of = function;
    if (of == "tw_decompose_halo" || of == "tw_get_array") return true;
    return std::ranges::any_of(
        names, [&](std::string_view name) { return name == of && name != name_of(Call::put); });
}

Status thread_failure(const char* call, int rank) {
    return failure(TW_ESTATE,
                   "{} was called while another thread was in a call of the same session (rank "
                   "{}): only one thread at a time may use a session; threads that write at the "
                   "same time need a session each, on communicators of their own",
                   call, OfRank{rank});
}

CallAgreement::Outcome CallAgreement::enter(const CallOfRank& here, const Status& given,
                                            const Status& failed, const AgreedWords& words) {
    ++count_;
    for (const auto& [serial, act] : prepare_) act();
    Status refused;
    if (const char* call = refused_.exchange(nullptr); call != nullptr)
        refused = thread_failure(call, team_.rank());
    const Status& mine = refused.ok() ? given : refused;
    RowOfWords combined;
    auto& row = combined.any;
    row[calls] = std::int64_t(1) << static_cast<int>(here.call);
    row[file] = here.file;
    row[not_file] = ~row[file];
    row[flags] =
        (failed.ok() ? 0 : knew_failure) | (mine.ok() ? 0 : refuses) | (here.leaves ? leaves : 0);
    row[detail] = here.detail;
    row[not_detail] = ~here.detail;
    const std::span told = words.any.first(std::min(words.any.size(), row.size() - head_words));
    std::copy(told.begin(), told.end(), row.begin() + head_words);
    std::copy(words.most.begin(), words.most.end(), combined.most.begin());
    std::copy(words.sums.begin(), words.sums.end(), combined.sums.begin());
    team_.all_reduce(combined.words(), Reduce::row);

    const bool same_file = (row[file] & row[not_file]) == 0;
    const bool same_call = same_file && (row[calls] & (row[calls] - 1)) == 0;
    const bool alike = same_call && (row[detail] & row[not_detail]) == 0;
    // Also ranks that refuse the call learn these words of the others.
    if (same_call) std::copy_n(combined.most.begin(), words.most.size(), words.most.begin());
    if ((row[flags] & (knew_failure | refuses)) == 0 && alike) {
        std::copy_n(row.begin() + head_words, told.size(), told.begin());
        std::copy_n(combined.sums.begin(), words.sums.size(), words.sums.begin());
        if (told.size() < words.any.size())
            team_.all_reduce(words.any.subspan(told.size()), Reduce::bit_or);
        return {};
    }
    Outcome outcome;
    outcome.failed = same_file && (row[flags] & knew_failure) != 0;
    if ((row[flags] & knew_failure) != 0)
        outcome.status = detail::agree(team_.world(), failed);
    else if ((row[flags] & refuses) != 0)
        outcome.status = detail::agree(team_.world(), mine);
    else
        outcome.status = compare(here);
    if (!same_call && (row[flags] & leaves) != 0) find_given_up(here);
    return outcome;
}

/// Returns an error that names the call of rank 0 and the first rank in another call.
Status CallAgreement::compare(const CallOfRank& own) {
    std::string here;
    const auto text = [&] {
        here = name_of(own.call);
        const std::string of = own.describe ? own.describe() : std::string();
        return of.empty() ? here : here += " " + of;
    };
    const auto differs = [&](const std::string& there, const std::string&) -> Status {
        if (there == here) return {};
        return failure(TW_EMISMATCH,
                       "the ranks are in different calls: {} on rank 0, {} on rank {}", there, here,
                       OfRank{team_.rank()});
    };
    Status status = compare_with_first(team_.world(), text, differs);
    if (status.ok())
        status = failure(TW_EMISMATCH, "the arguments of {} differ between ranks", here);
    return status;
}

/// Collects, on every rank, the files and session that any rank has given up.
void CallAgreement::find_given_up(const CallOfRank& own) {
    const std::int64_t mine = !own.leaves ? -1 : own.file;
    std::vector<char> all;
    for (const auto& one :
         team_.world().gather({reinterpret_cast<const char*>(&mine), sizeof mine}, 0))
        all.insert(all.end(), one.begin(), one.end());
    team_.world().broadcast(all, 0);
    for (const std::int64_t serial : to_words(all)) {
        if (serial == 0) given_up_.session = true;
        if (serial > 0) given_up_.files.push_back(serial);
    }
}

}  // namespace thalweg::detail
