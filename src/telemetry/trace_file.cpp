// SPDX-License-Identifier: Apache-2.0
#include "telemetry/trace_file.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/system/ignore_sigxfsz.hpp"

namespace thalweg::detail {

namespace {

constexpr int trace_tag = 6;

/// Sizes in bytes. Text is sent when it reaches `piece_of_text`; the event that crosses this limit
/// takes at most `longest_event` more. (JSON may escape each byte of an event's two names as six.)
constexpr std::size_t piece_of_text = 1 << 20, longest_event = 64 << 10;

void send_piece(Comm& world, const void* data, std::size_t bytes, int to) {
    std::vector<MPI_Request> sends{world.start_send(data, bytes, to, trace_tag)};
    world.finish(sends);
}

/// Returns the seconds by which this rank's clock is ahead of rank 0's. All ranks of a node have
/// the same clock. The offset is taken from the fastest of several round trips, as that is the most
/// precise.
double clock_offset(Team& team) {
    constexpr int times = 10;
    const Topology& topology = team.topology();
    Comm& world = team.world();
    double offset = 0;
    const auto send_time = [&](double value, int to) {
        send_piece(world, &value, sizeof value, to);
    };
    const auto receive = [&](int from) {
        double value = 0;
        world.receive(&value, sizeof value, from, trace_tag);
        return value;
    };
    for (int node = 0; node < topology.nodes; ++node) {
        const int leader = topology.rank_of(node, 0);
        if (node == topology.node_of[0]) continue;
        if (world.rank() == 0) {
            double shortest = INFINITY, best = 0;
            for (int i = 0; i < times; ++i) {
                const double sent = now();
                send_time(0, leader);
                const double its = receive(leader), back = now();
                if (back - sent >= shortest) continue;
                shortest = back - sent;
                best = its - (sent + back) / 2;
            }
            send_time(best, leader);
        } else if (world.rank() == leader) {
            for (int i = 0; i < times; ++i) {
                (void)receive(0);
                send_time(now(), 0);
            }
            offset = receive(0);
        }
    }
    team.node().broadcast(&offset, sizeof offset, 0);
    return offset;
}

std::string json_text(const std::string& text) {
    using nlohmann::json;
    return json(text).dump(-1, ' ', true, json::error_handler_t::replace);
}

/// Converts a time to nanoseconds since `zero`. Rounding the difference of two unrounded times
/// keeps nested spans nested.
std::int64_t since(double zero, double time) { return std::llround((time - zero) * 1e9); }

std::string microseconds(std::int64_t ns) {
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
}

/// Formats a metadata event as JSON, which begins with a comma and a newline.
std::string metadata(const char* name, int process, int thread, const std::string& value) {
    return fmt::format(
        ",\n{{\"name\":\"{}\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":{{\"{}\":{}}}}}", name,
        process, thread, std::strstr(name, "sort") != nullptr ? "sort_index" : "name", value);
}

std::string event_text(const TraceEvent& e, const TraceLane& lane, double zero, int process,
                       int thread) {
    std::string arguments;
    const auto add = [&](const char* name, const std::string& value) {
        arguments += fmt::format("{}\"{}\":{}", arguments.empty() ? "" : ",", name, value);
    };
    if (e.file >= 0) add("file", json_text(lane.name(e.file)));
    if (e.variable >= 0) add("variable", json_text(lane.name(e.variable)));
    if (e.record >= 0) add("record", std::to_string(e.record));
    if (e.bytes >= 0) add("bytes", std::to_string(e.bytes));
    if (e.reason != nullptr) add("for", json_text(e.reason));
    const std::int64_t begin = since(zero, e.begin), end = since(zero, e.end);
    const char* const category = e.reason != nullptr                   ? "wait"
                                 : std::strncmp(e.name, "tw_", 3) == 0 ? "call"
                                                                       : "work";
    return fmt::format(
        ",\n{{\"name\":\"{}\",\"cat\":\"{}\",\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},"
        "\"dur\":{},\"args\":{{{}}}}}",
        e.name, category, process, thread, microseconds(begin), microseconds(end - begin),
        arguments);
}

}  // namespace

std::unique_ptr<Trace> Trace::make(Team& team, std::int64_t memory, Status& status) {
    std::unique_ptr<Trace> trace;
    status = team.agree(catch_errors([&] {
        trace.reset(new Trace(memory, 0));
        trace->describe(fmt::format("rank {}", team.rank()), "model");
    }));
    if (!status.ok()) return nullptr;
    const double offset = clock_offset(team);
    double zero = now();
    team.world().broadcast(&zero, sizeof zero, 0);
    trace->zero_ = zero + offset;
    return trace;
}

template <class Sink>
void Trace::format(int rank, Sink&& sink) const {
    // Viewers reserve process 0 and thread 0 for the system, so count from 1.
    const int process = rank + 1;
    int thread = 1;
    std::string text = metadata("process_name", process, thread, json_text(rank_)) +
                       metadata("process_sort_index", process, thread, std::to_string(rank));
    for (const TraceLane* lane : {&own_, &writer_}) {
        const bool writes = lane == &writer_;
        if (!writes || !lane->events().empty())
            text += metadata("thread_name", process, thread,
                             json_text(writes ? "background writer" : thread_));
        for (const TraceEvent& e : lane->events()) {
            text += event_text(e, *lane, zero_, process, thread);
            if (text.size() < piece_of_text) continue;
            sink(text);
            text.clear();
        }
        if (lane->left_out() > 0)
            text += fmt::format(
                ",\n{{\"name\":\"no room for {} events\",\"ph\":\"i\",\"s\":\"t\",\"pid\":{},"
                "\"tid\":{},\"ts\":{}}}",
                lane->left_out(), process, thread,
                microseconds(lane->events().empty() ? 0 : since(zero_, lane->events().back().end)));
        ++thread;
    }
    if (!text.empty()) sink(text);
}

/// Writes the file on the root. The file is valid JSON once it is closed.
class Trace::Writer {
public:
    Status open(const std::string& path) {
        path_ = path;
        errno = 0;
        out_.open(path);
        out_ << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
        return check();
    }
    /// @param text  events, each preceded by a comma; the first comma in the file is left out
    void add(std::string_view text) {
        out_ << text.substr(first_ ? 1 : 0);
        first_ = false;
        if (status_.ok()) status_ = check();
    }
    Status close(int ranks, std::int64_t left_out) {
        out_ << fmt::format("\n],\"otherData\":{{\"ranks\":{},\"left_out\":{}}}}}\n", ranks,
                            left_out);
        out_.close();
        if (status_.ok()) status_ = check();
        if (status_.ok() && left_out > 0)
            log::warn("{}: {} events found no room and are left out", path_, left_out);
        return status_;
    }

private:
    Status check() const {
        if (out_) return {};
        return failure(TW_EIO, "cannot write the trace to '{}': {}", path_, std::strerror(errno));
    }
    std::ofstream out_;
    std::string path_;
    bool first_ = true;
    Status status_;
};

/// Sends this rank's events to the root as soon as the root asks for them. Events are sent in
/// pieces of limited size, each as its size and its text. A last piece without text contains the
/// number of dropped events.
void Trace::send(Comm& world, int root) const {
    char turn = 0;
    world.receive(&turn, 1, root, trace_tag);
    format(world.rank(), [&](const std::string& piece) {
        const std::int64_t head[] = {static_cast<std::int64_t>(piece.size()), 0};
        send_piece(world, head, sizeof head, root);
        send_piece(world, piece.data(), piece.size(), root);
    });
    const std::int64_t last[] = {0, left_out()};
    send_piece(world, last, sizeof last, root);
}

/// Receives the events of a rank from send() and writes them.
/// @param text  buffer for a piece
/// @return number of events that the rank has dropped
std::int64_t Trace::receive(Comm& world, int rank, Writer& writer, std::string& text) {
    const char turn = 1;
    send_piece(world, &turn, 1, rank);
    for (;;) {
        std::int64_t head[2];
        world.receive(head, sizeof head, rank, trace_tag);
        if (head[0] == 0) return head[1];
        text.resize(head[0]);
        world.receive(text.data(), text.size(), rank, trace_tag);
        writer.add(text);
    }
}

Status Trace::write(Comm& world, int root, const std::string& path) {
    const IgnoreSigxfsz guard;
    own_.stop();
    writer_.stop();
    const bool here = world.rank() == root;
    Writer writer;
    std::string text;
    Status status;
    char wanted = 0;
    if (here && !path.empty()) {
        text.reserve(piece_of_text + longest_event);
        status = writer.open(path);
        wanted = status.ok();
    }
    world.broadcast(&wanted, 1, root);
    if (!wanted) return status;
    if (!here) {
        send(world, root);
        return {};
    }
    format(root, [&](const std::string& piece) { writer.add(piece); });
    std::int64_t without = left_out();
    for (int rank = 0; rank < world.size(); ++rank)
        if (rank != root) without += receive(world, rank, writer, text);
    return writer.close(world.size(), without);
}

}  // namespace thalweg::detail
