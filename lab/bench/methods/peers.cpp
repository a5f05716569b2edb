// SPDX-License-Identifier: Apache-2.0
#include "methods/peers.hpp"

#include <netcdf.h>
#include <netcdf_par.h>
#include <pnetcdf.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "fields/loops.hpp"

namespace thalweg::bench {
namespace {

// HDF5 stores the size of a chunk in 32 bits.
constexpr std::int64_t largest_chunk = (std::int64_t{1} << 32) - 1;

int classic_mode(const std::string& format) {
    return NC_CLOBBER | (format == "cdf1" ? 0 : format == "cdf2" ? NC_64BIT_OFFSET : NC_64BIT_DATA);
}

nc_type nc_type_of(const Group& g) { return g.spec->type == Element::f4 ? NC_FLOAT : NC_DOUBLE; }

/// Defines the dimensions and variables of a problem.
/// @param def_dim, def_var  functions of netCDF-C or PnetCDF, which throw
/// @return ids of the variables
template <class DefDim, class DefVar>
std::vector<int> define_by(const Problem& problem, DefDim def_dim, DefVar def_var) {
    const int time = def_dim("time", 0);  // 0: unlimited in both libraries
    std::vector<int> dims, variables;
    for (const Dimension& d : problem.workload().dims)
        dims.push_back(def_dim(d.name.c_str(), d.length));
    for (const Variable& v : problem.variables()) {
        const Group& g = problem.group(v);
        std::vector<int> ids{time};
        for (const std::string& name : g.spec->file_order)
            for (std::size_t d = 0; d < dims.size(); ++d)
                if (problem.workload().dims[d].name == name) ids.push_back(dims[d]);
        variables.push_back(def_var(v.name.c_str(), nc_type_of(g), ids));
    }
    return variables;
}

std::vector<int> define_netcdf(int file, const Problem& problem) {
    return define_by(
        problem,
        [&](const char* name, std::int64_t length) {
            int id = 0;
            check_nc(nc_def_dim(file, name, static_cast<std::size_t>(length), &id),
                     std::string("nc_def_dim ") + name);
            return id;
        },
        [&](const char* name, nc_type type, const std::vector<int>& dims) {
            int id = 0;
            check_nc(nc_def_var(file, name, type, static_cast<int>(dims.size()), dims.data(), &id),
                     std::string("nc_def_var ") + name);
            return id;
        });
}

/// Sets start and count of a part in a step; they are empty if the part is, or another rank writes
/// it.
template <class Number>
void range(const Context& context, const Group& g, int step, std::vector<Number>& start,
           std::vector<Number>& count) {
    start.assign(1, static_cast<Number>(step));
    count.assign(1, 1);
    start.insert(start.end(), g.part().start.begin(), g.part().start.end());
    count.insert(count.end(), g.part().count.begin(), g.part().count.end());
    if (g.part().elements() == 0 || (g.replicated && context.problem.rank() != 0))
        std::fill(count.begin(), count.end(), 0);
}

void put_netcdf(int file, int id, const Group& g, const std::vector<std::size_t>& start,
                const std::vector<std::size_t>& count, const void* data) {
    check_nc(g.spec->type == Element::f4 ? nc_put_vara_float(file, id, start.data(), count.data(),
                                                             static_cast<const float*>(data))
                                         : nc_put_vara_double(file, id, start.data(), count.data(),
                                                              static_cast<const double*>(data)),
             "nc_put_vara");
}

}  // namespace

void check_nc(int status, const std::string& what) {
    if (status != NC_NOERR)
        throw std::runtime_error("netCDF-C: " + what + ": " + nc_strerror(status));
}

void check_ncmpi(int status, const std::string& what) {
    if (status != NC_NOERR)
        throw std::runtime_error("PnetCDF: " + what + ": " + ncmpi_strerror(status));
}

// ---- netCDF-C -----------------------------------------------------------------------------------

PeerSerial::PeerSerial(const Context& context, bool large)
    : context_(context), buffer_hint_(large ? std::size_t{4} << 20 : NC_SIZEHINT_DEFAULT) {
    const Problem& p = context_.problem;
    for (const Group& g : p.groups()) {
        if (g.elements() > std::numeric_limits<int>::max())
            throw std::runtime_error(
                "peer-serial: a variable of 2^31 elements or more does not fit into the "
                "counts of MPI_Gatherv");
        Pieces pieces;
        int at = 0;
        for (int r = 0; r < p.ranks(); ++r) {
            pieces.parts.push_back(p.part_of(g, r));
            const int n = static_cast<int>(pieces.parts.back().elements());
            pieces.counts.push_back(n);
            pieces.offsets.push_back(at);
            at += n;
        }
        pieces_.push_back(std::move(pieces));
    }
    if (p.rank() != 0) return;
    gathered_.resize(static_cast<std::size_t>(p.largest_variable_bytes()));
    global_.resize(gathered_.size());
}

void PeerSerial::open(const std::string& path) {
    report_ = {};
    report_.messages = 0;
    PhaseTimer timer(report_.phases.open);
    if (context_.problem.rank() != 0) return;
    std::size_t buffer = buffer_hint_;
    check_nc(nc__create(path.c_str(), classic_mode(context_.options.format), 0, &buffer, &file_),
             "nc__create " + path);
    check_nc(nc_set_fill(file_, NC_NOFILL, nullptr), "nc_set_fill");
    variables_ = define_netcdf(file_, context_.problem);
    check_nc(nc_enddef(file_), "nc_enddef");
}

void PeerSerial::step(int step) {
    const Problem& p = context_.problem;
    for (std::size_t i = 0; i < p.variables().size(); ++i) {
        const Variable& v = p.variables()[i];
        const Group& g = p.group(v);
        const void* data = p.values(v, step);
        if (!g.replicated) data = gather(v, g, data);
        if (p.rank() != 0) continue;
        PhaseTimer timer(report_.phases.write);
        std::vector<std::size_t> start(g.shape.size() + 1, 0), count{1};
        start[0] = static_cast<std::size_t>(step);
        for (const std::int64_t n : g.shape) count.push_back(static_cast<std::size_t>(n));
        put_netcdf(file_, variables_[i], g, start, count, data);
        ++report_.writes;
    }
}

void PeerSerial::close() {
    PhaseTimer timer(report_.phases.close);
    if (context_.problem.rank() == 0) check_nc(nc_close(file_), "nc_close");
}

const void* PeerSerial::gather(const Variable& v, const Group& g, const void* mine) {
    PhaseTimer timer(report_.phases.remap);
    const Problem& p = context_.problem;
    const Pieces& pieces = pieces_[v.group];
    const MPI_Datatype type = g.spec->type == Element::f4 ? MPI_FLOAT : MPI_DOUBLE;
    MPI_Gatherv(mine, pieces.counts[p.rank()], type, gathered_.data(), pieces.counts.data(),
                pieces.offsets.data(), type, 0, context_.comm);
    if (p.rank() != 0) {
        ++report_.messages;
        return nullptr;
    }
    const std::int64_t size = element_bytes(g.spec->type);
    for (int r = 0; r < p.ranks(); ++r)
        place_in_global(g, pieces.parts[r], gathered_.data() + pieces.offsets[r] * size,
                        global_.data());
    return global_.data();
}

Netcdf4::Netcdf4(const Context& context, bool syncs)
    : context_(context),
      syncs_(syncs),
      scratch_(static_cast<std::size_t>(context.problem.largest_part_bytes())) {}

void Netcdf4::open(const std::string& path) {
    report_ = {};
    PhaseTimer timer(report_.phases.open);
    const Problem& p = context_.problem;
    const Options& o = context_.options;
    check_nc(
        nc_create_par(path.c_str(), NC_CLOBBER | NC_NETCDF4, context_.comm, MPI_INFO_NULL, &file_),
        "nc_create_par " + path);
    check_nc(nc_set_fill(file_, NC_NOFILL, nullptr), "nc_set_fill");
    variables_ = define_netcdf(file_, p);
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        const Group& g = p.group(p.variables()[i]);
        // A chunk with the whole record of a variable needs the fewest calls.
        std::vector<std::size_t> chunk{1};
        std::int64_t bytes = g.bytes();
        for (const std::int64_t n : g.shape) {
            chunk.push_back(bytes > largest_chunk ? 1 : static_cast<std::size_t>(n));
            if (bytes > largest_chunk) bytes /= n;
        }
        if (!g.replicated)
            check_nc(nc_def_var_chunking(file_, variables_[i], NC_CHUNKED, chunk.data()),
                     "nc_def_var_chunking");
        if (o.deflate > 0 || o.shuffle)
            check_nc(nc_def_var_deflate(file_, variables_[i], o.shuffle, o.deflate > 0, o.deflate),
                     "nc_def_var_deflate");
    }
    check_nc(nc_enddef(file_), "nc_enddef");
    for (const int id : variables_)
        check_nc(nc_var_par_access(file_, id, NC_COLLECTIVE), "nc_var_par_access");
}

void Netcdf4::step(int step) {
    const Problem& p = context_.problem;
    std::vector<std::size_t> start, count;
    for (std::size_t i = 0; i < p.variables().size(); ++i) {
        const Variable& v = p.variables()[i];
        const Group& g = p.group(v);
        const void* data = p.values(v, step);
        if (!g.same_order) {
            PhaseTimer timer(report_.phases.remap);
            to_file_order(g, g.part(), data, scratch_.data());
            data = scratch_.data();
        }
        PhaseTimer timer(report_.phases.write);
        range(context_, g, step, start, count);
        put_netcdf(file_, variables_[i], g, start, count, data);
        ++report_.writes;
    }
}

void Netcdf4::close() {
    PhaseTimer timer(report_.phases.close);
    skip_fsync(!syncs_);
    const int status = nc_close(file_);
    skip_fsync(false);
    check_nc(status, "nc_close");
}

// ---- PnetCDF ------------------------------------------------------------------------------------

void Pnetcdf::open(const std::string& path) {
    report_ = {};
    PhaseTimer timer(report_.phases.open);
    check_ncmpi(ncmpi_create(context_.comm, path.c_str(), classic_mode(context_.options.format),
                             MPI_INFO_NULL, &file_),
                "ncmpi_create " + path);
    variables_ = define_by(
        context_.problem,
        [&](const char* name, std::int64_t length) {
            int id = 0;
            check_ncmpi(ncmpi_def_dim(file_, name, length, &id),
                        std::string("ncmpi_def_dim ") + name);
            return id;
        },
        [&](const char* name, nc_type type, const std::vector<int>& dims) {
            int id = 0;
            check_ncmpi(
                ncmpi_def_var(file_, name, type, static_cast<int>(dims.size()), dims.data(), &id),
                std::string("ncmpi_def_var ") + name);
            if (fills_)
                check_ncmpi(ncmpi_def_var_fill(file_, id, 0, nullptr), "ncmpi_def_var_fill");
            return id;
        });
    check_ncmpi(ncmpi_enddef(file_), "ncmpi_enddef");
}

void Pnetcdf::step(int step) {
    const Problem& p = context_.problem;
    const std::size_t n = p.variables().size();
    requests_.assign(n, NC_REQ_NULL);
    statuses_.assign(n, NC_NOERR);
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < n && fills_; ++i)
        check_ncmpi(ncmpi_fill_var_rec(file_, variables_[i], step), "ncmpi_fill_var_rec");
    for (std::size_t i = 0; i < n; ++i) {
        const Variable& v = p.variables()[i];
        const void* data = nullptr;
        {
            PhaseTimer timer(report_.phases.remap);
            data = arrange(i, p.values(v, step));
        }
        PhaseTimer timer(blocking_ ? report_.phases.write : report_.phases.put);
        if (blocking_) throttle_.begin();
        check_ncmpi(put(i, step, data, blocking_ ? nullptr : &requests_[i]), "put of " + v.name);
        bytes += p.group(v).local_bytes();
        if (!blocking_) continue;
        throttle_.moved(p.group(v).local_bytes());
        ++report_.writes;
    }
    if (blocking_) return;
    PhaseTimer timer(report_.phases.write);
    throttle_.begin();
    check_ncmpi(ncmpi_wait_all(file_, static_cast<int>(n), requests_.data(), statuses_.data()),
                "ncmpi_wait_all");
    throttle_.moved(bytes);
    for (const int status : statuses_) check_ncmpi(status, "ncmpi_wait_all");
    ++report_.writes;
}

void Pnetcdf::close() {
    PhaseTimer timer(report_.phases.close);
    check_ncmpi(ncmpi_close(file_), "ncmpi_close");
}

PeerPnetcdf::PeerPnetcdf(const Context& context, bool blocking) : Pnetcdf(context, blocking) {
    std::size_t bytes = 0;
    for (const Variable& v : context.problem.variables()) {
        const Group& g = context.problem.group(v);
        // Posted blocks must stay until the wait; others can share memory.
        offsets_.push_back(blocking ? 0 : bytes);
        if (!g.same_order) bytes += static_cast<std::size_t>(g.local_bytes());
    }
    blocks_.resize(blocking ? static_cast<std::size_t>(context.problem.largest_part_bytes())
                            : bytes);
}

const void* PeerPnetcdf::arrange(std::size_t i, const void* values) {
    const Group& g = context_.problem.group(context_.problem.variables()[i]);
    if (g.same_order) return values;
    to_file_order(g, g.part(), values, blocks_.data() + offsets_[i]);
    return blocks_.data() + offsets_[i];
}

int PeerPnetcdf::put(std::size_t i, int step, const void* data, int* request) {
    const Group& g = context_.problem.group(context_.problem.variables()[i]);
    range(context_, g, step, start_, count_);
    const auto* const floats = static_cast<const float*>(data);
    const auto* const doubles = static_cast<const double*>(data);
    const int id = variables_[i];
    if (g.spec->type == Element::f4)
        return request != nullptr
                   ? ncmpi_iput_vara_float(file_, id, start_.data(), count_.data(), floats, request)
                   : ncmpi_put_vara_float_all(file_, id, start_.data(), count_.data(), floats);
    return request != nullptr
               ? ncmpi_iput_vara_double(file_, id, start_.data(), count_.data(), doubles, request)
               : ncmpi_put_vara_double_all(file_, id, start_.data(), count_.data(), doubles);
}

Varn::Varn(const Context& context, bool blocking) : Pnetcdf(context, blocking) {
    const Group& g = context.problem.groups().front();
    shape_ = g.shape;
    std::vector<std::pair<std::int64_t, std::size_t>>
        elements;  // index in the file, position in memory
    const std::vector<std::int64_t> indices = g.indices();
    for (std::size_t at = 0; at < indices.size(); ++at)
        if (indices[at] >= 0) elements.emplace_back(indices[at], at);
    std::sort(elements.begin(), elements.end());
    for (std::size_t i = 0, end = 0; i < elements.size(); i = end) {
        for (end = i + 1; end < elements.size(); ++end)
            if (elements[end].first != elements[end - 1].first + 1) break;
        add_run(elements[i].first, static_cast<std::int64_t>(end - i));
    }
    for (std::size_t i = 0; i < start_.size(); i += shape_.size() + 1) {
        starts_.push_back(start_.data() + i);
        counts_.push_back(count_.data() + i);
    }
    for (const auto& [index, at] : elements) order_.push_back(at);
    auto held = static_cast<std::int64_t>(order_.size());
    MPI_Allreduce(MPI_IN_PLACE, &held, 1, MPI_INT64_T, MPI_SUM, context.comm);
    fills_ = held < g.elements();
    buffer_.resize(order_.size() * (blocking ? 1 : context.problem.variables().size()));
}

/// Divides a range [index, index + n) of a row-major array into boxes that are as large as
/// possible.
void Varn::add_run(std::int64_t index, std::int64_t n) {
    while (n > 0) {
        // slowest dimension whose rows begin here and end inside the run
        std::size_t d = shape_.size() - 1;
        std::int64_t row = 1;  // number of elements in one index of dimension d
        while (d > 0 && index % (row * shape_[d]) == 0 && n >= row * shape_[d]) row *= shape_[d--];
        const std::int64_t at = index / row % shape_[d];
        const std::int64_t steps = std::min(n / row, shape_[d] - at);
        std::int64_t rest = index / row / shape_[d];
        const std::size_t base = start_.size();
        start_.resize(base + shape_.size() + 1, 0);
        count_.resize(base + shape_.size() + 1, 1);
        for (std::size_t i = d; i-- > 0; rest /= shape_[i]) start_[base + 1 + i] = rest % shape_[i];
        start_[base + 1 + d] = at;
        count_[base + 1 + d] = steps;
        for (std::size_t i = d + 1; i < shape_.size(); ++i) count_[base + 1 + i] = shape_[i];
        index += steps * row;
        n -= steps * row;
    }
}

const void* Varn::arrange(std::size_t i, const void* values) {
    float* const to = buffer_.data() + (blocking_ ? 0 : order_.size() * i);
    const auto* const from = static_cast<const float*>(values);
    for (std::size_t k = 0; k < order_.size(); ++k) to[k] = from[order_[k]];
    return to;
}

int Varn::put(std::size_t i, int step, const void* data, int* request) {
    for (MPI_Offset* start : starts_) start[0] = step;
    const int number = static_cast<int>(starts_.size());
    const auto* const floats = static_cast<const float*>(data);
    return request != nullptr ? ncmpi_iput_varn_float(file_, variables_[i], number, starts_.data(),
                                                      counts_.data(), floats, request)
                              : ncmpi_put_varn_float_all(file_, variables_[i], number,
                                                         starts_.data(), counts_.data(), floats);
}

}  // namespace thalweg::bench
