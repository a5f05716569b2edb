// SPDX-License-Identifier: Apache-2.0
#include "definitions/adopt.hpp"

#include <gtest/gtest.h>

using namespace thalweg::detail;

namespace {

Attribute text(const std::string& name, const std::string& value) {
    return {name, TW_CHAR, static_cast<std::int64_t>(value.size()), {value.begin(), value.end()}};
}

Variable variable(const std::string& name, std::vector<int> dims, std::vector<std::int64_t> shape) {
    Variable v;
    v.name = name;
    v.type = TW_FLOAT;
    v.dims = std::move(dims);
    v.shape = std::move(shape);
    v.record = v.dims.size() > v.shape.size();
    return v;
}

/// Returns "float T(time, x, y)" and "float h(x)", as defined in a file that also has another
/// dimension.
Definitions of_file() {
    Definitions d;
    d.dims = {{"other", 9}, {"time", 0}, {"x", 3}, {"y", 4}};
    d.variables = {variable("T", {1, 2, 3}, {3, 4}), variable("h", {2}, {3})};
    d.variables[0].attributes = {text("units", "K"), {"_FillValue", TW_FLOAT, 1, {1, 2, 3, 4}}};
    d.attributes = {text("title", "old"), text("author", "me")};
    return d;
}

/// Returns the same definitions in another order, as a model would make them.
Definitions of_model() {
    Definitions d;
    d.dims = {{"y", 4}, {"x", 3}, {"time", 0}};
    d.variables = {variable("h", {1}, {3}), variable("T", {2, 1, 0}, {3, 4})};
    return d;
}

TEST(Adopt, TakesTheFilesOrder) {
    const Definitions model = of_model();
    Definitions file = of_file();
    LateAttributes late;
    ASSERT_TRUE(adopt(model, file, late).ok());
    EXPECT_TRUE(late.empty());
    ASSERT_EQ(file.variables.size(), 2U);
    EXPECT_EQ(file.variables[0].name, "T");
    EXPECT_EQ(file.variables[0].dims, (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(file.dims.size(), 4U);
}

TEST(Adopt, AttributesThatAreNewOrDifferentComeLate) {
    Definitions model = of_model(), file = of_file();
    model.attributes = {text("title", "new"), text("author", "me")};
    model.variables[0].attributes = {text("units", "m")};
    model.variables[1].attributes = {text("units", "K"), {"_FillValue", TW_FLOAT, 1, {1, 2, 3, 4}}};
    LateAttributes late;
    ASSERT_TRUE(adopt(model, file, late).ok());
    ASSERT_EQ(late.size(), 2U);
    EXPECT_EQ(late[0].first, 1);
    EXPECT_EQ(late[0].second.name, "units");
    EXPECT_EQ(late[1].first, -1);
    EXPECT_EQ(late[1].second.name, "title");
    EXPECT_EQ(file.attributes[0].values, text("title", "old").values);
}

}  // namespace
