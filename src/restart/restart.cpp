// SPDX-License-Identifier: Apache-2.0
#include "restart/restart.hpp"

#include <algorithm>

#include "base/text/text.hpp"
#include "publish/checksums.hpp"

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

/// Checks that a type can represent every value of a variable in a file.
Status check_exact(const Source& source, tw_type type, const Variable& theirs) {
    const bool any_sign =
        type == TW_UBYTE && theirs.type == TW_BYTE && !has_new_types(source.contents().format);
    if (any_sign || !valid_type(theirs.type) || holds_exactly(type, theirs.type)) return {};
    return failure(TW_ETYPE, "it has type {} in the file, and {} cannot hold all its values",
                   name_of(theirs.type), name_of(type));
}

/// Compares variables with the checksums of their file, if it has any.
/// @note Collective
Status verify_checksums(Team& team, const std::string& path, std::span<const std::string> names) {
    char has = team.rank() == 0 && has_sums(path) ? 1 : 0;
    team.world().broadcast(&has, sizeof has, 0);
    if (has == 0 || names.empty()) return {};
    SumsReport report;
    if (Status s = check_sums(team.world(), path, names, report); !s.ok()) return s;
    const auto result = [&]() -> Status {
        if (!report.unreadable.ok()) return report.unreadable;
        std::vector<std::string> wrong;
        for (const SumsFault& f : report.faults) {
            const std::string name = "'" + report.variables[f.variable] + "'";
            const bool is_known = f.kind != SumsFault::unknown;
            if (is_known && std::find(wrong.begin(), wrong.end(), name) == wrong.end())
                wrong.push_back(name);
        }
        if (wrong.empty()) return {};
        constexpr std::size_t most = 8;
        const std::size_t more = wrong.size() > most ? wrong.size() - most : 0;
        wrong.resize(wrong.size() - more);
        return failure(TW_ECHECKSUM, "{}: checksum mismatch: variable {}{}", path,
                       joined(wrong, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
    };
    return team.agree(result());
}

}  // namespace

/// Puts all registered arrays to a file. Local.
Status Restart::put_all(File& file) const {
    Status status = file.begin_data();
    for (std::size_t i = 0; i < arrays_.size() && status.ok(); ++i)
        status = file.data_mode().put(definitions_.variables[i].name, arrays_[i].array, true);
    return status;
}

/// Checks that a variable in a file can be read into the array of variable `at` without loss.
Status Restart::match(const Source& source, std::size_t at, const Variable& theirs) const {
    const Variable& own = definitions_.variables[at];
    if (theirs.record && source.records() != 1)
        return failure(TW_ESHAPE, "it has {} records; a restart reads only variables with one",
                       source.records());
    const std::vector<std::string> here = definitions_.fixed_dims(own);
    const std::vector<std::string> there = source.definitions().fixed_dims(theirs);
    if (own.shape != theirs.shape || (!arrays_[at].by_position && here != there)) {
        const auto describe = [&](const std::vector<std::string>& names, const Variable& v) {
            std::vector<std::string> dims;
            for (std::size_t i = 0; i < names.size(); ++i)
                dims.push_back(fmt::format("{}={}", names[i], v.shape[i]));
            return fmt::format("({})", wording_.list(dims));
        };
        return failure(TW_ESHAPE, "it is {} in the file, but {} in the model{}",
                       describe(there, theirs), describe(here, own),
                       own.shape == theirs.shape
                           ? "; to ignore the names of dimensions, use TW_BY_POSITION"
                           : "");
    }
    return check_exact(source, own.type, theirs);
}

/// Requests all registered arrays from a reader. Local.
/// @param asked  receives the names of the arrays
Status Restart::ask(Reader& reader, const std::string& path,
                    std::vector<std::string>& asked) const {
    const Source& source = reader.contents();
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        const RegisteredArray& a = arrays_[i];
        const std::string& name = definitions_.variables[i].name;
        const int at = source.definitions().find_variable(name);
        if (a.copied || (a.optional && at < 0)) continue;
        if (at < 0) return no_variable(source.definitions(), path, name);
        GetArguments arguments;
        arguments.wrong = match(source, i, source.definitions().variables[at]);
        arguments.name = name;
        if (!a.holding->decomposition->replicated) {
            arguments.decomposition = a.holding->decomposition;
            // Match dimensions by position, as their names may differ.
            arguments.order = a.holding->order;
        }
        arguments.array = a.array;
        asked.push_back(name);
        if (Status status = reader.get_deferred(arguments); !status.ok()) return status;
    }
    return {};
}

Status Restart::write(File& file, const std::string& path, bool first_attributes) {
    Status status = use_decompositions();
    if (status.ok()) status = check_copies();
    if (status = team_.agree(status); !status.ok()) return status;
    Definitions definitions = definitions_;
    Holdings holdings;
    for (const RegisteredArray& a : arrays_) holdings.push_back(a.holding);
    if (first_attributes) take_first_attributes(team_, definitions, nullptr);
    if (status = check_alike(team_, path, describe(definitions, holdings, wording_)); !status.ok())
        return status;
    if (status = file.begin(); !status.ok()) return status;
    status = team_.agree(file.definitions().define(std::move(definitions), std::move(holdings)));
    if (!status.ok()) return file.abandon(std::move(status));
    if (status = file.end_definitions(); status.ok())
        status = team_.agree(catch_errors([&] { return put_all(file); }));
    status = status.ok() ? file.close() : file.abandon(std::move(status));
    if (!status.ok()) return status;
    for (RegisteredArray& a : arrays_) {
        if (!a.copied) continue;
        a.written = true;
        std::vector<char>().swap(a.copy);
        a.array.data = nullptr;
        a.view.data = nullptr;
    }
    return status;
}

Status Restart::read(Reader& reader, const std::string& path, bool checksums) {
    Status status = reader.open();
    if (!status.ok()) return status;
    std::vector<std::string> asked;
    status = use_decompositions();
    if (status.ok()) status = ask(reader, path, asked);
    if (status = team_.agree(status); status.ok()) status = reader.read();
    if (status.ok() && checksums) status = verify_checksums(team_, path, asked);
    if (!status.ok()) (void)reader.close();
    return status;
}

Status read_exactly(Team& team, Reader& reader, const std::string& path, GetArguments arguments,
                    bool checksums) {
    const Definitions& definitions = reader.contents().definitions();
    const int at = definitions.find_variable(arguments.name);
    if (at >= 0 && arguments.wrong.ok() && valid_type(arguments.array.type))
        arguments.wrong =
            check_exact(reader.contents(), arguments.array.type, definitions.variables[at]);
    const Status status = reader.get(arguments);
    if (!status.ok() || !checksums) return status;
    return verify_checksums(team, path, {&arguments.name, 1});
}

}  // namespace thalweg::detail
