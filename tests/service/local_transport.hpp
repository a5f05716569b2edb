// Messages between ranks and servers within one process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "service/servers/transport.hpp"

namespace thalweg::detail {

struct Mailboxes {
    std::mutex lock;
    std::vector<std::deque<Message>> boxes;
};

class LocalTransport final : public Transport {
public:
    LocalTransport(std::shared_ptr<Mailboxes> mailboxes, int address)
        : mailboxes_(std::move(mailboxes)), address_(address) {}
    int address() const override { return address_; }
    void send(int to, MessageKind kind, std::int64_t file, std::vector<char> body) override {
        const std::lock_guard lock(mailboxes_->lock);
        mailboxes_->boxes[static_cast<std::size_t>(to)].push_back(
            {address_, kind, file, std::move(body)});
    }
    bool receive(Message& message) override {
        const std::lock_guard lock(mailboxes_->lock);
        auto& box = mailboxes_->boxes[static_cast<std::size_t>(address_)];
        if (box.empty()) return false;
        message = std::move(box.front());
        box.pop_front();
        return true;
    }
    bool idle() override { return true; }

private:
    std::shared_ptr<Mailboxes> mailboxes_;
    int address_;
};

/// Makes `n` connected ends. Any thread may use them.
inline std::vector<std::unique_ptr<Transport>> make_local_transports(int n) {
    auto mailboxes = std::make_shared<Mailboxes>();
    mailboxes->boxes.resize(static_cast<std::size_t>(n));
    std::vector<std::unique_ptr<Transport>> ends;
    for (int i = 0; i < n; ++i) ends.push_back(std::make_unique<LocalTransport>(mailboxes, i));
    return ends;
}

}  // namespace thalweg::detail
