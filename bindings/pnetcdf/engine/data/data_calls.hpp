// The arguments of PnetCDF's functions for data, of whichever form, in one structure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#include <netcdf.h>

#include <tuple>
#include <type_traits>

#include "nc/base/types.hpp"

namespace thalweg::pnetcdf::engine {

class File;

enum class Verb { put, get, iput, iget, bput, mput, mget };

// Forms of calls. The value of each is its number of arguments for the section.
enum class Kind { var, var1, vara, vars, varm, varn, vard };

// Types in memory, by netCDF's numbers. For of_variable, the call passes an MPI datatype.
enum class Memory {
    of_variable = NC_NAT,
    of_text = NC_CHAR,
#define X(suffix, in_memory, number) of##suffix = number,
    THALWEG_NC_NUMBER_TYPES(X)
#undef X
};

struct DataCall {
    Verb verb;
    Kind kind;
    bool together;  // collective
    int type;       // type in memory; NC_NAT: type of buftype
    int varid = 0;
    const MPI_Offset *start = nullptr, *count = nullptr, *stride = nullptr, *map = nullptr;
    int pieces = 0;  // number of sections of a varn call
    MPI_Offset *const *starts = nullptr, *const *counts = nullptr;
    void* values = nullptr;
    MPI_Offset bufcount = 0;
    MPI_Datatype buftype = MPI_DATATYPE_NULL;
    MPI_Datatype filetype = MPI_DATATYPE_NULL;  // datatype of the places in the file, for vard
    int* request = nullptr;

    bool puts() const { return verb == Verb::put || verb == Verb::iput || verb == Verb::bput; }
    bool waits() const { return verb == Verb::put || verb == Verb::get; }
};

// The arguments of a call for several variables, in lists with one entry for each variable.
struct SeveralCall {
    DataCall each;
    int n = 0;
    const int* varids = nullptr;
    MPI_Offset *const *starts = nullptr, *const *counts = nullptr, *const *strides = nullptr,
                      *const *maps = nullptr;
    void* const* values = nullptr;
    const MPI_Offset* bufcounts = nullptr;
    const MPI_Datatype* buftypes = nullptr;
};

// Runs a call.
// @return PnetCDF's code
// @note Both functions are collective if `together` of the call is set
int run(File& file, const DataCall& call);
int run(File& file, const SeveralCall& call);

template <class Pointer>
void* address_of(Pointer* pointer) {
    return const_cast<void*>(static_cast<const void*>(pointer));
}

// A PnetCDF function that puts or gets data. Its arguments follow from its signature.
template <class Function, Verb verb, Kind kind, Memory memory, bool all>
struct DataFunction;

template <class... A, Verb verb, Kind kind, Memory memory, bool all>
struct DataFunction<int(int, A...), verb, kind, memory, all> {
    static constexpr bool flexible = memory == Memory::of_variable;
    static constexpr int indices = static_cast<int>(kind);  // number of arguments for the section

    static int call(File& file, A... arguments) {
        const auto given = std::make_tuple(arguments...);
        if constexpr (verb == Verb::mput || verb == Verb::mget)
            return run(file, several(given));
        else
            return run(file, one(given));
    }

private:
    template <class Given>
    static DataCall one(const Given& given) {
        DataCall c{verb, kind, all, static_cast<int>(memory)};
        c.varid = std::get<0>(given);
        constexpr int at = kind == Kind::varn ? 4 : kind == Kind::vard ? 2 : 1 + indices;
        if constexpr (kind == Kind::varn) {
            c.pieces = std::get<1>(given);
            c.starts = std::get<2>(given);
            c.counts = std::get<3>(given);
        } else if constexpr (kind == Kind::vard) {
            c.filetype = std::get<1>(given);
        } else {
            if constexpr (indices >= 1) c.start = std::get<1>(given);
            if constexpr (indices >= 2) c.count = std::get<2>(given);
            if constexpr (indices >= 3) c.stride = std::get<3>(given);
            if constexpr (indices >= 4) c.map = std::get<4>(given);
        }
        c.values = address_of(std::get<at>(given));
        if constexpr (flexible) {
            c.bufcount = std::get<at + 1>(given);
            c.buftype = std::get<at + 2>(given);
        }
        if constexpr (verb != Verb::put && verb != Verb::get)
            c.request = std::get<at + (flexible ? 3 : 1)>(given);
        return c;
    }

    template <class Given>
    static SeveralCall several(const Given& given) {
        SeveralCall c{
            {verb == Verb::mput ? Verb::put : Verb::get, kind, all, static_cast<int>(memory)}};
        c.n = std::get<0>(given);
        c.varids = std::get<1>(given);
        if constexpr (indices >= 1) c.starts = std::get<2>(given);
        if constexpr (indices >= 2) c.counts = std::get<3>(given);
        if constexpr (indices >= 3) c.strides = std::get<4>(given);
        if constexpr (indices >= 4) c.maps = std::get<5>(given);
        c.values = reinterpret_cast<void* const*>(address_of(std::get<2 + indices>(given)));
        if constexpr (flexible) {
            c.bufcounts = std::get<3 + indices>(given);
            c.buftypes = std::get<4 + indices>(given);
        }
        return c;
    }
};

}  // namespace thalweg::pnetcdf::engine
