// Files that are written: a part of thalweg.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "thalweg/definitions.hpp"
#include "thalweg/reading.hpp"

namespace thalweg {

/// Ways to treat the file's records from the one given to File::set_record on.
enum class Later : int {
    keep = TW_KEEP_LATER,  ///< the later records stay until they are overwritten
    drop = TW_DROP_LATER   ///< the later records are removed when the definitions end
};

/// A file that is written (Session::create, Session::append).
class File : public OpenFile, public Definable<File> {
public:
    File() = default;

    // Definitions. Local, with the same arguments on every rank.
    /// tw_def_var
    void def_var(const std::string& name, Type type, const std::string& dims,
                 const Holding& held = replicated) {
        held.check(name);
        check(tw_def_var(file(), name.c_str(), static_cast<tw_type>(type), dims.c_str(),
                         held.handle()));
    }
    /// tw_set_record: for a file of Session::append
    void set_record(std::int64_t record, Later later = Later::keep) {
        check(tw_set_record(file(), record, static_cast<tw_later>(later)));
    }
    /// Calls tw_enddef. @note Collective
    void enddef() { check(tw_enddef(file())); }

    // Data. Local, except the first call in define mode; and put() of a step that is too large for
    // memory (see tw_put).
    /// tw_put_array: data can be reused when the call returns
    template <AnyArray A>
    void put(const std::string& var, const A& data) {
        check(tw_put_array(file(), var.c_str(), handles::array_of(data), 0));
    }
    /// tw_put_array with TW_DEFERRED: data must stay valid and unchanged until the step ends
    template <AnyArrayInPlace A>
    void put_deferred(const std::string& var, A&& data) {
        check(tw_put_array(file(), var.c_str(), handles::array_of(data), TW_DEFERRED));
    }
    /// tw_put_record_array: puts any record, by any decomposition
    template <AnyArray A>
    void put_record(const std::string& var, const Holding& held, std::int64_t record,
                    const A& data) {
        held.check(var);
        check(tw_put_record_array(file(), var.c_str(), held.handle(), record,
                                  handles::array_of(data), 0));
    }
    /// tw_put_record_array with TW_DEFERRED: data must stay valid and unchanged until the next
    /// end_step, sync or close
    template <AnyArrayInPlace A>
    void put_record_deferred(const std::string& var, const Holding& held, std::int64_t record,
                             A&& data) {
        held.check(var);
        check(tw_put_record_array(file(), var.c_str(), held.handle(), record,
                                  handles::array_of(data), TW_DEFERRED));
    }
    /// tw_put_box: data must have as many elements as the section; without a stride, all strides
    /// are 1
    template <Array A>
    void put_box(const std::string& var, const std::vector<std::int64_t>& start,
                 const std::vector<std::int64_t>& count, const A& data,
                 const std::vector<std::int64_t>& stride = {}) {
        if (start.size() != count.size() || (!stride.empty() && stride.size() != count.size()) ||
            handles::volume(count) != handles::size_of(data))
            throw Error(TW_ESHAPE,
                        "put_box of '" + var + "': start, count, stride and data differ in size");
        const bool fits = has_rank(var, start.size());
        check(tw_put_box(file(), var.c_str(), handles::type_in<const A>(),
                         fits ? start.data() : nullptr, count.data(),
                         stride.empty() ? nullptr : stride.data(),
                         fits ? std::ranges::data(data) : nullptr));
    }
    /// Calls tw_end_step. @note Collective
    void end_step() { check(tw_end_step(file())); }

private:
    friend class Session;
    friend class Definable<File>;
    using OpenFile::OpenFile;
    tw_file defined() const { return file(); }
};

}  // namespace thalweg
