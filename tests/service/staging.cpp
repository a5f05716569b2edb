// SPDX-License-Identifier: Apache-2.0
#include "service/inline/staging.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "service/resources.hpp"
#include "support/given.hpp"

using namespace thalweg::detail;

namespace {

/// A file with one variable, of so many elements.
class File {
public:
    File(Team& team, Resources& resources, std::int64_t n)
        : context_(team, resources, "memory.nc", 1, FileOptions{}), values_(n, 7.0) {
        Variable v;
        v.name = "v";
        v.type = TW_DOUBLE;
        v.shape = {n};
        v.dims = v.order = {0};
        context_.definitions.dims.push_back({"d0", n});
        Box all;
        all.nd = 1;
        all.count[0] = n;
        const Status status =
            make_decomposition(team.world(), given({"d0"}, v.shape, {all}), v.decomposition);
        EXPECT_TRUE(status.ok()) << status.text;
        context_.definitions.variables.push_back(v);
        staging_ = std::make_unique<Staging>(context_);
    }
    /// @return where the copy is
    const char* put() {
        ArrayView view;
        view.data = reinterpret_cast<const char*>(values_.data());
        view.type = TW_DOUBLE;
        std::int64_t misfits = 0;
        EXPECT_TRUE(staging_->copy(0, view, misfits).ok());
        EXPECT_EQ(*reinterpret_cast<const double*>(view.data), 7.0);
        return static_cast<const char*>(view.data);
    }

private:
    FileContext context_;
    std::vector<double> values_;
    std::unique_ptr<Staging> staging_;
};

class StagingOfFiles : public ::testing::Test {
protected:
    void SetUp() override {
        Status status;
        team_ = Team::make(make_own_comm(), 0, status);
        ASSERT_TRUE(status.ok()) << status.text;
        resources_ = std::make_unique<Resources>(*team_, 4096);
    }
    std::unique_ptr<Team> team_;
    std::unique_ptr<Resources> resources_;
};

}  // namespace

TEST_F(StagingOfFiles, TheNextFileHasTheMemory) {
    const char* first = nullptr;
    {
        File file(*team_, *resources_, 1 << 20);
        first = file.put();
    }
    EXPECT_NE(resources_->spare_copies, nullptr);
    File smaller(*team_, *resources_, 1 << 18);
    EXPECT_EQ(smaller.put(), first);
    EXPECT_EQ(resources_->spare_copies, nullptr);
}

TEST_F(StagingOfFiles, FilesThatAreOpenTogetherHaveTheirOwn) {
    File one(*team_, *resources_, 1000), other(*team_, *resources_, 1000);
    EXPECT_NE(one.put(), other.put());
}

TEST_F(StagingOfFiles, TheLargestIsKept) {
    {
        File small(*team_, *resources_, 1000), large(*team_, *resources_, 1 << 20);
        (void)small.put();
        (void)large.put();
    }
    ASSERT_NE(resources_->spare_copies, nullptr);
    EXPECT_EQ(resources_->spare_copies->size(), std::size_t(8) << 20);
    File file(*team_, *resources_, 1 << 21);
    (void)file.put();  // too large for it
    EXPECT_EQ(resources_->spare_copies, nullptr);
}
