// SPDX-License-Identifier: Apache-2.0
#include "inspected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/wire.hpp"
#include "publish/sums.hpp"

namespace thalweg::app {

using detail::Status;

template <class Wire>
void carry(Wire& wire, detail::Carried<Wire, UnlistedObject> o) {
    wire(o.variable, o.attribute, o.type, o.content);
}

template <class Wire>
void carry(Wire& wire, detail::Carried<Wire, Inspection> i) {
    wire(i.netcdf4, i.unlimited, i.unlisted);
}

namespace {

void add(const Inspection& from, Inspection& to) {
    to.netcdf4 |= from.netcdf4;
    for (const std::string& name : from.unlimited)
        if (!has(to.unlimited, name)) to.unlimited.push_back(name);
    for (const UnlistedObject& object : from.unlisted) {
        const auto known =
            std::find_if(to.unlisted.begin(), to.unlisted.end(), [&](const UnlistedObject& other) {
                return other.variable == object.variable && other.attribute == object.attribute;
            });
        if (known == to.unlisted.end()) to.unlisted.push_back(object);
    }
}

}  // namespace

#ifndef THALWEG_HAVE_NETCDF4
Status inspect_netcdf4(const std::string&, Inspection&, bool) { return {}; }
Status add_stored_bytes(const std::string&, const std::vector<std::string>&,
                        std::vector<std::int64_t>&) {
    return {};
}
#endif

std::vector<std::string> files_of(const std::string& path) {
    std::vector<std::string> files = detail::files_at(path);
    if (files.empty()) files.push_back(path);
    return files;
}

Status inspect(detail::Comm& comm, const std::string& path, Inspection& result) {
    std::vector<char> bytes;
    Status status = detail::alone([&]() -> Status {
        if (comm.rank() != 0) return {};
        Inspection all;
        const std::vector<std::string> files = files_of(path);
        for (const std::string& file : files) {
            Inspection one;
            if (Status s = inspect_netcdf4(file, one); !s.ok()) return s;
            add(one, all);
        }
        if (files.size() > 1)
            for (UnlistedObject& object : all.unlisted) object.content.clear();
        bytes = detail::message_of(all);
        return {};
    });
    if (status = agree(comm, status); !status.ok()) return status;
    comm.broadcast(bytes, 0);
    return agree(comm, detail::alone([&]() -> Status {
                     result = detail::value_in<Inspection>(bytes);
                     return {};
                 }));
}

Names unlimited_of(const Reader& file, const Inspection& inspection) {
    if (inspection.netcdf4) return inspection.unlimited;
    const std::string record = file.inq().unlimited;
    return record.empty() ? Names{} : Names{record};
}

std::string name_of(const UnlistedObject& o) {
    return o.attribute.empty() ? fmt::format("variable '{}'", o.variable)
                               : fmt::format("attribute '{}:{}'", o.variable, o.attribute);
}

}  // namespace thalweg::app
