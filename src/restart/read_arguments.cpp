// SPDX-License-Identifier: Apache-2.0
#include "restart/read_arguments.hpp"

namespace thalweg::detail {

namespace {

/// Tests if one type can represent every value of another exactly.
bool holds_exactly(tw_type to, tw_type from) {
    struct Range {
        int digits;  ///< number of bits up to which all integers are exact
        bool is_signed, floating;
    };
    const auto range = [](tw_type type) -> Range {
        const int bits = size_of(type) * 8;
        switch (type) {
            case TW_FLOAT: return {24, true, true};
            case TW_DOUBLE: return {53, true, true};
            case TW_UBYTE:
            case TW_USHORT:
            case TW_UINT:
            case TW_UINT64: return {bits, false, false};
            default: return {bits - 1, true, false};
        }
    };
    if (to == from) return true;
    if (to == TW_CHAR || from == TW_CHAR) return false;
    const Range a = range(to), b = range(from);
    return a.digits >= b.digits && (a.is_signed || !b.is_signed) && (a.floating || !b.floating);
}

/// Checks that the variable in a file can be read into the model's array without loss.
Status match(const Source& source, const Definitions& definitions, const Variable& own,
             const Variable& theirs, const Wording& wording, bool by_position) {
    if (theirs.record && source.records() != 1)
        return failure(TW_ESHAPE, "it has {} records; a restart reads only variables with one",
                       source.records());
    const std::vector<std::string> here = definitions.fixed_dims(own);
    const std::vector<std::string> there = source.definitions().fixed_dims(theirs);
    if (own.shape != theirs.shape || (!by_position && here != there)) {
        const auto describe = [&](const std::vector<std::string>& names, const Variable& v) {
            std::vector<std::string> dims;
            for (std::size_t i = 0; i < names.size(); ++i)
                dims.push_back(fmt::format("{}={}", names[i], v.shape[i]));
            return fmt::format("({})", wording.list(dims));
        };
        return failure(TW_ESHAPE, "it is {} in the file, but {} in the model{}",
                       describe(there, theirs), describe(here, own),
                       own.shape == theirs.shape
                           ? "; to ignore the names of dimensions, use TW_BY_POSITION"
                           : "");
    }
    return check_exact(source, own.type, theirs);
}

}  // namespace

Status check_exact(const Source& source, tw_type type, const Variable& theirs) {
    const bool any_sign =
        type == TW_UBYTE && theirs.type == TW_BYTE && !has_new_types(source.format());
    if (any_sign || !valid_type(theirs.type) || holds_exactly(type, theirs.type)) return {};
    return failure(TW_ETYPE, "it has type {} in the file, and {} cannot hold all its values",
                   name_of(theirs.type), name_of(type));
}

Status ask_for(const Source& source, const std::string& path, const Definitions& definitions,
               const Variable& own, const Wording& wording, const RegisteredArray& a,
               GetArguments& arguments) {
    const int at = source.definitions().find_variable(own.name);
    if (at < 0) return no_variable(source.definitions(), path, own.name);
    const Variable& theirs = source.definitions().variables[at];
    arguments.wrong = match(source, definitions, own, theirs, wording, a.by_position);
    arguments.name = own.name;
    if (!a.holding->decomposition->replicated) {
        arguments.decomposition = a.holding->decomposition;
        // Match dimensions by position, as their names may differ.
        arguments.order = a.holding->order;
    }
    arguments.array = a.array;
    return {};
}

}  // namespace thalweg::detail
