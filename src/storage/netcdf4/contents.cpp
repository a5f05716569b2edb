// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/contents.hpp"

#include <netcdf.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>

#include "definitions/wire.hpp"
#include "storage/chunked/filters.hpp"
#include "storage/netcdf4/chunks/hdf5_view.hpp"
#include "storage/netcdf4/existing.hpp"
#include "storage/netcdf4/index/hdf5_handle.hpp"
#include "storage/netcdf4/index/undo.hpp"
#include "storage/netcdf4/object_check.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Approximate size in bytes of the boxes in which HDF5 reads data that only HDF5 can read.
constexpr std::int64_t box_bytes = 4 << 20;

constexpr bool little = std::endian::native == std::endian::little;

/// Reads a file's definitions by netCDF-C.
class Definer {
public:
    /// @param sets  names of the root group's data sets in HDF5
    Definer(int ncid, std::string path, const std::vector<std::string>& sets, Netcdf4Contents& to)
        : ncid_(ncid), path_(std::move(path)), sets_(sets), to_(to) {}

    Status define() {
        if (Status status = define_dims(); !status.ok()) return status;
        int natts = 0, nvars = 0, groups = 0, format = 0;
        int code = nc_inq_nvars(ncid_, &nvars);
        if (code == NC_NOERR) code = nc_inq_grps(ncid_, &groups, nullptr);
        if (code == NC_NOERR) code = nc_inq_format(ncid_, &format);
        if (code != NC_NOERR) return wrong(code);
        code = nc_inq_natts(ncid_, &natts);
        if (code == NC_NOERR)
            code = define_attributes(NC_GLOBAL, natts, to_.definitions.attributes);
        if (code != NC_NOERR) return wrong(code, "its global attributes");
        to_.groups = groups;
        to_.format =
            format == NC_FORMAT_NETCDF4_CLASSIC ? Format::netcdf4_classic : Format::netcdf4;
        for (int i = 0; i < nvars; ++i)
            if (Status status = define_variable(i); !status.ok()) return status;
        find_other_records(ncid_, "");
        return {};
    }

private:
    /// Searches for record variables in other groups than the root group. The library does not read
    /// their data.
    void find_other_records(int group, const std::string& name) {
        int n = 0;
        if (nc_inq_grps(group, &n, nullptr) != NC_NOERR || n < 1) return;
        std::vector<int> groups(n);
        if (nc_inq_grps(group, &n, groups.data()) != NC_NOERR) return;
        for (const int inner : groups) {
            char own[NC_MAX_NAME + 1] = {};
            int variables = 0;
            if (nc_inq_grpname(inner, own) != NC_NOERR ||
                nc_inq_nvars(inner, &variables) != NC_NOERR)
                continue;
            const std::string whole = name + own + "/";
            for (int v = 0; v < variables; ++v) note_records(inner, v, whole);
            find_other_records(inner, whole);
        }
    }

    void note_records(int group, int variable, const std::string& group_name) {
        char name[NC_MAX_NAME + 1] = {};
        int nd = 0;
        if (nc_inq_varndims(group, variable, &nd) != NC_NOERR || nd < 1) return;
        std::vector<int> dims(nd);
        if (nc_inq_vardimid(group, variable, dims.data()) != NC_NOERR ||
            nc_inq_varname(group, variable, name) != NC_NOERR)
            return;
        for (const int dim : dims) {
            const auto found = numbers_.find(dim);
            if (found != numbers_.end() && found->second == record_ && to_.other_records.empty())
                to_.other_records = group_name + name;
        }
    }

    Status wrong(int code, const char* what = "its header") const {
        return failure(code == NC_ENOMEM ? TW_ENOMEM : TW_EFORMAT, "{}: cannot read {}: {}",
                       OfFile{path_}, what, nc_strerror(code));
    }

    Status define_dims() {
        int n = 0, open = 0;
        int code = nc_inq_dimids(ncid_, &n, nullptr, 0);
        std::vector<int> ids(std::max(n, 0));
        if (code == NC_NOERR && n > 0) code = nc_inq_dimids(ncid_, &n, ids.data(), 0);
        if (code == NC_NOERR) code = nc_inq_unlimdims(ncid_, &open, nullptr);
        std::vector<int> unlimited(std::max(open, 0));
        if (code == NC_NOERR && open > 0) code = nc_inq_unlimdims(ncid_, &open, unlimited.data());
        for (std::size_t i = 0; i < ids.size() && code == NC_NOERR; ++i) {
            char name[NC_MAX_NAME + 1] = {};
            std::size_t length = 0;
            code = nc_inq_dim(ncid_, ids[i], name, &length);
            if (code != NC_NOERR) break;
            if (length > std::size_t(INT64_MAX))
                return failure(TW_EFORMAT, "{}: dimension '{}' has length {}", OfFile{path_}, name,
                               length);
            numbers_[ids[i]] = i;
            const bool grows =
                std::find(unlimited.begin(), unlimited.end(), ids[i]) != unlimited.end();
            lengths_.push_back(length);
            to_.definitions.dims.push_back({name, lengths_.back()});
            if (record_ >= 0 || (!grows && length > 0)) continue;
            record_ = i;
            to_.definitions.dims.back().length = 0;
            to_.records = lengths_.back();
        }
        return code == NC_NOERR ? Status{} : wrong(code);
    }

    Status define_variable(int id) {
        char name[NC_MAX_NAME + 1] = {};
        nc_type type = 0;
        int nd = 0, natts = 0;
        int code = nc_inq_varndims(ncid_, id, &nd);
        if (code != NC_NOERR && code != NC_ENOMEM) return list_unreadable(id, code);
        std::vector<int> dims(static_cast<std::size_t>(std::max(nd, 0)) + 1);
        if (code == NC_NOERR) code = nc_inq_var(ncid_, id, name, &type, &nd, dims.data(), &natts);
        if (code != NC_NOERR) return wrong(code);
        Variable v;
        StoredVariable stored;
        v.name = name;
        v.type = valid_type(type) ? static_cast<tw_type>(type) : tw_type{};
        if (!valid_type(type)) {
            char word[NC_MAX_NAME + 1] = "unknown";
            std::size_t size = 0;
            (void)nc_inq_type(ncid_, type, word, &size);
            stored.why = fmt::format("it is of type {}", word);
            note_records(ncid_, id, "");
        }
        std::int64_t bytes = std::max<std::int64_t>(1, v.element());
        for (int d = 0; d < nd; ++d) {
            const auto found = numbers_.find(dims[d]);
            if (found == numbers_.end())
                return failure(TW_EFORMAT, "{}: variable '{}' has an undefined dimension",
                               OfFile{path_}, OfVariable{name});
            v.dims.push_back(found->second);
            if (d == 0 && found->second == record_) {
                v.record = true;
                continue;
            }
            v.shape.push_back(lengths_[found->second]);
            if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(1, v.shape.back()), &bytes) ||
                bytes > INT64_MAX / 16)
                return failure(TW_EFORMAT, "{}: variable '{}' has too many elements", OfFile{path_},
                               OfVariable{name});
        }
        code = define_attributes(id, natts, v.attributes);
        if (code == NC_NOERR && valid_type(type)) {
            // If this becomes 1, the variable has no fill value; netCDF-C then reads its default
            // value beyond the extent, so `beyond` keeps it.
            int no_fill = 0;
            default_fill(v.type, stored.beyond.data());
            code = nc_inq_var_fill(ncid_, id, &no_fill, stored.beyond.data());
        }
        if (code != NC_NOERR) return wrong(code);
        to_.definitions.variables.push_back(std::move(v));
        to_.stored.push_back(std::move(stored));
        return {};
    }

    /// Lists a variable of which netCDF-C returns only the name, because netCDF-C cannot read one
    /// of the variable's attributes. Its dimensions stay unknown.
    Status list_unreadable(int id, int code) {
        for (const std::string& set : sets_) {
            const std::string name =
                set.starts_with(other_name) ? set.substr(std::strlen(other_name)) : set;
            int found = -1;
            if (nc_inq_varid(ncid_, name.c_str(), &found) != NC_NOERR || found != id) continue;
            Variable v;
            v.name = name;
            v.type = {};
            StoredVariable stored;
            stored.why = fmt::format("netCDF cannot read its definition: {}", nc_strerror(code));
            if (to_.other_records.empty()) to_.other_records = name;
            to_.definitions.variables.push_back(std::move(v));
            to_.stored.push_back(std::move(stored));
            return {};
        }
        if (code != NC_EATTMETA) return wrong(code);
        to_.no_append = unreadable_attributes;  // netCDF-C does not even return the name
        return {};
    }

    int define_attributes(int variable, int n, NamedList<Attribute>& attributes) {
        int code = NC_NOERR;
        for (int i = 0; i < n && code == NC_NOERR; ++i) {
            char name[NC_MAX_NAME + 1] = {};
            nc_type type = 0;
            std::size_t length = 0;
            code = nc_inq_attname(ncid_, variable, i, name);
            if (code == NC_NOERR) code = nc_inq_att(ncid_, variable, name, &type, &length);
            if (code != NC_NOERR) break;
            Attribute a;
            a.name = name;
            a.n = length;
            a.type = valid_type(type) ? static_cast<tw_type>(type) : tw_type{};
            if (type == NC_STRING && length == 1) {
                char* text = nullptr;
                code = nc_get_att_string(ncid_, variable, name, &text);
                if (code == NC_NOERR) {
                    const std::string value = text == nullptr ? "" : text;
                    a.type = TW_CHAR;
                    a.n = value.size();
                    a.values.assign(value.begin(), value.end());
                    (void)nc_free_string(1, &text);
                }
            } else if (valid_type(type)) {
                a.values.resize(length * size_of(a.type));
                if (length > 0) code = nc_get_att(ncid_, variable, name, a.values.data());
            }
            attributes.push_back(std::move(a));
        }
        return code;
    }

    int ncid_;
    std::string path_;
    const std::vector<std::string>& sets_;
    Netcdf4Contents& to_;
    /// Number of each dimension in `definitions`, by netCDF-C's number.
    std::map<int, int> numbers_;
    std::vector<std::int64_t> lengths_;
    int record_ = -1;
};

/// Returns the HDF5 type by which a netCDF type is stored in files.
Handle file_type(tw_type type, H5T_order_t order) {
    const hid_t made = H5Tcopy(native_type(type));
    H5Tset_order(made, order);
    return {made, H5Tclose};
}

/// Tests if elements are stored in the file as in memory, except for their byte order.
bool is_plain(tw_type type, hid_t in_file, bool& big_endian) {
    if (type == TW_CHAR)
        return H5Tget_class(in_file) == H5T_STRING && H5Tis_variable_str(in_file) == 0 &&
               H5Tget_size(in_file) == 1;
    big_endian = size_of(type) > 1 && H5Tequal(in_file, file_type(type, H5T_ORDER_BE)) > 0;
    return big_endian || H5Tequal(in_file, file_type(type, H5T_ORDER_LE)) > 0;
}

Status filters_of(hid_t properties, std::int64_t element, StoredVariable& v) {
    const int n = H5Pget_nfilters(properties);
    for (int i = 0; i < n; ++i) {
        unsigned flags = 0, config = 0;
        std::size_t count = 1;
        unsigned value = 0;
        const H5Z_filter_t id = H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &count,
                                               &value, 0, nullptr, &config);
        if (id < 0) return failure(TW_EFORMAT, "HDF5 cannot read its filters");
        StoredFilter filter{id};
        if (id == H5Z_FILTER_SHUFFLE)
            filter.element =
                count > 0 ? static_cast<std::int32_t>(value) : static_cast<std::int32_t>(element);
        if ((id == H5Z_FILTER_DEFLATE || id == zstd_filter) && count > 0)
            filter.level = static_cast<std::int32_t>(value);
        v.filters.push_back(filter);
    }
    if (can_undo(v.filters)) return {};
    for (const StoredFilter& f : v.filters)
        if (H5Zfilter_avail(f.id) <= 0)
            return failure(TW_EUNSUPPORTED, "it needs the HDF5 filter {}, which is not available",
                           f.id);
    v.way = StoredVariable::Way::hdf5;
    return {};
}

/// Describes the chunks and filters of a data set.
Status describe_chunks(hid_t properties, int nd, std::int64_t element, StoredVariable& v) {
    std::array<hsize_t, H5S_MAX_RANK> length{};
    v.chunked = true;
    if (H5Pget_chunk(properties, H5S_MAX_RANK, length.data()) != nd)
        return failure(TW_EFORMAT, "HDF5 cannot read its chunk shape");
    std::int64_t bytes = element;
    for (int d = 0; d < nd; ++d) {
        const hsize_t n = length[d];
        if (n == 0 || n > UINT32_MAX ||
            __builtin_mul_overflow(bytes, static_cast<std::int64_t>(n), &bytes) ||
            bytes > (std::int64_t(1) << 35))
            return failure(TW_EFORMAT, "its chunks are too large");
        v.chunk.push_back(n);
    }
    unsigned options = 0;
    if (H5Pget_chunk_opts(properties, &options) < 0 ||
        (options & ~unsigned{H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS}) != 0)
        return failure(TW_EUNSUPPORTED, "it has unknown chunk options in HDF5 ({:#x})", options);
    v.unfiltered_edges = options != 0;
    return filters_of(properties, element, v);
}

/// Returns the shape of the boxes, of at most `box_bytes`, in which data without chunks are read.
std::vector<std::int64_t> boxes_of(const std::vector<std::int64_t>& extent, std::int64_t element) {
    std::vector<std::int64_t> box = extent;
    for (std::int64_t& n : box) n = std::max<std::int64_t>(n, 1);
    for (std::int64_t& n : box)
        while (n > 1 && volume(box) > box_bytes / element) n = (n + 1) / 2;
    return box;
}

/// Tests if a data set is in another file, to which an external link leads.
bool is_elsewhere(hid_t file, hid_t set) {
    H5O_info_t root{}, own{};
    return H5Oget_info2(file, &root, H5O_INFO_BASIC) < 0 ||
           H5Oget_info2(set, &own, H5O_INFO_BASIC) < 0 || root.fileno != own.fileno;
}

/// Describes how a data set's elements are stored. The text of a failure says why they cannot be
/// read.
Status describe_storage(hid_t file, hid_t set, const Variable& variable, StoredVariable& v) {
    const std::int64_t element = variable.element();
    const Handle space(H5Dget_space(set), H5Sclose), type(H5Dget_type(set), H5Tclose),
        properties(H5Dget_create_plist(set), H5Pclose);
    if (space < 0 || type < 0 || properties < 0)
        return failure(TW_EFORMAT, "HDF5 cannot read its type and shape");
    const int nd = H5Sget_simple_extent_ndims(space);
    if (H5Sget_simple_extent_type(space) == H5S_NULL)
        return failure(TW_EUNSUPPORTED, "it has no elements (null dataspace)");
    if (nd < 0 || nd > H5S_MAX_RANK || static_cast<std::size_t>(nd) != variable.dims.size())
        return failure(TW_EUNSUPPORTED, "its dimensions in HDF5 differ from those in netCDF");
    std::array<hsize_t, H5S_MAX_RANK> length{};
    H5Sget_simple_extent_dims(space, length.data(), nullptr);
    for (int d = 0; d < nd; ++d) v.extent.push_back(std::min<hsize_t>(length[d], INT64_MAX));

    bool big_endian = false;
    const bool plain = !is_elsewhere(file, set) && is_plain(variable.type, type, big_endian) &&
                       (little || big_endian || element == 1);
    const H5D_layout_t layout = H5Pget_layout(properties);
    v.way = StoredVariable::Way::hdf5;
    if (layout == H5D_CHUNKED) {
        if (plain) v.way = StoredVariable::Way::chunks;
        if (Status s = describe_chunks(properties, nd, element, v); !s.ok()) return s;
    } else if (layout == H5D_CONTIGUOUS && plain && !variable.record &&
               v.extent == variable.shape && H5Pget_external_count(properties) == 0) {
        const haddr_t address = H5Dget_offset(set);
        v.way = StoredVariable::Way::range;
        v.address = address == HADDR_UNDEF ? -1 : static_cast<std::int64_t>(address);
    } else if (layout != H5D_CONTIGUOUS && layout != H5D_COMPACT) {
        return failure(TW_EUNSUPPORTED, "its data are in other files (virtual data set)");
    }
    if (v.chunk.empty()) v.chunk = boxes_of(v.extent, element);
    v.big_endian = big_endian && v.way != StoredVariable::Way::hdf5;

    H5D_fill_value_t defined{};
    if (H5Pfill_value_defined(properties, &defined) >= 0 && defined != H5D_FILL_VALUE_UNDEFINED &&
        H5Tget_size(type) <= v.fill.size() && v.way != StoredVariable::Way::hdf5)
        v.chosen_fill = H5Pget_fill_value(properties, type, v.fill.data()) >= 0 &&
                        defined == H5D_FILL_VALUE_USER_DEFINED;
    if (v.big_endian && little) std::reverse(v.beyond.begin(), v.beyond.begin() + element);
    return {};
}

void read_storage(const Hdf5View& view, Netcdf4Contents& contents) {
    const QuietHdf5 quiet;
    contents.size = view.size();
    if (contents.no_append.empty())
        contents.no_append = append_limit(view.id(), contents.definitions);
    const int record_dim = contents.definitions.record_dim();
    // Number of records that all variables have; -1 before the first variable.
    std::int64_t counted = -1;
    for (std::size_t i = 0; i < contents.stored.size(); ++i) {
        StoredVariable& v = contents.stored[i];
        const Variable& variable = contents.definitions.variables[i];
        if (!v.why.empty()) continue;
        v.name = name_in_hdf5(view.id(), variable.name);
        const Handle set(view.open_set(v.name), H5Dclose);
        const Status described = set < 0 ? failure(TW_EFORMAT, "HDF5 cannot open it")
                                         : describe_storage(view.id(), set, variable, v);
        if (variable.record && !v.extent.empty())
            counted = counted < 0 ? v.extent[0] : std::min(counted, v.extent[0]);
        if (described.ok()) {
            v.no_append = append_limit(set, variable, v, record_dim);
            continue;
        }
        v.way = StoredVariable::Way::none;
        v.why = v.no_append = described.text;
    }
    // If the model has the file open by netCDF-C, netCDF-C still returns the number of records that
    // the file had when it was opened.
    contents.records = std::max(contents.records, counted);
}

/// Tests if HDF5 has locked a file with flock(2), which it does while it writes.
bool is_locked(const std::string& path) {
    ReadFile file(path);
    return file.open().ok() && flock(file.fd(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// Returns the error of a file that cannot be read; if a program is writing the file, returns an
/// error that says so.
Status or_locked(const std::string& path, Status status) {
    if (!is_locked(path)) return status;
    return failure(TW_EINUSE,
                   "{}: locked by HDF5: another program is writing it "
                   "(set HDF5_USE_FILE_LOCKING=FALSE in the environment to read it anyway)",
                   OfFile{path});
}

Status read_definitions_by_netcdf(const std::string& path, const std::vector<std::string>& sets,
                                  Netcdf4Contents& contents) {
    const QuietHdf5 quiet;
    int ncid = 0;
    int code = nc_open(path.c_str(), NC_NOWRITE, &ncid);
    if (code != NC_NOERR)
        return or_locked(path, with_cause(failure(code == NC_ENOMEM ? TW_ENOMEM : TW_EFORMAT,
                                                  "{}: netCDF cannot open it: {}", OfFile{path},
                                                  nc_strerror(code))));
    // Whatever happens, close the file again.
    Status status = catch_errors([&] { return Definer(ncid, path, sets, contents).define(); });
    code = nc_close(ncid);
    if (status.ok() && code != NC_NOERR)
        status =
            failure(TW_EFORMAT, "{}: netCDF cannot close it: {}", OfFile{path}, nc_strerror(code));
    return status;
}

}  // namespace

Status read_netcdf4_contents(const std::string& path, Netcdf4Contents& contents) {
    if (has_undo(path))
        return failure(TW_EINUSE,
                       "{}: a run is changing its definitions, or was killed when it did: try "
                       "again, or restore it with thalweg recover",
                       OfFile{path});
    Status status;
    // HDF5's errors are clearer than netCDF-C's.
    std::unique_ptr<Hdf5View> view = Hdf5View::open(path, status);
    if (!view) return status;
    std::vector<std::string> sets;
    status = check_objects(*view, path, sets);
    if (!view->refused().ok()) return view->refused();
    if (!status.ok()) return or_locked(path, std::move(status));
    if (status = read_definitions_by_netcdf(path, sets, contents); !status.ok()) return status;
    // The file changed after HDF5 opened it. Open it again, so that HDF5 sees all records that
    // netCDF-C has counted.
    if (view->changed()) view = Hdf5View::open(path, status);
    if (!view) return status;
    read_storage(*view, contents);
    return view->refused();
}

template <class Wire>
void carry(Wire& wire, Carried<Wire, StoredVariable> s) {
    wire(s.way, s.why, s.name, s.big_endian, s.address, s.extent, s.chunked, s.chunk, s.filters,
         s.unfiltered_edges, s.fill, s.beyond, s.chosen_fill, s.no_append);
}

template <class Wire>
void carry(Wire& wire, Carried<Wire, Netcdf4Contents> c) {
    wire(c.records, c.size, c.format, c.groups, c.no_append, c.other_records, c.definitions.dims,
         c.definitions.attributes, c.definitions.variables, c.stored);
}

std::vector<char> to_bytes(const Netcdf4Contents& c) { return message_of(c); }

Netcdf4Contents netcdf4_contents_of(const std::vector<char>& bytes) {
    return value_in<Netcdf4Contents>(bytes);
}

}  // namespace thalweg::detail
