// Chooses what a file's settings leave open when its definitions end: format, storage, method,
// service and writers. Pure functions: they use neither MPI nor files, and give reasons if a choice
// differs from the request.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "choose/room.hpp"
#include "service/file_options.hpp"
#include "storage/posix/file_system.hpp"
#include "storage/storage.hpp"
#include "telemetry/telemetry.hpp"

namespace thalweg::detail {

/// The options that determine how a file is written. Options with the value "auto" or -1 are still
/// open.
struct FileSystemOptions {
    std::string storage = "auto", writers = "auto";
    std::int64_t alignment = -1;
    std::int64_t stripe_size = -1;
    /// A warning that a choice was changed to a safer one, or is unsafe; may be empty.
    std::string warning;
    bool direct = false;  ///< each rank writes its own data; `writers` is not used
};

/// Chooses the open options for a file system. @param pnetcdf  storage=pnetcdf is available
FileSystemOptions choose_for_file_system(const FileSystem& system, int nodes,
                                         FileSystemOptions asked, bool pnetcdf = has_pnetcdf());

/// A message to the user that explains a choice.
struct Remark {
    enum class Level { info, warning };
    Level level = Level::info;
    std::string text;
};

/// Logs the remarks about a file.
void report(const std::vector<Remark>& remarks, const std::string& path);

/// Chooses the format of a file and, for netCDF-4, the storage of each variable.
/// @param definitions  chunks and filters of its variables are set
/// @return TW_OK, TW_ESETTING, TW_EFORMAT
Status choose_format(const FileOptions& options, Definitions& definitions, Format& format,
                     std::vector<Remark>& remarks);

/// Facts about the machine and the run on which choices depend.
struct Surroundings {
    FileSystem file_system;         ///< file system of the file's folder
    std::int64_t stripe_size = -1;  ///< stripe size in bytes; -1: unknown
    int nodes = 1;
    int ranks = 1;  ///< number of ranks that are not servers
    bool servers = false;
    bool existing = false;  ///< the file exists and is continued
    NodeResources
        room;  ///< free processors and memory on the nodes; set if service=auto and close=later
};

/// The options that were chosen for a file.
struct Choice {
    std::string storage, writers, method, service;
    std::int64_t alignment = -1;
    bool writers_asked = false;  ///< the user has set the number of writers
    std::string why_service;     ///< reason for the service; empty if the user has requested it
    std::vector<Remark> remarks;
};

/// Makes the choices for a file.
/// @param format  format of the file; choose_format() must have completed `definitions`
Choice choose(const FileOptions& options, const Definitions& definitions, Format format,
              const Surroundings& surroundings);

struct ServerChoice {
    int number = 0;   ///< number of servers, less than the number of ranks; 0: none
    std::string why;  ///< reason, as a sentence without its full stop
};

/// Chooses the number of servers: one per node, or more if several writers on a node are faster on
/// the file system. At most one rank in 16 becomes a server, but at least one.
/// @param ranks, nodes  number of ranks and nodes of the session, including servers
ServerChoice choose_servers(const FileSystem& system, int ranks, int nodes);

/// Returns the settings on which choose() has decided, with their values and reasons. `writers` is
/// included only if the user could choose it.
/// @param asked     settings as the user has set them
/// @param appended  the file existed before
/// @param choice    result of choose()
std::vector<ChosenSetting> explain(const FileOptions& asked, bool appended, Format format,
                                   const Surroundings& around, const Choice& choice);

}  // namespace thalweg::detail
