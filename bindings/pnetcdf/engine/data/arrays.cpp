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
#include "pnetcdf/engine/data/file_types.hpp"

namespace thalweg::pnetcdf::engine {

using namespace nc;

Array::Array(const DataCall& call, int type, const Shape& count, Index elements)
    : at_(call.values),
      type_(call.type),
      n_(elements),
      count_(count.empty() ? Shape{elements} : count) {
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
    if (TypeContents(call.buftype).predefined()) return;
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

int Array::pack(int type, void* to, const std::string& fill, bool any_sign, Order order) const {
    std::string packed;
    const void* from = at_;
    if (derived_ != MPI_DATATYPE_NULL) {
        packed.resize(static_cast<std::size_t>(n_) * size_of(type_));
        int position = 0;
        MPI_Pack(at_, derived_count_, derived_, packed.data(), static_cast<int>(packed.size()),
                 &position, MPI_COMM_SELF);
        from = packed.data();
    }
    return convert_from({type_, from, count_, map()}, type, to, fill, any_sign, order);
}

int Array::unpack(int type, const void* from, bool any_sign) const {
    if (derived_ == MPI_DATATYPE_NULL)
        return convert_to({type_, at_, count_, map()}, type, from, any_sign);
    std::string packed(static_cast<std::size_t>(n_) * size_of(type_), '\0');
    const int code = convert_to({type_, packed.data(), count_, map()}, type, from, any_sign);
    int position = 0;
    MPI_Unpack(packed.data(), static_cast<int>(packed.size()), &position, at_, derived_count_,
               derived_, MPI_COMM_SELF);
    return code;
}

}  // namespace thalweg::pnetcdf::engine
