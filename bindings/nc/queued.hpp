// A file whose puts wait in a queue until a joint call of the ranks: a put is local, and all puts
// before a joint call are written as one batch. Ranks join when they sync, close, read together or
// change definitions of a file that has data, and in a collective put when the queues are full.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agreement.hpp"
#include "batch.hpp"
#include "dataset.hpp"
#include "plans.hpp"
#include "queue.hpp"

namespace thalweg::nc {

// A section of a variable. An empty stride means 1 along all dimensions.
struct Section {
    Shape start, count, stride;
    const Index* steps() const { return stride.empty() ? nullptr : stride.data(); }
};

class QueuedFile : public Dataset {
public:
    // @note These functions are collective. They throw the error of an earlier put on all ranks.
    void sync();
    void close();
    void enddef();  // local before the first data were written
    // Removes a new file whose definitions never ended. Closes any other file, without the
    // definitions made since define mode began.
    void abort();
    void undo_definitions();  // undoes the definitions made since define mode began
    void discard();           // removes a new file that has no data
    // Writes what the ranks have queued, and lets all know if the file has data.
    // @note Collective
    void write_puts() { join(Reason::leave); }
    // Writes what the ranks have put, in the call in which all ranks wait for their requests. If
    // that is little, keeps it for a later joint call.
    // @param reads  this rank reads after the call; some_reads() then is true on all ranks
    void write_requests(bool reads);
    bool some_reads() const { return some_reads_; }
    // Tests if, in the last collective call, other ranks made calls for other files. Such a file
    // cannot be written any more.
    bool is_mixed() const { return mixed_; }

    // Renames a dimension. In data mode, the new name in a classic file must not be longer than the
    // old one.
    void rename_dim(int dimid, const std::string& name);
    void rename_var(int varid, const std::string& name);
    void rename_att(int varid, const std::string& name, const std::string& new_name);

    // Tests if signed and unsigned bytes are not distinguished, as in netCDF's classic data model.
    bool any_sign() const { return format_ != Format::cdf5 && format_ != Format::netcdf4; }
    bool is_writable() const { return writable_; }
    bool in_define_mode() const { return define_; }
    bool is_new() const { return state_ == State::defining; }
    // Tests if puts to a variable wait in the queue of this rank. With several ranks, collective
    // puts without values count, too, so that the result is the same on all ranks.
    bool has_put(int varid) const;
    // Tests if define mode has ended at least once.
    bool has_ended_definitions() const { return ended_once_; }

    // Returns the number of records that this rank knows of: its own, and those of earlier
    // collective puts.
    Index records();

protected:
    QueuedFile(Session& session, std::string path);

    // Checks a section. Throws errors with netCDF's codes.
    void check(const Variable& v, const Section& section, bool reading) const {
        check_section(v, section.start.data(), section.count.data(), section.steps(), reading);
    }
    void leave_define_mode();  // ends define mode of a netCDF-4 file; local
    void remember_definitions();
    void close_alone();

    // Writes the queue before a put that needs no other rank, if it is long.
    void make_room(int varid, const Section& section);
    // Returns memory for the values of a put.
    char* take(Index bytes, std::size_t alignment) { return queue_.take(bytes, alignment); }
    // Queues values, which have the variable's type. They must stay in place until the next call of
    // join().
    void put(int varid, bool collective, Section section, const void* values);
    void put(Entry entry);
    // Writes a section of a fixed-size variable at once, if neither other ranks nor earlier puts
    // are concerned, and if it is large: small ones are cheaper together.
    // @param entry  a put of this rank alone, with values of the variable's type
    // @return false if it has to wait in the queue
    bool put_at_once(const Entry& entry);
    // Takes part in a collective put although this rank's arguments are wrong.
    void put_nothing(int varid);
    // Takes part in a collective put although this rank does not know the variable.
    void put_nowhere() { after_put(true, false); }
    // Tests if a collective put of this variable writes at once if some rank puts much. Its values
    // can then stay in the program's own array during the call.
    bool writes_at_once(const Variable& v) const;

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

    const Index number_;  // position among the files of the session

private:
    enum class Reason { full = 1, edit, sync, read, close, leave, wait };

    Reductions reductions_;
    Queue queue_;
    Plans plans_;
    Index hash_of_dimensions_ = 0, hash_of_variables_ = 0;
    std::size_t hashed_ = 0;  // number of dimensions and of variables that were already hashed
    Error failed_;            // error after which the file writes nothing more: puts and joint
                              // calls throw it
    bool has_failed_ = false;
    bool mixed_ = false;
    bool apart_ = false;       // in the last call of join(), other ranks made other calls for this
                               // file
    bool ended_once_ = false;  // the definitions have ended at least once
    struct Kept {
        Table table;
        std::vector<Edit> edits;
    };
    std::optional<Kept> kept_;  // definitions before define mode began, which abort() keeps
    double last_write_;         // time of the last write, or of the file's creation, in seconds
    bool some_reads_ = false;   // in the last call of join(), some rank had a variable to read
    Index joins_ = 0;           // number of reductions in join() that were for this file only
    Index handed_over_ = 0;     // number of reductions that were posted before the last call of
                                // join()
    tw_file alone_ = nullptr;   // handle by which this rank reads alone
    bool reads_alone_ = false;  // this rank has read alone

    // Waits until all ranks have called this function, and writes what they have queued. Returns
    // the variable that some rank reads; -1 if none does.
    // @note Collective. As long as some rank calls this because its queue is full, the ranks with
    //     another reason wait again after the write; the rank with the full queue returns after
    //     each write.
    // @param much  with Reason::full and Reason::wait: if it is false on all ranks, nothing is
    //              written
    int join(Reason reason, int varid = -1, bool much = true);
    // Returns the number of the next reduction in join(). Files of a session have different ones.
    Index next_join() const { return (number_ << 32) + joins_ + 1; }
    // Tests if all other ranks wait in join(), so that this rank does not wait there.
    bool others_wait() const { return !mixed_ && reductions_.others_wait(next_join()); }
    Index bytes_of(const Entry& e) const;
    bool has_much() const;
    void keep_requests();
    void hash_definitions();
    // In a new file, replaces definitions that differ between ranks by those of the root, if only
    // names differ or if there are no data yet. Otherwise throws PnetCDF's code for the difference.
    // @note Collective if the hashes differ
    void settle_definitions(const Index* hashes, bool data);
    void write_queue();
    void commit(bool independent);
    [[noreturn]] void fail(const Error& error) override;
    Batch next_batch();
    // @param shared  arrays of entries that overlap others, in order; the library wants copies of
    // them
    Error put_call(const PutCall& call, const std::vector<const char*>& shared);
    std::vector<const char*> shared_arrays() const;
    // Tests if a box of a fixed-size variable is worth a write of its own.
    bool is_large(const Variable& v, const Shape& count) const;
    int put_box(const Variable& v, const Shape& start, const Shape& count, const Shape& stride,
                const char* values);
    void write_by_root(const Batch& batch);
    // If another id of the file is in define mode, its definitions so far are kept, too.
    void edits_begin() override {
        close_alone();
        remember_definitions();
        if (kept_) kept_->edits.clear();
    }
    void definitions_begin() override;
    void after_put(bool collective, bool at_once, Index bytes = 0);
    template <class Rename>
    void rename(const std::string& old, std::string name, bool taken, Rename action);
    void open_alone();
    Index own_records() const;
};

}  // namespace thalweg::nc
