// The time of reading in a simulation. The data come from the real file: zeros, unless
// SCALE_DATA=keep.
// SPDX-License-Identifier: Apache-2.0
#include "base/work.hpp"
#include "file_system.hpp"

namespace thalweg::detail {

struct ChargedReads::State {
    std::string path;
    scale::Batch batch;
};

ChargedReads::ChargedReads(const std::string& path)
    : state_(std::make_unique<State>(State{path, {}})) {}
ChargedReads::~ChargedReads() { scale::read_batch(state_->path, state_->batch); }

void ChargedReads::add(std::int64_t at, std::int64_t bytes) {
    scale::add_range(state_->path, state_->batch, at, bytes);
}

void charge_open() { scale::ask_metadata(); }

}  // namespace thalweg::detail
