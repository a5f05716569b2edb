// SPDX-License-Identifier: Apache-2.0
#include "zarr.hpp"

#include <algorithm>

#include "storage/posix/paths.hpp"
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

}  // namespace

Status write_zarr_references(const ZarrOptions& options, std::string& done) {
    const std::string asked =
        options.output.empty() ? options.files.front() + ".json" : options.output;
    std::string output;
    if (Status status = make_absolute(asked, output); !status.ok()) return status;
    const ReferenceFile reference(output);
    if (Status status = reference.check(); !status.ok()) return status;
    std::vector<ReferencedFile> files;
    if (Status status = name_files(options, output, files); !status.ok()) return status;
    std::string text;
    if (Status status = make_references(files, options.references, text); !status.ok())
        return status;
    Status status = reference.write(text, false);
    if (status.ok()) status = reference.publish(false);
    done = fmt::format(
        "{}: references to {}", asked,
        files.size() == 1 ? options.files.front() : fmt::format("{} files", files.size()));
    return status;
}

}  // namespace thalweg::app
