// Puts and gets of one file, and requests: puts and gets that a later wait carries out.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "nc/queue/puts.hpp"
#include "pnetcdf/engine/data/selection.hpp"
#include "pnetcdf/engine/handle.hpp"

namespace thalweg::pnetcdf::engine {

class Transfers {
public:
    Transfers(Definitions& definitions, State& state, Puts& puts, const Layout& layout)
        : definitions_(definitions),
          state_(state),
          puts_(puts),
          selector_(definitions, puts, layout) {}

    // Sets the id through which the following calls are made.
    void use(Handle& handle) { handle_ = &handle; }

    // @return NC_ERANGE if values do not fit, otherwise 0. They throw other errors.
    // @note These functions are collective if `together` of the call is set
    int data(const DataCall& call);
    // @param each  arguments that the calls have in common
    int data(const DataCall& each, const std::vector<DataCall>& calls);
    // @note Collective
    void fill_record(int varid, Index record);

    // @note Collective if `together` is set
    int wait(bool together, int n, int* ids, int* statuses);
    int cancel(int n, int* ids, int* statuses);

private:
    struct Reading {
        const Entry* part;
        char* to;
    };

    Definitions& definitions_;
    State& state_;
    Puts& puts_;
    Selector selector_;
    Handle* handle_ = nullptr;

    const Variable& variable(int varid) const { return definitions_.table.variable(varid); }
    Index size_of_element(int varid) const;
    void check_mode(const DataCall& call) const;
    int convert_to(const Selection& s, char* to, Order order = Order::native);
    void push(const Selection& s, const char* values, bool together);
    int put(const DataCall& call);
    bool write_alone(const Selection& s, int& code);
    int deliver(const Selection& s, const char* read);
    int get(const DataCall& call);
    void read(std::vector<Reading> readings, bool together);
    void read_alone(const Entry& part, char* to);
    void read_together(std::vector<Reading> readings);
    std::vector<Reading> readings_of(const Selection& s, char* to) const;
    int post(const DataCall& call, bool small_too);
    std::vector<Request> take(int n, int* ids, int* statuses, int& code, std::vector<int>& numbers);
    int finish(std::vector<Request>& chosen, bool together, const std::vector<int>& numbers,
               int* statuses);
};

}  // namespace thalweg::pnetcdf::engine
