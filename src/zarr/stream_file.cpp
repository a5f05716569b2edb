// SPDX-License-Identifier: Apache-2.0
#include "zarr/stream_file.hpp"

#include <filesystem>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Seconds to wait for the lock. Another run holds the lock only while it updates the references,
/// not while it writes a data file.
constexpr double longest_wait = 60;

}  // namespace

/// Takes the lock, and reads the references.
Status StreamFile::begin(JoinedReferences& stream) {
    std::string own, said;
    std::vector<char> text;
    Status status = follow_links(path(), own);
    const double until = now() + longest_wait;
    while (status.ok()) {
        status = lock_.take(own, false, said);
        if (status.code != TW_EINUSE || now() > until) break;
        status = {};
        sleep_seconds(0.01);
    }
    if (status.ok() && (access(path().c_str(), F_OK) == 0 || errno != ENOENT))
        status = read_file(path(), text);
    if (status.ok() && !text.empty())
        status = JoinedReferences::parse(path(), {text.data(), text.size()}, stream);
    return status;
}

/// If the file is dropped to which variables without records refer, makes them refer to another
/// file.
void StreamFile::find_fixed(JoinedReferences& stream) const {
    for (const JoinedFile& f : stream.files) {
        if (f.records == 0) continue;
        const std::string path = std::filesystem::path(folder_of(file_.path())) / f.name;
        const ReferencedFile other{path, path, f.name};
        ReferenceOptions options;
        options.grows = true;
        JoinedReferences one;
        Status status = make_references({&other, 1}, options, one);
        if (!status.ok()) continue;  // skip files that no longer exist
        stream.take_fixed(std::move(one));
        return;
    }
}

Status StreamFile::take_out(JoinedReferences& stream, const std::string& name, bool durable) {
    if (!stream.has(name)) return {};
    stream.drop(name);
    if (stream.records() > 0 && stream.fixed.empty()) find_fixed(stream);
    if (stream.records() == 0 || stream.fixed.empty()) {  // the stream has no files left
        stream = JoinedReferences();
        return file_.remove();
    }
    Status status = file_.write(stream.text(true), durable);
    return status.ok() ? file_.publish(durable) : status;
}

Status StreamFile::drop(const std::string& path, bool durable) {
    Status status = alone([&] {
        std::string name;
        JoinedReferences stream;
        Status done = reference_name(path, file_.path(), name);
        if (done.ok()) done = begin(stream);
        return done.ok() ? take_out(stream, name, durable) : done;
    });
    lock_.release();
    return status;
}

Status StreamFile::add(const ReferencedFile& file, const ReferenceOptions& options, bool replaced,
                       bool durable) {
    JoinedReferences stream, one;
    std::string said;
    Status status = begin(stream);
    if (status.ok() && replaced) status = take_out(stream, file.name, durable);
    if (status.ok()) status = make_references({&file, 1}, options, one);
    if (!status.ok() || one.files.empty()) return status;
    status = stream.add(std::move(one), file.path, said);
    if (status.code == TW_EDIFFERENT)
        status.text += fmt::format(" (for a new stream, remove {})", path());
    if (status.ok()) status = file_.write(stream.text(true), durable);
    written_ = status.ok();
    if (!said.empty()) log::warn("{}", said);
    return status;
}

Status StreamFile::write(const ReferencedFile& file, const ReferenceOptions& options, bool replaced,
                         bool durable) {
    Status status = alone([&] { return add(file, options, replaced, durable); });
    if (!written_) lock_.release();
    return status;
}

Status StreamFile::publish(bool durable) {
    if (!written_) return {};
    written_ = false;
    Status status = file_.publish(durable);
    lock_.release();
    return status;
}

void StreamFile::discard() {
    if (written_) file_.discard();
    written_ = false;
    lock_.release();
}

}  // namespace thalweg::detail
