// Requests: puts and gets that are carried out by a later wait.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "nc/base/types.hpp"
#include "pnetcdf/engine/data/transfers.hpp"

namespace thalweg::pnetcdf::engine {

namespace {

constexpr int no_request = -1, all_requests = -1, all_gets = -2, all_puts = -3;

// Smaller arrays are copied when they are posted, as in PnetCDF: some programs change the arrays
// afterwards.
constexpr Index small = 4096;

}  // namespace

// Posts a request, which a later wait carries out.
// @param small_too  copy small arrays, too
// @return NC_ERANGE if values do not fit, otherwise 0
int Transfers::post(const DataCall& call, bool small_too) {
    const Variable& v = variable_of(definitions_, call.varid);
    Request r;
    r.puts = call.puts();
    r.selection = selector_.select(call);
    if (call.verb == Verb::bput) handle_->buffer_size();  // throws if no buffer is attached
    const Selection& s = r.selection;
    const Index bytes = s.elements * static_cast<Index>(size_of(v.type));
    if (s.elements == 0) return NC_NOERR;
    if (call.verb == Verb::bput) {
        if (handle_->buffer - handle_->buffer_usage() < bytes)
            throw Error{NC_EINSUFFBUF, definitions_.path + ": the attached buffer is too small"};
        r.buffered = bytes;
    }
    int code = NC_NOERR;
    if (r.puts) {
        r.values = static_cast<const char*>(s.array.at());
        if (r.buffered > 0 || (small_too && bytes <= small) || !s.array.is_dense() ||
            s.array.type() != v.type) {
            r.own.reset(new char[static_cast<std::size_t>(bytes)]);
            code = convert_to(s, r.own.get());
            if (code != NC_NOERR && code != NC_ERANGE)
                throw Error{code,
                            definitions_.path + ": variable " + v.name + ": types do not convert"};
            r.values = r.own.get();
        }
    }
    // Puts get even ids and gets get odd ids. If there are no requests, ids begin at 0 and 1.
    r.id = r.puts ? 0 : 1;
    for (const Request& other : handle_->requests)
        if (other.puts == r.puts) r.id = std::max(r.id, other.id + 2);
    handle_->requests.push_back(std::move(r));
    if (call.request != nullptr) *call.request = handle_->requests.back().id;
    return code;
}

// Removes the requests of a call from the list of open requests.
// @param numbers  receives each request's position in the call's list
std::vector<Request> Transfers::take(int n, int* ids, int* statuses, int& code,
                                     std::vector<int>& numbers) {
    std::vector<Request> chosen;
    // For each request, its position in the list; -1: it is not chosen; -2: it is chosen although
    // the list does not name it, as n stands for all requests, all puts or all gets.
    std::vector<int> place(handle_->requests.size(), -1);
    for (int i = 0; i < n; i++) {
        if (statuses != nullptr) statuses[i] = NC_NOERR;
        if (ids[i] == no_request) continue;
        std::size_t r = 0;
        while (r < handle_->requests.size() && (handle_->requests[r].id != ids[i] || place[r] >= 0))
            r++;
        if (r == handle_->requests.size()) {
            if (statuses != nullptr) statuses[i] = NC_EINVAL_REQUEST;
            code = NC_EINVAL_REQUEST;
        } else {
            place[r] = i;
            ids[i] = no_request;
        }
    }
    if (n < 0)
        for (std::size_t r = 0; r < handle_->requests.size(); r++)
            if (n == all_requests || (n == all_puts) == handle_->requests[r].puts) place[r] = -2;
    std::vector<Request> left;
    for (std::size_t r = 0; r < handle_->requests.size(); r++) {
        if (place[r] == -1) {
            left.push_back(std::move(handle_->requests[r]));
            continue;
        }
        numbers.push_back(place[r]);
        chosen.push_back(std::move(handle_->requests[r]));
    }
    handle_->requests = std::move(left);
    return chosen;
}

// Carries out requests: puts before gets.
int Transfers::finish(std::vector<Request>& chosen, bool together, const std::vector<int>& numbers,
                      int* statuses) {
    const auto bytes_of = [&](const Request& r) {
        return r.selection.elements * size_of_element(r.selection.varid);
    };
    std::vector<std::unique_ptr<char[]>> arrays(chosen.size());
    std::vector<Reading> readings;
    Error error = error_of([&] {
        for (std::size_t i = 0; i < chosen.size(); i++) {
            Request& r = chosen[i];
            if (r.puts && together) {
                for (Entry& part : r.selection.parts) part.borrowed = true;
                push(r.selection, r.values, false);
            } else if (r.puts) {
                const std::size_t alignment = size_of(variable(r.selection.varid).type);
                char* const own = puts_.take(bytes_of(r), alignment);
                std::memcpy(own, r.values, static_cast<std::size_t>(bytes_of(r)));
                push(r.selection, own, false);
            } else {
                arrays[i].reset(new char[static_cast<std::size_t>(bytes_of(r))]);
                const auto more = readings_of(r.selection, arrays[i].get());
                readings.insert(readings.end(), more.begin(), more.end());
            }
        }
    });
    const auto attempt_all = [&](auto action) {
        const Error thrown = error_of(action);
        if (error.code == 0) error = thrown;
    };
    if (together) {
        // A rank without memory for all its requests takes part with those that it could prepare.
        int reads = error.code == 0 && !readings.empty() ? 1 : 0;
        if (definitions_.is_writable()) {
            attempt_all([&] { puts_.write_requests(reads != 0); });
            reads = puts_.some_reads() ? 1 : 0;
        } else {
            MPI_Allreduce(MPI_IN_PLACE, &reads, 1, MPI_INT, MPI_MAX, state_.session.comm());
        }
        if (reads != 0) {
            attempt_all([&] { puts_.begin_get(-1); });
            attempt_all([&] { read_together(std::move(readings)); });
        }
    } else {
        attempt_all([&] { read(std::move(readings), false); });
    }
    if (error.code != 0) throw error;
    int code = NC_NOERR;
    for (std::size_t i = 0; i < chosen.size(); i++) {
        if (chosen[i].puts) continue;
        const int result = deliver(chosen[i].selection, arrays[i].get());
        if (code == NC_NOERR) code = result;
        if (statuses != nullptr && i < numbers.size() && numbers[i] >= 0)
            statuses[numbers[i]] = result;
    }
    return code;
}

int Transfers::wait(bool together, int n, int* ids, int* statuses) {
    handle_->need_mode(together);
    if (n < all_puts) throw Error{NC_EINVAL, definitions_.path + ": a negative number of requests"};
    int code = NC_NOERR;
    std::vector<int> numbers;
    std::vector<Request> chosen = take(n, ids, n < 0 ? nullptr : statuses, code, numbers);
    const int ended = finish(chosen, together, numbers, n < 0 ? nullptr : statuses);
    return code != NC_NOERR ? code : ended;
}

int Transfers::cancel(int n, int* ids, int* statuses) {
    if (n < all_puts) throw Error{NC_EINVAL, definitions_.path + ": a negative number of requests"};
    int code = NC_NOERR;
    std::vector<int> numbers;
    take(n, ids, n < 0 ? nullptr : statuses, code, numbers);
    return code;
}

}  // namespace thalweg::pnetcdf::engine
