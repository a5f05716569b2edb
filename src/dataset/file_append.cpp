// Writing on in a file that is there: what it holds, and where the first step goes.
// SPDX-License-Identifier: Apache-2.0
#include "dataset/file.hpp"
#include "definitions/adopt.hpp"
#include "storage/classic/header_reader.hpp"

namespace thalweg::detail {

/// All ranks know what is in the file, and find the same.
Status File::open() {
    if (in_files())
        return failure(TW_ESETTING, "{}: mode=append is not possible with tile_files=yes", path_);
    // Before it is read: what another run adds meanwhile would be lost.
    Status status = detail::agree(team_.world(), alone([&]() -> Status {
                                      return team_.rank() == 0 ? claim(path_) : Status{};
                                  }));
    if (!status.ok()) return status;
    source_ = open_source(team_.world(), path_, false, status);
    if (!status.ok()) return status;
    existing_.is = true;
    existing_.first = existing_.kept = source_->records();
    const auto check = [&]() -> Status {
        if (source_->classic_header() == nullptr)
            return failure(TW_EUNSUPPORTED,
                           "{}: mode=append needs a single file of a classic format; this one has "
                           "format {}, or is a set of tiles",
                           path_, source_->format());
        if (options_.format != "auto" && options_.format != source_->format())
            return failure(TW_ESETTING, "{}: setting format is {}, but the file has format {}",
                           path_, options_.format, source_->format());
        return check_whole();
    };
    return team_.agree(alone(check));
}

/// What is lost must not pass for written when the file grows over it.
Status File::check_whole() const {
    const std::int64_t records = source_->records();
    const auto& variables = source_->definitions().variables;
    for (std::size_t i = 0; i < variables.size(); ++i) {
        if (variables[i].record && records == 0) continue;
        Status status = source_->check(static_cast<int>(i), variables[i].record ? records - 1 : 0);
        if (status.ok()) continue;
        status.text = fmt::format("{}: variable '{}': {}", path_, variables[i].name, status.text);
        return status;
    }
    return {};
}

Status File::set_record(std::int64_t record, int later) {
    if (Status s = usable_for("tw_set_record was called"); !s.ok()) return s;
    if (!source_)
        return failure(
            TW_ESTATE,
            "{}: tw_set_record is only for mode=append; the first record of a new file is {}",
            path_, options_.wording.index(0));
    if (record < 0 || record > source_->records())
        return failure(
            TW_EBOUNDS,
            "{}: tw_set_record: the first step cannot write record {}; the file has {} records",
            path_, options_.wording.index(record), source_->records());
    if (later != TW_KEEP_LATER && later != TW_DROP_LATER)
        return failure(TW_EARG, "{}: tw_set_record: unknown value {} of later", path_, later);
    existing_.first = record;
    existing_.kept = later == TW_DROP_LATER ? record : source_->records();
    return {};
}

std::string File::describe_start() const {
    return fmt::format("first record {}, {} kept", options_.wording.index(existing_.first),
                       existing_.kept);
}

/// From here on the file's definitions, with its order and numbers, are those of all.
Status File::adopt_contents() {
    Definitions all = source_->definitions();
    if (Status status = adopt(definitions_, all, late_, options_.wording); !status.ok())
        return status;
    options_.format = source_->format();
    if (Status status = choose_format(); !status.ok()) return status;
    definitions_ = std::move(all);
    map_ = source_->classic_header()->map;
    records_ = existing_.first;
    return {};
}

}  // namespace thalweg::detail
