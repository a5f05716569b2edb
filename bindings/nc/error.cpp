// SPDX-License-Identifier: Apache-2.0
#include "error.hpp"

#include <netcdf.h>
#include <thalweg/thalweg.h>

#include <algorithm>
#include <climits>
#include <cstdint>

namespace thalweg::nc {

int code_of(int status) {
    switch (status) {
        case TW_OK: return NC_NOERR;
        case TW_EHANDLE:
        case TW_ECLOSED: return NC_EBADID;
        case TW_ENOTFOUND: return NC_ENOTVAR;
        case TW_EEXISTS: return NC_ENAMEINUSE;
        case TW_EBOUNDS: return NC_EINVALCOORDS;
        case TW_ETYPE: return NC_ECHAR;
        case TW_ERANGE: return NC_ERANGE;
        case TW_EFORMAT: return NC_ENOTNC;
        case TW_EIO: return NC_EIO;
        case TW_EINUSE: return NC_EPERM;
        case TW_ENOMEM: return NC_ENOMEM;
        case TW_EUNSUPPORTED: return NC_ENOTBUILT;
        case TW_ENETCDF: return NC_EHDFERR;
        default: return NC_EINVAL;
    }
}

std::string broadcast(MPI_Comm comm, int root, std::string text) {
    struct {  // few bytes travel with their number
        std::int64_t size;
        char first[8184];
    } head{};
    constexpr auto most = static_cast<std::int64_t>(sizeof head.first);
    head.size = static_cast<std::int64_t>(text.size());
    std::copy_n(text.begin(), std::min(head.size, most), head.first);
    MPI_Bcast(&head, sizeof head, MPI_BYTE, root, comm);
    const std::int64_t size = head.size;
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank != root) text.assign(head.first, std::min(size, most));
    text.resize(static_cast<std::size_t>(size));
    for (std::int64_t done = most; done < size; done += INT_MAX / 2) {
        const int part = static_cast<int>(std::min<std::int64_t>(size - done, INT_MAX / 2));
        MPI_Bcast(text.data() + done, part, MPI_CHAR, root, comm);
    }
    return text;
}

void agree(MPI_Comm comm, const Error& error) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int first = error.code != 0 ? rank : ranks;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == ranks) return;
    Error shared = error;
    MPI_Bcast(&shared.code, 1, MPI_INT, first, comm);
    shared.text = broadcast(comm, first, shared.text);
    throw shared;
}

}  // namespace thalweg::nc
