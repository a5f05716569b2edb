// Tests the checksums that writers collect: none is wrong, whatever parts they write. Without MPI.
// SPDX-License-Identifier: Apache-2.0
#include "storage/checksums/writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "storage/posix/paths.hpp"

using namespace thalweg::detail;

namespace {

namespace fs = std::filesystem;

class Sums : public testing::Test {
protected:
    void SetUp() override { fs::create_directory(folder_); }
    void TearDown() override { fs::remove_all(folder_); }

    void add(const std::string& name, tw_type type, std::vector<std::int64_t> shape, bool record) {
        Variable v;
        v.name = name;
        v.type = type;
        v.shape = std::move(shape);
        v.record = record;
        definitions_.variables.push_back(v);
    }
    std::string table() const {
        std::ifstream in(data_ + ".sums", std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    const std::string folder_ = "sums_" + std::to_string(getpid()), data_ = folder_ + "/f.nc";
    Definitions definitions_;
};

/// The contents of a file: bytes of each variable and record.
using Held = std::map<std::pair<int, std::int64_t>, std::string>;

/// Writes a part of a variable: a range of elements or a box.
class Parts {
public:
    Parts(const Definitions& definitions, Held& held, std::mt19937_64& random)
        : definitions_(definitions), held_(held), random_(random) {}

    void range(SumsWriter& writer, int variable, std::int64_t record, std::int64_t first,
               std::int64_t elements) {
        Chunk c = chunk(variable, record, elements);
        c.first = first;
        put(writer, c, nullptr);
    }
    void box(SumsWriter& writer, int variable, std::int64_t record, const Box& box) {
        Chunk c = chunk(variable, record, box.volume());
        c.box = &box;
        put(writer, c, &box);
    }

private:
    Chunk chunk(int variable, std::int64_t record, std::int64_t elements) {
        const Variable& v = definitions_.variables[variable];
        Chunk c;
        c.variable = variable;
        c.record = record;
        c.elements = elements;
        c.bytes = elements * v.element();
        bytes_.resize(c.bytes);
        for (char& byte : bytes_) byte = static_cast<char>(random_());
        c.data = bytes_.data();
        return c;
    }
    void put(SumsWriter& writer, const Chunk& c, const Box* box) {
        const Variable& v = definitions_.variables[c.variable];
        std::string& all = held_[{c.variable, v.record ? c.record : 0}];
        all.resize(v.elements() * v.element());
        ASSERT_TRUE(writer.note_open({&c, 1}, true).ok());
        std::int64_t from = 0;
        const Box whole = whole_box(v.shape);
        for (std::int64_t at = 0; at < v.elements(); ++at) {
            Index index{};
            std::int64_t rest = at;
            for (std::size_t d = v.shape.size(); d-- > 0; rest /= v.shape[d])
                index[d] = rest % v.shape[d];
            bool inside = box != nullptr || (at >= c.first && at < c.first + c.elements);
            for (int d = 0; box != nullptr && d < whole.nd; ++d)
                inside &= index[d] >= box->low[d] && index[d] < box->low[d] + box->count[d];
            if (!inside) continue;
            all.replace(at * v.element(), v.element(), c.data + from, v.element());
            from += v.element();
        }
        ASSERT_TRUE(writer.note({&c, 1}).ok());
    }

    const Definitions& definitions_;
    Held& held_;
    std::mt19937_64& random_;
    std::string bytes_;
};

TEST_F(Sums, NoneIsWrong) {
    add("h", TW_DOUBLE, {150, 90}, false);
    add("T", TW_FLOAT, {3, 100, 170}, true);
    add("b", TW_BYTE, {1000}, true);
    for (int seed = 0; seed < 12; ++seed) {
        std::mt19937_64 random(seed);
        const auto below = [&](std::int64_t n) {
            return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
        };
        fs::remove(data_ + ".sums");
        StorageOptions options;
        options.checksums = true;
        SumsWriter writers[2];
        for (int w = 0; w < 2; ++w)
            ASSERT_TRUE(writers[w].begin(data_, definitions_, {}, options, w == 0).ok());
        Held held;
        Parts parts(definitions_, held, random);
        constexpr std::int64_t records = 3;
        for (std::int64_t step = 0; step < records + 2; ++step) {
            for (int variable = 0; variable < 3; ++variable) {
                const Variable& v = definitions_.variables[variable];
                const std::int64_t record = step < records ? step : below(records);
                const std::int64_t n = v.elements(), middle = below(n + 1);
                if (step >= records && below(2) == 0) {
                    Box box = whole_box(v.shape);
                    for (int d = 0; d < box.nd; ++d) {
                        box.low[d] = below(box.count[d]);
                        box.count[d] = 1 + below(box.count[d] - box.low[d]);
                    }
                    parts.box(writers[below(2)], variable, record, box);
                    continue;
                }
                for (int w = 0; w < 2; ++w) {
                    std::int64_t at = w == 0 ? 0 : middle;
                    const std::int64_t end = w == 0 ? middle : n;
                    while (at < end) {
                        const std::int64_t some = std::min(end - at, 1 + below(30000));
                        parts.range(writers[w], variable, record, at, some);
                        if (below(8) == 0) parts.range(writers[w], variable, record, at, 1);
                        at += some;
                    }
                }
            }
            for (SumsWriter& writer : writers) ASSERT_TRUE(writer.end_step().ok());
        }
        for (SumsWriter& writer : writers) ASSERT_TRUE(writer.close().ok());
        const SumsTable layout = SumsTable::of(definitions_, {});
        const std::string found = table();
        ASSERT_EQ(std::ssize(found), layout.offset(layout.pieces(records)));
        int open = 0;
        for (std::int64_t index = 0; index < layout.pieces(records); ++index) {
            const SumsTable::Place at = layout.place(index);
            const std::string& bytes = held[{at.variable, at.record}];
            Sum sum;
            std::memcpy(sum.data(), found.data() + layout.offset(index), sum.size());
            const std::int64_t begin = at.number * SumsTable::piece;
            const std::int64_t size = std::min(SumsTable::piece, std::ssize(bytes) - begin);
            open += sum == open_sum;
            EXPECT_TRUE(sum == open_sum || sum == sum_of(bytes.data() + begin, size))
                << "seed " << seed << ", piece " << index;
        }
        EXPECT_LT(open, layout.pieces(records));
    }
}

TEST_F(Sums, WritersThatSharePiecesLeaveThemOpen) {
    add("T", TW_INT, {20000}, true);  // one whole piece, and a part of a second one
    StorageOptions options;
    options.checksums = true;
    SumsWriter one, other;
    ASSERT_TRUE(one.begin(data_, definitions_, {}, options, true).ok());
    ASSERT_TRUE(other.begin(data_, definitions_, {}, options, false).ok());
    Held held;
    std::mt19937_64 random(1);
    Parts parts(definitions_, held, random);
    parts.range(one, 0, 0, 0, 17000);
    parts.range(other, 0, 0, 17000, 3000);
    ASSERT_TRUE(one.close().ok());
    ASSERT_TRUE(other.close().ok());
    const SumsTable layout = SumsTable::of(definitions_, {});
    const std::string found = table();
    ASSERT_EQ(std::ssize(found), layout.offset(2));
    EXPECT_NE(found.substr(layout.offset(0), 16), std::string(16, '\xFF'));
    EXPECT_EQ(found.substr(layout.offset(1), 16), std::string(16, '\xFF'));
}

TEST_F(Sums, ChecksumsOfAnotherFileAreRefused) {
    add("T", TW_INT, {20000}, true);
    StorageOptions options;
    options.checksums = true;
    SumsWriter first;
    ASSERT_TRUE(first.begin(data_, definitions_, {}, options, true).ok());
    ASSERT_TRUE(first.close().ok());
    definitions_.variables[0].shape = {20001};
    options.has_checksums = options.existing.is = true;
    SumsWriter again;
    const Status status = again.begin(data_, definitions_, {}, options, true);
    EXPECT_EQ(status.code, TW_EFORMAT);
    EXPECT_NE(status.text.find("variable 'T'"), std::string::npos) << status.text;
}

}  // namespace
