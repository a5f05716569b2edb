// Where all ranks of a session meet before they do anything together, and find out whether they
// are in the same call: ranks in different calls are told so, instead of waiting for each other.
//
// Every collective call of a session or of its files begins with one meeting. What a rank tells in
// it fits into words of a fixed number, whatever the call, so that all calls can meet.
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

/// The name of the C function.
const char* name_of(Call call);

/// Whether all ranks meet in a C function, whatever the state of a file.
bool is_collective(const char* function);

/// The error of two threads in one session.
Status thread_failure(const char* call, int rank);

/// A call as one of the ranks sees it.
struct Attendance {
    Call call;
    int file = 0;             ///< its serial number; 0: the call is the session's
    std::int64_t detail = 0;  ///< what else is the same on all ranks: the variable of a put
    bool leaves = false;      ///< whatever comes out, the rank gives up the file, or the session
    /// What the call is for: "of a.nc, variable 'T'". For messages; given by std::ref, which takes
    /// no memory.
    std::function<std::string()> describe;
};

/// More words that the ranks combine in a meeting, if they are in the same call.
struct MeetingWords {
    std::span<std::int64_t> any{};   ///< by `or`; more than fit take a reduction of their own
    std::span<std::int64_t> most{};  ///< by their maximum; as many as RowOfWords has
    std::span<std::int64_t> sums{};  ///< likewise
};

/// Returns two words that tell, combined by `or`, whether all ranks have the same value.
inline std::array<std::int64_t, 2> told_alike(std::int64_t value) { return {value, ~value}; }
inline bool are_alike(std::span<const std::int64_t> told) { return (told[0] & told[1]) == 0; }

class Meeting {
public:
    explicit Meeting(Team& team) : team_(team) {}

    struct Outcome {
        Status status;        ///< the same on every rank
        bool failed = false;  ///< some rank knew of a failure of the file before
    };
    /**
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

    /// What some rank has given up in a meeting of different calls. It cannot come back to it, so
    /// all ranks give it up before the call returns.
    struct Parting {
        std::vector<int> files;  ///< serial numbers
        bool session = false;
    };
    /// Meetings so far.
    std::int64_t count() const { return count_; }
    bool parted() const { return parting_.session || !parting_.files.empty(); }
    void part_all() { parting_.session = true; }
    Parting take_parting() { return std::exchange(parting_, {}); }

    /// Another thread of this rank has tried to make a call while one was under way, and was
    /// refused: the next meeting tells all ranks, some of which may wait in that call. Any thread.
    void refuse_thread(const char* call) { refused_ = call; }

    /// What a file does on every rank before any meeting, of whatever call.
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
