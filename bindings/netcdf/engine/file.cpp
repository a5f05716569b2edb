// SPDX-License-Identifier: Apache-2.0
#include "file.hpp"

#include <netcdf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "contents.hpp"
#include "files.hpp"
#include "memory_order.hpp"
#include "storage.hpp"
#include "types.hpp"

namespace thalweg::netcdf::engine {

namespace {

Format format_of(int format) {
    switch (format) {
        case NC_FORMAT_64BIT_OFFSET: return Format::cdf2;
        case NC_FORMAT_64BIT_DATA: return Format::cdf5;
        case NC_FORMAT_NETCDF4: return Format::netcdf4;
        case NC_FORMAT_NETCDF4_CLASSIC: return Format::netcdf4_classic;
        default: return Format::cdf1;
    }
}

// Throws netCDF's error if no file can be created at a path.
void check_place(const std::string& path, bool netcdf4) {
    struct stat info {};
    const bool exists = stat(path.c_str(), &info) == 0;
    if (exists && !S_ISREG(info.st_mode)) throw Error{step_aside, "it is not a regular file"};
    if (exists && access(path.c_str(), W_OK) != 0)
        throw Error{EACCES, path + ": " + std::strerror(errno)};
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    if (stat(folder.c_str(), &info) != 0)
        throw Error{netcdf4 ? EACCES : errno, path + ": " + std::strerror(errno)};
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        throw Error{step_aside, "the folder may not be written"};
}

bool is_text(int type) { return type == NC_CHAR; }

}  // namespace

// ---- files --------------------------------------------------------------------------------------

std::unique_ptr<File> File::create(Call& call, MPI_Comm comm) {
    Session& session = session_of(comm);
    const std::lock_guard lock(session.mutex);
    const std::string path = broadcast(comm, 0, call.path);
    std::unique_ptr<File> file(new File(session, path));
    const Format format = format_of(call.format);
    const bool netcdf4 = format == Format::netcdf4 || format == Format::netcdf4_classic;
    session.check(tw_wait(session.handle(), 0));
    try {
        on_rank(comm, 0, [&] { check_place(path, netcdf4); });
    } catch (const Error& error) {
        if (error.code == step_aside) call.reason = error.text;
        throw;
    }
    file->call_ = call;
    file->fill_mode_ = NC_FILL;
    file->fill_is_free_ = !netcdf4;
    try {
        file->Dataset::create(format, (call.mode & NC_NOCLOBBER) == 0);
    } catch (const Error& error) {
        if (error.code != NC_EPERM || !netcdf4) throw;
        throw Error{EACCES, error.text};  // another process writes the file
    }
    return file;
}

std::string File::place() const {
    const std::string part = path_ + ".part";
    return access(part.c_str(), F_OK) == 0 ? part : path_;
}

// Returns the path of the data. A file that this process is writing can be read, too; its data have
// another path.
std::string File::place_to_read(Session& session, const Call& call, const std::string& path) {
    File* const own = find_written(path);
    std::string place = path;
    on_all(session.comm(), [&] {
        if (own == nullptr) return;
        if ((call.mode & NC_WRITE) != 0 || own->state_ == State::serial)
            throw Error{NC_EPERM, path + " is open and cannot be opened a second time in this way"};
    });
    if (own != nullptr && &own->session_ == &session) (void)error_of([&] { own->sync(); });
    if (own != nullptr) place = own->place();
    return broadcast(session.comm(), 0, place);
}

std::unique_ptr<File> File::open(Call& call, MPI_Comm comm) {
    Session& session = session_of(comm);
    const std::lock_guard lock(session.mutex);
    const std::string name = broadcast(comm, 0, call.path);
    const std::string path = place_to_read(session, call, name);
    std::unique_ptr<File> file(new File(session, path));
    session.check(tw_wait(session.handle(), 0));
    std::string beyond, unfilled;
    on_rank(comm, 0, [&] {
        if (path == name) recover_killed(path);
        struct stat info {};
        if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
            beyond = "it is not a regular file";
        else
            beyond = beyond_engine(path, unfilled);
    });
    beyond = broadcast(comm, 0, beyond);
    if (!beyond.empty()) {
        call.reason = beyond;
        throw Error{step_aside, path + ": " + beyond};
    }
    file->call_ = call;
    file->Dataset::open((call.mode & NC_WRITE) != 0);
    unfilled = broadcast(comm, 0, unfilled);
    auto& variables = file->table_.variables;
    for (std::size_t v = 0; v < std::min(variables.size(), unfilled.size()); v++)
        variables[v].storage.no_fill = unfilled[v] == '1';
    file->fill_is_free_ = file->is_classic();
    file->settle();
    return file;
}

void File::settle() { settled_ = ended_ = table_.variables.size(); }

void File::sync() {
    QueuedFile::sync();
    settle();
}

void File::close_and_wait() {
    close();
    session_.check(tw_wait(session_.handle(), 0));
}

// ---- definitions --------------------------------------------------------------------------------

void File::enddef() {
    if (!define_) throw Error{NC_ENOTINDEFINE, path_ + " is not in define mode"};
    for (const Variable& v : table_.variables)
        if (const Attribute* const fill = v.attributes.get(fill_attribute))
            if (fill->type != v.type || fill->n != 1)
                throw Error{NC_EBADTYPE,
                            path_ + ": _FillValue of " + v.name + " is not one value of its type"};
    QueuedFile::enddef();
    settle();
}

int File::def_dim(const std::string& name, std::size_t length) {
    const bool small = format_ == Format::cdf1 || format_ == Format::cdf2;
    if (static_cast<Index>(length) < 0 || (small && length > 0x7ffffffcU)) {
        need_define_mode();
        throw Error{NC_EDIMSIZE,
                    path_ + ": dimension " + name + " has the length " + std::to_string(length)};
    }
    return Dataset::def_dim(name, static_cast<Index>(length));
}

int File::def_var(const std::string& name, int type, std::vector<int> dims) {
    if (is_classic_model() && type > NC_DOUBLE && type <= NC_STRING)
        throw Error{NC_ESTRICTNC3, path_ + ": variable " + name +
                                       ": the classic model has no type " + std::to_string(type)};
    constexpr std::size_t most_of_hdf5 = 32;  // dimensions
    if (is_netcdf4() && dims.size() > most_of_hdf5)
        throw Error{NC_EMAXDIMS, path_ + ": variable " + name + " has too many dimensions"};
    const int id = Dataset::def_var(name, type, std::move(dims));
    table_.variable(id).storage.no_fill = fill_mode_ == NC_NOFILL;
    return id;
}

int File::put_att(int varid, const std::string& name, int type, std::size_t n, const void* values,
                  int memory_type) {
    if (!writable_) throw Error{NC_EPERM, path_ + " is open for reading"};
    const auto fail = [&](int code, const std::string& what) {
        throw Error{code, path_ + ": attribute " + name + ": " + what};
    };
    if (is_classic_model() && type > NC_DOUBLE && type <= NC_STRING)
        fail(NC_ESTRICTNC3, "the classic model has no type " + std::to_string(type));
    const bool small = format_ != Format::cdf5 && format_ != Format::netcdf4;
    if (size_of(type) == 0 || (small && type > NC_DOUBLE))
        fail(NC_EBADTYPE, "the format has no type " + std::to_string(type));
    if (n > INT_MAX) fail(NC_EINVAL, "has too many values");
    if (n > 0 && values == nullptr) fail(NC_EINVAL, "the pointer to the values is NULL");
    // PnetCDF, which writes classic files with a communicator, checks fill values at once, too.
    const bool is_fill = name == fill_attribute && varid != NC_GLOBAL;
    if (is_fill && (is_netcdf4() || call_.parallel) && n != 1) fail(NC_EINVAL, "is not one value");
    if (is_fill && is_classic() && call_.parallel && type != table_.variable(varid).type)
        fail(NC_EBADTYPE, "has another type than its variable");
    if (is_fill && is_netcdf4()) {
        const auto at = static_cast<std::size_t>(varid);
        // With independent access, other ranks may have put. A wrong type has an error of its own.
        const auto others = [&] {
            return !is_collective(varid) && type == table_.variable(varid).type;
        };
        if (at < ended_ || (at < settled_ && (!is_new() || has_put(varid) || others())))
            fail(NC_ELATEFILL, "comes too late");
    }
    Attribute a{name, type, static_cast<Index>(n), std::string(n * size_of(type), '\0')};
    const int code = convert(memory_type == NC_NAT ? type : memory_type, values, type,
                             a.bytes.data(), a.n, "", any_sign());
    if (code != NC_NOERR && code != NC_ERANGE)
        fail(code, "text cannot be converted to numbers, nor numbers to text");
    Dataset::put_att(varid, std::move(a));
    return code;
}

int File::get_att(int varid, const std::string& name, void* values, int memory_type) {
    const Attribute& a = table_.attribute(varid, name);
    return convert(a.type, a.bytes.data(), memory_type == NC_NAT ? a.type : memory_type, values,
                   a.n, "", any_sign());
}

Storage& File::storage_to_change(int varid) {
    if (!writable_) throw Error{NC_EPERM, path_ + " is open for reading"};
    const Variable& v = table_.variable(varid);
    if (static_cast<std::size_t>(varid) < settled_)
        throw Error{is_classic() ? NC_ENOTINDEFINE : NC_ELATEDEF,
                    path_ + ": variable " + v.name + " is in the file already"};
    return Dataset::storage(varid);
}

// Returns the storage of a variable: for a file that is read, as the library reports it; for one
// that is written, as at the last sync.
Storage File::storage_of(int varid) {
    Variable& v = table_.variable(varid);
    const bool in_file = static_cast<std::size_t>(varid) < variables_in_file_;
    if (state_ != State::reading || !in_file || v.storage.of_file)
        return expected_storage(table_, v);
    Variable named = v;  // with the name that it has in the file
    for (const Edit& e : edits_)
        if (e.kind == Edit::Kind::rename_variable && e.id == varid) {
            named.name = e.name;
            break;
        }
    v.storage = storage_in_file(named);
    return v.storage;
}

int File::set_fill(int mode) {
    const int old = Dataset::set_fill(mode);
    if (is_classic())
        for (Variable& v : table_.variables) v.storage.no_fill = mode == NC_NOFILL;
    return old;
}

// ---- access -------------------------------------------------------------------------------------

bool File::is_collective(int varid) const {
    if (session_.ranks() == 1) return true;
    if (is_netcdf4() && table_.variables[static_cast<std::size_t>(varid)].storage.filtered())
        return true;  // netCDF-C writes filtered variables only collectively
    return is_set_collective(varid);
}

bool File::is_set_collective(int varid) const {
    const auto at = static_cast<std::size_t>(is_classic() ? 0 : varid);
    return at < collective_.size() && collective_[at];
}

void File::set_access(int varid, int access) {
    if (access != 0 && access != 1)  // NC_INDEPENDENT, NC_COLLECTIVE
        throw Error{NC_EINVAL, path_ + ": there is no access " + std::to_string(access)};
    if (is_netcdf4()) {
        const Variable& v = table_.variable(varid);
        if (access == 0 && v.storage.filtered())
            throw Error{NC_EINVAL,
                        path_ + ": variable " + v.name + " has filters: its access is collective"};
    }
    const auto at = static_cast<std::size_t>(is_classic() ? 0 : varid);
    if (collective_.size() <= at) collective_.resize(at + 1);
    collective_[at] = access != 0;
}

// ---- data ---------------------------------------------------------------------------------------

void File::need_data_mode() {
    if (!define_) return;
    if (format_ != Format::netcdf4) throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    leave_define_mode();
    settled_ = table_.variables.size();
}

Variable& File::variable_for_data(int varid) {
    if (varid == NC_GLOBAL && is_classic())
        throw Error{NC_EGLOBAL, path_ + ": NC_GLOBAL has no data"};
    return table_.variable(varid);
}

Index File::length_of(int dimid) {
    return dimid == table_.unlimited() ? records() : table_.dimension(dimid).length;
}

Section File::section_of(const Variable& v, const Request& r) const {
    const std::size_t n = v.dims.size();
    const auto fail = [&](int code, const char* what) {
        throw Error{code, path_ + ": variable " + v.name + ": " + what};
    };
    if (is_text(r.type) != is_text(v.type) || size_of(r.type) == 0)
        fail(NC_ECHAR, "text cannot be converted to numbers, nor numbers to text");
    if (n > 0 && r.start == nullptr) fail(NC_EINVALCOORDS, "start is NULL");
    if (n > 0 && r.count == nullptr) fail(NC_EEDGE, "count is NULL");
    Section s;
    s.start.assign(r.start, r.start + n);
    s.count.assign(r.count, r.count + n);
    if (r.stride != nullptr) s.stride.assign(r.stride, r.stride + n);
    if (std::any_of(s.stride.begin(), s.stride.end(), [](Index step) { return step < 1; }))
        fail(NC_ESTRIDE, "a stride is below 1");
    return s;
}

int File::put(Request r, const void* values) {
    if (!writable_) throw Error{NC_EPERM, path_ + " is open for reading"};
    need_data_mode();
    const Variable& v = variable_for_data(r.varid);
    if (r.type == NC_NAT) r.type = v.type;
    const bool together = is_collective(r.varid);
    Section s;
    const void* ready = values;
    int code = NC_NOERR;
    try {
        s = section_of(v, r);
        check(v, s, false);
        const Index n = volume(s.count);
        if (n > 0 && values == nullptr)
            throw Error{NC_EINVAL,
                        path_ + ": variable " + v.name + ": the pointer to the values is NULL"};
        if (!together && is_netcdf4() && n > 0 && table_.is_record(v) &&
            s.start[0] + (s.count[0] - 1) * (s.stride.empty() ? 1 : s.stride[0]) >= records())
            throw Error{NC_ECANTEXTEND, path_ + ": variable " + v.name +
                                            ": records can be added with collective access only"};
        const bool dense = is_dense(s.count, r.map);
        if (!together && dense && r.type == v.type &&
            put_at_once(
                {r.varid, false, s.start, s.count, s.stride, static_cast<const char*>(values)}))
            return NC_NOERR;
        if (n > 0 && (!together || session_.ranks() == 1)) make_room(r.varid, s);
        // The joint calls in put_at_once() and make_room() may have replaced the definitions.
        const Variable& now = table_.variable(r.varid);
        if (n > 0 && !(dense && r.type == now.type && together && writes_at_once(now))) {
            std::string gathered;
            if (!dense) {
                const std::size_t bytes = size_of(r.type);
                gathered.resize(static_cast<std::size_t>(n) * bytes);
                for_elements(s.count, r.map, [&](std::size_t i, std::ptrdiff_t at) {
                    std::memcpy(
                        gathered.data() + i * bytes,
                        static_cast<const char*>(values) + at * static_cast<std::ptrdiff_t>(bytes),
                        bytes);
                });
                ready = gathered.data();
            }
            char* const own = take(n * static_cast<Index>(size_of(now.type)), size_of(now.type));
            code = convert(r.type, ready, now.type, own, n, nc::Table::fill_of(now), any_sign());
            ready = own;
        }
    } catch (...) {
        if (together) put_nothing(r.varid);
        throw;
    }
    QueuedFile::put(r.varid, together, std::move(s), ready);
    return code;
}

int File::get(Request r, void* values) {
    need_data_mode();
    const bool known = r.varid >= 0 && static_cast<std::size_t>(r.varid) < table_.variables.size();
    const bool together =
        known ? is_collective(r.varid)
              : std::find(collective_.begin(), collective_.end(), true) != collective_.end();
    const int all_read = together ? begin_get(known ? r.varid : -1) : -1;
    Section s;
    std::string read;
    try {
        const Variable& v = variable_for_data(r.varid);
        if (r.type == NC_NAT) r.type = v.type;
        if (!together) records();
        s = section_of(v, r);
        const bool beyond = is_classic() && table_.is_record(v);
        if (beyond && s.start[0] + (s.count[0] > 0 ? 1 : 0) > table_.length(v.dims[0]))
            throw Error{NC_EEDGE, path_ + ": variable " + v.name + ": there is no such record"};
        check(v, s, true);
        const Index n = volume(s.count);
        if (n > 0 && values == nullptr)
            throw Error{NC_EINVAL,
                        path_ + ": variable " + v.name + ": the pointer to the array is NULL"};
        if (!is_dense(s.count, r.map) || r.type != v.type)
            read.resize(static_cast<std::size_t>(n) * size_of(v.type));
    } catch (...) {
        if (all_read >= 0) get_nothing(all_read);
        throw;
    }
    const bool direct = read.empty();
    void* const to = direct ? values : read.data();
    if (together)
        QueuedFile::get(r.varid, s, to);
    else
        get_alone(r.varid, s, to);
    if (direct) return NC_NOERR;
    const Variable& v = table_.variable(r.varid);
    const Index n = volume(s.count);
    if (is_dense(s.count, r.map))
        return convert(v.type, read.data(), r.type, values, n, "", any_sign());
    const std::size_t bytes = size_of(r.type);
    std::string converted(static_cast<std::size_t>(n) * bytes, '\0');
    const int code = convert(v.type, read.data(), r.type, converted.data(), n, "", any_sign());
    for_elements(s.count, r.map, [&](std::size_t i, std::ptrdiff_t at) {
        std::memcpy(static_cast<char*>(values) + at * static_cast<std::ptrdiff_t>(bytes),
                    converted.data() + i * bytes, bytes);
    });
    return code;
}

}  // namespace thalweg::netcdf::engine
