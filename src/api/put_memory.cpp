// SPDX-License-Identifier: Apache-2.0
#include "api/put_memory.hpp"

#include "service/node_copies.hpp"
#include "session/session.hpp"

namespace thalweg::detail {

PutMemory::PutMemory(tw_session session, std::int64_t bytes)
    : session_(session), copies_(std::make_shared<NodeCopies>()) {
    copies_->begin(*session->team, session->resources, bytes, session->settings.number("staging"));
}

PutMemory::~PutMemory() { NodeCopies::keep(std::move(copies_), session_->resources); }

char* PutMemory::take(std::int64_t bytes, std::size_t alignment) {
    return copies_->step.take(bytes, alignment);
}

void PutMemory::undo(const char* taken) { copies_->step.undo(taken); }

void PutMemory::give_back() { copies_->step.give_back(); }

void PutMemory::serve(tw_file file) const { file->file->use_copies(copies_); }

Order packed_order(tw_file file) { return file->file->data_mode().order(); }

}  // namespace thalweg::detail
