// What a file's settings leave open is chosen when its definitions end: format, storage, method,
// service and how many ranks write. Pure functions: they touch neither MPI nor files, and give the
// reasons for what is not as it was asked for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "choose/hiding.hpp"
#include "choose/room.hpp"
#include "service/file_options.hpp"
#include "storage/posix/file_system.hpp"

namespace thalweg::detail {

/// What a user should know of a choice.
struct Remark {
    enum class Level { info, warning };
    Level level = Level::info;
    std::string text;
};

/// Logs what is to be known of a file.
void report(const std::vector<Remark>& remarks, const std::string& path);

/// The format of a file, and of netCDF-4 how each variable is stored.
/// @param definitions  their variables receive chunks and filters
/// @return TW_OK, TW_ESETTING, TW_EFORMAT
Status choose_format(const FileOptions& options, Definitions& definitions, Format& format,
                     std::vector<Remark>& remarks);

/// What is known of the machine and of the run.
struct Surroundings {
    FileSystem file_system;         ///< of the file's folder
    std::int64_t stripe_size = -1;  ///< bytes; -1: not known
    int nodes = 1;
    int ranks = 1;  ///< without servers
    bool servers = false;
    bool existing = false;  ///< the file is continued
    Room room;              ///< looked at with service=auto
    OutputTimes outputs;    ///< of the run so far, with service=auto
};

/// How a file is written.
struct Choice {
    std::string storage, writers, method, service;
    std::int64_t alignment = -1;
    bool writers_asked = false;  ///< their number is as asked for, or has to be
    std::string why_service;     ///< of service=auto, or why it is not the one asked for
    bool may_change = false;     ///< to background, once that pays
    std::vector<Remark> remarks;
};

/// @param format  of the file, with `definitions` as choose_format() has left them
Choice choose(const FileOptions& options, const Definitions& definitions, Format format,
              const Surroundings& surroundings);

}  // namespace thalweg::detail
