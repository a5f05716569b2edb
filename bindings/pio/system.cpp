// The functions of pio.h for iosystems, decompositions and distributed arrays.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <optional>

#include "library.hpp"
#include "nc/base/types.hpp"

using namespace thalweg::pio;

// ---- errors and log -----------------------------------------------------------------------------

int PIOc_set_log_level(int) {
    tell_once("PIOc_set_log_level (use THALWEG_LOG)");
    return PIO_NOERR;
}

int PIOc_set_global_log_level(int, int level) { return PIOc_set_log_level(level); }

int PIOc_set_iosystem_error_handling(int iosysid, int method, int* old_method) {
    Iosystem* system = nullptr;
    if (iosysid != PIO_DEFAULT) {
        const int code = on_system(__func__, iosysid, [&](Iosystem& s) { system = &s; });
        if (code != PIO_NOERR) return code;
    }
    return attempt(__func__, system, "", [&] { set(old_method, set_handler(iosysid, method)); });
}

int PIOc_Set_IOSystem_Error_Handling(int iosysid, int method) {
    int old = PIO_INTERNAL_ERROR;
    const int code = PIOc_set_iosystem_error_handling(iosysid, method, &old);
    return code == PIO_NOERR ? old : code;
}

int PIOc_Set_File_Error_Handling(int ncid, int method) {
    int system = 0;
    const int code = on_file(__func__, ncid, [&](File&) { system = open_file(ncid).iosystem; });
    return code == PIO_NOERR ? PIOc_Set_IOSystem_Error_Handling(system, method) : code;
}

// ---- iosystem -----------------------------------------------------------------------------------

int PIOc_Init_Intracomm(MPI_Comm comp_comm, int num_iotasks, int stride, int base, int rearr,
                        int* iosysidp) {
    return attempt(__func__, nullptr, "", [&] {
        need(iosysidp, "iosysidp");
        if (rearr < 0 || rearr > PIO_REARR_SUBSET)
            throw Error{NC_EINVAL, "there is no rearranger " + std::to_string(rearr)};
        *iosysidp = add_iosystem(session_of(comp_comm), num_iotasks, stride, base).id;
        tell_once("rearrangers and flow control");
    });
}

int PIOc_Init_Intracomm_from_F90(int f90_comp_comm, int num_iotasks, int stride, int base,
                                 int rearr, rearr_opt_t*, int* iosysidp) {
    return PIOc_Init_Intracomm(MPI_Comm_f2c(f90_comp_comm), num_iotasks, stride, base, rearr,
                               iosysidp);
}

int PIOc_finalize(int iosysid) { return PIOc_free_iosystem(iosysid); }

int PIOc_free_iosystem(int iosysid) {
    if (remove_iosystem_elsewhere(iosysid)) return PIO_NOERR;
    int code = PIO_NOERR;
    const int found = on_system(__func__, iosysid, [&](Iosystem& system) {
        // Errors of closed files are thrown here; the iosystem is removed in any case.
        Session& session = *system.session;
        const int handler = system.handler;
        Error error = error_of([&] { remove_iosystem(iosysid); });
        // With close=later, let one file stay incomplete: a program that finalizes an iosystem
        // after each file would otherwise wait for every file here. Only one, because each holds
        // memory.
        const Error later = error_of([&] {
            if (session.is_served())
                end_served(session);
            else
                session.check(tw_wait(session.handle(), 1));
        });
        if (error.code == 0) error = later;
        if (error.code == 0) return;
        Iosystem ended;  // kept, because its handler decides what happens after an error
        ended.handler = handler;
        code = fail("PIOc_free_iosystem", &ended, "", error);
    });
    return found != PIO_NOERR ? found : code;
}

int PIOc_get_numiotasks(int iosysid, int* numiotasks) {
    return on_system(__func__, iosysid, [&](Iosystem& s) { set(numiotasks, s.writers.number); });
}

namespace {

// Returns the number of the rank among the I/O tasks; -1 for other ranks.
int io_rank(const Iosystem& s) {
    const int from_first = s.session->rank() - s.writers.first;
    if (from_first < 0 || from_first % s.writers.stride != 0) return -1;
    return from_first / s.writers.stride < s.writers.number ? from_first / s.writers.stride : -1;
}

}  // namespace

int PIOc_iam_iotask(int iosysid, bool* ioproc) {
    return on_system(__func__, iosysid, [&](Iosystem& s) {
        if (ioproc != nullptr) *ioproc = io_rank(s) >= 0;
    });
}

int PIOc_iotask_rank(int iosysid, int* iorank) {
    return on_system(__func__, iosysid, [&](Iosystem& s) { set(iorank, io_rank(s)); });
}

int PIOc_iosystem_is_active(int iosysid, bool* active) {
    if (active != nullptr) *active = has_iosystem(iosysid);
    return PIO_NOERR;
}

int PIOc_iotype_available(int iotype) {
    return iotype >= PIO_IOTYPE_PNETCDF && iotype <= PIO_IOTYPE_NETCDF4P ? 1 : 0;
}

int PIOc_set_rearr_opts(int iosysid, int, int, bool, bool, int, bool, bool, int) {
    return on_system(__func__, iosysid,
                     [](Iosystem&) { tell_once("rearrangers and flow control"); });
}

int PIOc_set_hint(int iosysid, const char* hint, const char* value) {
    return on_system(__func__, iosysid, [&](Iosystem&) {
        need(hint, "hint");
        need(value, "hintval");
        tell_once("MPI-IO hints");
    });
}

int PIOc_set_blocksize(int) {
    tell_once("PIOc_set_blocksize");
    return PIO_NOERR;
}

PIO_Offset PIOc_set_buffer_size_limit(PIO_Offset limit) {
    static PIO_Offset now = 134217728;  // PIO's default
    const PIO_Offset old = now;
    if (limit > 0) {
        now = limit;
        Arrays::set_buffer_limit(limit);
    }
    return old;
}

namespace {

void need_netcdf4(int iotype) {
    if (iotype != PIO_IOTYPE_NETCDF4C && iotype != PIO_IOTYPE_NETCDF4P)
        throw Error{NC_ENOTNC4, "I/O type " + std::to_string(iotype) + " has no chunk caches"};
}

}  // namespace

int PIOc_set_chunk_cache(int iosysid, int iotype, PIO_Offset size, PIO_Offset nelems,
                         float preemption) {
    return on_system(__func__, iosysid, [&](Iosystem&) {
        need_netcdf4(iotype);
        const bool possible = size >= 0 && nelems >= 0;
        if (!possible || nc_set_chunk_cache(static_cast<std::size_t>(size),
                                            static_cast<std::size_t>(nelems), preemption) != 0)
            throw Error{NC_EINVAL, "there is no such chunk cache"};
        tell_once("chunk caches");
    });
}

int PIOc_get_chunk_cache(int iosysid, int iotype, PIO_Offset* sizep, PIO_Offset* nelemsp,
                         float* preempt) {
    return on_system(__func__, iosysid, [&](Iosystem&) {
        need_netcdf4(iotype);
        std::size_t size = 0, n = 0;
        float preemption = 0;
        nc_get_chunk_cache(&size, &n, &preemption);
        set(sizep, static_cast<Index>(size));
        set(nelemsp, static_cast<Index>(n));
        if (preempt != nullptr) *preempt = preemption;
    });
}

// ---- decompositions -----------------------------------------------------------------------------

namespace {

// Defines a decomposition.
// @param first  number of the first element in the map: 0 or 1
int describe(const char* call, int iosysid, int type, int ndims, const int* gdimlen, int maplen,
             const PIO_Offset* map, Index first, int* ioidp) {
    return on_system(call, iosysid, [&](Iosystem& system) {
        Session& session = *system.session;
        Shape shape;
        const Error error = error_of([&] {
            need(gdimlen, "gdimlen");
            need(ioidp, "ioidp");
            if (maplen > 0) need(map, "compmap");
            if (size_of(type) == 0)
                throw Error{NC_EBADTYPE, "there is no type " + std::to_string(type)};
            if (ndims < 1) throw Error{NC_EINVAL, "a decomposition has one dimension or more"};
            for (int d = 0; d < ndims; d++) {
                if (gdimlen[d] < 1)
                    throw Error{NC_EINVAL, "dimension " + std::to_string(d) + " has the length " +
                                               std::to_string(gdimlen[d])};
                shape.push_back(gdimlen[d]);
            }
        });
        const GivenMap given{map, static_cast<std::size_t>(std::max(maplen, 0)), first};
        // Programs that describe their decompositions anew for each file repeat those that were
        // right before.
        auto grid = describe_grid(session, shape, error.code == 0 ? &given : nullptr, error,
                                  !system.repeats);
        const int id = add_decomposition({0, system.id, type, std::move(grid)});
        if (ioidp != nullptr) *ioidp = id;
    });
}

}  // namespace

int PIOc_InitDecomp(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen,
                    const PIO_Offset* compmap, int* ioidp, const int*, const PIO_Offset*,
                    const PIO_Offset*) {
    return describe(__func__, iosysid, pio_type, ndims, gdimlen, maplen, compmap, 1, ioidp);
}

int PIOc_InitDecomp_ReadOnly(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen,
                             const PIO_Offset* compmap, int* ioidp, const int*, const PIO_Offset*,
                             const PIO_Offset*) {
    return describe(__func__, iosysid, pio_type, ndims, gdimlen, maplen, compmap, 1, ioidp);
}

int PIOc_init_decomp(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen,
                     const PIO_Offset* compmap, int* ioidp, int, const PIO_Offset*,
                     const PIO_Offset*) {
    return describe(__func__, iosysid, pio_type, ndims, gdimlen, maplen, compmap, 0, ioidp);
}

int PIOc_init_decomp_ReadOnly(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen,
                              const PIO_Offset* compmap, int* ioidp, int, const PIO_Offset*,
                              const PIO_Offset*) {
    return describe(__func__, iosysid, pio_type, ndims, gdimlen, maplen, compmap, 0, ioidp);
}

int PIOc_InitDecomp_bc(int iosysid, int basetype, int ndims, const int* gdimlen,
                       const long int* start, const long int* count, int* ioidp) {
    std::vector<PIO_Offset> map;
    bool inside = start != nullptr && count != nullptr && gdimlen != nullptr && ndims > 0;
    for (int d = 0; inside && d < ndims; d++)
        inside = start[d] >= 0 && count[d] >= 0 && start[d] + count[d] <= gdimlen[d];
    if (inside) {
        Shape at(static_cast<std::size_t>(ndims), 0);
        const Index n = volume(Shape(count, count + ndims));
        for (Index i = 0; i < n; i++) {
            Index index = 0;
            for (int d = 0; d < ndims; d++)
                index = index * gdimlen[d] + start[d] + at[static_cast<std::size_t>(d)];
            map.push_back(index);
            for (int d = ndims - 1; d >= 0; d--) {
                const auto k = static_cast<std::size_t>(d);
                if (++at[k] < count[d]) break;
                at[k] = 0;
            }
        }
    } else {
        map.push_back(-2);  // becomes an error on all ranks
    }
    return describe(__func__, iosysid, basetype, ndims, gdimlen, static_cast<int>(map.size()),
                    map.data(), 0, ioidp);
}

int PIOc_freedecomp(int iosysid, int ioid) {
    return on_system(__func__, iosysid, [&](Iosystem&) {
        decomposition(ioid);
        remove_decomposition(ioid);
    });
}

int PIOc_get_local_array_size(int ioid) {
    int size = 0;
    attempt(__func__, nullptr, "",
            [&] { size = static_cast<int>(decomposition(ioid).described->size()); });
    return size;
}

// ---- distributed arrays -------------------------------------------------------------------------

int PIOc_setframe(int ncid, int varid, int frame) {
    return on_file(__func__, ncid, [&](File& file) { file.table().variable(varid).frame = frame; });
}

int PIOc_advanceframe(int ncid, int varid) {
    return on_file(__func__, ncid, [&](File& file) { file.table().variable(varid).frame++; });
}

int PIOc_write_darray(int ncid, int varid, int ioid, PIO_Offset arraylen, void* array, void*) {
    return PIOc_write_darray_type(ncid, varid, ioid, NC_NAT, arraylen, array, nullptr);
}

int PIOc_write_darray_type(int ncid, int varid, int ioid, nc_type type, PIO_Offset arraylen,
                           const void* array, const void*) {
    return on_file_of_all("PIOc_write_darray", ncid, [&](File& file) {
        const Decomposition& d = decomposition(ioid);
        file.arrays.write_darray(varid, d.described->grid(), type == NC_NAT ? d.type : type, array,
                                 arraylen, {});
    });
}

int PIOc_write_darray_multi(int ncid, const int* varids, int ioid, int nvars, PIO_Offset arraylen,
                            void* array, const int* frame, void**, bool flushtodisk) {
    return on_file_of_all(__func__, ncid, [&](File& file) {
        const Decomposition& d = decomposition(ioid);
        file.arrays.begin_arrays(d.described->grid());
        need(varids, "varids");
        if (nvars < 1) throw Error{NC_EINVAL, std::to_string(nvars) + " variables to write"};
        const bool record = file.table().is_record(file.table().variable(varids[0]));
        for (int v = 1; v < nvars; v++)
            if (file.table().is_record(file.table().variable(varids[v])) != record)
                throw Error{PIO_EVARDIMMISMATCH,
                            "variables with and without the record dimension in one call"};
        // Takes part in the calls of the other ranks, also after an error of this one.
        Error first;
        for (int v = 0; v < nvars; v++) {
            const std::size_t bytes = static_cast<std::size_t>(v * arraylen) * size_of(d.type);
            const Error error = error_of([&] {
                file.arrays.write_darray(
                    varids[v], d.described->grid(), d.type,
                    array == nullptr ? nullptr : static_cast<char*>(array) + bytes, arraylen,
                    frame != nullptr ? std::optional<int>(frame[v]) : std::nullopt);
            });
            if (first.code == 0) first = error;
        }
        if (flushtodisk) file.state.sync();
        if (first.code != 0) throw first;
    });
}

int PIOc_read_darray(int ncid, int varid, int ioid, PIO_Offset arraylen, void* array) {
    return PIOc_read_darray_type(ncid, varid, ioid, NC_NAT, arraylen, array);
}

int PIOc_read_darray_type(int ncid, int varid, int ioid, nc_type type, PIO_Offset arraylen,
                          void* array) {
    return on_file_of_all("PIOc_read_darray", ncid, [&](File& file) {
        const Decomposition& d = decomposition(ioid);
        file.arrays.read_darray(varid, d.described->grid(), type == NC_NAT ? d.type : type, array,
                                arraylen, {});
    });
}

namespace {

// Writes an array with as many elements as the map. Its type may differ from that of the
// decomposition.
int put_record(const char* call, int ncid, int varid, int ioid, PIO_Offset record, nc_type type,
               const void* data) {
    return on_file_of_all(call, ncid, [&](File& file) {
        const Decomposition& d = decomposition(ioid);
        file.arrays.write_darray(varid, d.described->grid(), type, data, d.described->size(),
                                 static_cast<int>(record));
    });
}

int get_record(const char* call, int ncid, int varid, int ioid, PIO_Offset record, nc_type type,
               void* data) {
    return on_file_of_all(call, ncid, [&](File& file) {
        const Decomposition& d = decomposition(ioid);
        file.arrays.read_darray(varid, d.described->grid(), type, data, d.described->size(),
                                static_cast<int>(record));
    });
}

}  // namespace

#define THALWEG_PIO_VARD(suffix, ctype, nctype)                                                    \
    int PIOc_put_vard##suffix(int ncid, int varid, int decompid, const PIO_Offset recnum,          \
                              const ctype* op) {                                                   \
        return put_record(__func__, ncid, varid, decompid, recnum, nctype, op);                    \
    }                                                                                              \
    int PIOc_get_vard##suffix(int ncid, int varid, int decompid, const PIO_Offset recnum,          \
                              ctype* buf) {                                                        \
        return get_record(__func__, ncid, varid, decompid, recnum, nctype, buf);                   \
    }
THALWEG_NC_TYPES(THALWEG_PIO_VARD)
