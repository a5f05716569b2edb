// SPDX-License-Identifier: Apache-2.0
#include "inspected.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/wire.hpp"
#include "storage/tiles/tiles.hpp"

namespace thalweg::app {

using detail::Inspection;
using detail::Status;
using detail::UnlistedObject;

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

std::vector<char> to_bytes(const Inspection& i) {
    detail::WireWriter out;
    out.put(i.netcdf4);
    out.put(i.unlimited.size());
    for (const std::string& name : i.unlimited) out.put(name);
    out.put(i.unlisted.size());
    for (const UnlistedObject& o : i.unlisted)
        for (const std::string* text : {&o.variable, &o.attribute, &o.type, &o.content})
            out.put(*text);
    return std::move(out.bytes);
}

Inspection inspection_of(const std::vector<char>& bytes) {
    detail::WireReader in(bytes);
    Inspection i;
    i.netcdf4 = in.get<bool>();
    i.unlimited.resize(in.get<std::size_t>());
    for (std::string& name : i.unlimited) name = in.get_text();
    i.unlisted.resize(in.get<std::size_t>());
    for (UnlistedObject& o : i.unlisted)
        for (std::string* text : {&o.variable, &o.attribute, &o.type, &o.content})
            *text = in.get_text();
    return i;
}

}  // namespace

std::vector<std::string> files_of(const std::string& path) {
    std::vector<std::string> files;
    struct stat info {};
    std::error_code error;
    if (stat(path.c_str(), &info) != 0)
        for (int k = 0; stat(detail::tile_path(path, k).c_str(), &info) == 0; ++k)
            files.push_back(detail::tile_path(path, k));
    else if (S_ISDIR(info.st_mode))
        for (const auto& entry : std::filesystem::directory_iterator(path, error))
            if (entry.path().extension() == ".nc") files.push_back(entry.path().string());
    if (files.empty()) files.push_back(path);
    std::sort(files.begin(), files.end());
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
        bytes = to_bytes(all);
        return {};
    });
    if (status = agree(comm, status); !status.ok()) return status;
    comm.broadcast(bytes, 0);
    return agree(comm, detail::alone([&]() -> Status {
                     result = inspection_of(bytes);
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
