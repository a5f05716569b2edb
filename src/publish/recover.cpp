// SPDX-License-Identifier: Apache-2.0
#include "publish/recover.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/text/text.hpp"
#include "publish/checksums.hpp"
#include "publish/claim.hpp"
#include "publish/committed.hpp"
#include "storage/classic/header.hpp"
#include "storage/netcdf4/index/undo.hpp"
#include "storage/netcdf4/whole.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/redo.hpp"
#include "storage/posix/system.hpp"
#include "storage/variables/variables.hpp"
#include "storage/zarr/store/contents.hpp"

namespace thalweg::detail {

namespace {

/// Tests if a file certainly does not exist. Other errors are not handled here: open() will report
/// them.
bool missing(const std::string& path) {
    struct stat info {};
    return stat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

std::string count(std::int64_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::vector<std::string> kept_paths(const std::string& own) {
    std::vector<std::string> there;
    for (int k = 1; k <= most_kept; ++k)
        if (std::string path = kept_path(own, k); !missing(path)) there.push_back(std::move(path));
    return there;
}

/// Finds the data to recover, and the final name of the file.
Status find(std::string path, std::string& own, std::string& data) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();  // the lock is beside a folder
    if (Status status = follow_links(path, own); !status.ok()) return status;
    data = temporary_path(own);
    if (!missing(data)) return {};
    const bool there = !missing(own);
    // Try this only if the file's own name leads to no data, because a user may have given a file a
    // name that ends in .part.
    if (const std::string name = own_path(own); there && !name.empty()) {
        data = own;
        own = name;
        return {};
    }
    std::vector<std::string> kept = kept_paths(own);
    if (!there && kept.empty())
        return failure(TW_ENOTFOUND, "{}: neither this file nor {} exists", path, data);
    // A folder of netCDF files is not recovered, but named if there is nothing else.
    const auto is_folder = [](const std::string& p) {
        std::error_code error;
        return std::filesystem::is_directory(p, error) && !is_zarr_store(p);
    };
    if (!std::ranges::all_of(kept, is_folder)) std::erase_if(kept, is_folder);
    data = there ? own : sorted_by_records(kept).back();
    return {};
}

/// Checks that a file would not be replaced by one with fewer records.
Status compare(const std::string& own, const std::string& data, const Committed& found) {
    if (missing(own)) return {};
    Committed before;
    const Status status = find_committed(own, before);
    if (status.code == TW_EFORMAT) return {};  // no data to lose
    if (!status.ok() || before.records <= found.records) return status;
    return failure(
        TW_EEXISTS,
        "{}: it has {}, but {} has {}: nothing was changed ('thalweg recover --force', or "
        "TW_REPLACE_LONGER, replaces the longer file)",
        data, count(found.records, "record"), own, before.records);
}

/// Sets the size and the record count of a file to those of its complete records.
Status complete(const std::string& path, const Committed& found) {
    if (found.format == Format::zarr) return complete_store(path, found.records);
    return with_file(path, O_RDWR, [&](int fd) {
        Status status;
        if (found.lost > 0) status = write_record_count(fd, path, found.format, found.records);
        if (status.ok() && found.size != found.actual) status = set_file_size(fd, path, found.size);
        return status.ok() ? sync_file(fd, path, true) : status;
    });
}

/// Cuts all variables of a netCDF-4 file to the number of records of the shortest, because a run
/// that is killed while it counts a record leaves some variables longer. Does not change a file
/// under its final name, whose variables may differ on purpose.
Status level(const std::string& own, const std::string& data, Committed& found,
             std::int64_t& uneven) {
    if (!found.netcdf4 || data == own || found.shortest == found.records) return {};
    uneven = found.records - found.shortest;
    Status status = cut_netcdf4(data, found.shortest);
    return status.ok() ? find_committed(data, found) : status;
}

/// The repairs that were made to a file.
struct Mended {
    /// Number of records that were cut off because only some variables had them.
    std::int64_t uneven = 0;
    bool undone = false;  ///< an incomplete change of metadata was undone
    /// Number of records that were cut off, from the first one on that the checksums show to be
    /// incomplete.
    std::int64_t damaged = 0;
    std::string first_damage;  ///< description of the first damage
    std::string unchecked;     ///< reason why the checksums could not be compared
    std::string unknown;       ///< data of which there are no checksums
};

/// Reduces the number of records, and inspects the file again. @param records  new number of
/// records
Status keep_before(const std::string& data, std::int64_t records, Committed& found) {
    if (found.netcdf4 || found.format == Format::zarr) {
        Status status = found.netcdf4 ? cut_netcdf4(data, records) : complete_store(data, records);
        return status.ok() ? find_committed(data, found) : status;
    }
    found.lost += found.records - records;
    const std::int64_t actual = found.actual, lost = found.lost;
    Status status = with_file(
        data, O_RDWR, [&](int fd) { return write_record_count(fd, data, found.format, records); });
    if (status.ok()) status = find_committed(data, found);
    found.actual = actual;
    found.lost = lost;
    return status;
}

/// Returns sorted numbers with ranges, as "0, 2 to 4".
std::string ranges_text(const std::vector<std::int64_t>& numbers) {
    std::vector<std::string> ranges;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        ranges.push_back(last == i ? fmt::format("{}", numbers[i])
                                   : fmt::format("{} to {}", numbers[i], numbers[last]));
        i = last + 1;
    }
    return joined(ranges, ", ");
}

/// Names the variables, and of each the records, that have faults of a kind.
std::string list_faults(const SumsReport& report, SumsFault::Kind kind) {
    std::vector<std::string> names;
    for (std::size_t v = 0; v < report.variables.size(); ++v) {
        std::vector<std::int64_t> records;
        bool any = false;
        for (const SumsFault& f : report.faults) {
            if (f.kind != kind || f.variable != static_cast<std::int64_t>(v)) continue;
            any = true;
            if (f.record >= 0) records.push_back(f.record);
        }
        if (!any) continue;
        names.push_back(fmt::format("'{}'", report.variables[v]));
        if (!records.empty()) names.back() += fmt::format(" (records {})", ranges_text(records));
    }
    return joined(names, ", ");
}

/// Compares the data with their checksums, if there are any. A file under its temporary name is cut
/// before the first record with a mismatch. A file under its final name is not cut, as the records
/// after this one may be older and complete. Without a checksum, nothing is known of the data:
/// after lost power, neither may be on the disk.
/// @param remains  receives a failure that names the damage that was not cut off
Status check_whole(const std::string& own, const std::string& data, Committed& found,
                   Mended& mended, Status& remains) {
    const bool store = found.format == Format::zarr;
    if (!store && !has_sums(data)) return {};
    // check_sums() reads as many records as the header counts, so correct the header first.
    if (found.lost > 0)
        if (Status s = keep_before(data, found.records, found); !s.ok()) return s;
    SumsReport report;
    const std::unique_ptr<Comm> comm = make_serial_comm();
    if (Status s = check_sums(*comm, data, {}, report); !s.ok()) {
        if (store && s.code == TW_ENOTFOUND) return {};
        mended.unchecked = s.text;
        // An append would refuse them.
        if (s.code == TW_EFORMAT && data != own && ::unlink(sums_path(data).c_str()) == 0)
            mended.unchecked += ": they were removed";
        return s.code == TW_ENOMEM ? s : Status{};
    }
    const auto damage =
        std::find_if(report.faults.begin(), report.faults.end(), [&](const SumsFault& f) {
            return f.kind == SumsFault::mismatch && f.record >= 0 && data != own;
        });
    if (damage != report.faults.end()) {
        mended.damaged = found.records - damage->record;
        mended.first_damage = describe(own, report, *damage).substr(own.size() + 2);
        if (Status s = keep_before(data, damage->record, found); !s.ok()) return s;
        std::erase_if(report.faults, [&](const SumsFault& f) { return f.record >= found.records; });
    }
    mended.unknown = list_faults(report, SumsFault::unknown);
    if (const std::string left = list_faults(report, SumsFault::mismatch); !left.empty())
        remains = {TW_ECHECKSUM, left};
    return store ? Status{} : complete_sums(data, 0, 1, true);
}

std::string describe(const std::string& own, const Committed& found, bool whole,
                     const Mended& mended) {
    std::string done =
        own + (found.has_records ? ": " + count(found.records, "record") : ": no record variables");
    done += whole ? ", already complete" : found.has_records ? " recovered" : ", recovered";
    if (mended.undone) done += "; an incomplete change of its definitions was undone";
    if (found.lost > mended.damaged)
        done +=
            fmt::format("; {} more counted in the header but missing", found.lost - mended.damaged);
    if (mended.uneven > 0)
        done += fmt::format("; {} that only some variables had cut off",
                            count(mended.uneven, "record"));
    if (!mended.unchecked.empty())
        done += fmt::format("; not compared with its checksums: {}", mended.unchecked);
    if (mended.damaged > 0)
        done += fmt::format("; {} cut off, from the first on that is not whole ({})",
                            count(mended.damaged, "record"), mended.first_damage);
    if (!mended.unknown.empty())
        done += fmt::format("; without checksums that tell if all is there: {}", mended.unknown);
    if (found.actual > found.size)
        done += fmt::format("; {} cut off", count(found.actual - found.size, "byte"));
    for (const std::string& kept : kept_paths(own))
        done += fmt::format("; an earlier run left {}", kept);
    return done;
}

}  // namespace

Status recover(const std::string& path, bool force, std::string& done) {
    std::string own, data;
    Status status;
    std::error_code ignored;
    std::unique_ptr<Claim> claim;
    bool store = false;
    do {
        claim.reset();
        if (status = find(path, own, data); !status.ok()) return status;
        store = is_zarr_store(data);
        const bool folder = !store && std::filesystem::is_directory(data, ignored);
        if (folder && netcdf_files(data).empty())
            return failure(TW_EUNSUPPORTED, "{}: a folder without zarr.json and netCDF files",
                           data);
        if (folder)
            return failure(TW_EUNSUPPORTED,
                           "{}: a folder with a file a variable (files=variable) is not recovered; "
                           "its files can be read where they are",
                           data);
        if (status = Claim::take_over(own, data, claim); !status.ok()) return status;
        // A run that still writes the file may have completed it before the claim.
    } while (missing(data));
    Mended mended;
    if (!store) status = redo(data);
    if (!store && status.ok()) status = undo(data, mended.undone);
    if (!store && status.ok()) status = enter_logged(data);
    if (!status.ok()) return status;
    Committed found;
    if (status = find_committed(data, found); !status.ok()) return status;
    if (data != own && !force)
        if (status = compare(own, data, found); !status.ok()) return status;
    if (status = level(own, data, found, mended.uneven); !status.ok()) return status;
    Status remains;
    if (status = check_whole(own, data, found, mended, remains); !status.ok()) return status;
    const bool whole =
        data == own && !mended.undone && found.lost == 0 && found.size == found.actual;
    if (status = complete(data, found); !status.ok()) return status;
    if (status = claim->publish(true); !status.ok()) return status;
    done = describe(own, found, whole, mended);
    if (!remains.ok())
        remains.text = fmt::format("{}; but damaged, by the checksums: {}", done, remains.text);
    return remains;
}

}  // namespace thalweg::detail
