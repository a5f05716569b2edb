// The source of a folder with one file per variable. Each file is a source of its own, of which the
// last variable is read: the others have files of their own.
// SPDX-License-Identifier: Apache-2.0
#include "storage/source.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/text/text.hpp"
#include "storage/several_files.hpp"
#include "storage/variables/variables.hpp"

namespace thalweg::detail {

namespace {

constexpr std::string_view suffix = ".nc";

/// Returns the number of the only variable of a file that is read.
int last_of(const Source& file) {
    return static_cast<int>(file.definitions().variables.size()) - 1;
}

class VariableSource final : public SeveralFiles {
public:
    VariableSource(std::string path) : path_(std::move(path)) {
        contents_.no_append = "it is a folder with a file for each variable";
    }

    Status open(Comm& comm) {
        std::vector<char> list;
        if (comm.rank() == 0) {
            const std::string names = joined(netcdf_files(path_), "/") + "/";
            list.assign(names.begin(), names.end());
        }
        comm.broadcast(list, 0);
        Status status;
        for (auto begin = list.begin(); begin != list.end();) {
            const auto end = std::find(begin, list.end(), '/');
            const std::string file = path_ + "/" + std::string(begin, end);
            auto source = open_source(comm, file, false, status);
            if (!status.ok()) {
                status.text += fmt::format(" (of directory '{}')", path_);
                return status;
            }
            source->forget();
            if (status = join(std::move(source), file); !status.ok()) return status;
            begin = end + 1;
        }
        count_records();
        return {};
    }

    std::vector<SourcePart> parts(int variable, int readers) const override {
        return at(variable).parts(last_of(at(variable)), readers);
    }

    /// Sorts reads by file first, then by position in the file.
    std::int64_t position(int variable, std::int64_t record) const override {
        return (std::int64_t{variable} << 40) + record;
    }

    Status check(int variable, std::int64_t record) const override {
        Status status = at(variable).check(last_of(at(variable)), record);
        if (!status.ok()) status.text = fmt::format("{}: {}", paths_[variable], status.text);
        return status;
    }

private:
    Status for_files(std::span<const ReadRange> ranges, const Visit& visit) const override {
        for (std::size_t i = 0; i < ranges.size();) {
            const int variable = ranges[i].variable;
            std::vector<ReadRange> of_file;
            for (; i < ranges.size() && ranges[i].variable == variable; ++i) {
                of_file.push_back(ranges[i]);
                of_file.back().variable = last_of(at(variable));
            }
            if (Status status = visit(variable, of_file); !status.ok()) return status;
        }
        return {};
    }

    Status join(std::unique_ptr<Source> source, const std::string& file) {
        const Definitions& its = source->definitions();
        if (its.variables.empty()) return failure(TW_EFORMAT, "{}: has no variables", file);
        Variable v = its.variables.back();
        const std::size_t begin = path_.size() + 1;
        if (!is_file_of(file.substr(begin, file.size() - suffix.size() - begin), v.name))
            return failure(
                TW_EFORMAT,
                "{}: is a directory that was not written with files=variable: the last variable "
                "of '{}' is '{}'; open the file itself",
                OfFile{path_}, file, v.name);
        Definitions& definitions = contents_.definitions;
        if (definitions.find_variable(v.name) >= 0)
            return failure(TW_EFORMAT, "{}: has variable '{}', like another file of the folder",
                           file, OfVariable{v.name});
        if (files_.empty()) {
            definitions.attributes = its.attributes;
            contents_.format = source->contents().format;
        }
        for (int& dim : v.dims) {
            const Dimension& own = its.dims[dim];
            if (definitions.find_dim(own.name) < 0) definitions.dims.push_back(own);
            dim = definitions.find_dim(own.name);
            const std::int64_t length = definitions.dims[dim].length;
            if (length == own.length) continue;
            return failure(TW_EFORMAT, "{}: dimension '{}' has length {}, in {} {}", file, own.name,
                           own.length, paths_.front(), length);
        }
        definitions.variables.push_back(std::move(v));
        contents_.variables.push_back(source->contents().variables.back());
        files_.push_back(std::move(source));
        paths_.push_back(file);
        if (files_.back()->contents().format == contents_.format) return {};
        return failure(TW_EFORMAT, "{}: its format differs from that of {}", file, paths_.front());
    }

    std::string path_;
    std::vector<std::string> paths_;
};

}  // namespace

std::vector<std::string> netcdf_files(const std::string& path) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
         at.increment(error)) {
        std::string name = at->path().filename().string();
        if (name.size() <= suffix.size() || !name.ends_with(suffix)) continue;
        std::error_code lost;  // ignore a broken link here: opening it will fail with an error
        if (!at->is_directory(lost)) names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    return names;
}

bool is_variable_folder(int fd, const std::string& path) {
    struct stat info {};
    return fstat(fd, &info) == 0 && S_ISDIR(info.st_mode) && !netcdf_files(path).empty();
}

std::unique_ptr<Source> open_variable_source(Comm& comm, const std::string& path, Status& status) {
    return opened_source<VariableSource>(comm, status, path);
}

}  // namespace thalweg::detail
