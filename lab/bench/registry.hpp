// The methods by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/thalweg.h>

#include <memory>
#include <string>
#include <vector>

#include "method.hpp"

namespace thalweg::bench {

enum class FileKind { bytes, classic, netcdf4 };

struct MethodInfo {
    std::string name;
    std::string text;
    std::string storage;
    FileKind kind;
    bool library;  ///< the method uses Thalweg; all its classic files must have the same bytes
    std::unique_ptr<Method> (*make)(const Context&);
    std::string settings{};  ///< settings of a variant, in the form "name=value; ..."
};

const std::vector<MethodInfo>& registered_methods();

/// Returns the method of a name. "record:threads=2:writers=4" is the method `record` with these
/// settings of the library. Throws UsageError if there is no such method.
MethodInfo find_method(const std::string& name);

// Each function makes the method in the file with the same name.
std::unique_ptr<Method> make_raw(const Context&);
std::unique_ptr<Method> make_peer_serial(const Context&);
std::unique_ptr<Method> make_peer_serial_default(const Context&);
std::unique_ptr<Method> make_peer_pnetcdf(const Context&);
std::unique_ptr<Method> make_peer_pnetcdf_nonblocking(const Context&);
std::unique_ptr<Method> make_netcdf4(const Context&);
std::unique_ptr<Method> make_netcdf4_nosync(const Context&);
std::unique_ptr<Method> make_serial(const Context&);
std::unique_ptr<Method> make_direct(const Context&);
std::unique_ptr<Method> make_direct_nonblocking(const Context&);
std::unique_ptr<Method> make_slabs(const Context&);
std::unique_ptr<Method> make_record(const Context&);
std::unique_ptr<Method> make_rows(const Context&);
std::unique_ptr<Method> make_rows_pnetcdf(const Context&);
std::unique_ptr<Method> make_columns(const Context&);
std::unique_ptr<Method> make_columns_pnetcdf(const Context&);
std::unique_ptr<Method> make_tiles(const Context&);
std::unique_ptr<Method> make_tiles_pnetcdf(const Context&);
std::unique_ptr<Method> make_record_netcdf4(const Context&);

/// Makes a method of the library that uses an existing session, and ends it.
std::unique_ptr<Method> make_library(const Context&, tw_session);

}  // namespace thalweg::bench
