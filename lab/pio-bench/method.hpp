// A method of writing a workload.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "options.hpp"
#include "workload.hpp"

namespace pio_bench {

struct Context {
    MPI_Comm comm;
    int rank, ranks;
    const Options& options;
    const Workload& workload;
};

// A method of writing. Functions throw std::runtime_error. All are collective.
class Method {
public:
    virtual ~Method() = default;
    virtual void begin() = 0;      // initializes the library on these ranks
    virtual void decompose() = 0;  // makes the decompositions of all layouts
    virtual void open(const std::string& path) = 0;
    virtual void step(int record) = 0;
    virtual void close() = 0;
    virtual void free_decompositions() = 0;
    virtual void end() = 0;
    virtual void wait() {}  // waits until closed files are complete
    // Returns the number of wrong values in the file.
    virtual std::int64_t verify(const std::string&, int /*records*/) { return 0; }
    virtual bool writes() const { return true; }  // false: the method writes no netCDF file
};

std::unique_ptr<Method> make_method(const std::string& name, const Context& context);
std::vector<std::string> method_names();
std::string method_list();

std::unique_ptr<Method> make_pio(const Context& context);
std::unique_ptr<Method> make_thalweg(const Context& context, bool deferred);
std::unique_ptr<Method> make_raw(const Context& context);
std::unique_ptr<Method> make_pack(const Context& context);

}  // namespace pio_bench
