// Registers the arrays of a restart.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <deque>

#include "exchange/pack/copy.hpp"
#include "restart/restart.hpp"
#include "service/deferred.hpp"

namespace thalweg::detail {

namespace {

/// Copies a model's array to a dense array of the same extents.
void copy_array(const Decomposition& d, RegisteredArray& a) {
    tw_array array = a.array;
    if (array.data == nullptr || !d.has_part()) return;  // this rank has no part of the array
    const auto* from = static_cast<const char*>(array.data);
    const std::int64_t size = size_of(a.view.type);
    const bool strided = array.rank > 0;
    std::vector<std::int64_t> strides(strided ? array.rank : 0);
    std::int64_t bytes = array.rank == TW_DENSE ? array.n * size : size;
    for (std::size_t k = strides.size(); k-- > 0; bytes *= array.extent[k]) strides[k] = bytes;
    a.copy.resize(bytes);
    if (!strided) {
        if (bytes > 0) std::memcpy(a.copy.data(), from, bytes);
    } else {
        // The first dimension may count boxes, in addition to those of the decomposition.
        const int nd = array.rank - 1;
        Index count{}, to{}, given{};
        std::copy_n(array.extent + 1, nd, count.begin());
        std::copy_n(strides.begin() + 1, nd, to.begin());
        std::copy_n(array.byte_stride + 1, nd, given.begin());
        for (std::int64_t i = 0; i < array.extent[0]; ++i)
            copy_box(nd, count, a.copy.data() + i * strides[0], to, from + i * array.byte_stride[0],
                     given, move_kernel(size), nullptr);
    }
    array.data = a.copy.data();
    array.byte_stride = strides.data();
    a.array = KeptArray(array);
    // This cannot fail: the copy has the same extents as the array, which was checked.
    (void)check_array(d, a.array, a.view);
}

}  // namespace

Status Restart::define_dimension(const std::string& name, std::int64_t length) {
    if (length == TW_UNLIMITED)
        return failure(TW_ESHAPE,
                       "restart: dimension '{}' has length 0; a restart has no record dimension",
                       name);
    return detail::define_dimension(definitions_, "restart", name, length);
}

/// Makes a variable and its array from the arguments of a call.
/// @param made  receives definitions with only this variable
Status Restart::check(const Registration& r, Definitions& made, RegisteredArray& array) const {
    const std::shared_ptr<const Decomposition> held_as =
        r.declared ? r.declared->decomposition : nullptr;
    // Without a length, a dimension would become the file's record dimension.
    const std::vector<std::string> dims = split_names(r.dims);
    const bool by_position =
        held_as && held_as->by_position() && dims.size() == held_as->dims.size();
    GivenDimensions given;
    const auto find_length = [this](const std::string& dim, std::int64_t& length) {
        return session_.find_length(dim, length);
    };
    for (const std::string& dim : dims) {
        const bool held =
            by_position || (held_as && std::find(held_as->dims.begin(), held_as->dims.end(), dim) !=
                                           held_as->dims.end());
        const Dimension* const known = definitions_.dims.get(dim);
        Dimension found{dim, -1};
        if (!held_as && known == nullptr)
            if (Status s = find_length(dim, found.length); !s.ok()) return refused(r.name, s);
        if (found.length >= 0)
            made.dims.set(std::move(found));
        else if (!held && known == nullptr)
            return no_dimension(definitions_, "restart", r.name, dim,
                                held_as ? &(given = given_by(*held_as)) : nullptr, false);
        if (known != nullptr) made.dims.set(*known);
    }
    Holdings holdings;
    Status status = define_held_variable(made, holdings, "restart", team_.rank(), r.name,
                                         r.array.type, r.dims, held_as, find_length, wording_);
    if (!status.ok()) return status;

    array.holding = holdings.front();
    array.declared = r.declared;
    array.optional = r.optional;
    array.by_position = r.by_position;
    array.copied = r.copied;
    const Decomposition& d = *array.holding->decomposition;
    status = check_array(d, r.array, array.view);
    if (!status.ok()) return refused(r.name, std::move(status));
    if (lacks_data(d, r.array))
        return refused(r.name, failure(TW_EARG, "the array is missing (null pointer)"));
    array.array = KeptArray(r.array);
    return {};
}

Status Restart::add(const Registration& r) {
    Definitions made;
    RegisteredArray array;
    if (Status status = check(r, made, array); !status.ok()) return status;
    Variable& v = made.variables[0];
    if (array.copied) copy_array(*array.holding->decomposition, array);
    NamedList<Dimension> added;
    for (int& dim : v.dims) {
        const Dimension& its = made.dims[dim];
        const int at = definitions_.find_dim(its.name);
        if (at < 0) added.set(its);
        dim = at < 0 ? std::ssize(definitions_.dims) + added.find(its.name) : at;
    }

    const int known = definitions_.find_variable(r.name);
    if (known >= 0) {
        Variable& before = definitions_.variables[known];
        if (before.type != v.type || before.dims != v.dims)
            return failure(TW_EEXISTS, "restart: variable '{}' is already registered, as {} ({})",
                           OfVariable{r.name}, name_of(before.type),
                           wording_.names(definitions_.fixed_dims(before)));
        v.attributes = std::move(before.attributes);
        v.settings = std::move(before.settings);
        v.fill = before.fill;
        before = std::move(v);
        arrays_[known] = std::move(array);
        return {};
    }
    // An earlier call may have failed for lack of memory before it could do this.
    arrays_.resize(definitions_.variables.size());
    arrays_.push_back(std::move(array));
    for (Dimension& dim : added) definitions_.dims.set(std::move(dim));
    definitions_.variables.push_back(std::move(v));
    return {};
}

/// Checks that each variable has data to write: copies that were written must have been registered
/// again.
Status Restart::check_copies() const {
    for (std::size_t i = 0; i < arrays_.size(); ++i)
        if (arrays_[i].written)
            return failure(TW_EMISSING,
                           "restart: variable '{}' was registered with TW_COPIED, and its copy has "
                           "already been written; register it again before each write",
                           OfVariable{definitions_.variables[i].name});
    return {};
}

Status Restart::set_variable(const std::string& variable, const std::string& settings) {
    const int at = definitions_.find_variable(variable);
    if (at < 0) return no_variable(definitions_, "restart", variable);
    const Variable before = definitions_.variables[at];
    Status status = detail::set_variable(definitions_, "restart", variable, settings);
    Variable& v = definitions_.variables[at];
    if (status.ok() && v.settings.count("quantize") != 0) {
        v = before;
        return failure(TW_ESETTING,
                       "restart: variable '{}': setting 'quantize' is not allowed: it would lose "
                       "bits",
                       OfVariable{variable});
    }
    return status;
}

Status Restart::put_attribute(const std::string& variable, Attribute attribute) {
    int at = -1;
    Status status = check_attribute(definitions_, "restart", variable, attribute, at);
    if (!status.ok()) return status;
    (at < 0 ? definitions_.attributes : definitions_.variables[at].attributes)
        .set(std::move(attribute));
    return {};
}

/// Applies changes that tw_fill_halo and tw_pad have made after arrays were registered, and checks
/// that these arrays still fit.
Status Restart::use_decompositions() {
    std::deque<Fingerprint> seen;
    std::vector<SeenArray> fingerprints;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        RegisteredArray& a = arrays_[i];
        const Variable& v = definitions_.variables[i];
        if (a.declared && a.declared->decomposition != a.holding->decomposition)
            a.holding = make_holding(a.declared->decomposition, a.holding->order, v.shape);
        const Holding& h = *a.holding;
        Status status = check_array(*h.decomposition, a.array, a.view);
        if (!status.ok()) return refused(v.name, std::move(status));
        if (a.copied) continue;
        seen.emplace_back(*h.decomposition, h.order, h.held, a.view);
        fingerprints.push_back({&v.name, &seen.back()});
    }
    Status status = compare_fingerprints(std::move(fingerprints));
    if (!status.ok()) reword(status, "restart: {} (rank {})", status.text, OfRank{team_.rank()});
    return status;
}

/// Adds to an error which array it is about.
Status Restart::refused(const std::string& name, Status why) const {
    reword(why, "restart: variable '{}': {} (rank {})", OfVariable{name}, why.text,
           OfRank{team_.rank()});
    return why;
}

}  // namespace thalweg::detail
