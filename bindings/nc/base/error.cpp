// SPDX-License-Identifier: Apache-2.0
#include "nc/base/error.hpp"

#include <netcdf.h>
#include <thalweg/thalweg.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

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
    struct {  // send a short text together with its length
        std::int64_t size;
        char first[8184];
    } head{};
    constexpr auto most = static_cast<std::int64_t>(sizeof head.first);
    head.size = static_cast<std::int64_t>(text.size());
    std::copy_n(text.begin(), std::min(head.size, most), head.first);
    share(comm, root, reinterpret_cast<char*>(&head), sizeof head);
    const std::int64_t size = head.size;
    if (rank_in(comm) != root) text.assign(head.first, std::min(size, most));
    text.resize(static_cast<std::size_t>(size));
    for (std::int64_t done = most; done < size; done += INT_MAX / 2) {
        const auto part = std::min<std::int64_t>(size - done, INT_MAX / 2);
        share(comm, root, text.data() + done, static_cast<std::size_t>(part));
    }
    return text;
}

void agree(MPI_Comm comm, const Error& error) {
    const int ranks = size_of_comm(comm);
    int first = error.code != 0 ? rank_in(comm) : ranks;
    reduce(comm, MPI_MIN, &first, 1);
    if (first == ranks) return;
    Error shared = error;
    share(comm, first, &shared.code, 1);
    shared.text = broadcast(comm, first, shared.text);
    throw shared;
}

void end_job(MPI_Comm comm, const Error& why) {
    std::fprintf(stderr, "thalweg: %s on rank %d, for which other ranks wait: the job ends\n",
                 why.text.c_str(), rank_in(comm));
    std::fflush(stderr);
    MPI_Abort(comm, why.code);
    std::abort();
}

}  // namespace thalweg::nc
