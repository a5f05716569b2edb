// Entries of netCDF's dispatch table for files that are forwarded to the real library.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <tuple>

#include "front/files.hpp"

namespace thalweg::netcdf {

/// netCDF's code for a function that a library lacks.
inline constexpr int not_built = -128;

/// Calls a function of the library; returns not_built if the library lacks it.
template <class... A, class... B>
int call_if_built(int (*function)(A...), B... arguments) {
    return function != nullptr ? function(arguments...) : not_built;
}

/// Creates or opens the file of a call by the real library.
/// @param id receives the library's id
/// @return netCDF's code
/// @note Collective over the call's communicator
inline int make_forwarded(const File& file, bool create, int mode, int* id) {
    const Real& real = *file.real;
    const Call& c = file.call;
    const char* const path = c.path.c_str();
    if (c.parallel && file.fortran)
        return call_if_built(create ? real.create_par_fortran : real.open_par_fortran, path, mode,
                             MPI_Comm_c2f(c.comm), MPI_Info_c2f(c.info), id);
    if (c.parallel)
        return call_if_built(create ? real.create_par : real.open_par, path, mode, c.comm, c.info,
                             id);
    if (c.initial_size == 0 && c.chunk_size_hint == nullptr)
        return call_if_built(create ? real.create : real.open, path, mode, id);
    return create ? call_if_built(real._create, path, mode, c.initial_size, c.chunk_size_hint, id)
                  : call_if_built(real._open, path, mode, c.chunk_size_hint, id);
}

namespace forwarding {

/// Calls the library's function with the same arguments.
template <auto function>
struct Same {
    template <class... A>
    static int call(const File& f, int id, A... arguments) {
        return call_if_built(f.real->*function, f.inner_of(id), arguments...);
    }
};

/// Calls the function that has the same arguments, and replaces the library's id of a group, to
/// which the last one points, by the program's id.
template <auto function>
struct Group {
    template <class... A>
    static int call(const File& f, int id, A... arguments) {
        const int code = Same<function>::call(f, id, arguments...);
        int* const group = std::get<sizeof...(A) - 1>(std::make_tuple(arguments...));
        if (code == 0 && group != nullptr) *group = f.outer_of(*group);
        return code;
    }
};

/// Returns the index of a type in memory in the arrays of Real; 0, which stands for the variable's
/// own type, for user-defined types.
inline int index_of(int memory) { return memory > 0 && memory < memory_types ? memory : 0; }

/// Calls the function for the type in memory, which the entry has as its last argument.
template <auto functions>
struct Typed;

template <class... A, int (*(Real::*functions)[memory_types])(int, A...)>
struct Typed<functions> {
    static int call(const File& f, int id, A... arguments, int memory) {
        return call_if_built((f.real->*functions)[index_of(memory)], f.inner_of(id), arguments...);
    }
};

// ---- the other entries --------------------------------------------------------------------------

inline int put_att(const File& f, int id, int variable, const char* name, int type,
                   std::size_t count, const void* values, int memory) {
    constexpr int type_char = 2, type_string = 12, text_and_numbers = -56;
    if (memory == type) memory = 0;
    if (memory == type_char || memory == type_string) return text_and_numbers;
    return call_if_built(f.real->put_att[index_of(memory)], f.inner_of(id), variable, name, type,
                         count, values);
}

inline int inq_var_all(const File& f, int id, int variable, char* name, int* type, int* dimensions,
                       int* dimension_ids, int* attributes, int* shuffle, int* deflate,
                       int* deflate_level, int* fletcher32, int* contiguous,
                       std::size_t* chunk_sizes, int* no_fill, void* fill_value, int* endianness,
                       unsigned* filter, std::size_t* parameters, unsigned* values) {
    const Real& real = *f.real;
    const int inner = f.inner_of(id);
    // Make this call even if the program asks for nothing, because it checks the id.
    int code = call_if_built(real.inq_var, inner, variable, name, type, dimensions, dimension_ids,
                             attributes);
    if (code == 0 && (shuffle != nullptr || deflate != nullptr || deflate_level != nullptr))
        code =
            call_if_built(real.inq_var_deflate, inner, variable, shuffle, deflate, deflate_level);
    if (code == 0 && fletcher32 != nullptr)
        code = call_if_built(real.inq_var_fletcher32, inner, variable, fletcher32);
    if (code == 0 && (contiguous != nullptr || chunk_sizes != nullptr))
        code = call_if_built(real.inq_var_chunking, inner, variable, contiguous, chunk_sizes);
    if (code == 0 && (no_fill != nullptr || fill_value != nullptr))
        code = call_if_built(real.inq_var_fill, inner, variable, no_fill, fill_value);
    if (code == 0 && endianness != nullptr)
        code = call_if_built(real.inq_var_endian, inner, variable, endianness);
    if (code == 0 && (filter != nullptr || parameters != nullptr || values != nullptr))
        code = call_if_built(real.inq_var_filter, inner, variable, filter, parameters, values);
    return code;
}

inline int inq_grps(const File& f, int id, int* count, int* groups) {
    int found = 0;
    const int code = call_if_built(f.real->inq_grps, f.inner_of(id), &found, groups);
    if (code != 0) return code;
    if (count != nullptr) *count = found;
    for (int i = 0; groups != nullptr && i < found; ++i) groups[i] = f.outer_of(groups[i]);
    return code;
}

inline int inq_type_equal(const File& f, int id, int type, int other_id, int other_type,
                          int* equal) {
    const File* const other = find_file(f.library->index, other_id);
    if (other != nullptr && other->forwarded()) other_id = other->inner_of(other_id);
    return f.real->inq_type_equal(f.inner_of(id), type, other_id, other_type, equal);
}

}  // namespace forwarding

}  // namespace thalweg::netcdf
