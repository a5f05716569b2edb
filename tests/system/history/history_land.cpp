// Tests stations that skip land when choosing them fails: because all elements are missing, because
// a rank has refused the time of the step, or because a state does not fit.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include "history.hpp"

using calls::session;
using namespace histories;

namespace {

int rank = 0, size = 1;

std::string stream(const std::string& op) {
    return "[[stream]]\nname = \"s\"\nevery = \"2 days\"\nanchor = \"start\"\nfields = [\"T\"]\nop "
           "= \"" +
           op + "\"\nregion = \"r\"\ntype = \"double\"\n[region.r]\npoints = [[0, 0]]\n";
}

/// A field on a line of two elements for each rank. Its first element, which is the nearest to the
/// station, is on land.
class Model {
public:
    Model(const std::string& folder, const char* op) {
        const std::int64_t shape = 2 * size, start = 2 * rank, count = 2;
        OK(tw_decompose(session, "x", 1, &shape, &start, &count, &decomposition_));
        std::string text = stream(op);
        text.insert(text.find("region ="), "path = \"" + folder + "/s.nc\"\n");
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
        OK(tw_history_ready(history));
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
            values[i] = all_land || 2 * rank + i == 0 ? -1 : 100 * day + 2 * rank + i;
        OK(tw_send(field_, TW_DOUBLE, values, 2));
    }
    void step(int day) {
        OK(tw_history_time(history, 86400. * day));
        send(day);
        OK(tw_history_end_step(history));
    }

    tw_history history = nullptr;

private:
    tw_decomposition decomposition_ = nullptr;
    tw_field field_ = nullptr;
};

void expect(const std::string& folder, const std::vector<double>& values) {
    const Contents file(folder + "/s.nc");
    CHECK_TEXT(file.values == values, "%s: %zu records, the last with %g", folder.c_str(),
               file.values.size(), file.values.empty() ? 0 : file.values.back());
}

/// Tests a first sample that is missing everywhere: its record is lost, and later ones are right.
void all_land() {
    const std::string folder = fresh_folder();
    Model model(folder, "mean");
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

/// Tests a rank whose time was refused in the step in which the others choose stations. It holds no
/// station, so its missing sample changes nothing.
void refused_time() {
    if (size == 1) return;
    const std::string folder = fresh_folder();
    Model model(folder, "mean");
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
        Model model(folder, "mean");
        model.step(1);
        save(model.history, path);
    }
    const std::string later = fresh_folder();
    Model model(later, "max");
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

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    rank = check::state.rank;
    size = check::state.size;
    OK(tw_init(MPI_COMM_WORLD, nullptr, &session));
    all_land();
    refused_time();
    other_stream();
    OK(tw_finalize(&session));
    return check::verdict("history_land");
}
