// Other libraries, used alone, as a careful user would.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "methods/method.hpp"

namespace thalweg::bench {

/// Throws if a call of netCDF-C or of PnetCDF failed.
void check_nc(int status, const std::string& what);
void check_ncmpi(int status, const std::string& what);

std::unique_ptr<Method> make_pio(const Context& context);

/// Output as it was before parallel libraries: rank 0 gathers one variable at a time, brings it
/// into file order and writes it through plain netCDF-C.
class PeerSerial : public Method {
public:
    /// @param large  with a large buffer, not the default one, which writes small pieces
    PeerSerial(const Context& context, bool large);
    void open(const std::string& path) override;
    void step(int step) override;
    void close() override;

private:
    struct Pieces {  // the pieces of a group, indexed by rank
        std::vector<Part> parts;
        std::vector<int> counts, offsets;
    };
    const void* gather(const Variable& v, const Group& g, const void* mine);

    Context context_;
    std::size_t buffer_hint_;
    std::vector<Pieces> pieces_;
    std::vector<std::byte> gathered_, global_;
    int file_ = -1;
    std::vector<int> variables_;
};

/// Parallel netCDF-4: every rank writes its block through HDF5, one collective call per variable.
class Netcdf4 : public Method {
public:
    /// @param syncs  the close flushes the file
    Netcdf4(const Context& context, bool syncs);
    void open(const std::string& path) override;
    void step(int step) override;
    void close() override;

private:
    Context context_;
    bool syncs_;
    std::vector<std::byte> scratch_;
    int file_ = -1;
    std::vector<int> variables_;
};

/// PnetCDF: brings the variables into file order, and writes them by one blocking collective call
/// for each, or by a non-blocking one and one wait for all.
class Pnetcdf : public Method {
public:
    Pnetcdf(const Context& context, bool blocking)
        : context_(context), blocking_(blocking), throttle_(throttle_of(context)) {}
    void open(const std::string& path) override;
    void step(int step) override;
    void close() override;

protected:
    /// Returns the values of a variable in file order.
    virtual const void* arrange(std::size_t i, const void* values) = 0;
    /// @param request  of a non-blocking put; null: the put is blocking
    virtual int put(std::size_t i, int step, const void* data, int* request) = 0;

    Context context_;
    bool blocking_, fills_ = false;  ///< fills_: what no rank holds
    int file_ = -1;
    std::vector<int> variables_;

private:
    detail::Throttle throttle_;
    std::vector<int> requests_, statuses_;
};

/// Puts blocks.
class PeerPnetcdf : public Pnetcdf {
public:
    PeerPnetcdf(const Context& context, bool blocking);

private:
    const void* arrange(std::size_t i, const void* values) override;
    int put(std::size_t i, int step, const void* data, int* request) override;

    std::vector<std::size_t> offsets_;  ///< offsets of the variables' blocks, if they are reordered
    std::vector<std::byte> blocks_;
    std::vector<MPI_Offset> start_, count_;
};

/// Puts lists of indices: a request with the contiguous runs. PnetCDF fills the elements that no
/// rank holds.
class Varn : public Pnetcdf {
public:
    Varn(const Context& context, bool blocking);

private:
    const void* arrange(std::size_t i, const void* values) override;
    int put(std::size_t i, int step, const void* data, int* request) override;
    void add_run(std::int64_t index, std::int64_t n);

    std::vector<std::int64_t> shape_;
    std::vector<MPI_Offset> start_, count_;  ///< boxes of consecutive elements, in file order
    std::vector<MPI_Offset*> starts_, counts_;
    std::vector<std::size_t> order_;  ///< memory positions of the elements, in file order
    std::vector<float> buffer_;
};

}  // namespace thalweg::bench
