// SPDX-License-Identifier: Apache-2.0
#include "service/servers/server.hpp"

#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include "comm/comm.hpp"

namespace thalweg::detail {

namespace {

bool is_command(MessageKind kind) { return kind <= MessageKind::close_file; }

}  // namespace

void end_serving(Comm& ranks, const Status& why) {
    std::fprintf(stderr,
                 "thalweg: %s on rank %d, which serves: the job ends. Records that were counted in "
                 "files are complete\n",
                 why.text.c_str(), ranks.rank());
    std::fflush(stderr);
    MPI_Abort(ranks.handle(), why.code);
    std::abort();
}

bool Server::work() {
    bool any = take_message();
    any |= open_in_turn();
    for (auto& [serial, file] : files_) {
        working_ = serial;
        any |= file.work();
        working_ = -1;
        file.attend();
    }
    for (const Message& message : std::exchange(postponed_, {})) close(message);
    return any;
}

void Server::between_pieces() {
    // The caller would take an exception for an error of the file that it writes.
    try {
        while (take_message()) {
        }
    } catch (const std::exception&) {
        end_serving(node_.peers, exception_status());
    }
}

bool Server::take_message() {
    Message message;
    try {
        if (!node_.transport.receive(message)) return false;
    } catch (const std::bad_alloc&) {
        fail_files(exception_status());  // receive() will return the message again, later
        return false;
    }
    pass_on(message);
    handle(message);
    return true;
}

/// Stops all files with an error, as their messages may occupy the memory that is lacking.
void Server::fail_files(const Status& why) {
    const Status status =
        failure(why.code, "{} on a server (rank {})", why.text, OfRank{node_.transport.address()});
    for (auto& [serial, file] : files_) file.fail(status);
}

/// Passes a command on to the servers below this one, before it does anything else, as other
/// servers may wait for them.
void Server::pass_on(const Message& message) {
    if (message.kind == MessageKind::end_session)
        return node_.send_below(message.kind, message.file, message.body);
    if (!is_command(message.kind)) return;
    const auto found = files_.find(message.file);
    const bool all = message.kind != MessageKind::count_file ||
                     (found != files_.end() && found->second.own_files());
    node_.expect(message.file, all ? 1 + node_.below.size() : 1);
    if (all) node_.send_below(message.kind, message.file, message.body);
}

void Server::handle(Message& message) {
    switch (message.kind) {
        case MessageKind::end_session: ended_ = true; return;
        case MessageKind::reply: return node_.join(message.file, value_in<Answer>(message.body));
        case MessageKind::open_file:
            if (open_order_ == nullptr) return open(message);
            return opening_.push_back(std::move(message));
        case MessageKind::close_file:
            // Postpone the close of the file that this server is working on: after an error
            // elsewhere, the command to close comes before the file's queue is empty.
            if (message.file != working_) return close(message);
            return postponed_.push_back(std::move(message));
        default: break;
    }
    const auto found = files_.find(message.file);
    if (found != files_.end()) return found->second.handle(message);
    if (is_command(message.kind)) refuse(message.file);
    // Otherwise the message belongs to a file that was closed after an error.
}

/// Answers a command for a file that does not exist.
void Server::refuse(std::int64_t file) {
    node_.join(file, node_.answer(failure(TW_EINTERNAL, "no such file on the server")));
}

/// Creates a file together with the other servers, and answers.
void Server::open(const Message& message) {
    FileOnServer* file = nullptr;
    Status status = node_.all_do([&]() -> Status {
        const std::int64_t serial = message.file;
        file = &files_.try_emplace(serial, node_, *this, serial).first->second;
        return file->describe(message.body);
    });
    if (status.ok()) status = file->create();
    if (status.ok()) return file->reply(status);
    files_.erase(message.file);
    node_.join(message.file, node_.answer(status));
}

/// Opens the next file when its turn comes; for servers of several sessions.
bool Server::open_in_turn() {
    if (opening_.empty() || !open_order_->comes(session_, opening_.front().file)) return false;
    const Message message = std::move(opening_.front());
    opening_.pop_front();
    open(message);
    return true;
}

void Server::close(const Message& message) {
    const auto found = files_.find(message.file);
    if (found == files_.end()) return refuse(message.file);
    found->second.close(message.body);
    files_.erase(found);
}

}  // namespace thalweg::detail
