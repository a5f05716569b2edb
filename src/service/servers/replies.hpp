// The commands that a server has not answered yet, by file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>

#include "service/servers/server_place.hpp"

namespace thalweg::detail {

class Replies {
public:
    explicit Replies(ServerPlace& place) : place_(place) {}

    /// Notes a command. @param number  number of servers whose answers are joined
    void expect(std::int64_t file, std::size_t number) {
        with_reserve([&] { answers_.insert_or_assign(file, Answers(number)); });
    }
    /// Adds an answer; with the last one, they are sent to the server above.
    void join(std::int64_t file, Answer answer) {
        const auto found = answers_.find(file);
        if (found == answers_.end() || !found->second.take(std::move(answer))) return;
        auto bytes = with_reserve([&] { return found->second.together().bytes(); });
        answers_.erase(found);
        place_.neighbours.send_above(MessageKind::reply, file, std::move(bytes));
    }

private:
    ServerPlace& place_;
    std::map<std::int64_t, Answers> answers_;
};

}  // namespace thalweg::detail
