// Tests the windows, weights, missing values and files of histories: the cases of cases.json, which
// have their right values.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "history.hpp"

using calls::session;
using namespace histories;
using nlohmann::json;

namespace {

using Numbers = std::vector<double>;

const double not_sent = std::numeric_limits<double>::infinity();

std::string name_of(int error) {
    static const std::map<int, std::string> names{{TW_OK, "TW_OK"},
                                                  {TW_EARG, "TW_EARG"},
                                                  {TW_ESTATE, "TW_ESTATE"},
                                                  {TW_EMISSING, "TW_EMISSING"}};
    const auto found = names.find(error);
    return found == names.end() ? std::to_string(error) : found->second;
}

/// Returns the numbers of a list and of the lists in it; null is not_sent.
Numbers numbers_of(const json& list) {
    Numbers numbers;
    for (const json& n : list)
        if (n.is_array())
            std::ranges::copy(numbers_of(n), std::back_inserter(numbers));
        else
            numbers.push_back(n.is_null()     ? not_sent
                              : n.is_string() ? std::numeric_limits<double>::quiet_NaN()
                                              : n.get<double>());
    return numbers;
}

/// Returns the rows of a table, in which progressions stand for many rows.
std::vector<Numbers> table_of(const json& table) {
    std::vector<Numbers> rows;
    for (const json& item : table) {
        if (item.is_array()) {
            rows.push_back(numbers_of(item));
            continue;
        }
        const Numbers first = numbers_of(item["first"]), add = numbers_of(item["add"]);
        for (int i = 0; i < item["count"]; ++i) {
            rows.push_back(first);
            for (std::size_t k = 0; k < first.size(); ++k) rows.back()[k] += i * add[k];
        }
    }
    return rows;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// A model with fields of one element a rank, or of elements with centres.
class Run {
public:
    Run(const json& c, const std::string& folder) {
        const json centres = c.value("centres", json::array());
        const std::int64_t ranks = check::state.size, rank = check::state.rank;
        size_ = centres.empty() ? ranks : std::ssize(centres);
        first_ = size_ * rank / ranks;
        count_ = size_ * (rank + 1) / ranks - first_;
        OK(tw_decompose(session, "x", count_ > 0 ? 1 : 0, &size_, &first_, &count_,
                        &decomposition_));
        std::string stream = c["stream"];
        if (stream.find("path =") == std::string::npos) stream += "\npath = \"{stream}.nc\"";
        stream.insert(stream.find("path = \"") + 8, folder + "/");
        note(tw_history_open(session,
                             ("[history]\ntime_units = \"days since START\"\n[[stream]]\nname = "
                              "\"s\"\nfields = [\"T\"]\ntype = \"double\"\n" +
                              stream + "\n")
                                 .c_str(),
                             c.value("calendar", "standard").c_str(),
                             c.value("start", "2000-01-01").c_str(), nullptr, &history_));
        if (history_ == nullptr) return;
        for (const int i : {0, 1}) {
            Numbers degrees;
            for (const json& centre : centres) degrees.push_back(centre[i]);
            if (!degrees.empty())
                note(tw_history_coordinate(history_, i == 0 ? "lon" : "lat", "x", nullptr,
                                           tw_dense(TW_DOUBLE, degrees.data(), std::ssize(degrees)),
                                           i == 0 ? "units=degrees_east" : "units=degrees_north"));
        }
        per_field_ = centres.empty() ? 1 : size_;
        for (const json& field : c.value("fields", json::parse(R"([["T", "units=K"]])"))) {
            const std::string name = field[0], attributes = field[1];
            fields_.emplace_back();
            note(tw_history_field(history_, name.c_str(), TW_DOUBLE, "x", decomposition_,
                                  attributes.c_str(), &fields_.back()));
        }
        note(tw_history_ready(history_));
    }
    ~Run() {
        if (history_ != nullptr) OK(tw_history_close(&history_));
        OK(tw_free_decomposition(&decomposition_));
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    void step(const Numbers& step) {
        note(tw_history_time(history_, step[0]));
        for (std::size_t f = 0; f < fields_.size(); ++f) {
            const double* const all = &step[1 + f * static_cast<std::size_t>(per_field_)];
            const double* const mine = per_field_ == 1 ? all : all + first_;
            if (all[0] != not_sent) note(tw_send(fields_[f], TW_DOUBLE, mine, count_));
        }
        note(tw_history_end_step(history_));
    }
    /// Returns the first error since the last call, or TW_OK.
    int error() { return std::exchange(error_, TW_OK); }

private:
    void note(int code) {
        if (error_ == TW_OK) error_ = code;
    }
    std::int64_t size_ = 0, first_ = 0, count_ = 0;  // elements of the fields, and of this rank
    std::int64_t per_field_ = 1;                     // values of a field in a step
    tw_decomposition decomposition_ = nullptr;
    tw_history history_ = nullptr;
    std::vector<tw_field> fields_;
    int error_ = TW_OK;
};

void check_records(const std::string& name, const std::string& path,
                   const std::vector<Numbers>& right) {
    const Contents file(path);
    CHECK_TEXT(file.time.size() == right.size(), "%s: %d records", name.c_str(),
               static_cast<int>(file.time.size()));
    for (std::size_t r = 0; r < std::min(file.time.size(), right.size()); ++r) {
        Numbers found{file.time[r]};
        if (!file.bounds.empty())
            found.insert(found.end(), {file.bounds[2 * r], file.bounds[2 * r + 1]});
        const std::size_t size = file.values.size() / file.time.size();
        for (std::size_t i = 0; i < size; ++i) {
            found.push_back(file.values[r * size + i]);
            CHECK_TEXT(
                std::equal(found.begin(), found.end(), right[r].begin(), right[r].end(), same),
                "%s: record %d: time %.17g, value %.17g", name.c_str(), static_cast<int>(r),
                found.front(), found.back());
            found.pop_back();
        }
    }
}

void check_case(const json& c) {
    const std::string name = c["name"];
    check::step("case %s", name.c_str());
    const std::string folder = fresh_folder();
    const std::vector<Numbers> steps = table_of(c["steps"]);
    {
        Run run(c, folder);
        std::string error = name_of(run.error());
        for (const Numbers& step : steps) {
            CHECK_TEXT(error == "TW_OK", "%s: %s", name.c_str(), error.c_str());
            run.step(step);
            error = name_of(run.error());
        }
        const std::string right = c.value("error", "TW_OK");
        CHECK_TEXT(error == right, "%s: %s, not %s", name.c_str(), error.c_str(), right.c_str());
        if (right != "TW_OK") return;
    }
    check_records(name, folder + "/" + c.value("file", "s.nc"), table_of(c["records"]));
    if (!c.contains("files")) return;
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        files.insert(entry.path().filename());
    CHECK_TEXT(files == c["files"].get<std::set<std::string>>(), "%s: %d files", name.c_str(),
               static_cast<int>(files.size()));
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    CHECK(tw_init(MPI_COMM_WORLD, nullptr, &session) == TW_OK);
    std::ifstream file(argv[1]);
    const json cases = json::parse(file);
    for (const json& c : cases["cases"]) check_case(c);
    OK(tw_finalize(&session));
    return check::verdict("history_cases");
}
