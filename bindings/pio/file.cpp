// SPDX-License-Identifier: Apache-2.0
#include "file.hpp"

#include <utility>

#include "pio.h"

namespace thalweg::nc {

const char* const interface_name = "PIO's interface";

}  // namespace thalweg::nc

namespace thalweg::pio {

namespace {

constexpr int old_64bit_data = 0x0010;  // PIO_64BIT_DATA in old versions of PIO's C header

Format format_of(int iotype, int mode) {
    if (iotype >= 3)
        return (mode & NC_CLASSIC_MODEL) != 0 ? Format::netcdf4_classic : Format::netcdf4;
    if ((mode & (NC_64BIT_DATA | old_64bit_data)) != 0) return Format::cdf5;
    return (mode & NC_64BIT_OFFSET) != 0 ? Format::cdf2 : Format::cdf1;
}

std::string settings_of(const Writers& writers) {
    if (writers.number <= 0) return "";
    std::string text =
        "; writers=" + std::to_string(writers.number) + ":" + std::to_string(writers.first);
    if (writers.number > 1) text += ":" + std::to_string(writers.stride);
    return text;
}

}  // namespace

File::File(Session& session, const Writers& writers, std::string path)
    : definitions(std::move(path), Definitions::Attributes::of_root),
      state(session, definitions, writers.first, settings_of(writers), State::Existing::by_one_rank,
            &arrays) {}

std::unique_ptr<File> File::create(Session& session, const Writers& writers,
                                   const std::string& name, int iotype, int mode) {
    if (iotype < PIO_IOTYPE_PNETCDF || iotype > PIO_IOTYPE_NETCDF4P)
        throw Error{-500, name + ": there is no I/O type " + std::to_string(iotype)};
    std::unique_ptr<File> file(new File(session, writers, name));
    file->definitions.zarr = session.setting("format") == name_of(Format::zarr);
    file->definitions.format = file->definitions.zarr ? Format::netcdf4 : format_of(iotype, mode);
    file->state.create((mode & NC_NOCLOBBER) == 0);
    return file;
}

std::unique_ptr<File> File::open(Session& session, const Writers& writers, const std::string& name,
                                 int mode) {
    const std::string path = broadcast(session.comm(), writers.first, name);
    std::unique_ptr<File> file(new File(session, writers, path));
    file->state.open((mode & NC_WRITE) != 0);
    return file;
}

}  // namespace thalweg::pio
