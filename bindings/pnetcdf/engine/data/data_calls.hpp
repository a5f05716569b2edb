// The arguments of PnetCDF's functions for data, of whichever form, in one structure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#include <netcdf.h>

#include <tuple>
#include <vector>

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

// Runs a call.
// @return PnetCDF's code
// @note Both functions are collective if `together` of the call is set
int run(File& file, const DataCall& call);
// Runs calls for several variables together.
// @param each  arguments that they have in common
int run(File& file, const DataCall& each, const std::vector<DataCall>& calls);

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
            return run(
                file,
                {verb == Verb::mput ? Verb::put : Verb::get, kind, all, static_cast<int>(memory)},
                several(given));
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

    // Returns a call for each entry of the lists of arguments.
    template <class Given>
    static std::vector<DataCall> several(const Given& given) {
        std::vector<DataCall> calls;
        for (int i = 0; i < std::get<0>(given); i++) {
            const auto at = [i](const auto* list) { return list == nullptr ? nullptr : list[i]; };
            DataCall c{verb == Verb::mput ? Verb::iput : Verb::iget, kind, all,
                       static_cast<int>(memory)};
            c.varid = std::get<1>(given)[i];
            if constexpr (indices >= 1) c.start = at(std::get<2>(given));
            if constexpr (indices >= 2) c.count = at(std::get<3>(given));
            if constexpr (indices >= 3) c.stride = at(std::get<4>(given));
            if constexpr (indices >= 4) c.map = at(std::get<5>(given));
            c.values = address_of(std::get<2 + indices>(given)[i]);
            if constexpr (flexible) {
                const auto* const counts = std::get<3 + indices>(given);
                const auto* const types = std::get<4 + indices>(given);
                if (counts != nullptr) c.bufcount = counts[i];
                if (types != nullptr) c.buftype = types[i];
            }
            calls.push_back(c);
        }
        return calls;
    }
};

}  // namespace thalweg::pnetcdf::engine
