// SPDX-License-Identifier: Apache-2.0
#include "inspect/inspected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/wire.hpp"
#include "publish/checksums.hpp"

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
    Status status;
    Inspection all;
    const std::vector<std::string> files =
        comm.rank() == 0 ? files_of(path) : std::vector<std::string>{};
    for (const std::string& file : files) {
        Inspection one;
        if (status.ok()) status = inspect_netcdf4(file, one);
        add(one, all);
    }
    if (files.size() > 1)
        for (UnlistedObject& object : all.unlisted) object.content.clear();
    if (status = agree(comm, status); !status.ok()) return status;
    std::vector<char> bytes = detail::message_of(all);
    comm.broadcast(bytes, 0);
    result = detail::value_in<Inspection>(bytes);
    return {};
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
