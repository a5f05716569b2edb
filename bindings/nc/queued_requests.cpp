// The requests for which all ranks of a file wait. Few of them are kept for a later joint call.
//
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "queued.hpp"
#include "types.hpp"

namespace thalweg::nc {

void QueuedFile::write_requests(bool reads) {
    const Error error = error_of([&] { join(Reason::wait, reads ? 0 : -1, reads || has_much()); });
    queue_.drop_borrowed();  // requests of a call that failed
    if (error.code != 0) throw error;
}

Index QueuedFile::bytes_of(const Entry& e) const {
    const Variable& v = table_.variables[static_cast<std::size_t>(e.varid)];
    return e.elements() * static_cast<Index>(size_of(v.type));
}

// Tests if the queue has to be written in a call in which all ranks wait.
bool QueuedFile::has_much() const {
    constexpr int most_rounds = 64;
    constexpr std::size_t most_sequences = 1 << 14;  // products of rounds and variables
    constexpr std::size_t most_puts = 1 << 12;
    constexpr double longest = 1;  // seconds that puts wait if nothing else comes
    const auto& entries = queue_.entries();
    Index bytes = 0;
    for (std::size_t i = entries.size(); i-- > 0 && entries[i].borrowed;)
        bytes += bytes_of(entries[i]);
    return bytes > staging_limit() / 256 || queue_.bytes() + bytes > staging_limit() / 8 ||
           queue_.rounds() >= most_rounds || entries.size() >= most_puts ||
           static_cast<std::size_t>(queue_.rounds()) * table_.variables.size() > most_sequences ||
           (session_.rank() == 0 && detail::now() - last_write_ > longest);
}

// Copies the values of the requests for which all ranks wait, and begins a new round of puts.
void QueuedFile::keep_requests() {
    const auto& entries = queue_.entries();
    const Error error = error_of([&] {
        for (std::size_t i = entries.size(); i-- > 0 && entries[i].borrowed;)
            queue_.own(i, bytes_of(entries[i]), size_of(table_.variable(entries[i].varid).type));
    });
    if (session_.ranks() > 1) queue_.begin_round();
    if (error.code != 0) throw error;
}

}  // namespace thalweg::nc
