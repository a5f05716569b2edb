// The joint calls of the ranks: each rank tells the others why it calls, and learns what all of
// them have to do.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nc/base/session.hpp"
#include "nc/definitions/definitions.hpp"
#include "nc/queue/agreement.hpp"

namespace thalweg::nc {

// PnetCDF's codes for calls and definitions that differ between ranks.
enum {
    different_calls = -250,
    other_dimensions = -252,
    other_dimension_length = -253,
    other_dimension_name = -254,
    other_variables = -255,
    other_variable_name = -256,
    other_variable_rank = -257,
    other_variable_dimensions = -258,
    other_variable_type = -259
};

enum class Reason { full = 1, edit, sync, read, close, leave, wait };

class JointCalls {
public:
    // The arguments of a rank in a joint call.
    struct Own {
        Reason reason;
        int varid;         // variable that the rank reads; -1: none
        bool much;         // with Reason::full and Reason::wait: the queue must be written
        bool values;       // the queue has values
        bool passed;       // values were passed to the library since the last write
        bool independent;  // the rank has put or read without the others
        bool failed;       // a put has failed, so that the file cannot be written any more
    };
    // The result of a joint call.
    struct All {
        bool apart;        // the ranks are in different calls
        bool waits;        // no rank calls because its queue is full
        bool writes_full;  // a full queue must be written
        bool much, values, passed, independent, failed;
        int varid;  // a variable that some rank reads; -1: none
        bool same_definitions;
        bool caught_up;  // some rank had made fewer collective puts than another
    };

    // @note Collective
    JointCalls(Session& session, Definitions& definitions);

    Reductions reductions;

    Index number() const { return number_; }
    // Tests if, in the last joint call, other ranks made calls for other files. Such a file cannot
    // be written any more.
    bool is_mixed() const { return mixed_; }
    // @note Collective
    All meet(const Own& own);
    // Tests if all other ranks wait in meet() with the definitions of this rank, so that it does
    // not wait there, and can write with them.
    bool others_wait() {
        return !mixed_ && reductions.others_wait(next()) &&
               reductions.others_have(hash_of_definitions());
    }
    // In a new file, replaces definitions that differ between ranks by those of the root, if only
    // names differ or if there are no data yet. Otherwise throws PnetCDF's code for the difference.
    // @note Collective if the definitions differ
    void settle_definitions(const All& all, int root);

private:
    Session& session_;
    Definitions& definitions_;
    const Index number_;  // position among the files of the session
    Index calls_ = 0;     // number of joint calls that were for this file only
    bool mixed_ = false;
    Index hash_ = 0;          // the last hash of the definitions
    std::size_t hashed_ = 0;  // number of dimensions and variables in it; 0: they may change

    // Returns the number of the next joint call. Files of a session have different ones.
    Index next() const { return (number_ << 32) + calls_ + 1; }
    Index hash_of_definitions();
};

}  // namespace thalweg::nc
