// SPDX-License-Identifier: Apache-2.0
#include "service/servers/servers.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>

#include "comm/comm.hpp"

namespace thalweg::detail {

std::unique_ptr<Servers> Servers::make(std::unique_ptr<Comm> world, int node_size, int number,
                                       bool last, Status& status) {
    if (number >= world->size()) {
        status = failure(TW_ESETTING,
                         "{} servers of {} ranks: at least one rank must be left to the model",
                         number, world->size());
        return nullptr;
    }
    std::unique_ptr<Servers> s(new Servers);
    s->all_ = Team::make(std::move(world), node_size, status);
    if (!status.ok()) return nullptr;
    Comm& ranks = s->all_->world();
    s->memory_ = s->all_->node().share(NodeTable::bytes(s->all_->node().size()));
    const auto choose = [&]() -> Status {
        if (!s->memory_) return no_shared_memory();
        s->server_roles_ = choose_server_roles(s->all_->topology(), number, last);
        if (s->server_roles_.serves(ranks.rank()))
            s->writer_ = s->server_roles_.number_of(ranks.rank());
        return {};
    };
    if (status = s->all_->agree(choose()); !status.ok()) return nullptr;
    s->messages_ = ranks.split(0, ranks.rank());
    s->part_ = ranks.split(s->is_server() ? 1 : 0, ranks.rank());
    s->transport_ = make_mpi_transport(s->messages_->handle());
    s->port_ = std::make_unique<ServerConnection>(s->server_roles_, *s->transport_,
                                                  NodeTable(*s->memory_));
    return s;
}

Servers::~Servers() {
    // Messages of the transport may never arrive, so do not destroy it.
    if (messages_ && is_given_up(*messages_))
        (void)transport_.release();
    else
        end();
}

void Servers::give_up() { detail::give_up(all_->world()); }

struct Servers::Post {
    explicit Post(Servers& its_session)
        : session(its_session),
          server(session.server_roles_, session.writer_, *session.transport_, *session.part_,
                 session.port_->node_table()) {}

    /// @return true if there was something to do
    bool work(std::int64_t number, OpenOrder* turns) {
        if (done) return false;
        if (!finished) {
            const TraceInto into(session.trace_ != nullptr ? &session.trace_->own() : nullptr);
            const bool any = server.work();
            if (!server.ended()) return any;
            finished = session.transport_->begin_finish();
        }
        left = left || finished();
        done = left && (turns == nullptr || turns->comes(number, OpenOrder::end));
        if (done) session.write_trace();
        return done;
    }

    Servers& session;
    Server server;
    std::function<bool()> finished;  ///< tests if all have ended; empty while the session goes on
    bool left = false;               ///< all ranks of the session have finished
    bool done = false;
};

void Servers::serve(std::span<Servers* const> sessions, Transport* among) try {
    std::vector<std::unique_ptr<Post>> posts;
    std::optional<OpenOrder> turns;
    for (Servers* session : sessions) posts.push_back(std::make_unique<Post>(*session));
    if (among != nullptr) {
        turns.emplace(*among, sessions.front()->server_roles_.servers().size());
        for (std::size_t i = 0; i < posts.size(); ++i) posts[i]->server.share(*turns, i);
    }
    // Index of the session on whose doorbell this server sleeps if there is nothing to do; sessions
    // take turns.
    std::size_t quiet = 0;
    while (!std::all_of(posts.begin(), posts.end(), [](const auto& p) { return p->done; })) {
        quiet = (quiet + 1) % posts.size();
        Futex& doorbell = sessions[quiet]->port_->node_table().doorbell();
        const std::uint32_t heard = doorbell.load(std::memory_order_acquire);
        bool any = false;
        for (std::size_t i = 0; i < posts.size(); ++i)
            any |= posts[i]->work(i, turns ? &*turns : nullptr);
        // Ranks of this node wake the server; messages do not, so sleep only briefly.
        if (!any) (void)wait_briefly(doorbell, heard, nullptr, 0.0005);
    }
    if (among != nullptr) among->finish();
} catch (const std::exception&) {
    end_serving(sessions.front()->all_->world(), exception_status());
}

void Servers::keep_trace(Trace& trace, const std::string& path) {
    trace_ = &trace;
    trace_path_ = &path;
    const int rank = all_->rank();
    const int own = server_roles_.number_of(rank);
    if (is_server())
        trace.describe(fmt::format("server rank {}", rank), "server");
    else
        trace.describe(own == rank ? fmt::format("rank {}", rank)
                                   : fmt::format("rank {} (of the model: {})", rank, own),
                       "model");
}

/// Writes the trace.
/// @note Collective over model ranks and servers
void Servers::write_trace() {
    if (trace_ != nullptr)
        trace_status_ = trace_->write(all_->world(), server_roles_.model(0), *trace_path_);
}

void Servers::end() {
    if (ended_ || is_server() || !port_) return;
    ended_ = true;
    if (all_->rank() == server_roles_.model(0)) port_->end();
    transport_->finish();
    write_trace();
}

}  // namespace thalweg::detail
