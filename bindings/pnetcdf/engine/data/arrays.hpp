// A program's array, as a call of PnetCDF describes it: of a type in C or of an MPI datatype, in
// order or by a memory map.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "nc/base/shape.hpp"
#include "pnetcdf/engine/data/data_calls.hpp"

namespace thalweg::pnetcdf::engine {

class Array {
public:
    Array() = default;
    // @param type  type of the variable
    // @param count  lengths of the section; empty: there is no memory map
    // Throws the error codes of MPI datatypes that do not fit.
    Array(const DataCall& call, int type, const nc::Shape& count, nc::Index elements);
    ~Array();
    Array(Array&& other) noexcept { *this = std::move(other); }
    Array& operator=(Array&& other) noexcept;
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    int type() const { return type_; }  // type of the elements
    void* at() const { return at_; }
    // Tests if the elements follow one another in memory.
    bool is_dense() const { return map_.empty() && derived_ == MPI_DATATYPE_NULL; }

    // Writes the elements, converted to another type, in their order.
    // @param fill, any_sign, order  see nc::convert()
    // @return as nc::convert()
    int pack(int type, void* to, const std::string& fill, bool any_sign, nc::Order order) const;
    // Copies values of another type, in their order, into the array.
    int unpack(int type, const void* from, bool any_sign) const;

private:
    void* at_ = nullptr;
    int type_ = 0;
    nc::Index n_ = 0;
    nc::Shape count_;
    std::vector<std::ptrdiff_t> map_;           // empty: no map
    MPI_Datatype derived_ = MPI_DATATYPE_NULL;  // a duplicate, because the program may free its
                                                // datatype
    int derived_count_ = 0;

    const std::ptrdiff_t* map() const { return map_.empty() ? nullptr : map_.data(); }
    void set_datatype(const DataCall& call, int type);
};

}  // namespace thalweg::pnetcdf::engine
