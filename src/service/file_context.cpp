// SPDX-License-Identifier: Apache-2.0
#include "service/file_context.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::detail {

FileContext::FileContext(Team& its_team, SessionResources& its_session, std::string its_path,
                         int its_serial, FileOptions its_options)
    : team(its_team),
      session(its_session),
      packers(its_session.packers()),
      path(std::move(its_path)),
      data_path(path),
      serial(its_serial),
      options(std::move(its_options)) {
    options.live |= options.append;
    figures.path = path;
    figures.service = "inline";
    figures.threads = packers.threads();
}

std::int64_t FileContext::step_bytes() const {
    constexpr std::int64_t line = 64;
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < holdings.size(); ++i)
        bytes +=
            (holdings[i]->elements * definitions.variables[i].element() + line - 1) / line * line;
    return bytes;
}

Status FileContext::usable() const {
    if (closed) return failure(TW_ECLOSED, "{}: the file is closed", path);
    return failed;
}

Status FileContext::keep(Status status) {
    if (!status.ok() && failed.ok()) failed = status;
    return status;
}

Status FileContext::in_variable(Status status, int i) const {
    if (!status.ok())
        reword(status, "{}: variable '{}': {} (rank {})", OfFile{path},
               OfVariable{variable(i).name}, status.text, OfRank{team.rank()});
    return status;
}

Status FileContext::find_variable(const std::string& name, int type, int& found) const {
    if (Status s = usable(); !s.ok()) return s;
    found = definitions.find_variable(name);
    if (found < 0) return no_variable(definitions, path, name, team.rank());
    const tw_type its = variable(found).type;
    if (!valid_type(type)) return in_variable(failure(TW_ETYPE, "{}", no_type(type)), found);
    if ((type == TW_CHAR) != (its == TW_CHAR))
        return failure(TW_ETYPE,
                       "{}: variable '{}' has type {}, and {} cannot be converted to it (rank {})",
                       path, OfVariable{name}, name_of(its), name_of(static_cast<tw_type>(type)),
                       OfRank{team.rank()});
    return {};
}

void FileContext::use_netcdf_byte_rule(int i, tw_type& type) const {
    if (variable(i).type == TW_BYTE && type == TW_UBYTE && !has_new_types(format)) type = TW_BYTE;
}

Status FileContext::check_record(int i, std::int64_t record) const {
    if (record < most_records(format)) return {};
    Status status = failure(TW_EFORMAT, "format {} cannot count record {}; cdf5 can",
                            name_of(format), OfRecord{options.wording.index(record)});
    if (i >= 0) return in_variable(std::move(status), i);
    reword(status, "{}: {}", path, status.text);
    return status;
}

Status FileContext::enter(Call call, int i, const Status& mine, const AgreedWords& words) {
    const auto describe = [&] {
        std::string text = "of " + path;
        if (i >= 0) text += ", variable '" + variable(i).name + "'";
        return text;
    };
    auto outcome = session.call_agreement().enter(
        {call, serial, i + 1, leaving, std::ref(describe)}, mine, failed, words);
    if (outcome.failed && failed.ok()) failed = outcome.status;
    return std::move(outcome.status);
}

StorageOptions FileContext::storage_options() const {
    StorageOptions o;
    o.format = format;
    o.spacing = options.spacing;
    o.blocking = options.pnetcdf_blocking;
    o.stripe_count = options.stripe_count;
    o.stripe_size = options.stripe_size;
    o.existing = existing;
    o.durable = options.durable;
    o.wording = options.wording;
    o.live = options.live;
    o.checksums = options.checksums;
    o.waiting_chunks = std::min(o.waiting_chunks, options.staging / 2);
    o.has_checksums = has_checksums;
    o.claimed = claimed;
    o.is_there = !existing.is && !several_files();
    return o;
}

}  // namespace thalweg::detail
