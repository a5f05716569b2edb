// Implements the functions of cfio.h: converts arguments and returns codes.
//
// SPDX-License-Identifier: Apache-2.0
#include "cfio.h"

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <vector>

#include "program.hpp"

namespace {

using thalweg::cfio::Attribute;
using thalweg::cfio::Error;
using thalweg::cfio::File;
using thalweg::cfio::Program;

constexpr int no_file = 0;  // ids start at 1

// The state of the program. It is never destroyed, because other ranks may not reach the end of the
// process with this one.
Program& program = *new Program;

// Runs an action and returns its error code. Fails if one of the pointers is null.
template <class Action>
int attempt(const char* call, int ncid, std::initializer_list<const void*> pointers,
            Action action) {
    try {
        for (const void* pointer : pointers)
            if (pointer == nullptr) throw Error{CFIO_ERROR_ARG_NULL, "an argument is NULL"};
        action();
        return CFIO_ERROR_NONE;
    } catch (const Error& error) {
        return program.fail(call, ncid, error);
    } catch (const std::exception& error) {
        return program.fail(call, ncid, Error{CFIO_ERROR_NC, error.what()});
    }
}

// Ends a collective call: ends steps of the open files, and reports the errors that files had after
// their close. cfio_finalize will return these errors again, as they belong to no open file.
int finish(const char* call) {
    return attempt(call, no_file, {}, [] {
        program.end_steps();
        program.tell_late();
    });
}

int put_vara(const char* call, int ncid, int varid, int dim, const size_t* start,
             const size_t* count, tw_type type, const void* data) {
    return attempt(call, ncid, {},
                   [&] { program.file(ncid).put_box(varid, dim, start, count, type, data); });
}

// Returns the bytes of one value; throws if the type is invalid.
std::size_t size_of(cfio_type type) {
    switch (type) {
        case CFIO_BYTE:
        case CFIO_CHAR: return 1;
        case CFIO_SHORT: return 2;
        case CFIO_INT:
        case CFIO_FLOAT: return 4;
        case CFIO_DOUBLE: return 8;
        default: throw Error{CFIO_ERROR_NC, "unknown type " + std::to_string(type)};
    }
}

}  // namespace

int cfio_init(int x_proc_num, int y_proc_num, int ratio) {
    return attempt("cfio_init", no_file, {}, [&] { program.init(x_proc_num, y_proc_num, ratio); });
}

int cfio_finalize() {
    int code = CFIO_ERROR_NONE;
    const int failed = attempt("cfio_finalize", no_file, {}, [&] { code = program.finalize(); });
    return failed != CFIO_ERROR_NONE ? failed : code;
}

int cfio_proc_type(...) { return program.type(); }

int cfio_create(const char* path, int cmode, int* ncid) {
    const int code =
        attempt("cfio_create", no_file, {path, ncid}, [&] { *ncid = program.create(path, cmode); });
    return code == CFIO_ERROR_NONE ? finish("cfio_create") : code;
}

int cfio_def_dim(int ncid, const char* name, size_t len, int* id) {
    return attempt("cfio_def_dim", ncid, {name, id},
                   [&] { *id = program.file(ncid).def_dim(name, len); });
}

int cfio_def_var(int ncid, const char* name, cfio_type type, int ndims, const int* dimids,
                 const size_t* start, const size_t* count, int* varid) {
    return attempt("cfio_def_var", ncid, {name, varid}, [&] {
        File& file = program.file(ncid);
        if (ndims < 0) throw Error{CFIO_ERROR_NC, "the number of dimensions is negative"};
        size_of(type);  // throws if the type is invalid
        if (ndims > 0 && (dimids == nullptr || start == nullptr || count == nullptr))
            throw Error{CFIO_ERROR_ARG_NULL, "an argument is NULL"};
        *varid = file.def_var(name, type, std::vector<int>(dimids, dimids + ndims));
    });
}

int cfio_put_att(int ncid, int varid, const char* name, cfio_type type, size_t len,
                 const void* op) {
    return attempt("cfio_put_att", ncid, {name, op}, [&] {
        File& file = program.file(ncid);
        const std::size_t size = size_of(type);
        if (len > INT32_MAX / size) throw Error{CFIO_ERROR_NC, "the attribute has too many values"};
        file.put_att(varid, Attribute{"", name, type, static_cast<std::int64_t>(len),
                                      std::string(static_cast<const char*>(op), len * size)});
    });
}

int cfio_enddef(int ncid) {
    const int code = attempt("cfio_enddef", ncid, {}, [&] { program.file(ncid).enddef(); });
    return code == CFIO_ERROR_NONE ? finish("cfio_enddef") : code;
}

int cfio_inq_varid(int ncid, const char* name, int* varid) {
    int id = 0;
    const int code = attempt("cfio_inq_varid", ncid, {name, varid},
                             [&] { id = program.file(ncid).find_var(name); });
    if (code != CFIO_ERROR_NONE) return code;
    // Do not print or keep this error, because a program may ask for a variable that does not
    // exist.
    if (id == 0) return CFIO_ERROR_VAR_NO_EXIST;
    *varid = id;
    return CFIO_ERROR_NONE;
}

int cfio_put_vara_float(int ncid, int varid, int dim, const size_t* start, const size_t* count,
                        const float* p) {
    return put_vara("cfio_put_vara_float", ncid, varid, dim, start, count, TW_FLOAT, p);
}

int cfio_put_vara_double(int ncid, int varid, int dim, const size_t* start, const size_t* count,
                         const double* p) {
    return put_vara("cfio_put_vara_double", ncid, varid, dim, start, count, TW_DOUBLE, p);
}

int thalweg_cfio_put_vara_int(int ncid, int varid, int dim, const size_t* start,
                              const size_t* count, const int* p) {
    return put_vara("cfio_put_vara_int", ncid, varid, dim, start, count, TW_INT, p);
}

// Declared as C programs declare the function. The linker only compares the names.
extern "C" int cfio_put_vara_int(int ncid, int varid, int dim, size_t* start, size_t* count,
                                 int* p) {
    return thalweg_cfio_put_vara_int(ncid, varid, dim, start, count, p);
}

int cfio_io_end(void) {
    return attempt("cfio_io_end", no_file, {}, [] { program.end_io(); });
}

int cfio_close(int ncid) {
    bool together = false;
    const int code = attempt("cfio_close", ncid, {}, [&] { together = program.close(ncid); });
    return code == CFIO_ERROR_NONE && together ? finish("cfio_close") : code;
}

// Lets a Fortran program refer to a variable by `number` as well as by its id.
extern "C" int thalweg_cfio_alias(int ncid, int number, int varid);
int thalweg_cfio_alias(int ncid, int number, int varid) {
    return attempt("cfio_def_var", ncid, {},
                   [&] { program.file(ncid).also_called(number, varid); });
}
