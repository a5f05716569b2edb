// SPDX-License-Identifier: Apache-2.0
#include "restart/restart.hpp"

#include "definitions/first_attributes.hpp"
#include "restart/read_arguments.hpp"

namespace thalweg::detail {

namespace {

/// Puts all arrays. Local.
Status put_all(const Registry& registry, File& file) {
    for (std::size_t i = 0; i < registry.arrays().size(); ++i) {
        const RegisteredArray& a = registry.arrays()[i];
        const Variable& v = registry.definitions().variables[i];
        if (Status s = file.put(v.name, a.array, true); !s.ok()) return s;
    }
    return {};
}

/// Requests all arrays of the model. Local.
Status ask(Registry& registry, const Wording& wording, Reader& reader, const std::string& path,
           std::vector<ExpectedChecksum>& checks) {
    const Source& source = reader.contents();
    for (std::size_t i = 0; i < registry.arrays().size(); ++i) {
        RegisteredArray& a = registry.arrays()[i];
        const Variable& own = registry.definitions().variables[i];
        if (a.copied) continue;
        if (a.optional && source.definitions().find_variable(own.name) < 0) continue;
        GetArguments arguments;
        Status status =
            ask_for(source, path, registry.definitions(), own, wording, a, arguments, checks);
        if (status.ok()) status = reader.get_deferred(arguments);
        if (!status.ok()) return status;
    }
    return {};
}

}  // namespace

Status Restart::write(File& file, const std::string& path, bool checksums, bool first_attributes) {
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
    status = team_.agree(alone([&]() -> Status {
        lines = describe(definitions, holdings, wording_);
        return {};
    }));
    if (!status.ok()) return status;
    if (status = check_alike(team_, path, lines); !status.ok()) return status;
    if (checksums)
        if (status = add_checksums(team_, registry_.arrays(), definitions); !status.ok())
            return status;
    if (status = file.begin(); !status.ok()) return status;
    status = team_.agree(
        alone([&] { return file.define(std::move(definitions), std::move(holdings)); }));
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
    std::vector<ExpectedChecksum> checks;
    status = team_.agree(alone([&] {
        Status usable = registry_.use_decompositions();
        return usable.ok() ? ask(registry_, wording_, reader, path, checks) : usable;
    }));
    if (status.ok()) status = reader.read();
    if (status.ok() && checksums) status = verify_checksums(team_, reader, path, checks);
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
    ReadRequest request;
    Status status = reader.get(arguments, request);
    if (!status.ok() || !checksums) return status;
    const Variable& theirs = definitions.variables[at];
    Variable own;
    std::shared_ptr<const Holding> holding;
    std::vector<ExpectedChecksum> checks;
    status = team.agree(alone([&]() -> Status {
        const Attribute* const sum = theirs.attributes.get(checksum_attribute);
        if (sum == nullptr) return {};
        own.name = theirs.name;
        own.type = request.view.type;
        own.shape = theirs.shape;
        holding = arguments.decomposition
                      ? make_holding(request.decomposition, request.order, own.shape)
                      : hold_whole(team.rank(), 0, definitions.fixed_dims(theirs), own.shape,
                                   request.decomposition->wording);
        checks.push_back(
            {&own, holding.get(), &request.view, at, {sum->values.begin(), sum->values.end()}});
        return {};
    }));
    if (!status.ok() || checks.empty()) return status;
    return verify_checksums(team, reader, path, checks);
}

}  // namespace thalweg::detail
