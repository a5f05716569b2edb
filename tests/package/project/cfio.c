/* SPDX-License-Identifier: Apache-2.0
 *
 * A program written for CFIO, which must find the header and the library. It starts with fewer
 * ranks than it needs.
 */
#include <cfio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int code = cfio_init(100, 100, NC_GLOBAL + 2);
    MPI_Finalize();
    return code == CFIO_ERROR_INVALID_INIT_ARG ? 0 : 1;
}
