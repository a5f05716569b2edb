// The data that a program puts into a file and gets from it: distributed arrays, and sections that
// the root puts.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grid.hpp"
#include "nc/definitions/definitions.hpp"
#include "nc/state/state.hpp"

namespace thalweg::pio {

using namespace nc;

class Arrays : public Events {
public:
    Arrays(Definitions& definitions, State& state)
        : table_(definitions.table), definitions_(definitions), state_(state) {}

    // Must be called when the names of dimensions may change.
    void forget_names() { begun_.clear(); }
    // @note The following functions are collective; begin_arrays and write_darray only at the first
    //   call and when buffers are full
    // @param type   NC_NAT: that of the variable
    // @param frame  none: the frame of the variable (PIOc_setframe)
    void begin_arrays(Grid& grid);
    void write_darray(int varid, Grid& grid, nc_type type, const void* data, Index n,
                      std::optional<int> frame);
    void read_darray(int varid, Grid& grid, nc_type type, void* data, Index n,
                     std::optional<int> frame);
    void put_section(int varid, const Index* start, const Index* count, const Index* stride,
                     nc_type type, const void* data);

    // Reads a section on each rank.
    // @param error error in this rank's arguments, which is thrown on all ranks
    void get_section(int varid, const Index* start, const Index* count, const Index* stride,
                     nc_type type, void* data, const Error& error);

    static void set_buffer_limit(Index bytes);

private:
    Table& table_;
    Definitions& definitions_;
    State& state_;

    // A part of a put or get: a record, and the grid over the variable's other dimensions.
    struct Place {
        std::shared_ptr<Grid> owner;  // owner of the grid if it was made for this variable
        Grid* grid;
        Index record;
        Shape index;  // indices along the variable's leading dimensions that the grid lacks
    };
    // Puts of a variable since the last step: either sections, or records by a decomposition.
    struct Put {
        bool section = false;
        std::map<Index, Index> records;  // Grid::serial() of each record
    };
    std::map<int, Put> puts_;
    // Number of variables for which a grid has been prepared, by Grid::serial().
    std::map<Index, std::size_t> begun_;

    void step_ended() override { puts_.clear(); }
    void note(Index bytes);  // Prepares for a put of a number of bytes on any rank.
    // Keeps the order of puts. If two ranks put the same element in one step, either value may
    // remain. So before a put of elements that another rank may have put, the step is ended.
    // @param grid  NULL for a section, which the root puts
    void order(int varid, Index record, const Grid* grid);
    // Returns lengths and names of a variable's dimensions without the record dimension.
    Shape shape_of(const Variable& v);
    std::vector<std::string> names_of(const Variable& v);
    // How the arrays of a grid lie in a variable: as each record, as several records, as a record
    // that has other dimensions of length 1, or as a part of the first dimension.
    enum class Fit { none, same, records, reshaped, inner };
    Fit fit(const Variable& v, const Grid& grid);
    void check_place(const Variable& v, const Grid& grid, int frame, bool reading);
    std::vector<Place> places(const Variable& v, Grid& grid, int frame);
    std::string short_array(const Variable& v, const Grid& grid, Index n) const;
    tw_decomposition decomposition_of(const Variable& v, const Place& place, bool reading,
                                      tw_decomposition* made);
    template <class Action>
    Error error_of_copy(const Variable& v, Action action) const;
    Error put_copy(const Variable& v, const Place& place, tw_decomposition d, nc_type type,
                   const void* data);
    Error put_place(int varid, const Place& place, nc_type type, const void* data);
    Error put_serial(int varid, const Place& place, nc_type type, const void* data);
};

}  // namespace thalweg::pio
