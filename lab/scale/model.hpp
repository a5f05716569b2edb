// A model that computes, by spending time only, and writes steps of a workload.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/thalweg.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "arguments.hpp"
#include "fields/problem.hpp"
#include "measure.hpp"

namespace thalweg::scale {

class Model {
public:
    Model(const Arguments& arguments, Measure& measure);
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    ~Model();

    /// Runs the model.
    /// @return facts about the run other than times and counts
    /// @note Collective
    nlohmann::ordered_json run();

private:
    void open();
    void step(int step);
    void put_at(int step);
    void read_back();
    void restart();
    std::byte* room_for(const bench::Variable& variable);
    nlohmann::ordered_json describe() const;
    nlohmann::ordered_json plan() const;
    const void* values(const bench::Variable& variable, int step) const;
    void check(int status, const char* call) const;

    const Arguments& arguments_;
    Measure& measure_;
    tw_session session_ = nullptr;
    tw_role role_ = TW_MODEL;
    tw_file file_ = nullptr;
    std::unique_ptr<bench::Problem> problem_;
    std::vector<tw_decomposition>
        decompositions_;  ///< of the groups; null: each rank has all elements
    std::byte* zeros_ = nullptr;
    std::vector<std::byte> read_;  ///< memory into which data are read, and from which a restart is
                                   ///< written
};

}  // namespace thalweg::scale
