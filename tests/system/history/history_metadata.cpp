// Tests the attributes of statistics and of quantized variables, and which variables accompany a
// field whose vertical coordinate names other fields in its formula.
//
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "history.hpp"

using calls::session;
using namespace histories;

namespace {

constexpr std::int64_t nz = 2, columns = 64;
constexpr double day = 86400;

/// Daily means in netCDF-4 files. With `max_open = 1` they are closed and continued after each
/// record.
const std::string configuration = R"(
[history]
max_open = 1
[[stream]]
name = "one"
every = "1 day"
fields = ["ta", "hus", "tas"]
path = "one.nc"
file = { format = "netcdf4", deflate = 1, quantize = "bitround:9" }
field.hus = { quantize = "granularbr:3" }
field.tas = { quantize = "no" }
[[stream]]
name = "each"
every = "1 day"
fields = ["ta", "ps", "hus", "tas"]
files = "variable"
path = "{variable}.nc"
file = { format = "netcdf4", quantize = "bitgroom:4" }
[[stream]]
name = "classic"
every = "1 day"
fields = ["ta"]
path = "classic.nc"
[[stream]]
name = "statistics"
every = "2 days"
interval = true
path = "statistics.nc"
[stream.field]
square = { of = "tas", op = "mean_square" }
deviation = { of = "tas", op = "std" }
weighed = { of = "tas", weight = "ps" }
warmest = { of = "tas", op = "max", inner = { op = "mean_square", every = "1 day" } }
spread = { of = "tas", op = "std", inner = { op = "mean_square", every = "1 day" } }
)";

/// Declares fields on two hybrid levels, and writes two days.
void write(const std::string& folder) {
    const int rank = check::state.rank, size = check::state.size;
    const std::int64_t low = columns * rank / size, n = columns * (rank + 1) / size - low;
    const std::int64_t shape[2] = {nz, columns}, start[2] = {0, low}, count[2] = {nz, n};
    tw_decomposition volume = nullptr, surface = nullptr;
    OK(tw_decompose(session, "lev x", 1, shape, start, count, &volume));
    OK(tw_decompose(session, "x", 1, shape + 1, start + 1, count + 1, &surface));
    tw_history history = nullptr;
    const std::string text = in_folder(configuration, folder);
    OK(tw_history_open(session, text.c_str(), "standard", "2000-01-01",
                       "step=86400; quantize=bitround:9", &history));
    const double levels[nz] = {0.25, 0.75};
    const tw_array array = tw_dense(TW_DOUBLE, levels, nz);
    OK(tw_history_coordinate(history, "lev", "lev", nullptr, array,
                             "units=1; standard_name=atmosphere_hybrid_sigma_pressure_coordinate; "
                             "formula_terms=ap: ap b: b ps: ps; axis=Z"));
    OK(tw_history_coordinate(history, "ap", "lev", nullptr, array, "units=Pa"));
    OK(tw_history_coordinate(history, "b", "lev", nullptr, array, "units=1"));
    std::array<tw_field, 4> fields{};
    OK(tw_history_field(history, "ta", TW_FLOAT, "lev x", volume, "units=K", fields.data()));
    OK(tw_history_field(history, "hus", TW_FLOAT, "lev x", volume, "units=1", &fields[1]));
    OK(tw_history_field(history, "tas", TW_FLOAT, "x", surface,
                        "units=K; units_metadata=temperature: on_scale; "
                        "standard_name=air_temperature",
                        &fields[2]));
    OK(tw_history_field(history, "ps", TW_FLOAT, "x", surface, "units=Pa", &fields[3]));
    OK(tw_history_ready(history));
    for (int step = 1; step <= 2; ++step) {
        OK(tw_history_time(history, step * day));
        for (const int f : {3, 0, 1, 2}) {
            const std::vector<float> values((f < 2 ? nz : 1) * n, 1 + static_cast<float>(step) / 3);
            OK(tw_send(fields[f], TW_FLOAT, values.data(), std::ssize(values)));
        }
        OK(tw_history_end_step(history));
    }
    OK(tw_history_close(&history));
    for (tw_decomposition* d : {&volume, &surface}) OK(tw_free_decomposition(d));
}

/// Reads the attributes and the names of the variables of a file.
class Look {
public:
    explicit Look(const std::string& path) { OK(tw_open(session, path.c_str(), nullptr, &file_)); }
    ~Look() { OK(tw_close(&file_)); }
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;

    bool has(const char* variable) const {
        return tw_inq_var(file_, variable, nullptr, nullptr, nullptr) == TW_OK;
    }
    /// Returns a text, or a number as text; "" if there is no such attribute.
    std::string attribute(const char* variable, const char* name) const {
        tw_type type{};
        std::int64_t n = 0;
        if (tw_inq_att(file_, variable, name, &type, &n) != TW_OK) return {};
        char text[200] = "";
        int number = 0;
        if (type == TW_CHAR) {
            OK(tw_get_att_text(file_, variable, name, sizeof text, text));
            return text;
        }
        OK(tw_get_att(file_, variable, name, TW_INT, 1, &number));
        return std::to_string(number);
    }
    void expect(const char* variable, const char* name, const std::string& right) const {
        const std::string found = attribute(variable, name);
        CHECK_TEXT(found == right, "{}:{} is '{}', not '{}'", variable, name, found, right);
    }
    double first(const char* variable, std::int64_t record) const {
        std::vector<double> values(nz * columns);
        const std::int64_t n = std::string(variable) == "ps" ? columns : nz * columns;
        OK(tw_get(file_, variable, nullptr, record, TW_DOUBLE, values.data(), n));
        return values[0];
    }

private:
    tw_file file_ = nullptr;
};

void check_files(const std::string& folder) {
    {
        const Look one(folder + "/one.nc");
        one.expect("", "Conventions", "CF-1.12");
        one.expect("ta", "quantization", "quantization_info_bitround");
        one.expect("ta", "quantization_nsb", "9");
        one.expect("hus", "quantization", "quantization_info_granular_bitround");
        one.expect("hus", "quantization_nsd", "3");
        one.expect("quantization_info_bitround", "algorithm", "bitround");
        one.expect("quantization_info_granular_bitround", "algorithm", "granular_bitround");
        one.expect("quantization_info_bitround", "implementation", "Thalweg 0.1.0");
        for (const char* name : {"tas", "ps", "lev", "time_bnds"})
            one.expect(name, "quantization", "");
        CHECK(one.first("ps", 1) == 1 + 2.F / 3);
        CHECK(one.first("ta", 1) != 1 + 2.F / 3);
    }
    for (const char* name : {"ta", "hus", "ps", "tas"}) {
        const Look each(folder + "/" + name + ".nc");
        const bool has_levels = std::string(name).substr(0, 2) != "ta" || name[2] == '\0';
        const bool terms = has_levels && std::string(name) != "ps";
        each.expect("", "Conventions", "CF-1.12");
        each.expect(name, "quantization", "quantization_info");
        each.expect(name, "quantization_nsd", "4");
        each.expect("quantization_info", "algorithm", "bitgroom");
        CHECK_TEXT(each.has("ps") == (terms || std::string(name) == "ps"), "{}.nc: ps", name);
        CHECK_TEXT(each.has("ap") == terms && each.has("b") == terms, "{}.nc: ap, b", name);
        if (!terms) continue;
        each.expect("ps", "quantization", "");
        each.expect("ps", "cell_methods", "time: mean");
        CHECK(each.first("ps", 0) == 1 + 1.F / 3 && each.first("ps", 1) == 1 + 2.F / 3);
    }
    const Look statistics(folder + "/statistics.nc");
    statistics.expect("time", "units_metadata", "leap_seconds: none");
    for (const auto& [name, units, metadata, standard, methods] :
         {std::array{"square", "K2", "", "", "mean (interval: 86400 s comment: of the square)"},
          {"deviation", "K", "temperature: difference", "air_temperature",
           "standard_deviation (interval: 86400 s)"},
          {"weighed", "K", "temperature: on_scale", "air_temperature",
           "mean (interval: 86400 s comment: weighted by ps)"},
          {"warmest", "K2", "", "", "mean within days (of the square) time: maximum over days"},
          {"spread", "K2", "", "",
           "mean within days (of the square) time: standard_deviation over days"}}) {
        statistics.expect(name, "units", units);
        statistics.expect(name, "units_metadata", metadata);
        statistics.expect(name, "standard_name", standard);
        statistics.expect(name, "cell_methods", std::string("time: ") + methods);
    }
    const Look classic(folder + "/classic.nc");
    classic.expect("", "Conventions", "CF-1.11");
    classic.expect("ta", "quantization", "");
    CHECK(!classic.has("quantization_info") && classic.has("ps"));
}

/// Tests that a quantization that no file can have is found before the first step.
void refuse() {
    tw_history history = nullptr;
    tw_field field = nullptr;
    OK(tw_history_open(session,
                       "[[stream]]\nname = \"s\"\nevery = \"1 day\"\nfields = [\"T\"]\n"
                       "file = { format = \"netcdf4\", quantize = \"bitround:24\" }\n",
                       "noleap", "2000-01-01", nullptr, &history));
    const double x[2] = {0, 1};
    OK(tw_history_coordinate(history, "x", "x", nullptr, tw_dense(TW_DOUBLE, x, 2), "units=m"));
    OK(tw_history_field(history, "T", TW_FLOAT, "x", nullptr, "units=K", &field));
    REFUSED(tw_history_ready(history), TW_ESETTING, "bitround:24");
    OK(tw_history_close(&history));
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    CHECK(tw_init(MPI_COMM_WORLD, nullptr, &session) == TW_OK);
    const std::string folder = fresh_folder();
    write(folder);
    check_files(folder);
    refuse();
    OK(tw_finalize(&session));
    return check::verdict("history_metadata");
}
