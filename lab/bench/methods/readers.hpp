// Methods of reading the records of a file into the arrays of a model's ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "methods/method.hpp"

namespace thalweg::bench {

/// Reads into one of the two sets of arrays of the context.
class Reader : public Method {
public:
    explicit Reader(const Context& context) : context_(context) {}
    /// Returns the array of a variable for a record.
    std::byte* array(const Variable& v, int record) const {
        return context_.arrays[record % 2] + context_.problem.offset(v, 0);
    }

protected:
    Context context_;
};

/// Lower bound: each of P ranks reads a contiguous part of the file without regard to its format.
/// All parts together are as large as the fields, or as the file if it is shorter.
class RawRead : public Reader {
public:
    using Reader::Reader;
    ~RawRead() override;
    void open(const std::string& path) override;
    void step(int record) override;
    void close() override;

private:
    std::int64_t bytes_ = 0;
    int file_ = -1;
};

class LibraryRead : public Reader {
public:
    enum How {
        one_by_one,  ///< a call for each variable
        together,    ///< all variables of a record by one call
        ahead        ///< the next record is requested before the model computes
    };
    LibraryRead(const Context& context, How how);
    ~LibraryRead() override { tw_finalize(&session_); }
    void open(const std::string& path) override;
    void step(int record) override;
    void close() override;

private:
    void get(int record, int flags);

    How how_;
    tw_session session_;
    std::vector<tw_decomposition> decompositions_;
    tw_file file_ = nullptr;
};

/// Reads each rank's block by one collective call for each variable, and reorders it to memory
/// order.
class PnetcdfRead : public Reader {
public:
    explicit PnetcdfRead(const Context& context);
    void open(const std::string& path) override;
    void step(int record) override;
    void close() override;

private:
    detail::Throttle throttle_;
    std::vector<std::byte> scratch_;
    int file_ = -1;
};

/// Reads in the same way through netCDF-C and HDF5.
class Netcdf4Read : public Reader {
public:
    explicit Netcdf4Read(const Context& context);
    void open(const std::string& path) override;
    void step(int record) override;
    void close() override;

private:
    std::vector<std::byte> scratch_;
    int file_ = -1;
};

}  // namespace thalweg::bench
