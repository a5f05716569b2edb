// Decompositions in text files, in PIO's form; map_files.cpp handles netCDF files.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "library.hpp"

using namespace thalweg::pio;

namespace {

constexpr int version = 2001;  // version of the form of the text file
constexpr int tag = 1;

struct Maps {
    MPI_Comm comm;
    int rank = 0, ranks = 1;

    explicit Maps(MPI_Comm c) : comm(c) {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
    }

    // Calls an action on the first rank once for each rank, with that rank's map.
    template <class Action>
    void gather(const PIO_Offset* map, PIO_Offset n, Action action) const {
        if (rank != 0) {
            MPI_Send(map, static_cast<int>(n), MPI_OFFSET, 0, tag, comm);
            return;
        }
        action(0, std::vector<PIO_Offset>(map, map + n));
        for (int r = 1; r < ranks; r++) {
            MPI_Status status;
            int size = 0;
            MPI_Probe(r, tag, comm, &status);
            MPI_Get_count(&status, MPI_OFFSET, &size);
            std::vector<PIO_Offset> theirs(static_cast<std::size_t>(size));
            MPI_Recv(theirs.data(), size, MPI_OFFSET, r, tag, comm, MPI_STATUS_IGNORE);
            action(r, theirs);
        }
    }
};

void write_maps(const char* path, int ndims, const int* gdims, PIO_Offset maplen,
                const PIO_Offset* map, MPI_Comm comm) {
    const Maps maps(comm);
    std::ofstream out;
    if (maps.rank == 0) {
        out.open(path);
        out << "version " << version << " npes " << maps.ranks << " ndims " << ndims << " \n";
        for (int d = 0; d < ndims; d++) out << gdims[d] << " ";
        out << "\n";
    }
    maps.gather(map, maplen, [&](int rank, const std::vector<PIO_Offset>& theirs) {
        out << rank << " " << theirs.size() << "\n";
        for (const PIO_Offset i : theirs) out << i << " ";
        out << "\n";
    });
    on_rank(comm, 0, [&] {
        out.close();
        if (!out) throw Error{NC_EIO, std::string(path) + ": cannot be written"};
    });
}

}  // namespace

int PIOc_writemap(const char* file, int ndims, const int* gdims, PIO_Offset maplen, PIO_Offset* map,
                  MPI_Comm comm) {
    return attempt(__func__, nullptr, file == nullptr ? "" : file, [&] {
        need(file, "file");
        write_maps(file, ndims, gdims, maplen, map, comm);
    });
}

int PIOc_writemap_from_f90(const char* file, int ndims, const int* gdims, PIO_Offset maplen,
                           const PIO_Offset* map, int f90_comm) {
    return PIOc_writemap(file, ndims, gdims, maplen, const_cast<PIO_Offset*>(map),
                         MPI_Comm_f2c(f90_comm));
}

int PIOc_write_decomp(const char* file, int iosysid, int ioid, MPI_Comm comm) {
    return on_system(__func__, iosysid, [&](Iosystem&) {
        need(file, "file");
        const Grid& grid = decomposition(ioid).described->grid();
        std::vector<PIO_Offset> map;
        for (const Index i : grid.map().dofs()) map.push_back(i + 1);
        const std::vector<int> dims(grid.shape().begin(), grid.shape().end());
        write_maps(file, static_cast<int>(dims.size()), dims.data(),
                   static_cast<PIO_Offset>(map.size()), map.data(), comm);
    });
}

// Reads a map. The caller frees the arrays. Ranks for which the file has no map get an empty one.
int PIOc_readmap(const char* file, int* ndims, int** gdims, PIO_Offset* fmaplen, PIO_Offset** map,
                 MPI_Comm comm) {
    return attempt(__func__, nullptr, file == nullptr ? "" : file, [&] {
        need(file, "file");
        need(ndims, "ndims");
        need(gdims, "gdims");
        need(fmaplen, "fmaplen");
        need(map, "map");
        const Maps maps(comm);
        std::string text;
        on_rank(comm, 0, [&] {
            std::ifstream in(file);
            if (!in) throw Error{ENOENT, std::string(file) + ": cannot be read"};
            text.assign(std::istreambuf_iterator<char>(in), {});
        });
        std::istringstream in(broadcast(comm, 0, text));
        std::string word;
        int found = 0, ranks = 0, n = 0;
        in >> word >> found >> word >> ranks >> word >> n;
        if (!in || found != version || ranks < 1 || n < 1 || n > NC_MAX_VAR_DIMS)
            throw Error{NC_EINVAL, std::string(file) + ": is not a decomposition"};
        if (ranks > maps.ranks)
            throw Error{NC_EINVAL,
                        std::string(file) + ": is for " + std::to_string(ranks) + " ranks"};
        std::vector<int> dims(static_cast<std::size_t>(n));
        for (int& d : dims) in >> d;
        std::vector<PIO_Offset> mine;
        for (int r = 0; r < ranks && in; r++) {
            int rank = 0;
            std::size_t size = 0;
            in >> rank >> size;
            if (size > text.size() && size > in.str().size()) in.setstate(std::ios::failbit);
            std::vector<PIO_Offset> theirs(in ? size : 0);
            for (PIO_Offset& i : theirs) in >> i;
            if (rank == maps.rank) mine = std::move(theirs);
        }
        if (!in) throw Error{NC_EINVAL, std::string(file) + ": the decomposition is cut off"};
        *ndims = n;
        *gdims = static_cast<int*>(std::malloc(dims.size() * sizeof(int)));
        *map = static_cast<PIO_Offset*>(std::malloc((mine.size() + 1) * sizeof(PIO_Offset)));
        if (*gdims == nullptr || *map == nullptr) throw std::bad_alloc();
        std::copy(dims.begin(), dims.end(), *gdims);
        std::copy(mine.begin(), mine.end(), *map);
        *fmaplen = static_cast<PIO_Offset>(mine.size());
    });
}

int PIOc_readmap_from_f90(const char* file, int* ndims, int** gdims, PIO_Offset* maplen,
                          PIO_Offset** map, int f90_comm) {
    return PIOc_readmap(file, ndims, gdims, maplen, map, MPI_Comm_f2c(f90_comm));
}
