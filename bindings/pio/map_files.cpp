// Decompositions in netCDF files, in PIO's form: the variable `map` has a row for each rank.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/system/bypass_shim.hpp"
#include "library.hpp"

using namespace thalweg::pio;

namespace {

// Names and values in a map file, which has the form of PIO's own.
constexpr const char* form_version = "2.7.0";
constexpr const char* source_text = "Decomposition file produced by PIO library.";
constexpr const char *c_order = "C", *fortran_order_name = "Fortran";

void check(int code, const std::string& path) {
    if (code != NC_NOERR) throw Error{code, path + ": " + nc_strerror(code)};
}

class NetcdfFile {
public:
    NetcdfFile(const std::string& path, int mode, bool create) : path_(path) {
        check(create ? nc_create(path.c_str(), mode, &id_) : nc_open(path.c_str(), mode, &id_),
              path);
    }
    ~NetcdfFile() {
        if (id_ >= 0) nc_close(id_);
    }
    NetcdfFile(const NetcdfFile&) = delete;
    NetcdfFile& operator=(const NetcdfFile&) = delete;

    int id() const { return id_; }
    void close() {
        const int id = id_;
        id_ = -1;
        check(nc_close(id), path_);
    }

    void put_text(const char* name, const std::string& text) const {
        check(nc_put_att_text(id_, NC_GLOBAL, name, text.size() + 1, text.c_str()), path_);
    }
    // Returns the text of an attribute; empty if there is no such attribute.
    std::string text(const char* name) const {
        std::size_t n = 0;
        if (nc_inq_attlen(id_, NC_GLOBAL, name, &n) != NC_NOERR) return "";
        std::string text(n, '\0');
        check(nc_get_att_text(id_, NC_GLOBAL, name, text.data()), path_);
        return text.c_str();
    }
    int define_dimension(const char* name, std::size_t length) const {
        int id = 0;
        check(nc_def_dim(id_, name, length, &id), path_);
        return id;
    }
    std::size_t dimension(const char* name) const {
        int id = 0;
        std::size_t length = 0;
        check(nc_inq_dimid(id_, name, &id), path_);
        check(nc_inq_dimlen(id_, id, &length), path_);
        return length;
    }
    int define_variable(const char* name, std::vector<int> dims) const {
        int id = 0;
        check(nc_def_var(id_, name, NC_INT, static_cast<int>(dims.size()), dims.data(), &id),
              path_);
        return id;
    }
    // Returns one row of a variable whose last dimension has length n.
    std::vector<int> row(const char* name, std::size_t row, std::size_t n) const {
        int id = 0, nd = 0, dims[NC_MAX_VAR_DIMS];
        std::vector<int> values(n);
        check(nc_inq_varid(id_, name, &id), path_);
        check(nc_inq_varndims(id_, id, &nd), path_);
        if (nd < 1 || nd > 2) throw Error{NC_EINVAL, path_ + ": is not a decomposition"};
        check(nc_inq_vardimid(id_, id, dims), path_);
        const std::size_t start[] = {row, 0}, count[] = {1, n};
        check(nc_get_vara_int(id_, id, start + 2 - nd, count + 2 - nd, values.data()), path_);
        return values;
    }

private:
    thalweg::detail::BypassShim untaken_;
    std::string path_;
    int id_ = -1;
};

// Converts an element's index to the form in the file: counted from 0, and -1 for a hole.
int element(Index index, const std::string& path) {
    if (index > 2147483647)
        throw Error{NC_ERANGE, path + ": element " + std::to_string(index) +
                                   " of the decomposition does not fit the file's type"};
    return static_cast<int>(index);
}

void write_file(const Session& session, int root, const std::string& path, int mode,
                const Grid& grid, const std::string& title, const std::string& history,
                bool fortran_order) {
    MPI_Comm comm = session.comm();
    const int length = static_cast<int>(grid.map().size());
    std::vector<int> lengths(static_cast<std::size_t>(session.ranks())), mine, row;
    MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm);
    const int longest = *std::max_element(lengths.begin(), lengths.end());
    Error error = error_of([&] {
        for (const Index i : grid.map().dofs()) mine.push_back(element(i, path));
        mine.resize(static_cast<std::size_t>(longest), NC_FILL_INT);
        if (session.rank() == root) row = mine;
    });
    if (error.code == NC_ENOMEM) error.text = path + ": out of memory for the decomposition";
    agree(comm, error);
    // The ranks send their rows one after another, so that the root holds only one row at a time.
    std::unique_ptr<NetcdfFile> file;
    int map = 0;
    on_rank(comm, root, [&] {
        file = std::make_unique<NetcdfFile>(path, mode, true);
        const std::vector<int> shape(grid.shape().begin(), grid.shape().end());
        file->put_text("version", form_version);
        check(nc_put_att_int(file->id(), NC_GLOBAL, "max_maplen", NC_INT, 1, &longest), path);
        if (!title.empty()) file->put_text("title", title);
        if (!history.empty()) file->put_text("history", history);
        file->put_text("source", source_text);
        file->put_text("array_order", fortran_order ? fortran_order_name : c_order);
        const int dims = file->define_dimension("dims", shape.size());
        const int task = file->define_dimension("task", lengths.size());
        const int entry =
            file->define_dimension("map_element", std::max<std::size_t>(mine.size(), 1));
        const int sizes = file->define_variable("global_size", {dims});
        const int maplen = file->define_variable("maplen", {task});
        map = file->define_variable("map", {task, entry});
        check(nc_enddef(file->id()), path);
        check(nc_put_var_int(file->id(), sizes, shape.data()), path);
        check(nc_put_var_int(file->id(), maplen, lengths.data()), path);
    });
    constexpr int tag = 1;
    if (session.rank() != root) MPI_Send(mine.data(), longest, MPI_INT, root, tag, comm);
    on_rank(comm, root, [&] {
        int code = NC_NOERR;
        for (int r = 0; r < session.ranks(); r++) {
            if (r != root) MPI_Recv(row.data(), longest, MPI_INT, r, tag, comm, MPI_STATUS_IGNORE);
            const std::vector<int>& values = r == root ? mine : row;
            const std::size_t start[] = {static_cast<std::size_t>(r), 0},
                              count[] = {1, values.size()};
            if (code == NC_NOERR)
                code = nc_put_vara_int(file->id(), map, start, count, values.data());
        }
        check(code, path);
        file->close();
    });
}

// The contents of a map file that all ranks need, and the row of the map for one rank.
struct MapFile {
    std::string title, history;
    bool fortran_order = false;
    std::vector<int> shape;
    std::vector<PIO_Offset> map;  // elements of the row, counted from 1
};

// Reads the file on each rank, as it is small, and keeps only the rank's own row.
MapFile read_file(const std::string& path, int rank, int ranks) {
    const NetcdfFile file(path, NC_NOWRITE, false);
    MapFile result;
    result.title = file.text("title");
    result.history = file.text("history");
    result.fortran_order = file.text("array_order") == fortran_order_name;
    const std::size_t tasks = file.dimension("task");
    if (tasks != static_cast<std::size_t>(ranks))
        throw Error{NC_EINVAL, path + ": the decomposition is for " + std::to_string(tasks) +
                                   " ranks, not for " + std::to_string(ranks)};
    result.shape = file.row("global_size", 0, file.dimension("dims"));
    const int length = file.row("maplen", 0, tasks)[static_cast<std::size_t>(rank)];
    if (length < 0 || static_cast<std::size_t>(length) > file.dimension("map_element"))
        throw Error{NC_EINVAL, path + ": the map of rank " + std::to_string(rank) + " has " +
                                   std::to_string(length) + " elements"};
    for (const int i :
         file.row("map", static_cast<std::size_t>(rank), static_cast<std::size_t>(length)))
        result.map.push_back(static_cast<PIO_Offset>(i) + 1);
    return result;
}

std::string text_or_empty(const char* text, const char* what) {
    if (text == nullptr) return "";
    need_name(text, what);
    return text;
}

}  // namespace

int PIOc_write_nc_decomp(int iosysid, const char* filename, int cmode, int ioid, const char* title,
                         const char* history, int fortran_order) {
    return on_system(__func__, iosysid, [&](Iosystem& s) {
        need(filename, "filename");
        const std::string title_text = text_or_empty(title, "title");
        const std::string history_text = text_or_empty(history, "history");
        const Grid& grid = decomposition(ioid).described->grid();
        const std::string path = broadcast(s.session->comm(), s.writers.first, filename);
        write_file(*s.session, s.writers.first, path, cmode & ~NC_WRITE, grid, title_text,
                   history_text, fortran_order != 0);
    });
}

int PIOc_read_nc_decomp(int iosysid, const char* filename, int* ioidp, MPI_Comm comm, int pio_type,
                        char* title, char* history, int* fortran_order) {
    MapFile file;
    const int code = on_system(__func__, iosysid, [&](Iosystem& s) {
        need(filename, "filename");
        need(ioidp, "ioidp");
        int rank = 0, ranks = 1;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
        on_all(s.session->comm(), [&] { file = read_file(filename, rank, ranks); });
        set(title, file.title.substr(0, PIO_MAX_NAME));
        set(history, file.history.substr(0, PIO_MAX_NAME));
        set(fortran_order, file.fortran_order ? 1 : 0);
    });
    if (code != PIO_NOERR) return code;
    return PIOc_InitDecomp(iosysid, pio_type, static_cast<int>(file.shape.size()),
                           file.shape.data(), static_cast<int>(file.map.size()), file.map.data(),
                           ioidp, nullptr, nullptr, nullptr);
}

int PIOc_read_nc_decomp_from_f90(int iosysid, const char* filename, int* ioidp, int pio_type,
                                 char* title, char* history, int* fortran_order) {
    MPI_Comm comm = MPI_COMM_NULL;
    const int code =
        on_system("PIOc_read_nc_decomp", iosysid, [&](Iosystem& s) { comm = s.session->comm(); });
    if (code != PIO_NOERR) return code;
    return PIOc_read_nc_decomp(iosysid, filename, ioidp, comm, pio_type, title, history,
                               fortran_order);
}
