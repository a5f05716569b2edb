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

std::string refusal(const Definitions& model) {
    Definitions file = of_file();
    LateAttributes late;
    const Status status = adopt(model, file, late);
    EXPECT_EQ(status.code, TW_EDIFFERENT);
    return status.text;
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

TEST(Adopt, RefusesWhatDiffersAndNamesIt) {
    Definitions model = of_model();
    model.variables.remove_if([](const Variable& v) { return v.name == "T"; });
    EXPECT_EQ(refusal(model), "the file has variable 'T', but the model does not define it");
    model = of_model();
    model.variables.push_back(variable("q", {1}, {3}));
    EXPECT_EQ(refusal(model), "the model defines variable 'q', but the file does not have it");
    model = of_model();
    model.variables[1].type = TW_DOUBLE;
    EXPECT_EQ(
        refusal(model),
        "variable 'T' is float T(time, x, y) in the file, but double T(time, x, y) in the model");
    model = of_model();
    model.variables[1].dims = {2, 0, 1};
    EXPECT_EQ(
        refusal(model),
        "variable 'T' is float T(time, x, y) in the file, but float T(time, y, x) in the model");
    model = of_model();
    model.dims[0].length = 5;
    EXPECT_EQ(refusal(model),
              "dimension 'y' has length 4 in the file, but has length 5 in the model");
    model = of_model();
    model.dims.push_back({"z", 2});
    EXPECT_EQ(refusal(model),
              "the model defines dimension 'z', which has length 2, but the file does not have it");
    model = of_model();
    model.variables[1].attributes = {{"_FillValue", TW_FLOAT, 1, {1, 2, 3, 5}}};
    EXPECT_NE(refusal(model).find("'_FillValue'"), std::string::npos);
}

}  // namespace
