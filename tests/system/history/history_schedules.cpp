// Runs histories by schedules that a script has made. Argument: a file of lines, in this order:
//
//   case CALENDAR START CONFIGURATION DATA ELEMENTS SETTINGS   paths; begins a history of one
//                                   dimension; '-': no settings
//   field NAME TYPE ATTRIBUTES                        as many as needed
//   step SECONDS [NAME OFFSET WEIGHT]...   the fields that are sent, their offsets in DATA, and the
//                                   model's weights; '-': none
//   restart PATH                    saves and ends the history, and continues it in a new one
//   end
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "history.hpp"

using calls::session;

namespace {

struct Field {
    std::string name, attributes;
    tw_type type = TW_DOUBLE;
    std::int64_t size = 8;
    tw_field handle = nullptr;
};

class Case {
public:
    explicit Case(std::istringstream& words) {
        std::string path;
        std::int64_t elements = 0;
        words >> calendar_ >> start_ >> config_ >> path >> elements >> settings_;
        if (settings_ == "-") settings_.clear();
        first_ = elements * check::state.rank / check::state.size;
        count_ = elements * (check::state.rank + 1) / check::state.size - first_;
        OK(tw_decompose(session, "x", 1, &elements, &first_, &count_, &cells_));
        std::ifstream file(path, std::ios::binary);
        data_.assign(std::istreambuf_iterator<char>(file), {});
    }
    void declare(std::istringstream& words) {
        Field f;
        std::string type;
        std::getline(words >> f.name >> type >> std::ws, f.attributes);
        f.type = type == "f4" ? TW_FLOAT : type == "i4" ? TW_INT : TW_DOUBLE;
        f.size = f.type == TW_DOUBLE ? 8 : 4;
        fields_.push_back(f);
    }
    void step(std::istringstream& words) {
        if (history_ == nullptr) open();
        double seconds = 0;
        words >> seconds;
        OK(tw_history_time(history_, seconds));
        std::string name, weight;
        for (std::size_t offset = 0; words >> name >> offset >> weight;)
            for (const Field& f : fields_) {
                if (f.name != name) continue;
                const tw_array array =
                    tw_dense(f.type, data_.data() + offset + first_ * f.size, count_);
                const double own = weight == "-" ? 0 : std::stod(weight);
                OK(tw_send_array(f.handle, array, weight == "-" ? nullptr : &own));
            }
        OK(tw_history_end_step(history_));
    }
    void restart(const std::string& path) {
        histories::save(history_, path);
        OK(tw_history_close(&history_));
        open();
        tw_file file = nullptr;
        OK(tw_open(session, path.c_str(), nullptr, &file));
        OK(tw_history_load(history_, file));
        OK(tw_close(&file));
    }
    void end() {
        OK(tw_history_close(&history_));
        OK(tw_free_decomposition(&cells_));
    }

private:
    void open() {
        OK(tw_history_open(session, config_.c_str(), calendar_.c_str(), start_.c_str(),
                           settings_.c_str(), &history_));
        std::vector<double> places(count_);
        for (std::int64_t i = 0; i < count_; ++i)
            places[i] = 7.5 * static_cast<double>(first_ + i) - 50;
        for (const auto& [name, units] :
             {std::pair("lon", "units=degrees_east"), {"lat", "units=degrees_north"}})
            OK(tw_history_coordinate(history_, name, "x", cells_,
                                     tw_dense(TW_DOUBLE, places.data(), count_), units));
        for (Field& f : fields_)
            OK(tw_history_field(history_, f.name.c_str(), f.type, "x", cells_, f.attributes.c_str(),
                                &f.handle));
        OK(tw_history_ready(history_));
    }

    std::string calendar_, start_, config_, settings_;
    std::vector<char> data_;
    std::vector<Field> fields_;
    std::int64_t first_ = 0, count_ = 0;  // first element of this rank, and number of its elements
    tw_decomposition cells_ = nullptr;
    tw_history history_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 600);
    OK(tw_init(MPI_COMM_WORLD, nullptr, &session));
    std::ifstream schedule(argc > 1 ? argv[1] : "");
    std::unique_ptr<Case> one;
    for (std::string line, word; std::getline(schedule, line);) {
        std::istringstream words(line);
        words >> word;
        if (word == "case") one = std::make_unique<Case>(words);
        if (word == "field") one->declare(words);
        if (word == "step") one->step(words);
        if (word == "restart") one->restart((words >> word, word));
        if (word == "end") one->end();
    }
    OK(tw_finalize(&session));
    return check::verdict("history_schedules");
}
