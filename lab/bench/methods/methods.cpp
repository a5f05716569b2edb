// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "methods/library.hpp"
#include "methods/method.hpp"
#include "methods/peers.hpp"
#include "methods/readers.hpp"

namespace thalweg::bench {
namespace {

template <class M, auto... arguments>
std::unique_ptr<Method> make(const Context& context) {
    return std::make_unique<M>(context, arguments...);
}

}  // namespace

const std::vector<MethodInfo>& all_methods() {
    using enum FileKind;
    using enum Mode;
    const auto writes = [](const char* name, const char* text, const char* method,
                           const char* storage, bool usual = false) {
        return MethodInfo{name,          text,
                          write,         std::string(storage).substr(0, 7),
                          classic,       true,
                          make<Library>, std::string("method=") + method + "; storage=" + storage,
                          Share::own,    usual};
    };
    const std::string record = "method=record; storage=posix";
    static const std::vector<MethodInfo> table = {
        {"raw", "every rank writes 1/P of the bytes with pwrite, without a format: the baseline",
         write, "posix", bytes, false, make<Raw>, "", Share::own, true},
        writes("serial", "Thalweg: one rank gathers and writes", "serial", "posix", true),
        writes("direct",
               "Thalweg on PnetCDF: every rank writes its block, one collective put per variable",
               "direct", "pnetcdf-blocking", true),
        writes("direct-nonblocking",
               "Thalweg on PnetCDF: nonblocking puts of all variables of a step, one wait",
               "direct", "pnetcdf", true),
        {"netcdf4", "netCDF-C on parallel HDF5, collective, with its fsync at close", write,
         "netcdf4", netcdf4, false, make<Netcdf4, true>, "", Share::own, true},
        writes("slabs", "Thalweg: staging ranks write ranges of the slowest dimension", "slabs",
               "posix", true),
        writes("record", "Thalweg: each writer writes one contiguous range of the step", "record",
               "posix", true),
        writes("rows", "Thalweg: one rank of each process row writes for the row", "rows", "posix"),
        writes("columns", "Thalweg: one rank of each process column writes for the column",
               "columns", "posix"),
        writes("tiles", "Thalweg: one rank writes for each tile of the horizontal domain", "tiles",
               "posix"),
        {"record-netcdf4", "Thalweg: method record to a netCDF-4 file, without parallel HDF5",
         write, "netcdf4", netcdf4, true, make<Library>, "method=record; storage=netcdf4"},
        {"netcdf4-nosync", "netcdf4 without the fsync, like the other methods", write, "netcdf4",
         netcdf4, false, make<Netcdf4, false>},
        {"peer-serial", "plain netCDF-C: rank 0 gathers each variable, transposes it, and writes",
         write, "netcdf-c", classic, false, make<PeerSerial, true>},
        {"peer-serial-default", "the same without a buffer-size hint, as nc_create does", write,
         "netcdf-c", classic, false, make<PeerSerial, false>},
        {"peer-pnetcdf", "plain PnetCDF: one blocking collective put per variable", write,
         "pnetcdf", classic, false, make<PeerPnetcdf, true>},
        {"peer-pnetcdf-nonblocking", "plain PnetCDF: iput of all variables, one wait_all per step",
         write, "pnetcdf", classic, false, make<PeerPnetcdf, false>},

        {"none", "no output", overlap, "", bytes, false, nullptr},
        {"pack", "copies only", overlap, "", bytes, false, make<Pack>},

        {"raw", "every rank writes 1/P of the bytes with pwrite, without a format: the baseline",
         irregular, "posix", bytes, false, make<Raw>, "", Share::own, true},
        {"box", "Thalweg: an array of the same shape, one contiguous block per rank", irregular,
         "posix", classic, true, make<Library>, record, Share::box, true},
        {"thalweg", "Thalweg: an index list over the dimensions that are not held whole", irregular,
         "posix", classic, true, make<Library>, record, Share::own, true},
        {"thalweg-flattened", "the same with a list over all dimensions", irregular, "posix",
         classic, true, make<Library>, record, Share::flattened, true},
        {"thalweg-direct", "Thalweg: every rank writes its own pieces", irregular, "posix", classic,
         true, make<Library>, "method=direct; storage=posix", Share::own, true},
        {"pnetcdf-varn", "plain PnetCDF: put_varn_all of the contiguous pieces, once per variable",
         irregular, "pnetcdf", classic, false, make<Varn, true>, "", Share::own, true},
        {"pnetcdf-varn-nonblocking",
         "plain PnetCDF: iput_varn of all variables, one wait_all per step", irregular, "pnetcdf",
         classic, false, make<Varn, false>, "", Share::own, true},

        {"pio", "the calls of pio.h", pio, "", classic, false, make_pio, "", Share::own, true},
        {"thalweg", "Thalweg's own calls: tw_put, tw_end_step", pio, "", classic, true,
         make<Library, 0>, "", Share::own, true},
        {"thalweg-deferred", "likewise with deferred puts, which make no copy", pio, "", classic,
         true, make<Library, TW_DEFERRED>, "", Share::own, true},
        {"raw", "every rank writes its contiguous 1/P of the same bytes, without a format", pio,
         "posix", bytes, false, make<Raw>, "", Share::own, true},
        {"pack",
         "copies a step once to memory that is kept, in the file's byte order; writes nothing", pio,
         "", bytes, false, make<Pack>, "", Share::own, true},

        {"raw", "every rank reads 1/P of the bytes with pread, without a format: the baseline",
         read, "", bytes, false, make<RawRead>, "", Share::own, true},
        {"thalweg", "all variables requested with TW_DEFERRED, one tw_read", read, "", classic,
         true, make<LibraryRead, LibraryRead::together>, "", Share::own, true},
        {"thalweg-get", "one tw_get per variable", read, "", classic, true,
         make<LibraryRead, LibraryRead::one_by_one>, "", Share::own, true},
        {"pnetcdf", "plain PnetCDF: every rank reads its block, one collective get per variable",
         read, "", classic, false, make<PnetcdfRead>, "", Share::own, true},
        {"netcdf4", "the same with parallel netCDF-C, from a netCDF-4 file", read, "", netcdf4,
         false, make<Netcdf4Read>, "", Share::own, true},

        {"none", "no input; always measured", prefetch, "", bytes, false, nullptr, "", Share::own,
         true},
        {"inline", "one tw_read per step; always measured", prefetch, "", classic, true,
         make<LibraryRead, LibraryRead::together>, "", Share::own, true},
        {"read_ahead", "the same with read_ahead=yes", prefetch, "", classic, true,
         make<LibraryRead, LibraryRead::together>, "read_ahead=yes", Share::own, true},
        {"prefetch", "tw_prefetch of the next record before the computation of each step", prefetch,
         "", classic, true, make<LibraryRead, LibraryRead::ahead>, "", Share::own, true},
        {"pnetcdf", "plain PnetCDF: every rank reads its block, one collective get per variable",
         prefetch, "", classic, false, make<PnetcdfRead>, "", Share::own, true},
    };
    return table;
}

std::string listing() {
    std::string text;
    const auto list = [&](Mode mode, const std::string& heading) {
        text += heading;
        for (const Workload& w : workloads())
            if (w.mode == mode) text += fmt::format("  {:<26}{}\n", w.name, w.text);
        text += mode == Mode::write ? "\nMethods:\n" : "";
        for (const MethodInfo& m : all_methods())
            if (m.mode == mode) text += fmt::format("  {:<26}{}\n", m.name, m.text);
    };
    list(Mode::write, "Workloads:\n");
    const std::pair<const char*, Mode> others[] = {{"irregular", Mode::irregular},
                                                   {"overlap", Mode::overlap},
                                                   {"pio", Mode::pio},
                                                   {"prefetch", Mode::prefetch},
                                                   {"read", Mode::read}};
    for (const auto& [name, mode] : others) list(mode, fmt::format("\n{}:\n", name));
    return text;
}

MethodInfo find_method(Mode mode, const std::string& name) {
    const auto colon = name.find(':');
    const std::string plain = name.substr(0, colon);
    std::string names;
    for (const MethodInfo& m : all_methods()) {
        if (m.mode != mode) continue;
        names += (names.empty() ? "" : ", ") + m.name;
        if (m.name != plain) continue;
        MethodInfo info = m;
        if (colon == std::string::npos) return info;
        if (!info.library)
            throw UsageError("method \"" + name + "\": only the library's methods have settings");
        info.name = name;
        if (name.find("format=netcdf4") != std::string::npos) info.kind = FileKind::netcdf4;
        return info;
    }
    throw UsageError("unknown method \"" + plain + "\"; the methods are " + names);
}

}  // namespace thalweg::bench
