/* Tests files that netCDF-C takes over, because the program defines what the engine does not write:
 * groups, strings, another byte order. All that was put before must be there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/resource.h>

#include "ranks.h"

/* Tests a group that all ranks define after one rank has put data into the file. */
static void group_after_one_put(void) {
    int group = 0, n = 0;
    fresh("one.nc", NC_NETCDF4);
    EXPECT(0, nc_enddef(id));
    if (rank == 0) EXPECT(0, nc_put_vara_int(id, f, start + 1, count + 1, values));
    EXPECT(0, nc_def_grp(id, "g", &group));
    EXPECT(0, nc_close(id));
    reopened("one.nc", "f", per_rank);
    EXPECT(0, nc_inq_grps(id, &n, NULL));
    EXPECT(1, n);
    EXPECT(0, nc_close(id));
}

/* Tests a text variable, a group and a variable with strings, which all ranks define after they
 * have put data. */
static void strings_after_puts(void) {
    const char *text = "text", *got = NULL;
    int group = 0, s = 0;
    fresh("all.nc", NC_NETCDF4);
    EXPECT(0, nc_enddef(id));
    EXPECT(0, nc_put_vara_int(id, f, start + 1, count + 1, values));
    EXPECT(0, nc_var_par_access(id, t, NC_COLLECTIVE));
    EXPECT(0, nc_put_vara_int(id, t, start, count, all));
    EXPECT(0, nc_put_att_string(id, f, "text", 1, &text));
    EXPECT(0, nc_def_grp(id, "g", &group));
    EXPECT(0, nc_def_var(id, "s", NC_STRING, 0, NULL, &s));
    EXPECT(0, nc_put_vara_int(id, t, start, count, values));
    EXPECT(0, nc_close(id));
    reopened("all.nc", "f", per_rank * ranks);
    EXPECT(0, nc_get_att_string(id, f, "text", (char**)&got));
    EXPECT(0, got == NULL ? 1 : strcmp(got, text));
    EXPECT(0, nc_free_string(1, (char**)&got));
    EXPECT(0, nc_close(id));
    reopened("all.nc", "t", per_rank * ranks);
    EXPECT(0, nc_close(id));
}

/* Puts a record of t and one of the compressed variable z with collective access, and checks it. */
static void put_record(int z, size_t record) {
    section(record, (size_t)(per_rank * rank), 1, per_rank);
    EXPECT(0, nc_put_vara_int(id, t, start, count, values));
    EXPECT(0, nc_put_vara_int(id, z, start, count, values));
    memset(all, 0, sizeof all);
    EXPECT(0, nc_get_vara_int(id, t, start, count, all));
    EXPECT(values[1], all[1]);
}

/* A file with records gets a group. Then ranks put the records and the variable that were left out
 * before, and new records: in the file that was created, and in one that was opened. */
static void records_after_group(int opened) {
    const char* const path = opened ? "opened.nc" : "created.nc";
    int z = 0, group = 0, deflated = 0;
    fresh(path, NC_NETCDF4);
    EXPECT(0, nc_def_var(id, "z", NC_INT, 2, dims, &z));
    EXPECT(0, nc_def_var_deflate(id, z, 1, 1, 1));
    EXPECT(0, nc_var_par_access(id, t, NC_COLLECTIVE));
    EXPECT(0, nc_enddef(id));
    put_record(z, 0);
    put_record(z, 2);
    if (opened) {
        EXPECT(0, nc_close(id));
        open_file(path, NC_WRITE);
        EXPECT(0, nc_var_par_access(id, t, NC_COLLECTIVE));
        EXPECT(0, nc_var_par_access(id, z, NC_COLLECTIVE));
    }
    EXPECT(0, nc_def_grp(id, "g", &group));
    put_record(z, 1);
    put_record(z, 3);
    own();
    EXPECT(0, nc_put_vara_int(id, f, start + 1, count + 1, values));
    EXPECT(0, nc_inq_var_deflate(id, z, NULL, &deflated, NULL));
    EXPECT(1, deflated);
    EXPECT(0, nc_close(id));
    EXPECT(-1, access(opened ? "opened.nc.new" : "created.nc.new", F_OK));
    reopened(path, "f", per_rank * ranks);
    for (size_t r = 0; r < 4; r++) {
        section(r, 0, 1, (size_t)(per_rank * ranks));
        for (int k = 0; k < 2; k++) {
            EXPECT(0, nc_get_vara_int(id, k == 0 ? t : z, start, count, all));
            expect_columns(per_rank * ranks);
        }
    }
    EXPECT(0, nc_close(id));
}

/* When netCDF-C takes over the file, settings other than definitions are kept. */
static void settings_of_a_group_file(void) {
    int group = 0, old = -1;
    size_t size = 0, n = 0;
    float preemption = 0;
    fresh("settings.nc", NC_NETCDF4);
    EXPECT(0, nc_var_par_access(id, t, NC_COLLECTIVE));
    EXPECT(0, nc_set_var_chunk_cache(id, t, 123456, 11, 0.5F));
    EXPECT(0, nc_set_fill(id, NC_NOFILL, &old));
    EXPECT(0, nc_def_grp(id, "g", &group));
    EXPECT(0, nc_put_vara_int(id, t, start, count, values));
    EXPECT(0, nc_get_var_chunk_cache(id, t, &size, &n, &preemption));
    EXPECT(123456, (long)size);
    EXPECT(0, nc_set_fill(id, NC_NOFILL, &old));
    EXPECT(NC_NOFILL, old);
    EXPECT(0, nc_close(id));
    reopened("settings.nc", "t", per_rank * ranks);
    EXPECT(0, nc_close(id));
}

/* Tests the filter zstd, of which netCDF-C has no plugin here, in a file that one rank writes by
 * netCDF-C because of its byte order. A second run of the program continues the file. */
static void zstd_by_one_rank(void) {
    const char* const path = "zstd.nc";
    const size_t record = access(path, F_OK) == 0;
    int z = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (record == 0) {
        fresh(path, NC_NETCDF4);
        EXPECT(0, nc_def_var(id, "z", NC_INT, 2, dims, &z));
        EXPECT(0, nc_def_var_filter(id, z, 32015, 1, (const unsigned[]){3}));
        EXPECT(0, nc_def_var_endian(id, z, NC_ENDIAN_BIG));
    } else {
        own();
        for (int i = 0; i < per_rank; i++) values[i] = 10 * rank + i;
        open_file(path, NC_WRITE);
        EXPECT(0, nc_inq_varid(id, "t", &t));
        EXPECT(0, nc_inq_varid(id, "z", &z));
        EXPECT(0, nc_var_par_access(id, z, NC_COLLECTIVE));
    }
    EXPECT(0, nc_var_par_access(id, t, NC_COLLECTIVE));
    put_record(z, record);
    EXPECT(0, nc_close(id));
    reopened(path, "z", per_rank * ranks);
    EXPECT(0, nc_close(id));
}

/* Tests a writing rank that has no memory for the data of another rank. */
static void no_memory(void) {
    enum { large = 16 << 20 };
    int dim = 0, v = 0;
    size_t from = 0, n = large;
    unsigned long pages = 0;
    struct rlimit before, little;
    if (ranks == 1) return;
    fresh("memory.nc", NC_NETCDF4);
    EXPECT(0, nc_def_dim(id, "large", large, &dim));
    EXPECT(0, nc_def_var(id, "large", NC_INT, 1, &dim, &v));
    EXPECT(0, nc_def_var_endian(id, v, NC_ENDIAN_BIG));
    EXPECT(0, nc_enddef(id));
    if (rank == 1) {
        int* const zeros = calloc(large, sizeof *zeros);
        EXPECT(0, nc_put_vara_int(id, v, &from, &n, zeros));
        free(zeros);
    }
    FILE* const sizes = fopen("/proc/self/statm", "r");
    EXPECT(1, sizes != NULL && fscanf(sizes, "%lu", &pages) == 1);
    if (sizes != NULL) fclose(sizes);
    EXPECT(0, getrlimit(RLIMIT_AS, &before));
    little = before;
    little.rlim_cur = pages * (unsigned long)getpagesize() + (16 << 20);
    if (rank == 0) EXPECT(0, setrlimit(RLIMIT_AS, &little));
    EXPECT(NC_ENOMEM, nc_sync(id));
    EXPECT(0, setrlimit(RLIMIT_AS, &before));
    EXPECT(NC_ENOMEM, nc_close(id));
}

int main(int argc, char** argv) {
    int level = 0;
    begin(&argc, &argv, MPI_THREAD_SINGLE, &level);
    if (argc > 1) {
        zstd_by_one_rank();
        return finish();
    }
    group_after_one_put();
    strings_after_puts();
    records_after_group(0);
    records_after_group(1);
    settings_of_a_group_file();
    /* With the service background, this memory is allocated elsewhere and does not run out. */
    if (getenv("THALWEG_SERVICE") == NULL) no_memory();
    return finish();
}
