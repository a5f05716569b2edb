// SPDX-License-Identifier: Apache-2.0
#include "nc/fallback/fallback.hpp"

#include <netcdf.h>
#include <netcdf_filter.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "nc/base/ranks.hpp"
#include "nc/base/types.hpp"
#include "nc/definitions/storage.hpp"

namespace thalweg::nc {

namespace {

std::vector<std::size_t> sizes(const std::vector<Index>& values) {
    return {values.begin(), values.end()};
}

}  // namespace

Fallback::~Fallback() {
    const Quiet quiet;
    if (ncid_ >= 0) nc_close(ncid_);
}

void Fallback::on_root(const std::function<void()>& action) const {
    on_rank(comm_, root_, [&] {
        const Quiet quiet;
        action();
    });
}

void Fallback::check(int code) const { check_code(code, path_, "netCDF"); }

// Handles the code of a write: after an error of the system or of HDF5, the contents of the file
// are unknown, so it is closed.
void Fallback::check_write(int code) {
    failed_ |= code > 0 || code == NC_EHDFERR || code == NC_ENOMEM;
    check(code);
}

void Fallback::begin(const std::string& path, WorkFile::Begin begin) {
    path_ = path;
    on_rank(comm_, root_, [&] {
        const char* const publish = std::getenv("THALWEG_PUBLISH");
        const bool live = publish != nullptr && std::strcmp(publish, "live") == 0;
        work_ = std::make_unique<WorkFile>(path, live ? WorkFile::Begin::in_place : begin);
        work_path_ = work_->path();
    });
    work_path_ = broadcast(comm_, root_, work_path_);
}

void Fallback::create(const std::string& path, const Table& table, int mode) {
    begin(path, WorkFile::Begin::empty);
    on_root([&] {
        failed_ = true;
        check(nc_create(work_path_.c_str(), NC_CLOBBER | mode, &ncid_));
        define_all(OwnNetcdf{}, ncid_, table, path_);
        check(nc_enddef(ncid_));
        failed_ = false;
    });
}

void Fallback::open(const std::string& path, const Table& table) {
    begin(path, WorkFile::Begin::copy);
    resume();
    on_root([&] {
        if (!has_same_ids(OwnNetcdf{}, ncid_, table))
            throw Error{NC_EINVAL, path_ +
                                       ": netCDF-C numbers dimensions or variables otherwise: "
                                       "the file cannot be written"};
    });
}

void Fallback::sync() {
    on_root([&] { check_write(nc_sync(ncid_)); });
}

void Fallback::pause() {
    on_root([&] {
        if (ncid_ >= 0) check_write(nc_close(std::exchange(ncid_, -1)));
    });
}

void Fallback::resume() {
    on_root([&] { check_write(nc_open(work_path_.c_str(), NC_WRITE, &ncid_)); });
}

void Fallback::edit(const std::vector<Edit>& edits, const Table& table) {
    on_root([&] {
        const bool before = std::exchange(failed_, true);
        const bool done = !work_->in_place() && edit_in_place(work_path_, edits, table);
        failed_ = before;
        if (!done) edit_file(work_path_, edits, table, true, WorkFile::Lock::held);
    });
}

void Fallback::close() {
    on_root([&] {
        const std::unique_ptr<WorkFile> work = std::move(work_);
        if (!work) return;
        if (ncid_ >= 0) check_write(nc_close(std::exchange(ncid_, -1)));
        if (failed_)
            throw Error{NC_EIO,
                        path_ +
                            ": a write has failed: nothing is kept of what was written since "
                            "the file was opened"};
        work->publish();
    });
}

// Tests if the file contains the record.
bool Fallback::exists(int varid, const std::vector<Index>& start) const {
    int dims[NC_MAX_VAR_DIMS] = {0};
    check(nc_inq_vardimid(ncid_, varid, dims));
    for (std::size_t d = 0; d < start.size(); d++) {
        std::size_t length = 0;
        check(nc_inq_dimlen(ncid_, dims[d], &length));
        if (static_cast<std::size_t>(start[d]) >= length) return false;
    }
    return true;
}

void Fallback::check_filters(int varid) const {
    std::size_t n = 0;
    check(nc_inq_var_filter_ids(ncid_, varid, &n, nullptr));
    std::vector<unsigned> ids(n + 1);
    check(nc_inq_var_filter_ids(ncid_, varid, &n, ids.data()));
    for (std::size_t i = 0; i < n; i++)
        if (!has_filter(ids[i]))
            throw Error{NC_ENOFILTER, path_ + ": HDF5 has no filter " + std::to_string(ids[i]) +
                                          " to write with; it finds plugins by HDF5_PLUGIN_PATH"};
}

// Writes values on the root. netCDF-C 4.9.0 does not swap bytes when it writes to a variable of
// another byte order in an existing file. So the values are read again, and swapped here if
// necessary.
void Fallback::put_values(int varid, const std::vector<Index>& start,
                          const std::vector<Index>& count, const std::vector<Index>& stride,
                          std::string& values) {
    const std::vector<std::size_t> first = sizes(start), n = sizes(count);
    const std::vector<std::ptrdiff_t> steps(stride.begin(), stride.end());
    const auto put = [&](const std::string& of) {
        check_write(nc_put_vars(ncid_, varid, first.data(), n.data(), steps.data(), of.data()));
    };
    check_filters(varid);
    put(values);
    int endian = NC_ENDIAN_NATIVE;
    check(nc_inq_var_endian(ncid_, varid, &endian));
    if (is_native(endian)) return;
    std::string got(values.size(), '\0');
    const auto arrived = [&] {
        check(nc_get_vars(ncid_, varid, first.data(), n.data(), steps.data(), got.data()));
        return got == values;
    };
    if (arrived()) return;
    const std::size_t bytes = values.size() / static_cast<std::size_t>(volume(count));
    std::string swapped = values;
    for (std::size_t at = 0; at < swapped.size(); at += bytes)
        std::reverse(swapped.data() + at, swapped.data() + at + bytes);
    put(swapped);
    if (arrived()) return;
    failed_ = true;
    throw Error{NC_EHDFERR, path_ + ": netCDF-C writes wrong values of another byte order"};
}

constexpr Index most_sent = 1 << 26;  // largest number of elements in a message

void Fallback::write(int varid, const std::vector<Index>& start, const std::vector<Index>& count,
                     const std::vector<Index>& dofs, const std::string& values,
                     const std::string& fill, bool whole) {
    const int ranks = size_of_comm(comm_);
    const std::size_t bytes = fill.size();
    const Index n = static_cast<Index>(dofs.size());
    Index room = std::min(n, most_sent);
    reduce(comm_, MPI_MAX, &room, 1);
    // Let the root allocate and read first: after this, it must receive all messages, even after an
    // error.
    std::string slab, got;
    std::vector<Index> at;
    on_root([&] {
        at.resize(static_cast<std::size_t>(room));
        got.resize(static_cast<std::size_t>(room) * bytes);
        slab.reserve(static_cast<std::size_t>(volume(count)) * bytes);
        for (Index i = 0, all = volume(count); i < all; i++) slab += fill;
        if (!whole && exists(varid, start))
            check(nc_get_vara(ncid_, varid, sizes(start).data(), sizes(count).data(), slab.data()));
    });
    const auto size_of_part = [&](Index part) {
        return static_cast<int>(static_cast<std::size_t>(part) * bytes);
    };
    if (rank_in(comm_) != root_) {
        MPI_Send(&n, 1, MPI_INT64_T, root_, 2, comm_);
        for (Index from = 0; from < n; from += most_sent) {
            const Index part = std::min(most_sent, n - from);
            MPI_Send(dofs.data() + from, static_cast<int>(part), MPI_INT64_T, root_, 0, comm_);
            MPI_Send(values.data() + static_cast<std::size_t>(from) * bytes, size_of_part(part),
                     MPI_BYTE, root_, 1, comm_);
        }
    }
    on_root([&] {
        const auto place = [&](const Index* to, const char* from, Index part) {
            for (Index i = 0; i < part; i++)
                if (to[i] >= 0)
                    std::memcpy(slab.data() + static_cast<std::size_t>(to[i]) * bytes,
                                from + static_cast<std::size_t>(i) * bytes, bytes);
        };
        place(dofs.data(), values.data(), n);
        for (int rank = 0; rank < ranks; rank++) {
            if (rank == root_) continue;
            Index left = 0;
            MPI_Recv(&left, 1, MPI_INT64_T, rank, 2, comm_, MPI_STATUS_IGNORE);
            for (; left > 0; left -= most_sent) {
                const Index part = std::min(most_sent, left);
                MPI_Recv(at.data(), static_cast<int>(part), MPI_INT64_T, rank, 0, comm_,
                         MPI_STATUS_IGNORE);
                MPI_Recv(got.data(), size_of_part(part), MPI_BYTE, rank, 1, comm_,
                         MPI_STATUS_IGNORE);
                place(at.data(), got.data(), part);
            }
        }
        put_values(varid, start, count, std::vector<Index>(start.size(), 1), slab);
    });
}

void Fallback::put(int varid, const std::vector<Index>& start, const std::vector<Index>& count,
                   const std::vector<Index>& stride, nc_type type, const void* values,
                   const std::string& fill) {
    on_root([&] {
        nc_type own = NC_NAT;
        check(nc_inq_vartype(ncid_, varid, &own));
        std::string converted(static_cast<std::size_t>(volume(count)) * size_of(own), '\0');
        const int code = convert(type, values, own, converted.data(), volume(count), fill);
        if (code != NC_NOERR && code != NC_ERANGE) check(code);
        put_values(varid, start, count, stride, converted);
        check(code);
    });
}

}  // namespace thalweg::nc
