// The puts of a rank, which wait in a queue until a joint call of the ranks: a put is local, and
// all puts before a joint call are written as one batch. Ranks join when they sync, close, read
// together or change definitions of a file that has data, and in a collective put when the queues
// are full.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nc/definitions/definitions.hpp"
#include "nc/queue/batch_writer.hpp"
#include "nc/queue/joint_calls.hpp"
#include "nc/queue/queue.hpp"
#include "nc/state/state.hpp"

namespace thalweg::nc {

class Puts {
public:
    // @note Collective
    Puts(Definitions& its_definitions, State& its_state);

    Definitions& definitions;
    State& state;

    // Waits until all ranks have called this function, and writes what they have queued. Throws the
    // error of an earlier put on all ranks. Returns the variable that some rank reads; -1 if none
    // does.
    // @note Collective. As long as some rank calls this because its queue is full, the ranks with
    //     another reason wait again after the write; the rank with the full queue returns after
    //     each write.
    // @param much  with Reason::full and Reason::wait: if it is false on all ranks, nothing is
    //              written
    int join(Reason reason, int varid = -1, bool much = true);
    // Writes what the ranks have put, in the call in which all ranks wait for their requests. If
    // that is little, keeps it for a later joint call.
    // @param reads  this rank reads after the call; some_reads() then is true on all ranks
    void write_requests(bool reads);
    bool some_reads() const { return some_reads_; }
    // Tests if, in the last collective call, other ranks made calls for other files. Such a file
    // cannot be written any more.
    bool is_mixed() const { return joint_.is_mixed(); }
    // Tests if, in the last joint call, other ranks made other calls for this file.
    bool is_apart() const { return apart_; }
    Index number() const { return joint_.number(); }

    // Tests if puts to a variable wait in the queue of this rank. With several ranks, collective
    // puts without values count, too, so that the result is the same on all ranks.
    bool has_put(int varid) const;
    // Returns the number of records that this rank knows of: its own, and those of earlier
    // collective puts.
    Index records();

    // Writes the queue before a put that needs no other rank, if it is long.
    void make_room(int varid, const Section& section);
    // Chooses the byte order in which the values of a put are queued.
    Order pack(Entry& entry) const { return queue_.pack(entry); }
    // Returns memory for the values of a put.
    char* take(Index bytes, std::size_t alignment) { return queue_.take(bytes, alignment); }
    // Queues values, which have the variable's type, and the byte order that pack() has returned if
    // they lie in memory of the queue. They must stay in place until the next call of join().
    void put(Entry entry);
    // Writes a section of a fixed-size variable at once, if neither other ranks nor earlier puts
    // are concerned, and if it is large: small ones are cheaper together.
    // @param entry  a put of this rank alone, with values of the variable's type
    // @return false if it has to wait in the queue
    bool put_at_once(const Entry& entry);
    // Tests if put_at_once() may write a section.
    bool may_put_at_once(const Entry& entry) const;
    // Takes part in a collective put although this rank's arguments are wrong.
    // @param varid  variable; -1 if this rank does not know it
    void put_nothing(int varid);
    // Tests if the values of a collective put may stay in the program's own array during the call.
    bool borrows(const Entry& entry) const {
        return writes_at_once(table_.variable(entry.varid)) || passes_on(entry);
    }
    // Lets this rank pass no puts to the library before the next write. All ranks call this where
    // one of them may put elements without the others.
    void stop_passing() { passes_ = false; }

    // Begins a collective get: from then on this rank knows the records of all. Returns the
    // variable that the ranks read, -1 if none knows it.
    // @param varid  variable; -1 if this rank has passed a wrong one
    // @note Collective
    int begin_get(int varid);
    // Ends a collective get: reads values, which get the variable's type. A rank with other wrong
    // arguments calls get_nothing() instead.
    // @note These functions are collective
    void get(int varid, const Section& section, void* values);
    void get_nothing(int varid);
    // Reads without the other ranks.
    void get_alone(int varid, const Section& section, void* values);

private:
    Table& table_;
    Queue queue_;
    JointCalls joint_;
    BatchWriter writer_;
    // Error of a put that this rank has written at once. The others learn of it in the next joint
    // call.
    Error own_failure_;
    bool apart_ = false;
    bool in_parts_ = false;     // large variables are put in several parts; the same on all ranks
    bool some_reads_ = false;   // in the last joint call, some rank had a variable to read
    double last_write_;         // time of the last write, or of the file's creation, in seconds
    Index handed_over_ = 0;     // number of reductions that were posted before the last write
    bool reads_alone_ = false;  // this rank has read alone
    // Growth of the records, the same on all ranks: their number, the number of the put with which
    // they last grew, and the puts between their last two growths.
    Index known_records_ = 0, growth_ = -1, puts_per_record_ = 0;
    bool passes_ = false;    // this rank passes puts to the library; see passes_on()
    std::vector<bool> put_;  // variables of which this rank knows a put since the last write
    Index passed_ = 0;       // number of bytes passed to the library since the last write

    // Tests if puts and joint calls throw state.failure. The same on all ranks.
    bool has_failed() const { return state.failure.code != 0; }
    [[noreturn]] void fail(const Error& error);
    bool has_much() const;
    bool writes_at_once(const Variable& v) const;
    bool passes_on(const Entry& entry) const;
    bool repeats_puts() const;
    Error pass_on(const Entry& entry, Index bytes);
    Index bytes_of_whole(const Variable& v) const;  // bytes of a record or variable
    Index share_of(const Variable& v) const { return bytes_of_whole(v) / state.session.ranks(); }
    void keep_requests();
    void write_queue(const JointCalls::All& all);
    void after_put(bool collective, bool at_once, bool much = false);
};

// @note The following functions are collective. They throw the error of an earlier put on all
//     ranks.
void sync(Puts& puts);
// Fills what nobody has put of fixed-size variables without chunks, where other readers would find
// zeros.
void fill_rest(Puts& puts);
void end_definitions(Puts& puts);  // local before the first data were written
void close(Puts& puts);
// Removes a new file whose definitions never ended. Closes any other file, without the definitions
// made since define mode began.
void abort(Puts& puts);
void discard(Puts& puts);  // removes a new file that has no data

}  // namespace thalweg::nc
