// Tests a server and its clients in one process and one thread: the clients send, then the server
// acts.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <netcdf.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "service/local_transport.hpp"
#include "service/queue/rank/unit_queue.hpp"
#include "service/servers/server.hpp"
#include "service/setup.hpp"

using namespace thalweg::detail;

namespace {

/// Addresses 0 and 1 are on the same node as the server, which has address 2. Address 3 is on
/// another node.
class ServerTest : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "thalweg_XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
        ends_ = make_local_transports(4);
        server_ = std::make_unique<Server>(server_roles_, 0, *ends_[2], *comm_, board_);
        plan_.add("v", TW_INT, {9}, true);
        plan_.add("f", TW_INT, {3}, false);
        plan_.definitions.dims = {{"time", 0}, {"x", 9}, {"y", 3}};
        plan_.definitions.variables[0].dims = {0, 1};
        plan_.definitions.variables[1].dims = {2};
    }
    void TearDown() override {
        server_.reset();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    void pump() {
        while (server_->work()) {
        }
    }
    /// Sends a command to the server, and returns its answer.
    Status ask(MessageKind kind, const WireWriter& body) {
        ends_[0]->send(2, kind, serial_, body.bytes);
        // Also answer in place of the next server of the tree, which gets the command, too.
        if (server_roles_.servers().size() > 1 && kind != MessageKind::count_file)
            ends_[3]->send(2, MessageKind::reply, serial_, message_of(Answer{}));
        pump();
        Message m;
        for (;;) {
            if (!ends_[0]->receive(m)) return failure(TW_EINTERNAL, "no answer");
            if (m.kind == MessageKind::reply) break;
        }
        EXPECT_EQ(m.file, serial_);
        const Answer answer = value_in<Answer>(m.body);
        counts_ = answer.counts;
        if (answer.status.ok()) plan_.spaces = make_spaces(plan_.definitions, answer.map);
        return answer.status;
    }
    Status open(const std::string& path) {
        ServicePlan plan;
        plan.path = plan.data_path = path;
        plan.serial = ++serial_;
        plan.definitions = &plan_.definitions;
        plan.whole = plan_.whole;
        plan.layout.method = "record";
        plan.storage = "posix";
        plan.options = {Format::cdf2, 0, false, 0};
        unit_queues_.clear();
        for (int r = 0; r < 3; ++r) {
            Status status;
            auto memory = QueueMemory::make(1 << 16, {}, status);
            if (r < 2) board_.write(r, serial_, memory->name());
            unit_queues_.push_back(std::make_unique<UnitQueue>(std::move(memory), r < 2 ? 1 : 0,
                                                               board_.doorbell(), *comm_));
        }
        WireWriter out;
        out.bytes = describe_file(plan);
        return ask(MessageKind::open_file, out);
    }
    static int value(std::int64_t record, std::int64_t x) {
        return static_cast<int>(100 * (record + 1) + x);
    }
    /// Publishes a unit of all ranks. Each has a third of 'v' or, if the unit is a mark, of 'f'.
    void publish(UnitKind kind, std::int64_t record, bool put = true) {
        const int variable = is_mark(kind) ? 1 : 0;
        const std::int64_t n = variable == 0 ? 3 : 1;
        for (int r = 0; r < 3; ++r) {
            UnitQueue& unit_queue = *unit_queues_[static_cast<std::size_t>(r)];
            Sent s = empty_unit_part(plan_, kind, r);
            if (put) {
                set_put(s, variable);
                auto* to = reinterpret_cast<int*>(unit_queue.take(4 * n));
                for (std::int64_t i = 0; i < n; ++i) {
                    to[i] = value(record, r * n + i);
                    to_big_endian(TW_INT, to + i);
                }
                Box box;
                box.nd = 1;
                box.low[0] = r * n;
                box.count[0] = n;
                PackedValues e;
                e.variable = variable;
                e.record = record;
                e.held = held_box(
                    box, plan_.definitions.variables[static_cast<std::size_t>(variable)].shape);
                e.data = reinterpret_cast<char*>(to);
                e.at = unit_queue.memory().position(e.data);
                s.unit_part.entries.push_back(e);
            }
            unit_queue.publish(s.unit_part);
            if (r < 2) continue;
            std::vector<char> message;
            append_clipped(s.unit_part, *make_record_layout(1, 1), 0, plan_.spaces,
                           plan_.definitions.variables, message);
            ends_[3]->send(2, MessageKind::unit_parts, serial_, std::move(message));
        }
    }
    Status finish(std::int64_t marks) {
        WireWriter out;
        out.put(marks);
        out.put(false);
        return ask(MessageKind::finish_file, out);
    }
    Status count() {
        WireWriter out;
        out.put(false);
        return ask(MessageKind::count_file, out);
    }
    Status close(bool good, const LateAttributes& late = {}) {
        WireWriter out;
        out.put(good);
        out(late);
        return ask(MessageKind::close_file, out);
    }
    void look(const std::string& path, std::int64_t wanted, bool fixed) {
        int id = 0, v = 0, f = 0, time = 0;
        std::size_t records = 0;
        ASSERT_EQ(nc_open(path.c_str(), NC_NOWRITE, &id), NC_NOERR);
        nc_inq_unlimdim(id, &time);
        nc_inq_dimlen(id, time, &records);
        EXPECT_EQ(static_cast<std::int64_t>(records), wanted);
        nc_inq_varid(id, "v", &v);
        nc_inq_varid(id, "f", &f);
        std::vector<int> got(records * 9 + 3);
        EXPECT_EQ(nc_get_var_int(id, v, got.data()), NC_NOERR);
        for (std::size_t i = 0; i < records * 9; ++i)
            EXPECT_EQ(got[i],
                      value(static_cast<std::int64_t>(i / 9), static_cast<std::int64_t>(i % 9)));
        EXPECT_EQ(nc_get_var_int(id, f, got.data()), NC_NOERR);
        for (int i = 0; fixed && i < 3; ++i)
            EXPECT_EQ(got[static_cast<std::size_t>(i)], value(50, i));
        nc_close(id);
    }

    std::string folder_;
    ServerRoles server_roles_{topology_of(std::vector{0, 0, 0, 1}), {2}};
    std::vector<std::unique_ptr<Transport>> ends_;
    std::unique_ptr<Comm> comm_ = make_serial_comm();
    std::unique_ptr<Memory> memory_ = comm_->share(NodeTable::bytes(3));
    NodeTable board_{*memory_};
    std::unique_ptr<Server> server_;
    Plan plan_;
    std::vector<std::unique_ptr<UnitQueue>> unit_queues_;
    std::int64_t serial_ = 0;
    WriteCounts counts_;
};

}  // namespace

TEST_F(ServerTest, WritesAFile) {
    const std::string path = folder_ + "/a.nc";
    ASSERT_TRUE(open(path).ok());
    for (int r = 0; r < 5; ++r) {
        publish(UnitKind::step, r);
        pump();
        EXPECT_EQ(unit_queues_[0]->region().done[0].load(), static_cast<std::uint32_t>(r + 1));
    }
    // The rank without a server on its node must learn that its units were used.
    int accepted = 0;
    for (Message m; ends_[3]->receive(m);) accepted += m.kind == MessageKind::accepted ? 1 : 0;
    EXPECT_EQ(accepted, 5);
    publish(UnitKind::last, 50);
    const Status finished = finish(1);
    EXPECT_TRUE(finished.ok()) << finished.text;
    EXPECT_TRUE(count().ok());
    Attribute late;
    late.name = "history";
    late.n = 3;
    late.values = {'a', 'b', 'c'};
    EXPECT_TRUE(close(true, {{-1, late}}).ok());
    EXPECT_EQ(counts_.bytes, 5 * 36 + 12);
    look(path, 5, true);
}

// finish_file is answered only after the units that were published before it are written.
TEST_F(ServerTest, FinishWaits) {
    ASSERT_TRUE(open(folder_ + "/b.nc").ok());
    EXPECT_EQ(finish(1).text, "no answer");
    publish(UnitKind::fixed, 50, false);
    pump();
    Message m;
    bool answered = false;
    while (ends_[0]->receive(m)) answered |= m.kind == MessageKind::reply;
    EXPECT_TRUE(answered);
    EXPECT_TRUE(close(true).ok());
}

// Records are counted only after the other servers have reported the addresses of their chunks. A
// report can arrive after the model's question, although it was sent before.
TEST_F(ServerTest, CountingWaitsForReports) {
    server_roles_ = ServerRoles(topology_of(std::vector{0, 0, 0, 0}), {2, 3});
    server_ = std::make_unique<Server>(server_roles_, 0, *ends_[2], *comm_, board_);
    ASSERT_TRUE(open(folder_ + "/f.nc").ok());
    for (int r = 0; r < 2; ++r) {
        Sent s = empty_unit_part(plan_, UnitKind::last, r);
        unit_queues_[static_cast<std::size_t>(r)]->publish(s.unit_part);
    }
    EXPECT_TRUE(finish(1).ok());
    EXPECT_EQ(count().text, "no answer");
    WireWriter report;
    report.put(std::int64_t(1));
    report.put(std::vector<char>{});
    ends_[3]->send(2, MessageKind::report, serial_, report.bytes);
    pump();
    Message m;
    ASSERT_TRUE(ends_[0]->receive(m));
    EXPECT_EQ(m.kind, MessageKind::reply);
    EXPECT_TRUE(close(true).ok());
}

TEST_F(ServerTest, RefusesWhatCannotBeMade) {
    const Status status = open(folder_ + "/missing/c.nc");
    EXPECT_EQ(status.code, TW_EIO) << status.text;
    EXPECT_NE(status.text.find("/missing/c.nc"), std::string::npos) << status.text;
    // After this, the server can still create files.
    ASSERT_TRUE(open(folder_ + "/c.nc").ok());
    publish(UnitKind::last, 50);
    EXPECT_TRUE(finish(1).ok());
    EXPECT_TRUE(close(true).ok());
    look(folder_ + "/c.nc", 0, true);
}

TEST_F(ServerTest, FailuresComeBackToAllClients) {
    const std::string path = folder_ + "/d.nc";
    ASSERT_TRUE(open(path).ok());
    publish(UnitKind::step, 0);
    pump();
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit small = before;
    small.rlim_cur = static_cast<rlim_t>(plan_.spaces.map.size(1));
    setrlimit(RLIMIT_FSIZE, &small);
    publish(UnitKind::step, 1);
    pump();
    publish(UnitKind::step, 2);
    publish(UnitKind::last, 50);
    pump();
    setrlimit(RLIMIT_FSIZE, &before);
    for (int r = 0; r < 2; ++r) {
        EXPECT_EQ(unit_queues_[static_cast<std::size_t>(r)]->region().failure().code, TW_EIO);
        // Nobody waits for units that are discarded.
        unit_queues_[static_cast<std::size_t>(r)]->drain();
    }
    Status told;
    int accepted = 0;
    for (Message m; ends_[3]->receive(m);) {
        if (m.kind == MessageKind::accepted) ++accepted;
        if (m.kind != MessageKind::failed) continue;
        told = value_in<Status>(m.body);
    }
    EXPECT_EQ(accepted, 4);
    EXPECT_EQ(told.code, TW_EIO);
    EXPECT_EQ(told.text, unit_queues_[0]->region().failure().text);
    EXPECT_NE(told.text.find("File too large"), std::string::npos) << told.text;
    const Status finished = finish(1);
    EXPECT_EQ(finished.code, TW_EIO);
    EXPECT_TRUE(close(false).ok());
    look(path, 1, false);
}

TEST_F(ServerTest, IgnoresMessagesOfClosedFiles) {
    ASSERT_TRUE(open(folder_ + "/e.nc").ok());
    EXPECT_TRUE(close(false).ok());
    publish(UnitKind::step, 0);
    ends_[0]->send(2, MessageKind::failed, serial_, {});
    ends_[3]->send(2, MessageKind::accepted, serial_, {});
    pump();
    EXPECT_FALSE(server_->ended());
    ends_[0]->send(2, MessageKind::end_session, 0, {});
    pump();
    EXPECT_TRUE(server_->ended());
}
