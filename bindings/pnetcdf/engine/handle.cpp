// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/engine/handle.hpp"

#include <netcdf.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace thalweg::pnetcdf::engine {

Handle::Handle(const Call& call)
    : path(call.path), writable(call.create || (call.mode & NC_WRITE) != 0), defines(call.create) {
    if (call.info != MPI_INFO_NULL) MPI_Info_dup(call.info, &hints);
    const char* const more = std::getenv("PNETCDF_HINTS");
    std::istringstream list(more == nullptr ? "" : more);
    for (std::string item; std::getline(list >> std::ws, item, ';');) {
        const std::size_t equals = item.find('=');
        if (equals == std::string::npos || equals == 0 || equals > MPI_MAX_INFO_KEY ||
            equals + 1 == item.size())
            continue;
        if (hints == MPI_INFO_NULL) MPI_Info_create(&hints);
        MPI_Info_set(hints, item.substr(0, equals).c_str(), item.substr(equals + 1).c_str());
    }
}

Handle::~Handle() {
    int ended = 0;
    MPI_Finalized(&ended);
    if (hints != MPI_INFO_NULL && ended == 0) MPI_Info_free(&hints);
}

void Handle::need_write() const {
    if (!writable) throw Error{NC_EPERM, path + " is open for reading"};
}

void Handle::need_define() const {
    need_write();
    if (!defines) throw Error{NC_ENOTINDEFINE, path + " is not in define mode"};
}

void Handle::need_data() const {
    if (defines) throw Error{NC_EINDEFINE, path + " is in define mode"};
}

void Handle::need_mode(bool together) const {
    need_data();
    if (together && independent) throw Error{NC_EINDEP, path + " is in independent data mode"};
    if (!together && !independent) throw Error{NC_ENOTINDEP, path + " is in collective data mode"};
}

Index Handle::hint(const char* name) const {
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    if (hints != MPI_INFO_NULL) MPI_Info_get(hints, name, MPI_MAX_INFO_VAL, value, &found);
    return found == 0 ? 0 : std::max(std::atoll(value), 0LL);
}

void Handle::attach(Index bytes) {
    if (bytes <= 0) throw Error{NC_ENULLBUF, path + ": a buffer without bytes"};
    if (buffer >= 0) throw Error{NC_EPREVATTACHBUF, path + " has a buffer"};
    buffer = bytes;
}

void Handle::detach() {
    if (buffer_usage() > 0) throw Error{NC_EPENDINGBPUT, path + ": the buffer is in use"};
    buffer = -1;
}

Index Handle::buffer_size() const {
    if (buffer < 0) throw Error{NC_ENULLABUF, path + " has no buffer"};
    return buffer;
}

Index Handle::buffer_usage() const {
    buffer_size();
    Index used = 0;
    for (const Request& r : requests) used += r.buffered;
    return used;
}

}  // namespace thalweg::pnetcdf::engine
