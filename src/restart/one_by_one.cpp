// A file that is read one variable at a time, into arrays that are not registered.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "restart/restart.hpp"

namespace thalweg::detail {

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
    Array array;
    std::vector<std::string> lines;
    Status status = team_.agree(alone([&]() -> Status {
        Status own = check_registration(r, made, array);
        if (!own.ok()) return own;
        lines = describe(made, wording_);
        lines.push_back(fmt::format("'{}' {}, {}", r.name, r.optional ? "optional" : "required",
                                    r.by_position ? "by position" : "by name"));
        return {};
    }));
    if (!status.ok()) return status;
    // From here on all ranks know the same of the variable, and do the same.
    if (status = check_alike(team_, path_, lines); !status.ok()) return status;
    Wish wish;
    std::vector<Check> checks;
    status = team_.agree(alone([&] {
        return ask_for(*reader_, path_, made, made.variables.front(), array, wish, checks);
    }));
    if (!status.ok() || !array.found) return status;
    status = reader_->get(wish);
    return status.ok() && checksums ? verify(*reader_, path_, checks) : status;
}

Status Restart::close() {
    if (!reader_) return failure(TW_ESTATE, "restart: no file is open; call tw_restart_open first");
    const std::unique_ptr<Reader> reader = std::move(reader_);
    return reader->close();
}

}  // namespace thalweg::detail
