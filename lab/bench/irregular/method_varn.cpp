// Writes with PnetCDF as a careful user would: brings the elements into file order first, and makes
// one request per contiguous run. PnetCDF fills the elements that no rank holds.
// SPDX-License-Identifier: Apache-2.0
#include <pnetcdf.h>

#include <algorithm>

#include "irregular/methods.hpp"
#include "pnetcdf_file.hpp"

namespace thalweg::bench::irregular {
namespace {

/// The requests of one variable: boxes of consecutive elements, in file order.
struct Requests {
    std::size_t ndims = 0;  ///< number of dimensions, including the record dimension
    std::vector<MPI_Offset> start, count;
    std::vector<MPI_Offset*> starts, counts;

    int number() const { return static_cast<int>(starts.size()); }
    void set_record(int record) {
        for (MPI_Offset* s : starts) s[0] = record;
    }
};

/// Divides a range [index, index + n) of a row-major array into boxes that are as large as
/// possible.
void add_run(const std::vector<Dim>& dims, std::int64_t index, std::int64_t n, Requests& requests) {
    while (n > 0) {
        // slowest dimension whose rows begin here and end inside the run
        std::size_t d = dims.size() - 1;
        std::int64_t row = 1;  // number of elements in one index of dimension d
        while (d > 0 && index % (row * dims[d].length) == 0 && n >= row * dims[d].length)
            row *= dims[d--].length;
        const std::int64_t at = index / row % dims[d].length;
        const std::int64_t steps = std::min(n / row, dims[d].length - at);
        std::int64_t rest = index / row / dims[d].length;
        const std::size_t base = requests.start.size();
        requests.start.resize(base + requests.ndims, 0);
        requests.count.resize(base + requests.ndims, 1);
        for (std::size_t i = d; i-- > 0; rest /= dims[i].length)
            requests.start[base + 1 + i] = rest % dims[i].length;
        requests.start[base + 1 + d] = at;
        requests.count[base + 1 + d] = steps;
        for (std::size_t i = d + 1; i < dims.size(); ++i)
            requests.count[base + 1 + i] = dims[i].length;
        index += steps * row;
        n -= steps * row;
    }
}

class Varn : public Writer {
public:
    Varn(const Context& context, bool blocking) : context_(context), blocking_(blocking) {
        measure_set_up(context.rank_group, [&] { describe(); });
        buffer_.resize(order_.size() * static_cast<std::size_t>(blocking ? 1 : context.variables));
        MPI_Info_create(&info_);
        for (const auto& [name, value] : context.options.hints)
            MPI_Info_set(info_, name.c_str(), value.c_str());
    }
    ~Varn() override { MPI_Info_free(&info_); }

    void open(const std::string& path) override {
        const std::string& format = context_.options.format;
        const int mode = NC_CLOBBER | (format == "cdf1"   ? 0
                                       : format == "cdf2" ? NC_64BIT_OFFSET
                                                          : NC_64BIT_DATA);
        check_ncmpi(ncmpi_create(context_.rank_group.comm(), path.c_str(), mode, info_, &file_),
                    "ncmpi_create " + path);
        std::vector<int> dims(1);
        check_ncmpi(ncmpi_def_dim(file_, "time", NC_UNLIMITED, dims.data()), "ncmpi_def_dim");
        for (const Dim& dim : context_.map.dims()) {
            int id = 0;
            check_ncmpi(ncmpi_def_dim(file_, dim.name.c_str(), dim.length, &id), "ncmpi_def_dim");
            dims.push_back(id);
        }
        variables_.assign(static_cast<std::size_t>(context_.variables), 0);
        for (int v = 0; v < context_.variables; ++v) {
            int& id = variables_[static_cast<std::size_t>(v)];
            check_ncmpi(ncmpi_def_var(file_, ("v" + std::to_string(v)).c_str(), NC_FLOAT,
                                      static_cast<int>(dims.size()), dims.data(), &id),
                        "ncmpi_def_var");
            if (!context_.map.covers())
                check_ncmpi(ncmpi_def_var_fill(file_, id, 0, nullptr), "ncmpi_def_var_fill");
        }
        check_ncmpi(ncmpi_enddef(file_), "ncmpi_enddef");
    }

    void step(int step) override {
        for (const int id : variables_)
            if (!context_.map.covers())
                check_ncmpi(ncmpi_fill_var_rec(file_, id, step), "ncmpi_fill_var_rec");
        requests_.set_record(step);
        std::vector<int> posted(variables_.size(), NC_REQ_NULL), statuses(variables_.size());
        for (int v = 0; v < context_.variables; ++v) {
            const int id = variables_[static_cast<std::size_t>(v)];
            float* const to =
                buffer_.data() + (blocking_ ? 0 : order_.size() * static_cast<std::size_t>(v));
            const float* const from = context_.fields.values(v, step);
            for (std::size_t i = 0; i < order_.size(); ++i) to[i] = from[order_[i]];
            if (blocking_)
                check_ncmpi(
                    ncmpi_put_varn_float_all(file_, id, requests_.number(), requests_.starts.data(),
                                             requests_.counts.data(), to),
                    "ncmpi_put_varn_float_all");
            else
                check_ncmpi(ncmpi_iput_varn_float(file_, id, requests_.number(),
                                                  requests_.starts.data(), requests_.counts.data(),
                                                  to, &posted[static_cast<std::size_t>(v)]),
                            "ncmpi_iput_varn_float");
        }
        if (blocking_) return;
        check_ncmpi(ncmpi_wait_all(file_, context_.variables, posted.data(), statuses.data()),
                    "ncmpi_wait_all");
        for (const int status : statuses) check_ncmpi(status, "ncmpi_wait_all");
    }

    void close() override { check_ncmpi(ncmpi_close(file_), "ncmpi_close"); }

private:
    void describe() {
        const auto elements = in_file_order(context_.map.shortest());
        requests_.ndims = context_.map.dims().size() + 1;
        for (std::size_t i = 0, end = 0; i < elements.size(); i = end) {
            for (end = i + 1; end < elements.size(); ++end)
                if (elements[end].first != elements[end - 1].first + 1) break;
            add_run(context_.map.dims(), elements[i].first, static_cast<std::int64_t>(end - i),
                    requests_);
        }
        for (std::size_t i = 0; i < requests_.start.size(); i += requests_.ndims) {
            requests_.starts.push_back(requests_.start.data() + i);
            requests_.counts.push_back(requests_.count.data() + i);
        }
        order_.reserve(elements.size());
        for (const auto& [index, at] : elements) order_.push_back(static_cast<std::size_t>(at));
    }

    Context context_;
    bool blocking_;
    Requests requests_;
    std::vector<std::size_t> order_;  ///< memory positions of the elements, in file order
    std::vector<float> buffer_;
    MPI_Info info_ = MPI_INFO_NULL;
    int file_ = -1;
    std::vector<int> variables_;
};

}  // namespace

std::unique_ptr<Writer> make_varn(const Context& context) {
    return std::make_unique<Varn>(context, true);
}

std::unique_ptr<Writer> make_varn_nonblocking(const Context& context) {
    return std::make_unique<Varn>(context, false);
}

}  // namespace thalweg::bench::irregular
