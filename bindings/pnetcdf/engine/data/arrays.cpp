// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/engine/data/arrays.hpp"

#include <netcdf.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "nc/base/memory_order.hpp"
#include "nc/base/types.hpp"
#include "pnetcdf/engine/codes.hpp"

namespace thalweg::pnetcdf::engine {

using namespace nc;

namespace {

// Returns netCDF's type of a predefined datatype of MPI; NC_NAT if there is none.
int type_of(MPI_Datatype datatype) {
    struct Pair {
        MPI_Datatype datatype;
        int type;
    };
    const Pair pairs[] = {{MPI_CHAR, NC_CHAR},
                          {MPI_CHARACTER, NC_CHAR},
                          {MPI_SIGNED_CHAR, NC_BYTE},
                          {MPI_INTEGER1, NC_BYTE},
                          {MPI_UNSIGNED_CHAR, NC_UBYTE},
                          {MPI_BYTE, NC_UBYTE},
                          {MPI_SHORT, NC_SHORT},
                          {MPI_INTEGER2, NC_SHORT},
                          {MPI_UNSIGNED_SHORT, NC_USHORT},
                          {MPI_INT, NC_INT},
                          {MPI_INTEGER, NC_INT},
                          {MPI_INTEGER4, NC_INT},
                          {MPI_UNSIGNED, NC_UINT},
                          {MPI_LONG, NC_INT64},
                          {MPI_INTEGER8, NC_INT64},
                          {MPI_LONG_LONG_INT, NC_INT64},
                          {MPI_UNSIGNED_LONG, NC_UINT64},
                          {MPI_UNSIGNED_LONG_LONG, NC_UINT64},
                          {MPI_FLOAT, NC_FLOAT},
                          {MPI_REAL, NC_FLOAT},
                          {MPI_REAL4, NC_FLOAT},
                          {MPI_DOUBLE, NC_DOUBLE},
                          {MPI_DOUBLE_PRECISION, NC_DOUBLE},
                          {MPI_REAL8, NC_DOUBLE}};
    for (const Pair& p : pairs)
        if (p.datatype == datatype) return p.type;
    return NC_NAT;
}

bool is_predefined(MPI_Datatype datatype) {
    int numbers = 0, addresses = 0, types = 0, combiner = 0;
    MPI_Type_get_envelope(datatype, &numbers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

}  // namespace

int element_of(MPI_Datatype datatype) {
    int numbers = 0, addresses = 0, types = 0, combiner = 0;
    MPI_Type_get_envelope(datatype, &numbers, &addresses, &types, &combiner);
    const auto refuse = [](int code, const char* why) { throw Error{code, why}; };
    if (combiner == MPI_COMBINER_NAMED) {
        const int type = type_of(datatype);
        if (type == NC_NAT) refuse(NC_EUNSPTETYPE, "an MPI datatype that PnetCDF does not know");
        return type;
    }
    if (combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_REAL ||
        combiner == MPI_COMBINER_F90_COMPLEX)
        refuse(NC_EUNSPTETYPE, "an MPI datatype of Fortran's kinds");
    std::vector<int> n(static_cast<std::size_t>(numbers));
    std::vector<MPI_Aint> a(static_cast<std::size_t>(addresses));
    std::vector<MPI_Datatype> inner(static_cast<std::size_t>(types));
    MPI_Type_get_contents(datatype, numbers, addresses, types, n.data(), a.data(), inner.data());
    int found = NC_NAT;
    Error error;
    for (MPI_Datatype& t : inner) {
        const Error wrong = error_of([&] {
            const int type = element_of(t);
            if (found != NC_NAT && type != found)
                refuse(NC_EMULTITYPES, "an MPI datatype with elements of several types");
            found = type;
        });
        if (error.code == 0) error = wrong;
        if (!is_predefined(t)) MPI_Type_free(&t);
    }
    if (error.code != 0) throw error;
    if (found == NC_NAT) refuse(NC_EUNSPTETYPE, "an MPI datatype without elements");
    return found;
}

Array::Array(const DataCall& call, int type, const Shape& count, Index elements)
    : at_(call.values), type_(call.type), n_(elements), count_(count) {
    if (call.map != nullptr && !count.empty()) {
        map_.assign(call.map, call.map + count.size());
        if (nc::is_dense(count, map_.data())) map_.clear();
    }
    if (call.type == NC_NAT) set_datatype(call, type);
    if ((type_ == NC_CHAR) != (type == NC_CHAR))
        throw Error{NC_ECHAR, "text and numbers do not convert"};
}

void Array::set_datatype(const DataCall& call, int type) {
    if (call.buftype == MPI_DATATYPE_NULL) {
        type_ = type;
        return;
    }
    if (call.bufcount == -1 && call.kind != Kind::varn && call.kind != Kind::vard) {
        type_ = type_of(call.buftype);
        if (type_ == NC_NAT) throw Error{NC_EBADTYPE, "a derived datatype needs a count"};
        return;
    }
    type_ = element_of(call.buftype);
    int bytes = 0;
    MPI_Type_size(call.buftype, &bytes);
    const Index each = bytes / static_cast<Index>(size_of(type_));
    if (call.bufcount > INT_MAX) throw Error{NC_EINTOVERFLOW, "a count above 2147483647"};
    if (call.bufcount * each != n_)
        throw Error{NC_EIOMISMATCH, "the array has " + std::to_string(call.bufcount * each) +
                                        " elements, and the section " + std::to_string(n_)};
    if (is_predefined(call.buftype)) return;
    if (static_cast<Index>(bytes) * call.bufcount > INT_MAX)
        throw Error{NC_ENOTSUPPORT, "a derived datatype with more than 2 GiB"};
    MPI_Type_dup(call.buftype, &derived_);
    derived_count_ = static_cast<int>(call.bufcount);
}

Array::~Array() {
    int ended = 0;
    if (derived_ != MPI_DATATYPE_NULL) MPI_Finalized(&ended);
    if (derived_ != MPI_DATATYPE_NULL && ended == 0) MPI_Type_free(&derived_);
}

Array& Array::operator=(Array&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(type_, other.type_);
    std::swap(n_, other.n_);
    std::swap(count_, other.count_);
    std::swap(map_, other.map_);
    std::swap(derived_, other.derived_);
    std::swap(derived_count_, other.derived_count_);
    return *this;
}

const char* Array::gather(std::string& space) const {
    const std::size_t bytes = size_of(type_), all = static_cast<std::size_t>(n_) * bytes;
    const char* from = static_cast<const char*>(at_);
    std::string packed;
    if (derived_ != MPI_DATATYPE_NULL) {
        packed.resize(all);
        int position = 0;
        MPI_Pack(at_, derived_count_, derived_, packed.data(), static_cast<int>(all), &position,
                 MPI_COMM_SELF);
        if (map_.empty()) {
            space = std::move(packed);
            return space.data();
        }
        from = packed.data();
    }
    if (map_.empty()) return from;
    space.resize(all);
    nc::gather(count_, map_.data(), bytes, from, space.data());
    return space.data();
}

void Array::scatter(const char* elements) const {
    const std::size_t bytes = size_of(type_), all = static_cast<std::size_t>(n_) * bytes;
    std::string mapped;
    char* to = static_cast<char*>(at_);
    if (derived_ != MPI_DATATYPE_NULL && !map_.empty()) {
        mapped.resize(all);
        to = mapped.data();
    }
    if (map_.empty()) {
        if (derived_ == MPI_DATATYPE_NULL) std::memcpy(to, elements, all);
    } else {
        nc::scatter(count_, map_.data(), bytes, elements, to);
    }
    if (derived_ == MPI_DATATYPE_NULL) return;
    int position = 0;
    MPI_Unpack(map_.empty() ? elements : mapped.data(), static_cast<int>(all), &position, at_,
               derived_count_, derived_, MPI_COMM_SELF);
}

}  // namespace thalweg::pnetcdf::engine
