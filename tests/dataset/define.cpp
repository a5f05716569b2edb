// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "dataset/file.hpp"
#include "support/decompose.hpp"
#include "support/given.hpp"

using namespace thalweg::detail;

namespace {

class NoArena : public SessionResources {
public:
    Memory* arena(Status&) override { return nullptr; }
    Background* background(Status&) override { return nullptr; }
    Packers& packers() override { return packers_; }
    ServerConnection* port() override { return nullptr; }
    CallAgreement& call_agreement() override { return *call_agreement_; }
    std::unique_ptr<CallAgreement> call_agreement_;

private:
    Packers packers_{1};
};

/// A file in define mode on one rank, in memory.
class Define : public testing::Test {
protected:
    Define() {
        Status status;
        team_ = Team::make(make_serial_comm(), 0, status);
        arena_.call_agreement_ = std::make_unique<CallAgreement>(*team_);
        file_ = std::make_unique<File>(*team_, arena_, "define.nc", 1, FileOptions{});
    }
    std::shared_ptr<const Decomposition> cells(std::vector<std::string> dims,
                                               std::vector<std::int64_t> shape) {
        std::shared_ptr<const Decomposition> made;
        EXPECT_TRUE(
            make_decomposition(team_->world(), given(std::move(dims), std::move(shape)), made)
                .ok());
        return made;
    }
    int var(const std::string& name, const std::string& dims,
            std::shared_ptr<const Decomposition> d = nullptr, int type = TW_FLOAT) {
        return file_->definitions().define_variable(name, type, dims, std::move(d)).code;
    }
    const Definitions& made() const { return file_->about().definitions; }

    std::unique_ptr<Team> team_;
    NoArena arena_;
    std::unique_ptr<File> file_;
};

TEST_F(Define, DimensionsFollowFromTheDecomposition) {
    ASSERT_EQ(var("T", "time lev lat lon", cells({"lat", "lev", "lon"}, {5, 3, 7})), TW_OK);
    ASSERT_EQ(made().dims.size(), 4U);
    const char* names[] = {"time", "lev", "lat", "lon"};
    const std::int64_t lengths[] = {0, 3, 5, 7};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(made().dims[i].name, names[i]);
        EXPECT_EQ(made().dims[i].length, lengths[i]);
    }
    const Variable& v = made().variables[0];
    EXPECT_TRUE(v.record);
    EXPECT_EQ(v.shape, (std::vector<std::int64_t>{3, 5, 7}));
    EXPECT_EQ(file_->about().holdings[0]->order, (std::vector<int>{1, 0, 2}));
    EXPECT_EQ(v.dims, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(v.elements(), 105);
}

TEST_F(Define, ReplicatedVariables) {
    ASSERT_TRUE(file_->definitions().define_dimension("x", 4).ok());
    ASSERT_EQ(var("x", "x"), TW_OK);
    ASSERT_EQ(var("scalar", ""), TW_OK);
    // Only a variable with a decomposition can create the record dimension.
    ASSERT_EQ(var("time", "time", nullptr, TW_DOUBLE), TW_ENOTFOUND);
    ASSERT_TRUE(file_->definitions().define_dimension("time", TW_UNLIMITED).ok());
    ASSERT_EQ(var("time", "time", nullptr, TW_DOUBLE), TW_OK);
    EXPECT_TRUE(file_->about().holdings[0]->decomposition->replicated);
    EXPECT_EQ(made().variables[0].elements(), 4);
    EXPECT_EQ(made().variables[1].elements(), 1);
    EXPECT_FALSE(made().variables[1].record);
    EXPECT_TRUE(made().variables[2].record);
    EXPECT_EQ(made().variables[2].elements(), 1);
    EXPECT_EQ(made().record_dim(), 1);
}

TEST_F(Define, BadDimensions) {
    EXPECT_EQ(file_->definitions().define_dimension("", 3).code, TW_EARG);
    EXPECT_EQ(file_->definitions().define_dimension("a/b", 3).code, TW_EARG);
    EXPECT_EQ(file_->definitions().define_dimension("a b", 3).code, TW_OK);
    EXPECT_EQ(file_->definitions().define_dimension("x", -1).code, TW_ESHAPE);
    EXPECT_EQ(file_->definitions().define_dimension("x", 3).code, TW_OK);
    EXPECT_EQ(file_->definitions().define_dimension("x", 3).code, TW_EEXISTS);
    EXPECT_EQ(file_->definitions().define_dimension("time", TW_UNLIMITED).code, TW_OK);
    EXPECT_EQ(file_->definitions().define_dimension("t2", TW_UNLIMITED).code, TW_EFORMAT);
}

TEST_F(Define, BadVariablesLeaveNothingBehind) {
    const auto xy = cells({"y", "x"}, {4, 6});
    EXPECT_EQ(var("", "y x", xy), TW_EARG);
    EXPECT_EQ(var("a/b", "y x", xy), TW_EARG);
    EXPECT_EQ(var("v", "y x", xy, 0), TW_ETYPE);
    EXPECT_EQ(var("v", "y x", xy, 12), TW_ETYPE);
    EXPECT_EQ(var("v", "y x z", xy), TW_ENOTFOUND);  // z is not known
    EXPECT_EQ(var("v", "y", xy), TW_ESHAPE);         // x is missing
    EXPECT_EQ(var("v", "y y", xy), TW_ESHAPE);
    EXPECT_EQ(var("v", "y x x", xy), TW_ESHAPE);
    EXPECT_EQ(var("v", "a b"), TW_ENOTFOUND);  // nothing defines dimension a
    EXPECT_TRUE(made().dims.empty());
    EXPECT_TRUE(made().variables.empty());

    ASSERT_TRUE(file_->definitions().define_dimension("x", 5).ok());
    EXPECT_EQ(var("v", "y x", xy), TW_ESHAPE);  // x has another length
    ASSERT_TRUE(file_->definitions().define_dimension("time", TW_UNLIMITED).ok());
    EXPECT_EQ(var("v", "x time"), TW_EFORMAT);     // the record dimension is not the first
    EXPECT_EQ(var("v", "other x"), TW_ENOTFOUND);  // there is a record dimension already
    EXPECT_EQ(var("v", "time x"), TW_OK);
    EXPECT_EQ(var("v", "x"), TW_EEXISTS);
    EXPECT_EQ(made().variables.size(), 1U);
}

TEST_F(Define, DescribeTellsAllDifferences) {
    auto described = [&](auto&& change) {
        file_ = std::make_unique<File>(*team_, arena_, "define.nc", 1, FileOptions{});
        change();
        return describe(made(), file_->about().holdings);
    };
    const auto xy = cells({"y", "x"}, {4, 6});
    const auto yx = cells({"x", "y"}, {6, 4});
    auto attribute = [&](const std::string& var, tw_type type, float value) {
        Attribute a{"a", type, 1, std::vector<char>(4)};
        std::memcpy(a.values.data(), &value, 4);
        EXPECT_TRUE(file_->definitions().put_attribute(var, a).ok());
    };
    std::vector<std::vector<std::string>> all;
    all.push_back(described([&] { var("v", "y x", xy); }));
    all.push_back(described([&] { var("w", "y x", xy); }));
    all.push_back(described([&] { var("v", "x y", xy); }));
    all.push_back(described([&] { var("v", "y x", yx); }));
    all.push_back(described([&] { var("v", "t y x", xy); }));
    all.push_back(described([&] { var("v", "y x", xy, TW_INT); }));
    all.push_back(described([&] { var("v", "y x", xy), attribute("v", TW_FLOAT, 1.0f); }));
    all.push_back(described([&] { var("v", "y x", xy), attribute("v", TW_FLOAT, 1.0000001f); }));
    all.push_back(described([&] { var("v", "y x", xy), attribute("v", TW_INT, 1.0f); }));
    all.push_back(described([&] { var("v", "y x", xy), attribute("", TW_FLOAT, 1.0f); }));
    all.push_back(described([&] {
        EXPECT_TRUE(file_->definitions().define_dimension("y", 4).ok());
        EXPECT_TRUE(file_->definitions().define_dimension("x", 6).ok());
        var("v", "y x");
    }));
    for (std::size_t a = 0; a < all.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) EXPECT_NE(all[a], all[b]) << a << " and " << b;
    EXPECT_EQ(all[0], described([&] { var("v", "y x", xy); }));
}

}  // namespace
