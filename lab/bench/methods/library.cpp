// SPDX-License-Identifier: Apache-2.0
#include "methods/library.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "fields/loops.hpp"

namespace thalweg::bench {
namespace {

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), "raw: " + what);
}

}  // namespace

Library::Library(const Context& context, int flags)
    : context_(context),
      flags_(flags >= 0                  ? flags
             : context.options.copy_puts ? 0
                                         : TW_DEFERRED),
      session_(context.session) {
    if (context.problem.workload().file_per_step) return;
    try {
        describe();
    } catch (...) {
        tw_finalize(&session_);
        throw;
    }
}

void Library::describe() {
    for (const Group& g : context_.problem.groups())
        decompositions_.push_back(decompose(session_, context_.problem, g));
}

void Library::open(const std::string& path) {
    if (context_.problem.workload().file_per_step) describe();
    // The format of the files that PIO writes beside it.
    const char* const format = context_.options.mode == Mode::pio ? "format=cdf5" : nullptr;
    check_tw(session_, tw_create(session_, path.c_str(), format, &file_), "tw_create");
    define(session_, file_, context_.problem, decompositions_);
}

void Library::step(int step) {
    const Problem& p = context_.problem;
    for (const Variable& v : p.variables()) {
        const Group& g = p.group(v);
        check_tw(session_,
                 tw_put_array(file_, v.name.c_str(),
                              tw_dense(type_of(g), p.values(v, step), g.local_elements()), flags_),
                 "tw_put_array");
    }
    check_tw(session_, tw_end_step(file_), "tw_end_step");
}

void Library::close() {
    check_tw(session_, tw_close(&file_), "tw_close");
    if (!context_.problem.workload().file_per_step) return;
    for (tw_decomposition& d : decompositions_)
        if (d != nullptr) check_tw(session_, tw_free_decomposition(&d), "tw_free_decomposition");
    decompositions_.clear();
}

FileReport Library::report() {
    const char* text = nullptr;
    check_tw(session_, tw_summary(session_, TW_SUMMARY_JSON, &text), "tw_summary");
    const auto file = nlohmann::ordered_json::parse(text).at("files").back();
    const auto& seconds = file.at("seconds");
    FileReport r;
    r.phases = {seconds.at("open"), seconds.at("put"),   seconds.at("remap"),
                seconds.at("wait"), seconds.at("write"), seconds.at("close")};
    r.storage = file.at("storage");
    r.service = file.at("service");
    r.method = file.at("method");
    const auto known = [&](const char* name) {
        return file.contains(name) && file[name].is_number() ? file[name].get<double>() : -1.;
    };
    r.queue_waits = known("queue_waits");
    r.queue_wait_seconds = known("queue_wait_seconds");
    // The library's figures are sums over all ranks, so count them on one rank.
    const bool counts = context_.problem.rank() == 0;
    r.writes = counts ? file.at("writes").get<double>() : 0;
    r.messages = counts ? file.at("messages").get<double>() : 0;
    return r;
}

Raw::~Raw() {
    if (file_ >= 0) ::close(file_);
}

void Raw::open(const std::string& path) {
    report_ = {};
    report_.messages = 0;
    PhaseTimer timer(report_.phases.open);
    const bool creates = context_.problem.rank() == 0;
    if (creates) file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    MPI_Barrier(context_.comm);
    if (!creates) file_ = ::open(path.c_str(), O_WRONLY);
    if (file_ < 0) fail(path);
}

void Raw::step(int step) {
    PhaseTimer timer(report_.phases.write);
    const Problem& p = context_.problem;
    const std::int64_t bytes = p.step_bytes(),
                       begin = p.workload().file_per_step ? 0 : step * bytes;
    std::int64_t at = bytes * p.rank() / p.ranks();
    const std::int64_t end = bytes * (p.rank() + 1) / p.ranks();
    // Write the rank's own fields, repeatedly if its share of the file is larger.
    std::int64_t from = 0;
    while (at < end) {
        const std::int64_t n = std::min(end - at, p.memory_bytes() - from);
        throttle_.begin();
        const ssize_t written = ::pwrite(file_, p.memory() + from, static_cast<std::size_t>(n),
                                         static_cast<off_t>(begin + at));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) fail("pwrite");
        throttle_.moved(written);
        ++report_.writes;
        at += written;
        from = (from + written) % p.memory_bytes();
    }
}

void Raw::close() {
    PhaseTimer timer(report_.phases.close);
    const int status = ::close(file_);
    file_ = -1;
    if (status != 0) fail("close");
}

Pack::Pack(const Context& context) : context_(context) {
    std::int64_t bytes = 0;
    for (const Variable& v : context.problem.variables())
        bytes += context.problem.group(v).local_bytes();
    buffer_.assign(static_cast<std::size_t>(bytes), 1);
}

void Pack::step(int step) {
    char* to = buffer_.data();
    for (const Variable& v : context_.problem.variables()) {
        const Group& g = context_.problem.group(v);
        pack(g, context_.problem.values(v, step), to);
        to += g.local_bytes();
    }
}

}  // namespace thalweg::bench
