// SPDX-License-Identifier: Apache-2.0
#include "restart/restart.hpp"

#include "definitions/first_attributes.hpp"
#include "restart/wishes.hpp"

namespace thalweg::detail {

namespace {

/// Puts all arrays. Local.
Status put_all(const Registry& registry, File& file) {
    for (std::size_t i = 0; i < registry.arrays().size(); ++i) {
        const RegisteredArray& a = registry.arrays()[i];
        const Variable& v = registry.definitions().variables[i];
        const ArrayToPut array =
            a.n >= 0 ? ArrayToPut::dense(v.type, a.data, a.n, true)
                     : ArrayToPut::with_strides(v.type, a.data, a.extent.size(), a.extent.data(),
                                                a.byte_stride.data(), true);
        if (Status s = file.put(v.name, array); !s.ok()) return s;
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
        if (a.copied) {
            a.found = source.definitions().find_variable(own.name) >= 0;
            continue;
        }
        Wish wish;
        Status status =
            ask_for(source, path, registry.definitions(), own, wording, a, wish, checks);
        if (status.ok() && a.found) status = reader.get_deferred(wish);
        if (!status.ok()) return status;
    }
    return {};
}

}  // namespace

Status Restart::found(const std::string& name, bool& found) const {
    if (reader_) {
        found = reader_->contents().definitions().find_variable(name) >= 0;
        return {};
    }
    const int at = registry_.definitions().find_variable(name);
    if (at < 0) return no_variable(registry_.definitions(), "restart", name);
    if (!read_) return failure(TW_ESTATE, "restart: nothing has been read yet");
    found = registry_.arrays()[at].found;
    return {};
}

Status Restart::write(File& file, const std::string& path, bool checksums, bool first_attributes) {
    if (reader_) return still_open(path);
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

Status Restart::still_open(const std::string& path) const {
    return failure(TW_ESTATE, "{}: {} is still open; call tw_restart_close first", path, path_);
}

Status Restart::read(Reader& reader, const std::string& path, bool checksums) {
    if (reader_) return still_open(path);
    read_.reset();
    Status status = reader.open();
    if (!status.ok()) return status;
    std::vector<ExpectedChecksum> checks;
    status = team_.agree(alone([&] {
        Status usable = registry_.use_decompositions();
        return usable.ok() ? ask(registry_, wording_, reader, path, checks) : usable;
    }));
    if (status.ok()) status = reader.read();
    if (status.ok() && checksums) status = verify_checksums(team_, reader, path, checks);
    std::optional<Definitions> read;
    if (status.ok())
        status = team_.agree(alone([&]() -> Status {
            read = reader.contents().definitions();
            return {};
        }));
    byte_of_any_sign_ = reader.contents().byte_of_any_sign();
    Status closed = reader.close();
    if (status.ok()) status = std::move(closed);
    if (status.ok()) read_ = std::move(read);
    return status;
}

Status Restart::open(std::unique_ptr<Reader> reader, const std::string& path) {
    if (reader_) return still_open(path);
    read_.reset();
    Status status = reader->open();
    if (!status.ok()) return status;
    status = team_.agree(alone([&]() -> Status {
        path_ = path;
        read_ = reader->contents().definitions();
        return {};
    }));
    if (!status.ok()) {
        read_.reset();
        (void)reader->close();
        return status;
    }
    byte_of_any_sign_ = reader->contents().byte_of_any_sign();
    reader_ = std::move(reader);
    return {};
}

Status Restart::get(const Registration& r, bool checksums) {
    if (!reader_)
        return failure(TW_ESTATE,
                       "restart: variable '{}': no file is open; call tw_restart_open first",
                       r.name);
    Definitions made;
    RegisteredArray array;
    std::vector<std::string> lines;
    Status status = team_.agree(alone([&]() -> Status {
        Status own = registry_.check(r, made, array);
        if (!own.ok()) return own;
        lines = describe(made, {array.holding}, wording_);
        lines.push_back(fmt::format("'{}' {}, {}", r.name, r.optional ? "optional" : "required",
                                    r.by_position ? "by position" : "by name"));
        return {};
    }));
    if (!status.ok()) return status;
    // From here on all ranks know the same of the variable, and do the same.
    if (status = check_alike(team_, path_, lines); !status.ok()) return status;
    Wish wish;
    std::vector<ExpectedChecksum> checks;
    status = team_.agree(alone([&] {
        return ask_for(reader_->contents(), path_, made, made.variables.front(), wording_, array,
                       wish, checks);
    }));
    if (!status.ok() || !array.found) return status;
    status = reader_->get(wish);
    return status.ok() && checksums ? verify_checksums(team_, *reader_, path_, checks) : status;
}

Status Restart::close() {
    if (!reader_) return failure(TW_ESTATE, "restart: no file is open; call tw_restart_open first");
    const std::unique_ptr<Reader> reader = std::move(reader_);
    return reader->close();
}

}  // namespace thalweg::detail
