// Tests servers that pass commands on in a tree, as threads of one process; this thread is the
// first rank of the model.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <map>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "definitions/wire.hpp"
#include "service/local_transport.hpp"
#include "service/queue/rank/unit_queue.hpp"
#include "service/servers/server.hpp"
#include "service/setup.hpp"
#include "support/threads.hpp"

using namespace thalweg::detail;

namespace {

constexpr std::size_t kinds = 16;

/// A transport that counts the messages that it sends.
class Counted final : public Transport {
public:
    explicit Counted(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}
    int address() const override { return inner_->address(); }
    void send(int to, MessageKind kind, std::int64_t file, std::vector<char> body) override {
        ++sent[static_cast<std::size_t>(kind)];
        inner_->send(to, kind, file, std::move(body));
    }
    bool receive(Message& message) override { return inner_->receive(message); }
    bool idle() override { return inner_->idle(); }

    std::array<std::atomic<int>, kinds> sent{};

private:
    std::unique_ptr<Transport> inner_;
};

/// Nodes with one model rank and one server each: addresses 2n and 2n+1.
class Tree {
public:
    Tree(int servers, std::string folder)
        : servers_(servers), folder_(std::move(folder)), server_roles_(make_server_roles(servers)) {
        for (auto& end : make_local_transports(2 * servers))
            ends_.push_back(std::make_unique<Counted>(std::move(end)));
        for (int n = 0; n < servers; ++n) {
            memory_.push_back(make_private_memory(NodeTable::bytes(2)));
            node_tables_.emplace_back(*memory_.back());
        }
        plan_.add("v", TW_INT, {9}, true);
        plan_.definitions.dims = {{"time", 0}, {"x", 9}};
        plan_.definitions.variables[0].dims = {0, 1};
        serving_ = std::thread([this] {
            on_threads(servers_, [this](std::unique_ptr<Comm> peers) {
                const auto w = static_cast<std::size_t>(peers->rank());
                Server server(server_roles_, peers->rank(), *ends_[2 * w + 1], *peers,
                              node_tables_[w]);
                while (!server.ended())
                    if (!server.work()) sleep_seconds(20e-6);
            });
        });
    }
    ~Tree() {
        first().send(1, MessageKind::end_session, 0, {});
        serving_.join();
    }
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;

    /// @param missing  node whose rank has not stored the name of its queue; -1: none
    Answer open(int missing) {
        ++serial_;
        ServicePlan plan;
        plan.path = plan.data_path = folder_ + "/" + std::to_string(serial_) + ".nc";
        plan.serial = serial_;
        plan.definitions = &plan_.definitions;
        plan.whole = plan_.whole;
        plan.layout.method = "record";
        plan.layout.writers = servers_;
        plan.storage = "posix";
        plan.options = {Format::cdf2, 0, false, 0};
        plan.options.writers = servers_;
        queues_.clear();
        for (int n = 0; n < servers_; ++n) {
            Status status;
            queues_.push_back(QueueMemory::make(1 << 12, {}, status));
            if (n != missing)
                node_tables_[static_cast<std::size_t>(n)].write(0, serial_, queues_.back()->name());
        }
        WireWriter out;
        out.bytes = describe_file(plan);
        return ask(MessageKind::open_file, out);
    }
    Answer close() {
        WireWriter out;
        out.put(false);
        out(LateAttributes{});
        return ask(MessageKind::close_file, out);
    }
    int sent(int address, MessageKind kind) const {
        return ends_[static_cast<std::size_t>(address)]->sent[static_cast<std::size_t>(kind)];
    }
    int servers() const { return servers_; }

private:
    static ServerRoles make_server_roles(int servers) {
        std::vector<int> node_of, addresses;
        for (int n = 0; n < servers; ++n) {
            node_of.insert(node_of.end(), {n, n});
            addresses.push_back(2 * n + 1);
        }
        return {topology_of(node_of), addresses};
    }
    Transport& first() { return *ends_.front(); }
    Answer ask(MessageKind kind, const WireWriter& body) {
        first().send(1, kind, serial_, body.bytes);
        for (Message m;; sleep_seconds(20e-6))
            if (first().receive(m) && m.kind == MessageKind::reply) {
                EXPECT_EQ(m.from, 1);
                EXPECT_EQ(m.file, serial_);
                return value_in<Answer>(m.body);
            }
    }

    int servers_;
    std::string folder_;
    ServerRoles server_roles_;
    std::vector<std::unique_ptr<Counted>> ends_;
    std::vector<std::unique_ptr<Memory>> memory_;
    std::vector<NodeTable> node_tables_;
    Plan plan_;
    std::vector<std::unique_ptr<Segment>> queues_;
    std::int64_t serial_ = 0;
    std::thread serving_;
};

class ServerTree : public testing::Test {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "thalweg_tree_XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    std::string folder_;
};

}  // namespace

// However many servers there are, each sends a command to at most two others, and answers once.
TEST_F(ServerTree, NobodyTellsManyServers) {
    for (const int servers : {1, 2, 3, 4, 5, 6, 7, 20}) {
        Tree tree(servers, folder_);
        const Answer opened = tree.open(-1);
        ASSERT_TRUE(opened.status.ok()) << opened.status.text;
        EXPECT_FALSE(opened.map.offset.empty());
        ASSERT_TRUE(tree.close().status.ok());
        for (const MessageKind kind : {MessageKind::open_file, MessageKind::close_file}) {
            EXPECT_EQ(tree.sent(0, kind), 1);
            int all = 0;
            for (int n = 0; n < servers; ++n) {
                EXPECT_LE(tree.sent(2 * n + 1, kind), 2);
                all += tree.sent(2 * n + 1, kind);
            }
            EXPECT_EQ(all, servers - 1);
        }
        for (int n = 0; n < servers; ++n)
            EXPECT_EQ(tree.sent(2 * n + 1, MessageKind::reply), 2) << servers << ", " << n;
    }
}

// The answer is the error of the server that failed. All servers give up this file, and continue
// with others.
TEST_F(ServerTree, OneThatFailsIsNamed) {
    for (const int servers : {1, 2, 5, 7}) {
        Tree tree(servers, folder_);
        for (int node = 0; node < servers; ++node) {
            const Answer refused = tree.open(node);
            EXPECT_EQ(refused.status.code, TW_EINTERNAL);
            EXPECT_NE(refused.status.text.find("queue of rank " + std::to_string(node)),
                      std::string::npos)
                << refused.status.text;
            EXPECT_FALSE(tree.close().status.ok());
            EXPECT_TRUE(tree.open(-1).status.ok());
            EXPECT_TRUE(tree.close().status.ok());
        }
    }
}
