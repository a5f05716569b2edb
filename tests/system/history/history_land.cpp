// Tests stations that skip land when choosing them fails: because all elements are missing, because
// a rank has refused the time of the step, or because a state does not fit.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include "history.hpp"

using calls::session;
using namespace histories;

namespace {

const int &rank = check::state.rank, &size = check::state.size;

struct Setup {
    std::string op = "mean";
    std::string keys = "every = \"2 days\"";  ///< further keys of the stream
    int land = 0;                             ///< number of the element that is on land
    bool ready = true;                        ///< the configuration is right
    std::string type = "double";              ///< type in the file
    double beyond = 0;  ///< added to the values of the elements after the station
};

/// A field on a line of two elements for each rank, and a station at the element on land, which is
/// nearer to the element after it than to that before.
class Model {
public:
    explicit Model(const std::string& folder, const Setup& setup = {})
        : land_(setup.land), beyond_(setup.beyond) {
        const std::int64_t shape = 2 * size, start = 2 * rank, count = 2;
        OK(tw_decompose(session, "x", 1, &shape, &start, &count, &decomposition_));
        const std::string text =
            "[[stream]]\nname = \"s\"\nanchor = \"start\"\nfields = [\"T\"]\nop = \"" + setup.op +
            "\"\ntype = \"" + setup.type + "\"\nregion = \"r\"\npath = \"" + folder + "/s.nc\"\n" +
            setup.keys + "\n[region.r]\npoints = [[" + std::to_string(setup.land + 0.2) + ", 0]]\n";
        OK(tw_history_open(session, text.c_str(), "noleap", "2000-01-01", "step=86400", &history));
        OK(tw_history_field(history, "T", TW_DOUBLE, "x", decomposition_,
                            "missing=fixed; missing_value=-1; coordinates=lon lat", &field_));
        std::vector<double> lon, lat(shape);
        for (std::int64_t i = 0; i < shape; ++i) lon.push_back(static_cast<double>(i));
        const auto declare = [&](const char* name, const std::vector<double>& all,
                                 const char* attributes) {
            OK(tw_history_coordinate(history, name, "x", nullptr,
                                     tw_dense(TW_DOUBLE, all.data(), shape), attributes));
        };
        declare("lon", lon, "units=degrees_east; standard_name=longitude");
        declare("lat", lat, "units=degrees_north; standard_name=latitude");
        if (setup.ready)
            OK(tw_history_ready(history));
        else
            REFUSED(tw_history_ready(history), TW_ESETTING, "chunks");
    }
    ~Model() {
        if (history != nullptr) OK(tw_history_close(&history));
        OK(tw_free_decomposition(&decomposition_));
    }
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    /// Sends 100 times the day plus the number of the element.
    void send(int day, bool all_land = false) {
        double values[2];
        for (int i = 0; i < 2; ++i)
            values[i] = all_land || 2 * rank + i == land_
                            ? -1
                            : 100 * day + 2 * rank + i + (2 * rank + i > land_ + 1 ? beyond_ : 0);
        OK(tw_send(field_, TW_DOUBLE, values, 2));
    }
    void step(int day) {
        OK(tw_history_time(history, 86400. * day));
        send(day);
        OK(tw_history_end_step(history));
    }

    tw_history history = nullptr;

private:
    int land_;
    double beyond_;
    tw_decomposition decomposition_ = nullptr;
    tw_field field_ = nullptr;
};

void expect(const std::string& folder, const std::vector<double>& values) {
    const Contents file(folder + "/s.nc");
    CHECK_TEXT(file.values == values, "{}: {} records, the last with {}", folder,
               file.values.size(), file.values.empty() ? 0 : file.values.back());
}

/// Tests a first sample that is missing everywhere: its record is lost, and later ones are right.
void all_land() {
    const std::string folder = fresh_folder();
    Model model(folder);
    OK(tw_history_time(model.history, 86400));
    model.send(1, true);
    REFUSED(tw_history_end_step(model.history), TW_ESETTING, "no valid elements");
    OK(tw_history_time(model.history, 2 * 86400.));
    model.send(2);
    REFUSED(tw_history_end_step(model.history), TW_EARG, "needs missing=varying");
    for (int day = 3; day <= 4; ++day) model.step(day);
    OK(tw_history_close(&model.history));
    expect(folder, {351});
}

/// Tests values that do not fit into the file's type, of elements that are no station.
void beyond_type() {
    const std::string folder = fresh_folder();
    Model model(folder, {.keys = "every = \"1 day\"", .type = "float", .beyond = 1e300});
    for (int day = 1; day <= 2; ++day) model.step(day);
    OK(tw_history_close(&model.history));
    expect(folder, {101, 201});
}

/// Tests a rank whose time was refused in the step in which the others choose stations. It holds no
/// station, so its missing sample changes nothing.
void refused_time() {
    if (size == 1) return;
    const std::string folder = fresh_folder();
    Model model(folder);
    if (rank == 1) {
        CHECK(tw_history_time(model.history, -86400) == TW_EARG);
    } else {
        OK(tw_history_time(model.history, 86400));
        model.send(1);
    }
    REFUSED(tw_history_end_step(model.history), TW_EARG, "is not after");
    for (int day = 2; day <= 4; ++day) model.step(day);
    OK(tw_history_close(&model.history));
    expect(folder, {151, 351});
}

/// Tests a state that has stations but another stream: the history can only be closed.
void other_stream() {
    const std::string folder = fresh_folder(), path = folder + "/restart.nc";
    {
        Model model(folder);
        model.step(1);
        save(model.history, path);
    }
    const std::string later = fresh_folder();
    Model model(later, {"max"});
    tw_file file = nullptr;
    OK(tw_open(session, path.c_str(), nullptr, &file));
    REFUSED(tw_history_load(model.history, file), TW_EDIFFERENT, "was");
    REFUSED(tw_history_load(model.history, file), TW_EDIFFERENT, "was");
    OK(tw_close(&file));
    OK(tw_history_time(model.history, 86400));
    model.send(1);
    REFUSED(tw_history_end_step(model.history), TW_EDIFFERENT, "was");
    tw_restart restart = nullptr;
    OK(tw_restart_new(session, nullptr, &restart));
    REFUSED(tw_history_save(model.history, restart), TW_EDIFFERENT, "was");
    OK(tw_restart_free(&restart));
    REFUSED(tw_history_close(&model.history), TW_EDIFFERENT, "was");
    model.history = nullptr;
    CHECK(!std::filesystem::exists(later + "/s.nc"));
}

/// Tests a rank that does not send the first sample: where its land is shows in the next one.
void unsent_on_one() {
    if (size == 1) return;
    const std::string folder = fresh_folder();
    Model model(folder, {.land = 2});
    OK(tw_history_time(model.history, 86400));
    if (rank != 1) model.send(1);
    OK(tw_history_end_step(model.history));
    OK(tw_history_time(model.history, 2 * 86400.));
    model.send(2);
    OK(tw_history_end_step(model.history));
    for (int day = 3; day <= 4; ++day) model.step(day);
    OK(tw_history_close(&model.history));
    expect(folder, {203, 353});
}

/// Tests a record without a wanted sample, in a step that shows where land is.
void unwanted() {
    const std::string folder = fresh_folder();
    Model model(folder, {.keys = "every = \"1 day\"\nsample = \"2 days\""});
    for (int day = 1; day <= 4; ++day) model.step(day);
    OK(tw_history_close(&model.history));
    const Contents file(folder + "/s.nc");
    CHECK(file.values.size() == 4 && file.values[1] == 201 && file.values[3] == 401);
}

/// Tests chunks, which are of stations, also while these are not known.
void chunks() {
    const std::string folder = fresh_folder();
    const std::string keys = "every = \"2 days\"\nfile = { format = \"netcdf4\" }\nfield.T = { ";
    {
        Model model(folder, {.keys = keys + "chunks = \"station=1\" }"});
        for (int day = 1; day <= 4; ++day) model.step(day);
    }
    expect(folder, {151, 351});
    const Model wrong(folder, {.keys = keys + "chunks = \"x=1\" }", .ready = false});
}

/// Tests ranks in different calls: one loads a state, the others save one.
void different_calls() {
    if (size == 1) return;
    const std::string folder = fresh_folder(), path = folder + "/restart.nc";
    {
        Model model(folder);
        model.step(1);
        save(model.history, path);
    }
    Model model(fresh_folder());
    tw_file file = nullptr;
    tw_restart restart = nullptr;
    OK(tw_open(session, path.c_str(), nullptr, &file));
    OK(tw_restart_new(session, nullptr, &restart));
    // The state is that of another stream, which rank 0 tells the others.
    if (rank == 0)
        REFUSED(tw_history_load(model.history, file), TW_EDIFFERENT, "path");
    else
        REFUSED(tw_history_save(model.history, restart), TW_EDIFFERENT, "path");
    OK(tw_restart_free(&restart));
    OK(tw_close(&file));
    CHECK(tw_history_close(&model.history) == TW_EDIFFERENT);
    model.history = nullptr;
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    OK(tw_init(MPI_COMM_WORLD, nullptr, &session));
    all_land();
    beyond_type();
    refused_time();
    other_stream();
    unsent_on_one();
    unwanted();
    chunks();
    different_calls();
    OK(tw_finalize(&session));
    return check::verdict("history_land");
}
