// SPDX-License-Identifier: Apache-2.0
#include "registry.hpp"

#include <algorithm>

namespace thalweg::bench {

const std::vector<MethodInfo>& registered_methods() {
    static const std::vector<MethodInfo> table = {
        {"raw", "every rank writes 1/P of the bytes with pwrite, without a format: the baseline",
         "posix", FileKind::bytes, false, make_raw},
        {"serial", "Thalweg: one rank gathers and writes", "posix", FileKind::classic, true,
         make_serial},
        {"direct",
         "Thalweg on PnetCDF: every rank writes its block, one collective put per variable",
         "pnetcdf", FileKind::classic, true, make_direct},
        {"direct-nonblocking",
         "Thalweg on PnetCDF: nonblocking puts of all variables of a step, one wait", "pnetcdf",
         FileKind::classic, true, make_direct_nonblocking},
        {"slabs", "Thalweg: staging ranks write ranges of the slowest dimension", "posix",
         FileKind::classic, true, make_slabs},
        {"record", "Thalweg: each writer writes one contiguous range of the step", "posix",
         FileKind::classic, true, make_record},
        {"rows", "Thalweg: one rank of each process row writes for the row", "posix",
         FileKind::classic, true, make_rows},
        {"rows-pnetcdf", "the same on PnetCDF, one collective put per variable (CMAQ's pnetCDFcr)",
         "pnetcdf", FileKind::classic, true, make_rows_pnetcdf},
        {"columns", "Thalweg: one rank of each process column writes for the column", "posix",
         FileKind::classic, true, make_columns},
        {"columns-pnetcdf",
         "the same on PnetCDF, one collective put per variable (CMAQ's pnetCDFcc)", "pnetcdf",
         FileKind::classic, true, make_columns_pnetcdf},
        {"tiles", "Thalweg: one rank writes for each tile of the horizontal domain", "posix",
         FileKind::classic, true, make_tiles},
        {"tiles-pnetcdf", "the same on PnetCDF, one collective put per variable (MOM5's io_layout)",
         "pnetcdf", FileKind::classic, true, make_tiles_pnetcdf},
        {"record-netcdf4", "Thalweg: method record to a netCDF-4 file, without parallel HDF5",
         "netcdf4", FileKind::netcdf4, true, make_record_netcdf4},
        {"netcdf4", "netCDF-C on parallel HDF5, collective, with its fsync at close", "netcdf4",
         FileKind::netcdf4, false, make_netcdf4},
        {"netcdf4-nosync", "the same without the fsync, like the other methods", "netcdf4",
         FileKind::netcdf4, false, make_netcdf4_nosync},
        {"peer-serial", "plain netCDF-C: rank 0 gathers each variable, transposes it, and writes",
         "netcdf-c", FileKind::classic, false, make_peer_serial},
        {"peer-serial-default", "the same without a buffer-size hint, as nc_create does",
         "netcdf-c", FileKind::classic, false, make_peer_serial_default},
        {"peer-pnetcdf", "plain PnetCDF: one blocking collective put per variable", "pnetcdf",
         FileKind::classic, false, make_peer_pnetcdf},
        {"peer-pnetcdf-nonblocking", "plain PnetCDF: iput of all variables, one wait_all per step",
         "pnetcdf", FileKind::classic, false, make_peer_pnetcdf_nonblocking},
    };
    return table;
}

MethodInfo find_method(const std::string& name) {
    const auto colon = name.find(':');
    const std::string plain = name.substr(0, colon);
    const auto& table = registered_methods();
    const auto entry = std::find_if(table.begin(), table.end(),
                                    [&](const MethodInfo& m) { return m.name == plain; });
    if (entry == table.end()) {
        std::string names;
        for (const MethodInfo& m : table) names += (names.empty() ? "" : ", ") + m.name;
        throw UsageError("unknown method \"" + plain + "\"; the methods are " + names);
    }
    MethodInfo info = *entry;
    if (colon == std::string::npos) return info;
    if (!info.library)
        throw UsageError("method \"" + name + "\": only the library's methods have settings");
    info.name = name;
    info.settings = name.substr(colon + 1);
    std::replace(info.settings.begin(), info.settings.end(), ':', ';');
    if (info.settings.find("format=netcdf4") != std::string::npos) info.kind = FileKind::netcdf4;
    return info;
}

}  // namespace thalweg::bench
