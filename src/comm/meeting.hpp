// Meetings, in which all ranks of a session find out if they are in the same call: ranks in
// different calls get an error, instead of waiting for each other.
//
// Every collective call of a session or of its files begins with one meeting. A rank contributes a
// fixed number of words, whatever the call, so that all calls can meet.
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

/// Returns the name of the C function.
const char* name_of(Call call);

/// Tests if all ranks meet in a C function, whatever the state of a file.
bool is_collective(const char* function);

/// Returns the error of two threads in one session.
Status thread_failure(const char* call, int rank);

/// A call as one of the ranks sees it.
struct Attendance {
    Call call;
    int file = 0;             ///< its serial number; 0: the call is the session's
    std::int64_t detail = 0;  ///< another value that all ranks have: the variable of a put
    bool leaves = false;      ///< the rank gives up the file, or the session, in any case
    /// Returns the objects of the call for messages: "of a.nc, variable 'T'". Given by std::ref,
    /// which takes no memory.
    std::function<std::string()> describe;
};

/// More words that the ranks combine in a meeting, if they are in the same call.
struct MeetingWords {
    std::span<std::int64_t> any{};   ///< combined by `or`; those that do not fit, separately
    std::span<std::int64_t> most{};  ///< combined by maximum; as many as RowOfWords has
    std::span<std::int64_t> sums{};  ///< combined by sum; as many as RowOfWords has
};

/// Returns two words that tell, combined by `or`, whether all ranks have the same value.
inline std::array<std::int64_t, 2> equality_words(std::int64_t value) { return {value, ~value}; }
inline bool are_alike(std::span<const std::int64_t> told) { return (told[0] & told[1]) == 0; }

class Meeting {
public:
    explicit Meeting(Team& team) : team_(team) {}

    struct Outcome {
        Status status;        ///< identical on all ranks
        bool failed = false;  ///< some rank knew of a failure of the file before
    };
    /**
     * Meets the other ranks.
     * @param mine    this rank's own failure, if it has found one in the arguments
     * @param failed  an earlier failure of the file, if this rank knows of one
     * @param words   receive what all ranks gave
     * @note Collective
     */
    Outcome enter(const Attendance& attendance, const Status& mine, const Status& failed,
                  const MeetingWords& words);
    Status enter(const Attendance& attendance, const Status& mine = {}) {
        return enter(attendance, mine, {}, {}).status;
    }

    /// Files, or the session, that some rank has given up in a meeting of different calls. As it
    /// cannot return to them, all ranks give them up before the call returns.
    struct Parting {
        std::vector<int> files;  ///< serial numbers
        bool session = false;
    };
    /// Returns the number of meetings so far.
    std::int64_t count() const { return count_; }
    bool parted() const { return parting_.session || !parting_.files.empty(); }
    void part_all() { parting_.session = true; }
    Parting take_parting() { return std::exchange(parting_, {}); }

    /// Notes the call of a second thread of this rank, which was refused: the next meeting tells
    /// all ranks, some of which may wait in that call. Any thread may call it.
    void refuse_thread(const char* call) { refused_ = call; }

    /// Sets the function that a file calls on every rank before any meeting, whatever the call.
    void prepare(int file, std::function<void()> act) { prepare_[file] = std::move(act); }
    void forget(int file) { prepare_.erase(file); }

private:
    Status compare(const Attendance& attendance);
    void find_parting(const Attendance& attendance);

    Team& team_;
    std::map<int, std::function<void()>> prepare_;
    Parting parting_;
    std::int64_t count_ = 0;
    std::atomic<const char*> refused_{nullptr};
};

}  // namespace thalweg::detail
