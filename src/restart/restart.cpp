// SPDX-License-Identifier: Apache-2.0
#include "restart/restart.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "definitions/first_attributes.hpp"
#include "publish/sums.hpp"
#include "restart/read_arguments.hpp"

namespace thalweg::detail {

namespace {

/// Puts all registered arrays to a file. Local.
Status put_all(const Registry& registry, File& file) {
    for (std::size_t i = 0; i < registry.arrays().size(); ++i) {
        const RegisteredArray& a = registry.arrays()[i];
        const Variable& v = registry.definitions().variables[i];
        const auto put = [&](DataMode& d) { return d.put(v.name, a.array, true); };
        if (Status s = file.in_data_mode(put); !s.ok()) return s;
    }
    return {};
}

/// Requests all registered arrays from a reader. Local.
/// @param asked  receives the names of the arrays
Status ask(Registry& registry, const Wording& wording, Reader& reader, const std::string& path,
           std::vector<std::string>& asked) {
    const Source& source = reader.contents();
    for (std::size_t i = 0; i < registry.arrays().size(); ++i) {
        RegisteredArray& a = registry.arrays()[i];
        const Variable& own = registry.definitions().variables[i];
        if (a.copied) continue;
        if (a.optional && source.definitions().find_variable(own.name) < 0) continue;
        GetArguments arguments;
        Status status = ask_for(source, path, registry.definitions(), own, wording, a, arguments);
        asked.push_back(own.name);
        if (status.ok()) status = reader.get_deferred(arguments);
        if (!status.ok()) return status;
    }
    return {};
}

/// Compares variables with the checksums of their file, if it has any.
/// @note Collective
Status verify_checksums(Team& team, const std::string& path, std::span<const std::string> names) {
    char has = 0;
    const Status asked = alone([&] { has = team.rank() == 0 && has_sums(path) ? 1 : 0; });
    if (Status s = team.agree(asked); !s.ok()) return s;
    team.world().broadcast(&has, sizeof has, 0);
    if (has == 0 || names.empty()) return {};
    SumsReport report;
    if (Status s = check_sums(team.world(), path, names, report); !s.ok()) return s;
    return team.agree(alone([&]() -> Status {
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
    }));
}

}  // namespace

Status Restart::write(File& file, const std::string& path, bool first_attributes) {
    Definitions definitions;
    Holdings holdings;
    std::vector<std::string> lines;
    Status status = alone([&]() -> Status {
        Status usable = registry_.use_decompositions();
        definitions = registry_.definitions();
        holdings = registry_.holdings();
        return usable.ok() ? registry_.check_copies() : usable;
    });
    if (status = team_.agree(status); !status.ok()) return status;
    if (first_attributes)
        if (status = take_first_attributes(team_, definitions, nullptr); !status.ok())
            return status;
    status = team_.agree(alone([&] { lines = describe(definitions, holdings, wording_); }));
    if (!status.ok()) return status;
    if (status = check_alike(team_, path, lines); !status.ok()) return status;
    if (status = file.begin(); !status.ok()) return status;
    status = team_.agree(alone(
        [&] { return file.definitions().define(std::move(definitions), std::move(holdings)); }));
    if (!status.ok()) return file.abandon(std::move(status));
    if (status = file.end_definitions(); status.ok())
        status = team_.agree(alone([&] { return put_all(registry_, file); }));
    status = status.ok() ? file.close() : file.abandon(std::move(status));
    if (status.ok()) registry_.drop_copies();
    return status;
}

Status Restart::read(Reader& reader, const std::string& path, bool checksums) {
    Status status = reader.open();
    if (!status.ok()) return status;
    std::vector<std::string> asked;
    status = team_.agree(alone([&] {
        Status usable = registry_.use_decompositions();
        return usable.ok() ? ask(registry_, wording_, reader, path, asked) : usable;
    }));
    if (status.ok()) status = reader.read();
    if (status.ok() && checksums) status = verify_checksums(team_, path, asked);
    if (!status.ok()) (void)reader.close();
    return status;
}

Status read_exactly(Team& team, Reader& reader, const std::string& path, GetArguments arguments,
                    bool checksums) {
    const Definitions& definitions = reader.contents().definitions();
    const int at = definitions.find_variable(arguments.name);
    if (at >= 0 && arguments.wrong.ok() && valid_type(arguments.array.type))
        arguments.wrong = alone([&] {
            return check_exact(reader.contents(), arguments.array.type, definitions.variables[at]);
        });
    const Status status = reader.get(arguments);
    if (!status.ok() || !checksums) return status;
    return verify_checksums(team, path, {&arguments.name, 1});
}

}  // namespace thalweg::detail
