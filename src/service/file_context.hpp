// The state that the parts of an open file share: its paths, its contents, and its error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "comm/team.hpp"
#include "exchange/holding.hpp"
#include "service/file_options.hpp"
#include "storage/posix/file_system.hpp"
#include "storage/storage.hpp"
#include "telemetry/telemetry.hpp"

namespace thalweg::detail {

struct FileContext {
    FileContext(Team& team, SessionResources& session, std::string path, int serial,
                FileOptions options);

    Team& team;
    SessionResources& session;
    Packers& packers;
    std::string path;
    /// Path of the data before the file is complete; in a set of files, path of the first one.
    std::string data_path;
    /// Identity of data_path, to compare between nodes; unset for a set of files.
    FileIdentity claimed;
    AskedFileSystem file_system;  ///< file system of data_path
    int serial;                   ///< number of the file in its session, the same on every rank
    FileOptions options;          ///< final values once the definitions have ended
    Definitions definitions;
    Holdings holdings;  ///< holding of each variable, as defined
    /// Memory in which an interface packs values; null: the service makes memory for copies.
    std::shared_ptr<NodeCopies> copies;
    LateAttributes late;
    Existing existing;
    bool has_checksums = false;  ///< the existing file has checksums
    Format format = Format::cdf2;
    Status failed;         ///< the first error after which data may be missing
    bool closed = false;   ///< tw_close has ended the file, with or without an error
    bool leaving = false;  ///< tw_close has begun; it ends the file with or without an error
    FileFigures figures;

    /// Returns the bytes of a step on this rank, by the holdings with which variables were defined.
    std::int64_t step_bytes() const;
    /// Largest step_bytes() of any rank; known once the definitions have ended.
    std::int64_t most_step_bytes = 0;

    const Variable& variable(int i) const { return definitions.variables[i]; }
    /// Tests if the file is a set of tiles, each in a file of its own.
    bool in_files() const { return options.tile_files && options.method == "tiles"; }
    bool several_files() const { return in_files() || options.folder(); }

    /// Returns TW_OK, TW_ECLOSED, or the error.
    Status usable() const;
    /// Keeps an error, which all later calls return.
    Status keep(Status status);
    /// Adds the file, the variable and the rank to the text of an error.
    Status in_variable(Status status, int variable) const;
    /// Finds the variable of a put, and checks that values of a type can be converted to the
    /// variable's type.
    Status find_variable(const std::string& name, int type, int& variable) const;
    /// Applies netCDF's rule: in the classic formats without unsigned types, and in netCDF-4's
    /// classic model, a byte is signed or unsigned, as the user likes (netCDF User's Guide).
    void use_netcdf_byte_rule(int variable, tw_type& type) const;
    /// Checks that the format can count a record: the given record of a variable, or the next
    /// record of the file if `variable` is -1.
    Status check_record(int variable, std::int64_t record) const;

    /// Agrees with all ranks, at the beginning of a collective call, that all are in the same call.
    /// @note Collective
    Status enter(Call call, int variable, const Status& mine, const AgreedWords& words);

    /// Returns the options that are the same for writers and other ranks.
    StorageOptions storage_options() const;
};

}  // namespace thalweg::detail
