// Files that are closed with close=later: they outlive their handles until they are complete.
// SPDX-License-Identifier: Apache-2.0
#include "session/calls.hpp"

namespace thalweg::detail {

namespace {

/// Largest number of files that are closing at the same time. The setting "staging" limits the
/// memory of their queues.
constexpr std::size_t most_closing = 16;

void complete_oldest(tw_session session) {
    tw_file_impl& file = *session->files.closing.front();
    session->files.closing.erase(session->files.closing.begin());
    const std::shared_ptr<const FileAbout> about = file.about;
    Status status = file.file->complete();
    session->retire(file, {});
    if (!status.ok()) session->files.late.push_back({about, std::move(status)});
}

/// Completes the files that can be completed without waiting.
void collect(tw_session session) {
    while (!session->files.closing.empty()) {
        std::int64_t written = session->files.closing.front()->file->written() ? 1 : 0;
        session->team->all_reduce({&written, 1}, Reduce::min);
        if (written == 0) return;
        complete_oldest(session);
    }
}

/// Tests if the closing files need more memory on any rank than the setting of the last one
/// permits. A single file is always permitted.
bool too_many(tw_session session) {
    const auto& closing = session->files.closing;
    if (closing.size() < 2) return false;
    std::int64_t bytes = 0;
    for (const tw_file_impl* f : closing) bytes += f->file->figures().staging_bytes;
    std::int64_t over =
        closing.size() > most_closing || bytes > closing.back()->about->staging ? 1 : 0;
    session->team->all_reduce({&over, 1}, Reduce::max);
    return over != 0;
}

}  // namespace

Status close_file(tw_file_impl& file) {
    tw_session session = file.session;
    session->end_readback(file);
    bool later = false;
    Status status =
        file.file ? file.file->close(file.about->later ? &later : nullptr) : file.reader->close();
    if (session->agreement->gave_up()) return status;  // leave_given_up() then gives up the file
    if (!later) {
        session->retire(file, {});
        return status;
    }
    // The service now has all data of all ranks.
    file.closed = true;
    session->files.closing.push_back(&file);
    collect(session);
    while (too_many(session)) complete_oldest(session);
    return status;
}

void complete_files(tw_session session, std::int64_t most) {
    collect(session);
    while (std::ssize(session->files.closing) > most) complete_oldest(session);
}

Status settle_path(tw_session session, const std::string& path) {
    collect(session);
    const auto number_of = [&](const auto& list, const auto& about) {
        std::int64_t number = 0;  // number of the last closing file with this path, counted from 1
        // Only rank 0 compares, as a path may lead to another file on other ranks.
        const std::string own = session->team->rank() == 0 ? canonical(path) : std::string();
        for (std::size_t i = 0; i < list.size() && session->team->rank() == 0; ++i)
            if (about(list[i])->resolved == own) number = static_cast<std::int64_t>(i) + 1;
        session->team->all_reduce({&number, 1}, Reduce::max);
        return number;
    };
    if (!session->files.closing.empty())
        for (auto n = number_of(session->files.closing, [](const auto* f) { return f->about; });
             n > 0; --n)
            complete_oldest(session);
    std::vector<LateResult>& late = session->files.late;
    if (late.empty()) return {};
    const auto n = number_of(late, [](const LateResult& one) { return one.file; });
    if (n == 0) return {};
    Status status = std::move(late[n - 1].status);
    late.erase(late.begin() + (n - 1));
    return status;
}

Status tell_late(tw_session session) {
    std::vector<LateResult>& late = session->files.late;
    if (late.empty()) return {};
    Status status = about(std::move(late.front().status), OfFile{late.front().file->path});
    late.clear();
    return status;
}

}  // namespace thalweg::detail

extern "C" tw_status tw_wait(tw_session session, int64_t most) {
    using namespace thalweg::detail;
    if (!is_model(session)) return no_model(session);
    return guarded(session, [&]() -> Status {
        if (Status status = enter(session, Call::wait, "", {}, most); !status.ok()) return status;
        if (most < 0) return failure(TW_EARG, "tw_wait: most is {}; it must not be negative", most);
        complete_files(session, most);
        return tell_late(session);
    });
}
