// SPDX-License-Identifier: Apache-2.0
#include "front/forward.hpp"

#include <mpi.h>

namespace thalweg::netcdf {

namespace {

/// Calls a function of the library; returns not_built if the library lacks it.
template <class... A, class... B>
int call(int (*function)(A...), B... arguments) {
    return function != nullptr ? function(arguments...) : not_built;
}

#ifndef THALWEG_SERIAL
int make_parallel(const File& file, bool create, int mode, int* id) {
    const Real& real = *file.real;
    const Call& c = file.call;
    if (!file.fortran)
        return call(create ? real.create_par : real.open_par, c.path.c_str(), mode, c.comm, c.info,
                    id);
    return call(create ? real.create_par_fortran : real.open_par_fortran, c.path.c_str(), mode,
                MPI_Comm_c2f(c.comm), MPI_Info_c2f(c.info), id);
}
#else
int make_parallel(const File&, bool, int, int*) { return not_built; }
#endif

}  // namespace

int make_forwarded(const File& file, bool create, int mode, int* id) {
    const Real& real = *file.real;
    const Call& c = file.call;
    if (c.parallel) return make_parallel(file, create, mode, id);
    const bool plain = c.initial_size == 0 && c.chunk_size_hint == nullptr;
    if (create)
        return plain ? call(real.create, c.path.c_str(), mode, id)
                     : call(real._create, c.path.c_str(), mode, c.initial_size, c.chunk_size_hint,
                            id);
    return plain ? call(real.open, c.path.c_str(), mode, id)
                 : call(real._open, c.path.c_str(), mode, c.chunk_size_hint, id);
}

namespace forwarding {

namespace {

constexpr int type_char = 2, type_string = 12, text_and_numbers = -56;

/// Returns the index of a type in memory in the arrays of Real; 0, which stands for the variable's
/// own type, for user-defined types.
int place_of(int memory) { return memory > 0 && memory < memory_types ? memory : 0; }

/// Replaces the library's id of a group by the program's id.
int as_outer(const File& file, int code, int* group) {
    if (code == 0 && group != nullptr) *group = file.outer_of(*group);
    return code;
}

}  // namespace

int get_att(const File& f, int id, int variable, const char* name, void* values, int memory) {
    return call(f.real->get_att[place_of(memory)], f.inner_of(id), variable, name, values);
}

int put_att(const File& f, int id, int variable, const char* name, int type, std::size_t count,
            const void* values, int memory) {
    const int inner = f.inner_of(id);
    if (memory == type || place_of(memory) == 0)
        return call(f.real->put_att, inner, variable, name, type, count, values);
    if (memory == type_char || memory == type_string) return text_and_numbers;
    return call(f.real->put_att_numbers[memory], inner, variable, name, type, count, values);
}

int get_vara(const File& f, int id, int variable, Section start, Section count, void* values,
             int memory) {
    return call(f.real->get_vara[place_of(memory)], f.inner_of(id), variable, start, count, values);
}

int put_vara(const File& f, int id, int variable, Section start, Section count, const void* values,
             int memory) {
    return call(f.real->put_vara[place_of(memory)], f.inner_of(id), variable, start, count, values);
}

int get_vars(const File& f, int id, int variable, Section start, Section count, Strides stride,
             void* values, int memory) {
    return call(f.real->get_vars[place_of(memory)], f.inner_of(id), variable, start, count, stride,
                values);
}

int put_vars(const File& f, int id, int variable, Section start, Section count, Strides stride,
             const void* values, int memory) {
    return call(f.real->put_vars[place_of(memory)], f.inner_of(id), variable, start, count, stride,
                values);
}

int get_varm(const File& f, int id, int variable, Section start, Section count, Strides stride,
             Strides map, void* values, int memory) {
    return call(f.real->get_varm[place_of(memory)], f.inner_of(id), variable, start, count, stride,
                map, values);
}

int put_varm(const File& f, int id, int variable, Section start, Section count, Strides stride,
             Strides map, const void* values, int memory) {
    return call(f.real->put_varm[place_of(memory)], f.inner_of(id), variable, start, count, stride,
                map, values);
}

int inq_var_all(const File& f, int id, int variable, char* name, int* type, int* dimensions,
                int* dimension_ids, int* attributes, int* shuffle, int* deflate, int* deflate_level,
                int* fletcher32, int* contiguous, std::size_t* chunk_sizes, int* no_fill,
                void* fill_value, int* endianness, unsigned* filter, std::size_t* parameters,
                unsigned* values) {
    const Real& real = *f.real;
    const int inner = f.inner_of(id);
    // Make this call even if the program asks for nothing, because it checks the id.
    int code =
        call(real.inq_var, inner, variable, name, type, dimensions, dimension_ids, attributes);
    if (code == 0 && (shuffle != nullptr || deflate != nullptr || deflate_level != nullptr))
        code = call(real.inq_var_deflate, inner, variable, shuffle, deflate, deflate_level);
    if (code == 0 && fletcher32 != nullptr)
        code = call(real.inq_var_fletcher32, inner, variable, fletcher32);
    if (code == 0 && (contiguous != nullptr || chunk_sizes != nullptr))
        code = call(real.inq_var_chunking, inner, variable, contiguous, chunk_sizes);
    if (code == 0 && (no_fill != nullptr || fill_value != nullptr))
        code = call(real.inq_var_fill, inner, variable, no_fill, fill_value);
    if (code == 0 && endianness != nullptr)
        code = call(real.inq_var_endian, inner, variable, endianness);
    if (code == 0 && (filter != nullptr || parameters != nullptr || values != nullptr))
        code = call(real.inq_var_filter, inner, variable, filter, parameters, values);
    return code;
}

int inq_ncid(const File& f, int id, const char* name, int* group) {
    return as_outer(f, call(f.real->inq_ncid, f.inner_of(id), name, group), group);
}

int inq_grps(const File& f, int id, int* count, int* groups) {
    int found = 0;
    const int code = call(f.real->inq_grps, f.inner_of(id), &found, groups);
    if (code != 0) return code;
    if (count != nullptr) *count = found;
    for (int i = 0; groups != nullptr && i < found; ++i) groups[i] = f.outer_of(groups[i]);
    return code;
}

int inq_grp_parent(const File& f, int id, int* parent) {
    return as_outer(f, call(f.real->inq_grp_parent, f.inner_of(id), parent), parent);
}

int inq_grp_full_ncid(const File& f, int id, const char* name, int* group) {
    return as_outer(f, call(f.real->inq_grp_full_ncid, f.inner_of(id), name, group), group);
}

int def_grp(const File& f, int id, const char* name, int* group) {
    return as_outer(f, call(f.real->def_grp, f.inner_of(id), name, group), group);
}

}  // namespace forwarding

}  // namespace thalweg::netcdf
