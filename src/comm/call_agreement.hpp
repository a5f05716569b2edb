// The agreement of all ranks of a session at the beginning of each collective call. Ranks in
// different calls get an error instead of waiting for each other.
//
// An agreement is one reduction. A rank contributes the same number of words in every call, so that
// the reduction is possible between ranks in different calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/team.hpp"

namespace thalweg::detail {

enum class Call {
    decompose,
    decompose_list,
    fill_halo,
    wait,
    pad,
    create,
    open,
    summary,
    restart_new,
    restart_write,
    restart_read,
    history_open,
    history_ready,
    history_end_step,
    history_save,
    history_load,
    history_close,
    finalize,
    cancel,
    mpi_finalize,
    enddef,
    put,
    end_step,
    sync,
    close,
    get,
    get_box,
    read,
    prefetch
};

/// Returns the name of a call's C function.
const char* name_of(Call call);

/// Tests if a C function is collective for all ranks, whatever the state of a file.
bool is_collective(const char* function);

/// Returns the error for two threads in one session at the same time.
Status thread_failure(const char* call, int rank);

/// The call that a rank makes, as the rank describes it to the others.
struct CallOfRank {
    Call call;
    int file = 0;  ///< serial number of the file; 0: the call concerns the session
    /// A further value that must be the same on all ranks, such as the variable of a put.
    std::int64_t detail = 0;
    /// The rank gives up the file, or the session, whatever the other ranks do.
    bool leaves = false;
    /// Returns a text for messages that names the objects of the call, such as "of a.nc, variable
    /// 'T'". Pass the function by std::ref, which takes no memory.
    std::function<std::string()> describe;
};

/// Further words that the ranks combine, if they are in the same call.
struct AgreedWords {
    /// Combined by bitwise or. Words that do not fit into a row need another reduction.
    std::span<std::int64_t> any{};
    std::span<std::int64_t> most{};  ///< combined by the maximum; as many as RowOfWords has
    std::span<std::int64_t> sums{};  ///< combined by the sum; as many as RowOfWords has
};

/// Returns two words which show, combined by bitwise or, whether all ranks have the same value.
inline std::array<std::int64_t, 2> equality_words(std::int64_t value) { return {value, ~value}; }
inline bool are_alike(std::span<const std::int64_t> told) { return (told[0] & told[1]) == 0; }

class CallAgreement {
public:
    explicit CallAgreement(Team& team) : team_(team) {}

    struct Outcome {
        Status status;        ///< the same on all ranks
        bool failed = false;  ///< some rank knew of an earlier failure of the file
    };
    /**
     * Agrees with the other ranks that all are in the same call.
     * @param mine    this rank's own failure, if it has found one in the arguments
     * @param failed  an earlier failure of the file, if this rank knows of one
     * @param words   receive the combined words of all ranks
     * @note Collective
     */
    Outcome enter(const CallOfRank& own, const Status& mine, const Status& failed,
                  const AgreedWords& words);
    Status enter(const CallOfRank& own, const Status& mine = {}) {
        return enter(own, mine, {}, {}).status;
    }

    /// Files, or the session, that ranks in different calls have given up. A rank cannot use them
    /// again, so all ranks give them up before the call returns.
    struct GivenUp {
        std::vector<int> files;  ///< serial numbers
        bool session = false;
    };
    /// Returns the number of collective calls so far.
    std::int64_t count() const { return count_; }
    bool gave_up() const { return given_up_.session || !given_up_.files.empty(); }
    void give_up_session() { given_up_.session = true; }
    GivenUp take_given_up() { return std::exchange(given_up_, {}); }

    /// Notes that this rank refused a call of a second thread. The next collective call reports
    /// this to all ranks, some of which may be waiting in that call. Any thread may call this
    /// function.
    void refuse_thread(const char* call) { refused_ = call; }

    /// Sets a function for a file, which is called on every rank before any collective call.
    void prepare(int file, std::function<void()> act) { prepare_[file] = std::move(act); }
    void forget(int file) { prepare_.erase(file); }

private:
    Status compare(const CallOfRank& own);
    void find_given_up(const CallOfRank& own);

    Team& team_;
    std::map<int, std::function<void()>> prepare_;
    GivenUp given_up_;
    std::int64_t count_ = 0;
    std::atomic<const char*> refused_{nullptr};
};

}  // namespace thalweg::detail
