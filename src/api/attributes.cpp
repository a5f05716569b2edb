// SPDX-License-Identifier: Apache-2.0
#include "api/attributes.hpp"

#include <algorithm>

#include "base/text/nearest.hpp"
#include "base/text/normal_form.hpp"
#include "exchange/pack/kernels.hpp"
#include "session/calls.hpp"

namespace thalweg::detail {

Status make_attribute(const std::string& path, const char* name, tw_type type, std::int64_t n,
                      const void* values, Attribute& made) {
    if (!valid_type(type))
        return failure(TW_ETYPE, "{}: attribute '{}': {}", path, text_or_empty(name),
                       no_type(type));
    if (n < 0 || (n > 0 && values == nullptr))
        return failure(TW_EARG, "{}: attribute '{}': {} values{}", path, text_or_empty(name), n,
                       values == nullptr ? ", but the array is missing (null pointer)" : "");
    std::int64_t size = 0;
    if (__builtin_mul_overflow(n, static_cast<std::int64_t>(size_of(type)), &size))
        return failure(TW_EARG,
                       "{}: attribute '{}': {} values have more bytes than 64 bits can count", path,
                       text_or_empty(name), n);
    made.name = normal_form(text_or_empty(name));
    made.type = type;
    made.n = n;
    const auto* bytes = static_cast<const char*>(values);
    if (n > 0) made.values.assign(bytes, bytes + size);
    return {};
}

Status attributes_of(const std::string& path, const Definitions& definitions, const char* variable,
                     const NamedList<Attribute>*& found) {
    found = &definitions.attributes;
    if (*text_or_empty(variable) == '\0') return {};
    const int at = definitions.find_variable(variable);
    if (at < 0) return no_variable(definitions, path, variable);
    found = &definitions.variables[at].attributes;
    return {};
}

Status find_attribute(const std::string& path, const Definitions& definitions, const char* variable,
                      const char* name, const Attribute*& found) {
    const NamedList<Attribute>* list = nullptr;
    if (Status status = attributes_of(path, definitions, variable, list); !status.ok())
        return status;
    found = list->get(text_or_empty(name));
    if (found != nullptr) return {};
    const bool global = *text_or_empty(variable) == '\0';
    return failure(TW_ENOTFOUND, "{}: no {}attribute '{}'{}{}", path, global ? "global " : "",
                   text_or_empty(name), global ? "" : fmt::format(" of variable '{}'", variable),
                   did_you_mean(text_or_empty(name), list->first_names()));
}

Status get_attribute(const std::string& path, const Attribute& a, bool byte_of_any_sign,
                     tw_type type, std::int64_t n, void* values) {
    auto refuse = [&](tw_status code, const std::string& why) {
        return failure(code, "{}: attribute '{}': {}", path, a.name, why);
    };
    if (!valid_type(a.type)) return refuse(TW_EUNSUPPORTED, "its type cannot be read");
    if (!valid_type(type)) return refuse(TW_ETYPE, no_type(type));
    if ((type == TW_CHAR) != (a.type == TW_CHAR))
        return refuse(TW_ETYPE,
                      fmt::format("it has type {}, not {}", name_of(a.type), name_of(type)));
    if (n != a.n) return refuse(TW_ESHAPE, fmt::format("it has {} values, not {}", a.n, n));
    if (n == 0) return {};
    if (values == nullptr) return refuse(TW_EARG, "no array for its values (null pointer)");
    const bool any_sign = a.type == TW_BYTE && type == TW_UBYTE && byte_of_any_sign;
    const tw_type target = any_sign ? TW_BYTE : type;
    char fill[8];
    default_fill(target, fill);
    const RowKernel kernel = unpack_kernel(a.type, target, Order::native);
    const std::int64_t misfits =
        kernel(static_cast<char*>(values), static_cast<std::ptrdiff_t>(size_of(target)),
               a.values.data(), static_cast<std::ptrdiff_t>(size_of(a.type)), n, fill);
    if (misfits == 0) return {};
    return refuse(TW_ERANGE,
                  fmt::format("{} values are out of range for type {}", misfits, name_of(type)));
}

Status get_attribute_text(const std::string& path, const Attribute& a, std::int64_t size,
                          char* text) {
    if (!valid_type(a.type))
        return failure(TW_EUNSUPPORTED, "{}: attribute '{}': its type cannot be read", path,
                       a.name);
    if (a.type != TW_CHAR)
        return failure(TW_ETYPE, "{}: attribute '{}': it has type {}, not text", path, a.name,
                       name_of(a.type));
    if (text == nullptr || size <= a.n)
        return failure(TW_ESHAPE,
                       "{}: attribute '{}': its {} characters and the terminating zero need {} "
                       "bytes, but size is {}",
                       path, a.name, a.n, a.n + 1, text == nullptr ? 0 : size);
    std::copy(a.values.begin(), a.values.end(), text);
    text[a.n] = '\0';
    return {};
}

}  // namespace thalweg::detail
