// SPDX-License-Identifier: Apache-2.0
#include "reading/request.hpp"

#include <utility>

namespace thalweg::detail {

namespace {

/// Finds the dimension of the array in memory that corresponds to each dimension of the variable.
Status match(const ReadContext& file, const GetArguments& arguments, const Variable& v,
             ReadRequest& request) {
    if (std::ssize(v.shape) > max_dims)
        return failure(TW_EUNSUPPORTED, "it has {} dimensions; the maximum is {}", v.shape.size(),
                       max_dims);
    const std::vector<std::string> dims = file.source->definitions().fixed_dims(v);
    if (!arguments.decomposition) {
        // Treat a replicated variable as if this rank held all of it.
        request.decomposition = replicate(0, dims, v.shape, file.options.wording);
        for (std::size_t f = 0; f < dims.size(); ++f) request.order.push_back(f);
        return {};
    }
    request.decomposition = arguments.decomposition;
    const Decomposition& d = *arguments.decomposition;
    request.order = arguments.order;
    if (arguments.order.empty())
        if (Status s = match_dimensions(d, dims, v.shape, request.order); !s.ok()) return s;
    // Make the list of indices in this order now, if it does not exist yet.
    if (d.listed) (void)d.listed->in_order(request.order, v.shape);
    return {};
}

}  // namespace

Status check_arguments(const ReadContext& file, const GetArguments& arguments,
                       ReadRequest& request) {
    if (Status status = file.find(arguments.name, request.variable); !status.ok()) return status;
    const Variable& v = file.variable(request.variable);
    const auto checked = [&]() -> Status {
        if (!arguments.wrong.ok()) return arguments.wrong;
        if (Status s = file.check_type(request.variable, arguments.array.type); !s.ok()) return s;
        if (v.record && (arguments.record < 0 || arguments.record >= file.source->records()))
            return failure(TW_EBOUNDS, "no record {}; the file has {} records",
                           OfRecord{file.options.wording.index(arguments.record)},
                           file.source->records());
        request.record = v.record ? arguments.record : 0;
        if (Status status = match(file, arguments, v, request); !status.ok()) return status;
        const Decomposition& d = *request.decomposition;
        if (Status s = check_array(d, arguments.array, request.view); !s.ok()) return s;
        request.view.type = file.type_of_array(request.variable, arguments.array.type);
        if (arguments.array.data == nullptr && d.held > 0)
            return failure(TW_EARG, "the array is missing (null pointer)");
        return file.source->check(request.variable, request.record);
    };
    return file.with_place(checked(), request.variable);
}

Status check_deferred(const ReadContext& file, std::span<const ReadRequest> requests) {
    std::vector<SeenArray> all;
    for (const ReadRequest& r : requests)
        all.push_back({&file.variable(r.variable).name, &r.fingerprint});
    Status status = compare_fingerprints(std::move(all));
    if (!status.ok())
        reword(status, "{}: {} (rank {})", OfFile{file.path}, status.text,
               OfRank{file.team.rank()});
    return status;
}

}  // namespace thalweg::detail
