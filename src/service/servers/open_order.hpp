// The order of actions that the servers of several sessions do together: if one server waited for
// the others in one session while they wait for it in another, both would wait forever.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <utility>

#include "base/reserve.hpp"
#include "base/wire.hpp"
#include "service/servers/server_roles.hpp"
#include "service/servers/transport.hpp"

namespace thalweg::detail {

class OpenOrder {
public:
    /// Value of `file` that stands for the end of a session.
    static constexpr std::int64_t end = -1;

    /// @param among    connects the servers of all sessions; the first server decides the order
    OpenOrder(Transport& among, std::size_t servers)
        : among_(among), below_(servers_below(among.address(), servers)) {}

    /// Tests if it is the turn of this file of this session. On the first server the answer is
    /// always yes: its question decides the order, and it must open the file at once. The others
    /// ask again until the answer is yes.
    bool comes(std::int64_t session, std::int64_t file) {
        if (among_.address() == 0) {
            pass_on(session, file);
            return true;
        }
        for (Message message; among_.receive(message);) {
            const auto its = WireReader(message.body).get<std::int64_t>();
            with_reserve([&] { order_.emplace_back(its, message.file); });
            pass_on(its, message.file);
        }
        if (order_.empty() || order_.front() != std::pair(session, file)) return false;
        order_.pop_front();
        return true;
    }

private:
    void pass_on(std::int64_t session, std::int64_t file) {
        for (const int to : below_)
            with_reserve([&] {
                WireWriter out;
                out.put(session);
                among_.send(to, MessageKind::turn, file, std::move(out.bytes));
            });
    }

    Transport& among_;
    std::vector<int> below_;
    /// Files announced by the first server and not yet opened here.
    std::deque<std::pair<std::int64_t, std::int64_t>> order_;
};

}  // namespace thalweg::detail
