// SPDX-License-Identifier: Apache-2.0
#include "zarr.hpp"

#include <algorithm>
#include <set>

#include "inspected.hpp"
#include "storage/posix/paths.hpp"
#include "zarr/joined_references.hpp"
#include "zarr/reference_file.hpp"

namespace thalweg::app {

using namespace detail;

namespace {

Status name_files(const ZarrOptions& options, const std::string& output,
                  std::vector<ReferencedFile>& files) {
    for (const std::string& path : options.files) {
        ReferencedFile file{path, {}, {}};
        if (Status status = make_absolute(path, file.data); !status.ok()) return status;
        const auto same = [&](const ReferencedFile& other) { return other.data == file.data; };
        if (std::any_of(files.begin(), files.end(), same))
            return failure(TW_EARG, "{}: the file is given twice", path);
        Status status;
        if (options.absolute)
            file.name = file.data;
        else
            status = reference_name(file.data, output, file.name);
        if (!status.ok()) return status;
        files.push_back(std::move(file));
    }
    return {};
}

/// Notes objects that netCDF-C lists, but that references cannot represent.
void note_unreadable(const std::string& path, const Source& source, const ReferenceOptions& options,
                     std::vector<std::string>& notes) {
    if (source.groups() > 0)
        notes.push_back(fmt::format("{}: {} groups are left out: only the root group can be read",
                                    path, source.groups()));
    const auto note = [&](const std::string& owner, const std::vector<Attribute>& attributes) {
        for (const Attribute& a : attributes)
            if (!valid_type(a.type))
                notes.push_back(fmt::format(
                    "{}: attribute '{}:{}' is left out: strings and user-defined types cannot be "
                    "read",
                    path, owner, a.name));
    };
    const Definitions& d = source.definitions();
    note("", d.attributes);
    for (const detail::Variable& v : d.variables)
        if (!has(options.left_out, v.name)) note(v.name, v.attributes);
}

/// Checks that the variables which netCDF-C does not list may be left out, because the user has
/// named them.
/// @param options names of variables to leave out; those that netCDF-C does not list are removed
/// @param notes receives other objects that are left out
Status check_unlisted(const std::vector<ReferencedFile>& files, ReferenceOptions& options,
                      std::vector<std::string>& notes) {
    std::set<std::string> skipped;
    const auto comm = make_serial_comm();
    for (const ReferencedFile& file : files) {
        Status opened;
        const auto source = open_source(*comm, file.data, false, opened);
        if (!opened.ok()) return {};  // make_references() will report the error
        note_unreadable(file.path, *source, options, notes);
        Inspection inspection;
        if (Status status = inspect_netcdf4(file.data, inspection); !status.ok()) return status;
        for (const UnlistedObject& o : inspection.unlisted) {
            const bool out = has(options.left_out, o.variable);
            if (o.attribute.empty() && out) skipped.insert(o.variable);
            if (!o.attribute.empty() && !out)
                notes.push_back(fmt::format("{}: {}: left out: its HDF5 type is {}", file.path,
                                            name_of(o), o.type));
            if (o.attribute.empty() && !out)
                return failure(TW_EUNSUPPORTED,
                               "{}: {}: its HDF5 type is {}; leave it out (--skip)", file.path,
                               name_of(o), o.type);
        }
    }
    std::erase_if(options.left_out,
                  [&](const std::string& name) { return skipped.contains(name); });
    return {};
}

}  // namespace

Status write_zarr_references(const ZarrOptions& options, std::string& done,
                             std::vector<std::string>& notes) {
    const std::string asked =
        options.output.empty() ? options.files.front() + ".json" : options.output;
    std::string output;
    if (Status status = make_absolute(asked, output); !status.ok()) return status;
    const ReferenceFile reference(output);
    if (Status status = reference.check(); !status.ok()) return status;
    std::vector<ReferencedFile> files;
    if (Status status = name_files(options, output, files); !status.ok()) return status;
    ReferenceOptions references = options.references;
    JoinedReferences made;
    Status status = alone([&] { return check_unlisted(files, references, notes); });
    if (status.ok()) status = make_references(files, references, made);
    if (!status.ok()) return status;
    status = reference.write(made.text(false), false);
    if (status.ok()) status = reference.publish(false);
    done = fmt::format(
        "{}: references to {}", asked,
        files.size() == 1 ? options.files.front() : fmt::format("{} files", files.size()));
    return status;
}

}  // namespace thalweg::app
