/* Puts and gets values that do not fit, with traps for floating-point exceptions, as programs are
 * compiled for debugging: the values become fill values, and the traps stay as they were.
 *
 * Usage: traps FILE
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>

enum { traps = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW, n = 5 };

static int rank, failures;

#define IS(call, expected) is((call), (expected), #call, __LINE__)
static void is(double got, double expected, const char* what, int line) {
    if (got != expected) {
        failures++;
        fprintf(stderr, "rank %d, line %d: %s is %g, not %g\n", rank, line, what, got, expected);
    }
    if (fegetexcept() != traps || fetestexcept(FE_ALL_EXCEPT) != 0) {
        failures++;
        fprintf(stderr, "rank %d, line %d: %s: traps %#x, flags %#x\n", rank, line, what,
                (unsigned)fegetexcept(), (unsigned)fetestexcept(FE_ALL_EXCEPT));
        feclearexcept(FE_ALL_EXCEPT);
    }
}

static const struct {
    nc_type type;
    double fill;
} types[] = {{NC_BYTE, NC_FILL_BYTE},
             {NC_UBYTE, NC_FILL_UBYTE},
             {NC_SHORT, NC_FILL_SHORT},
             {NC_USHORT, NC_FILL_USHORT},
             {NC_INT, NC_FILL_INT},
             {NC_UINT, NC_FILL_UINT},
             {NC_INT64, -9223372036854775806.0},
             {NC_UINT64, 18446744073709551614.0}};

static void integers(int id, const int* vars, const MPI_Offset* start, const double* values) {
    const MPI_Offset count = n;
    for (int t = 0; t < 8; t++) {
        double got[n] = {0};
        int request = 0, status = 0;
        IS(ncmpi_put_vara_double_all(id, vars[t], start, &count, values), NC_ERANGE);
        IS(ncmpi_get_vara_double_all(id, vars[t], start, &count, got), 0);
        for (int i = 0; i < n; i++) IS(got[i], i == 0 ? 1 : i == n - 1 ? 3 : types[t].fill);
        IS(ncmpi_iput_vara_double(id, vars[t], start, &count, values, &request), NC_ERANGE);
        IS(ncmpi_wait_all(id, 1, &request, &status), 0);
        got[1] = 0;
        IS(ncmpi_get_vara_double_all(id, vars[t], start, &count, got), 0);
        IS(got[1], types[t].fill);
    }
}

static void floats(int id, int single, int wide, const MPI_Offset* start, const double* values) {
    const MPI_Offset count = n;
    float got[n] = {0};
    int whole[n] = {0};
    IS(ncmpi_put_vara_double_all(id, single, start, &count, values), NC_ERANGE); /* 1e300 */
    IS(ncmpi_get_vara_float_all(id, single, start, &count, got), 0);
    IS(got[3] == NC_FILL_FLOAT && isnan(got[1]) && isinf(got[2]), 1);
    IS(ncmpi_put_vara_double_all(id, wide, start, &count, values), 0);
    IS(ncmpi_get_vara_int_all(id, wide, start, &count, whole), NC_ERANGE);
    for (int i = 0; i < n; i++) IS(whole[i], i == 0 ? 1 : i == n - 1 ? 3 : NC_FILL_INT);
}

int main(int argc, char** argv) {
    const double values[n] = {1, NAN, INFINITY, 1e300, 3};
    int id = 0, d = 0, vars[10], ranks = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(traps);
    IS(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_64BIT_DATA, MPI_INFO_NULL, &id), 0);
    IS(ncmpi_def_dim(id, "x", (MPI_Offset)n * ranks, &d), 0);
    for (int v = 0; v < 10; v++) {
        const char name[] = {'v', (char)('0' + v), '\0'};
        const nc_type type = v < 8 ? types[v].type : v == 8 ? NC_FLOAT : NC_DOUBLE;
        IS(ncmpi_def_var(id, name, type, 1, &d, &vars[v]), 0);
        IS(ncmpi_put_att_double(id, vars[v], "values", type, n, values), v == 9 ? 0 : NC_ERANGE);
    }
    IS(ncmpi_enddef(id), 0);
    const MPI_Offset start = (MPI_Offset)n * rank;
    integers(id, vars, &start, values);
    floats(id, vars[8], vars[9], &start, values);
    IS(ncmpi_close(id), 0);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures > 0;
}
