// Tests that no call traps floating-point exceptions, whatever the values are, and that calls leave
// the floating-point environment of their thread as it was: traps, flags and rounding.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: traps [--netcdf4]
#include <mpi.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../calls.hpp"
#include "../values.hpp"

using calls::session;

namespace {

constexpr int trapped = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;
bool netcdf4 = false;

/// Makes a call with traps, as programs are compiled for debugging, and with results rounded up.
/// The values may not fit the types.
template <class Act>
void with_traps(const char* what, Act act) {
    check::step(what);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::fesetround(FE_UPWARD);
    feenableexcept(trapped);
    const int status = act();
    const int traps = fegetexcept();
    fedisableexcept(FE_ALL_EXCEPT);
    const int flags = std::fetestexcept(FE_ALL_EXCEPT), rounding = std::fegetround();
    std::fesetround(FE_TONEAREST);
    CHECK_TEXT(status == TW_OK || status == TW_ERANGE, "{}: {}", what, calls::text());
    CHECK_TEXT(traps == trapped && flags == 0 && rounding == FE_UPWARD,
               "{}: traps {}, flags {}, rounding {}", what, traps, flags, rounding);
}

#define CALL(call) with_traps(#call, [&] { return call; })

/// The values that each rank puts, in doubles and in floats. Conversions would trap most of them.
struct Values {
    using Double = std::numeric_limits<double>;
    using Float = std::numeric_limits<float>;
    std::vector<double> doubles{Double::quiet_NaN(),
                                std::bit_cast<double>(0x7ff0000000000001),
                                Double::infinity(),
                                -Double::infinity(),
                                Double::max(),
                                Double::lowest(),
                                Double::denorm_min(),
                                1e39,
                                1e19,
                                -1.5,
                                0.7,
                                300.75};
    std::vector<float> floats{Float::quiet_NaN(),
                              std::bit_cast<float>(0x7f800001),
                              Float::infinity(),
                              -Float::infinity(),
                              Float::max(),
                              Float::lowest(),
                              Float::denorm_min(),
                              1e30F,
                              1e19F,
                              -1.5F,
                              0.7F,
                              300.75F};
    std::int64_t n = std::ssize(doubles);
} const values;

tw_decomposition columns(MPI_Comm comm, std::int64_t each) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const std::int64_t shape = each * ranks, start = each * rank;
    tw_decomposition made = nullptr;
    CALL(tw_decompose(session, "x", 1, &shape, &start, &each, &made));
    return made;
}

std::string name_of(tw_type type) { return std::string("v_") + type_name(type); }

void write(const std::string& path, const std::string& settings, tw_decomposition d) {
    tw_file file = nullptr;
    CALL(tw_create(session, path.c_str(), settings.c_str(), &file));
    for (const tw_type type : number_types()) {
        const std::string name = name_of(type);
        CALL(tw_def_var(file, name.c_str(), type, "time x", d));
        CALL(tw_put_att(file, name.c_str(), "values", TW_DOUBLE, values.n, values.doubles.data()));
    }
    CALL(tw_set_var(file, "v_float", "fill=nan"));
    for (int record = 0; record < 2; ++record) {
        for (const tw_type type : number_types()) {
            const std::string name = name_of(type);
            if (record == 0)
                CALL(tw_put(file, name.c_str(), TW_DOUBLE, values.doubles.data(), values.n));
            else
                CALL(tw_put(file, name.c_str(), TW_FLOAT, values.floats.data(), values.n));
        }
        CALL(tw_end_step(file));
    }
    CALL(tw_sync(file, 0));
    CALL(tw_close(&file));
}

template <class T>
std::vector<T> get(tw_file file, tw_type variable, tw_decomposition d, std::int64_t record,
                   tw_type type) {
    std::vector<T> got(values.n);
    const std::string name = name_of(variable);
    CALL(tw_get(file, name.c_str(), d, record, type, got.data(), values.n));
    return got;
}

void read(const std::string& path, tw_decomposition d) {
    tw_file file = nullptr;
    CALL(tw_open(session, path.c_str(), "", &file));
    for (const tw_type variable : number_types()) {
        std::vector<std::int64_t> any(values.n);  // of any type
        const std::string name = name_of(variable);
        for (const tw_type type : number_types()) {
            CALL(tw_get(file, name.c_str(), d, 0, type, any.data(), values.n));
            CALL(tw_get(file, name.c_str(), d, 1, type, any.data(), values.n));
            CALL(tw_get_att(file, name.c_str(), "values", type, values.n, any.data()));
        }
    }
    const auto same = get<double>(file, TW_DOUBLE, d, 0, TW_DOUBLE);
    CHECK(std::memcmp(same.data(), values.doubles.data(), values.n * sizeof(double)) == 0);
    const auto floats = get<float>(file, TW_FLOAT, d, 0, TW_FLOAT);
    for (const int i : {0, 1, 4, 5, 7}) CHECK(std::isnan(floats[i]));  // its fill value, too
    CHECK(floats[2] == values.floats[2] && floats[3] == values.floats[3] && floats[6] == 0);
    CHECK(floats[8] == 1e19F && floats[9] == -1.5F && floats[10] == 0.7F && floats[11] == 300.75F);
    constexpr int none = -2147483647;
    const std::vector<int> integers{none, none, none, none, none, none, 0, none, none, -1, 0, 300};
    CHECK(get<int>(file, TW_INT, d, 0, TW_INT) == integers);
    CHECK(get<int>(file, TW_INT, d, 1, TW_INT) == integers);
    CHECK(get<int>(file, TW_DOUBLE, d, 0, TW_INT) == integers);
    CALL(tw_close(&file));
}

/// Writes all statistics of such values, with missing ones.
void history(const std::string& path, const std::string& file, tw_decomposition d) {
    std::string config;
    for (const char* op : {"mean", "min", "max", "sum", "rms", "mean_square", "std", "instant"})
        config += check::text(
            "[[stream]]\nname = \"{}\"\nevery = \"1 day\"\nop = \"{}\"\nfields = [\"T\", \"U\"]\n"
            "path = \"{}_{}.nc\"\nfile = { {} }\n",
            op, op, path, op, file);
    tw_history h = nullptr;
    tw_field t = nullptr, u = nullptr;
    CALL(tw_history_open(session, config.c_str(), "noleap", "2000-01-01", "", &h));
    CALL(tw_history_field(h, "T", TW_DOUBLE, "x", d, "missing=varying; missing_value=nan", &t));
    CALL(tw_history_field(h, "U", TW_FLOAT, "x", d, "missing=varying", &u));
    CALL(tw_history_ready(h));
    for (int step = 1; step <= 4; ++step) {
        CALL(tw_history_time(h, 43200.0 * step));
        CALL(tw_send(t, TW_DOUBLE, values.doubles.data(), values.n));
        CALL(tw_send(u, TW_FLOAT, values.floats.data(), values.n));
        CALL(tw_history_end_step(h));
    }
    CALL(tw_history_close(&h));
}

void run(const std::string& folder, const std::string& service) {
    const std::string of_session = service == "servers" ? "servers=1" : "";
    CALL(tw_init(MPI_COMM_WORLD, of_session.c_str(), &session));
    tw_role role = TW_MODEL;
    tw_inq_role(session, &role);
    if (role == TW_MODEL) {
        MPI_Comm comm = MPI_COMM_NULL;
        tw_model_comm(session, &comm);
        tw_decomposition d = columns(comm, values.n);
        const std::string path = folder + "/" + service;
        write(path + ".nc", "format=cdf5; service=" + service, d);
        read(path + ".nc", d);
        history(path, "service = \"" + service + "\"", d);
        if (netcdf4) {
            write(path + "_4.nc", "format=netcdf4; deflate=1; service=" + service, d);
            read(path + "_4.nc", d);
            history(
                path + "_4",
                "format = \"netcdf4\", quantize = \"bitgroom:3\", service = \"" + service + "\"",
                d);
        }
        CALL(tw_free_decomposition(&d));
    }
    CALL(tw_finalize(&session));
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    netcdf4 = check::has_flag(argc, argv, "--netcdf4");
    const std::string folder = check::make_folder("traps");
    for (const char* service : {"inline", "background"}) run(folder, service);
    if (check::state.size > 1) run(folder, "servers");
    return check::verdict("traps");
}
