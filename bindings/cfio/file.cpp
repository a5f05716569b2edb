// SPDX-License-Identifier: Apache-2.0
#include "file.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace thalweg::cfio {
namespace {

std::int64_t signed_of(std::size_t value) {
    // The number was negative in the program, or is too large for any file.
    if (value > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())) return -1;
    return static_cast<std::int64_t>(value);
}

// Escapes a name for the library's lists of names: puts a backslash before each blank and
// backslash.
std::string listed(const std::string& name) {
    std::string result;
    for (const char c : name) {
        if (c == ' ' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

// Returns the element of a list with a given id. Ids are counted from 1.
template <class T>
const T& at(const List<T>& list, int id, const char* what) {
    if (id < 1 || static_cast<std::size_t>(id) > list.size())
        throw Error{CFIO_ERROR_VAR_NO_EXIST,
                    std::string("no ") + what + " with id " + std::to_string(id)};
    return list[static_cast<std::size_t>(id) - 1];
}

// Returns the id of the first definition with the same name; adds the definition if there is none.
template <class T>
int id_of(List<T>& known, List<T>& pending, T one, bool defined) {
    if (const int there = known.find(one.name); there >= 0) return there + 1;
    if (defined) throw Error{CFIO_ERROR_NC, "'" + one.name + "' is defined after cfio_enddef"};
    pending.push_back(one);
    known.push_back(std::move(one));
    return static_cast<int>(known.size());
}

}  // namespace

int File::def_dim(const std::string& name, std::size_t length) {
    const std::int64_t count = signed_of(length);
    if (count < 0)
        throw Error{CFIO_ERROR_NC, "the length of dimension '" + name + "' is out of range"};
    const bool printable =
        std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < ' '; });
    if (name.empty() || name.back() == ' ' || !printable)
        throw Error{CFIO_ERROR_NC, "'" + name + "' is not a valid name of a dimension"};
    return id_of(known_.dims, pending_.dims, Dimension{name, count}, defined_);
}

int File::def_var(const std::string& name, int type, const std::vector<int>& dims) {
    Variable var{name, type, {}};
    for (const int id : dims) var.dims.push_back(at(known_.dims, id, "dimension").name);
    return id_of(known_.vars, pending_.vars, std::move(var), defined_);
}

int File::find_var(const std::string& name) { return known_.vars.find(name) + 1; }

void File::also_called(int number, int varid) {
    const auto [there, is_new] = aliases_.emplace(number, varid);
    if (!is_new && there->second != varid)
        throw Error{CFIO_ERROR_NC, "id " + std::to_string(number) + " is used for two variables"};
}

const Variable& File::variable(int id) const {
    const auto alias = aliases_.find(id);
    return at(known_.vars, alias == aliases_.end() ? id : alias->second, "variable");
}

void File::put_att(int varid, Attribute att) {
    if (varid != NC_GLOBAL) att.variable = variable(varid).name;
    pending_.atts.set(std::move(att));
}

void File::put_box(int varid, int ndims, const std::size_t* start, const std::size_t* count,
                   tw_type type, const void* data) {
    const Variable& var = variable(varid);
    const std::size_t rank = var.dims.size();
    if (ndims < 0 || static_cast<std::size_t>(ndims) != rank)
        throw Error{CFIO_ERROR_NC, "'" + var.name + "' has " + std::to_string(rank) +
                                       " dimensions, not " + std::to_string(ndims)};
    if (!defined_) throw Error{CFIO_ERROR_NC, "cfio_put_vara was called before cfio_enddef"};
    if (rank > 0 && (start == nullptr || count == nullptr))
        throw Error{CFIO_ERROR_ARG_NULL, "start or count is NULL"};
    std::vector<std::int64_t> first(rank);
    std::vector<std::int64_t> length(rank);
    bool empty = false;
    for (std::size_t d = 0; d < rank; ++d) {
        first[d] = signed_of(start[d]);
        length[d] = signed_of(count[d]);
        if (first[d] < 0 || length[d] < 0)
            throw Error{CFIO_ERROR_EXCEED_BOUND, "'" + var.name + "': index out of bounds"};
        empty = empty || length[d] == 0;
    }
    if (data == nullptr && !empty) throw Error{CFIO_ERROR_ARG_NULL, "the data pointer is NULL"};
    const int status =
        tw_put_box(handle_, var.name.c_str(), type, first.data(), length.data(), nullptr, data);
    // TW_ERANGE means that values were replaced, but the block was put.
    if (status == TW_OK || status == TW_ERANGE) blocks_ = Blocks::open;
    if (status != TW_OK) throw Error{code_of(status), text_of(status, session_)};
}

void File::end_io() {
    if (blocks_ == Blocks::open) blocks_ = Blocks::ended;
}

void File::end_step() {
    blocks_ = Blocks::none;
    (void)tw_end_step(handle_);  // a failure is returned by the next put, and by the close
}

Outcome File::agree_on(Call call) {
    const Outcome outcome = agree(clients_, call, id_, digest(pack(pending_)), error_);
    if (!outcome.together) throw Error{CFIO_ERROR_NC, "the other clients are in another call"};
    return outcome;
}

void File::define(bool alike) {
    std::string conflict;
    Definitions all = alike ? std::move(pending_) : unite(std::move(pending_), clients_, conflict);
    pending_ = Definitions();
    int first = TW_OK;
    std::string text;
    const auto check = [&](int status) {
        if (first != TW_OK || status == TW_OK) return;
        first = status;
        text = text_of(status, session_);
    };
    for (const Dimension& dim : all.dims) {
        check(tw_def_dim(handle_, dim.name.c_str(), dim.length));
        add(known_.dims, dim);
    }
    for (const Variable& var : all.vars) {
        std::string dims;
        for (const std::string& dim : var.dims) dims += (dims.empty() ? "" : " ") + listed(dim);
        check(tw_def_var(handle_, var.name.c_str(), static_cast<tw_type>(var.type), dims.c_str(),
                         nullptr));
        add(known_.vars, var);
    }
    for (const Attribute& att : all.atts)
        check(tw_put_att(handle_, att.variable.c_str(), att.name.c_str(),
                         static_cast<tw_type>(att.type), att.count, att.bytes.data()));
    if (!defined_) {
        defined_ = true;
        check(tw_enddef(handle_));
    }
    if (first != TW_OK) throw Error{code_of(first), text, true};
    if (!conflict.empty())
        throw Error{CFIO_ERROR_NC, "the definitions of '" + conflict + "' differ between clients",
                    true};
}

void File::enddef() {
    const Outcome outcome = agree_on(Call::enddef);
    if (!defined_) define(outcome.alike);
}

void File::close() {
    const Outcome outcome = agree_on(Call::close);
    Error error{
        outcome.error,
        "error " + std::to_string(outcome.error) + " on client " + std::to_string(outcome.client),
        true};
    try {
        define(outcome.alike);
    } catch (const Error& of_definitions) {
        if (error.code == 0) error = of_definitions;
    }
    const int status = tw_close(&handle_);
    if (error.code == 0 && status != TW_OK)
        error = Error{code_of(status), text_of(status, session_), true};
    error.done = true;
    if (error.code != 0) throw error;
}

}  // namespace thalweg::cfio
