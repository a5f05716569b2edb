// SPDX-License-Identifier: Apache-2.0
#include "session/settings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace thalweg::detail;

namespace {

class Sources : public testing::Test {
protected:
    void TearDown() override {
        for (const std::string& name : set_) unsetenv(name.c_str());
        unlink(file_.c_str());
    }
    void environment(const std::string& name, const std::string& value) {
        setenv(name.c_str(), value.c_str(), 1);
        set_.push_back(name);
    }
    void file(const std::string& content) {
        std::ofstream(file_) << content;
        environment("THALWEG_CONFIG", file_);
    }
    Settings read(const std::string& call) {
        Settings settings;
        const Status status = Settings::read(call, settings);
        EXPECT_TRUE(status.ok()) << status.text;
        return settings;
    }
    Status refused(const std::string& call) {
        Settings settings;
        Status status = Settings::read(call, settings);
        EXPECT_EQ(status.code, TW_ESETTING) << call;
        return status;
    }
    /// Checks that the text of an error contains all of the given words.
    void expect_words(const Status& status, std::initializer_list<const char*> words) {
        for (const char* word : words)
            EXPECT_NE(status.text.find(word), std::string::npos) << word << " in " << status.text;
    }

    std::string file_ = "settings_" + std::to_string(getpid()) + ".toml";

private:
    std::vector<std::string> set_;
};

TEST_F(Sources, DefaultsAreTheTables) {
    const Settings settings = read("");
    for (const SettingRow& row : setting_table())
        EXPECT_EQ(settings.text(row.name), row.standard) << row.name;
}

TEST_F(Sources, EnvironmentOverCallOverFileOverDefault) {
    file("method = \"serial\"\nformat = \"cdf1\"\nstorage = \"memory\"\n");
    environment("THALWEG_METHOD", "slabs");
    const Settings settings = read("method=direct; format = cdf5");
    EXPECT_EQ(settings.text("method"), "slabs");
    EXPECT_EQ(settings.text("format"), "cdf5");
    EXPECT_EQ(settings.text("storage"), "memory");
    EXPECT_EQ(settings.text("writers"), "auto");

    Settings one;
    ASSERT_TRUE(
        settings.for_file("method=serial; format=cdf1; storage=posix; writers=2", one).ok());
    EXPECT_EQ(one.text("method"), "slabs");
    EXPECT_EQ(one.text("format"), "cdf1");
    EXPECT_EQ(one.text("storage"), "posix");
    EXPECT_EQ(one.text("writers"), "2");
    EXPECT_EQ(settings.text("writers"), "auto");
}

TEST_F(Sources, CallNamesTheFile) {
    std::ofstream(file_) << "staging = 4096\ndurable = true\npiece = \"2MiB\"\n";
    const Settings settings = read("config=" + file_);
    EXPECT_EQ(settings.number("staging"), 4096);
    EXPECT_TRUE(settings.flag("durable"));
    EXPECT_EQ(settings.number("piece"), 2 << 20);
}

TEST_F(Sources, UnknownNames) {
    expect_words(refused("methd=record"), {"'methd'", "call", "method"});
    expect_words(refused("record"), {"'record'", "name=value"});
    file("nothing = 1\n");
    expect_words(refused(""), {"'nothing'", file_.c_str()});
}

TEST_F(Sources, WhatWasMeantIsNamed) {
    expect_words(refused("metod=record"), {"'metod'", "did you mean 'method'?"});
    expect_words(refused("deflat=1"), {"did you mean 'deflate'?"});
    expect_words(refused("colour=red"), {"the settings are mode, method,"});
    expect_words(refused("method=recrod"), {"'recrod'", "did you mean 'record'?"});
    expect_words(refused("format=NetCDF4"), {"did you mean 'netcdf4'?"});
    expect_words(refused("durable=y"), {"it must be yes or no"});
    expect_words(refused("durable=yess"), {"did you mean 'yes'?"});
    expect_words(refused("buffer=8MB"), {"did you mean '8MiB'?"});
    expect_words(refused("buffer=64 k"), {"did you mean '64KiB'?"});
    expect_words(refused("queue=1gib"), {"did you mean '1GiB'?"});
    expect_words(refused("queue=Auto"), {"did you mean 'auto'?"});
    EXPECT_EQ(refused("buffer=1.5MiB").text.find("mean"), std::string::npos);
}

TEST_F(Sources, EnvironmentWithMistypedNames) {
    environment("THALWEG_METOD", "record");
    expect_words(refused(""), {"THALWEG_METOD", "did you mean THALWEG_METHOD?"});
    unsetenv("THALWEG_METOD");
    environment("THALWEG_LOG_LEVEL", "info");
    expect_words(refused(""), {"THALWEG_LOG_LEVEL", "did you mean THALWEG_LOG?"});
    unsetenv("THALWEG_LOG_LEVEL");
    for (const char* other :
         {"THALWEG_TEST_LIMIT", "THALWEG_FAULT_RANK", "THALWEG_BUILD_LAB", "THALWEG_JOBS",
          "THALWEG_PYTHON", "THALWEG_ROOT", "THALWEG_DIR", "THALWEG_HOME", "THALWEG_PREFIX",
          "THALWEG_VERSION", "THALWEG_SERVICE_HOST", "THALWEG_SERVICE_PORT_HTTP", "THALWEG_PORT",
          "THALWEG_PORT_80_TCP_ADDR"})
        environment(other, "3");
    EXPECT_TRUE(read("").ignored().empty());
    environment("THALWEG_COLOUR", "red");
    EXPECT_EQ(read("").ignored(), std::vector<std::string>{"THALWEG_COLOUR"});
}

TEST_F(Sources, BadValuesAreNamedWithWhatIsAllowed) {
    expect_words(refused("method=fast"), {"'method'", "'fast'", "record|slabs"});
    for (const char* bad : {"method=",
                            "format=cdf3",
                            "durable=true",
                            "writers=0",
                            "writers=2/nodes",
                            "writers=-1",
                            "buffer=auto",
                            "buffer=8MB",
                            "buffer=-1",
                            "buffer=1.5MiB",
                            "buffer=9999999999GiB",
                            "buffer=x",
                            "alignment=0",
                            "piece=0",
                            "node_size=-1",
                            "node_size=2x",
                            "node_size=",
                            "node_size=99999999999",
                            "log=loud",
                            "durable=1"})
        EXPECT_EQ(refused(bad).code, TW_ESETTING) << bad;
    environment("THALWEG_WRITERS", "many");
    expect_words(refused("writers=2"), {"'writers'", "environment", "'many'"});
}

TEST_F(Sources, Sizes) {
    const std::pair<const char*, std::int64_t> rows[] = {{"0", 0},
                                                         {"4096", 4096},
                                                         {"4096B", 4096},
                                                         {"64KiB", 65536},
                                                         {"8 MiB", 8 << 20},
                                                         {"3GiB", std::int64_t(3) << 30},
                                                         {"2TiB", std::int64_t(2) << 40}};
    for (const auto& [text, bytes] : rows)
        EXPECT_EQ(read(std::string("bandwidth=") + text).number("bandwidth"), bytes) << text;
    EXPECT_EQ(read("").number("piece"), -1);
}

TEST_F(Sources, NumbersHaveLimits) {
    int numbers = 0;
    for (const SettingRow& row : setting_table()) {
        if (row.most == 0) continue;
        ++numbers;
        const std::string name = row.name;
        for (const std::int64_t good : {row.least, row.most})
            EXPECT_EQ(read(name + "=" + std::to_string(good)).number(row.name), good) << name;
        for (const std::int64_t bad : {row.least - 1, row.most + 1, INT64_MAX})
            expect_words(refused(name + "=" + std::to_string(bad)),
                         {name.c_str(), "it must be", " from ", " to "});
    }
    EXPECT_EQ(numbers, 9);
    expect_words(refused("buffer=0"), {"a size in bytes", "from 1 to 1TiB"});
    expect_words(refused("node_size=2147483648"), {"an integer from 0 to 2147483647"});
}

TEST_F(Sources, NumbersWithASecondPart) {
    Settings s = read("watchdog=30; servers=auto; stripes=8");
    EXPECT_EQ(s.number("watchdog"), 30);
    EXPECT_EQ(s.second_number("watchdog"), -1);
    EXPECT_EQ(s.number("servers"), -1);
    EXPECT_EQ(s.number("stripes"), 8);
    s = read("watchdog=0:600; servers=2:last; stripes=auto:4MiB");
    EXPECT_EQ(s.number("watchdog"), 0);
    EXPECT_EQ(s.second_number("watchdog"), 600);
    EXPECT_EQ(s.number("servers"), 2);
    EXPECT_EQ(s.number("stripes"), -1);
    EXPECT_EQ(s.second_number("stripes"), 4 << 20);
    for (const char* bad :
         {"watchdog=auto", "watchdog=-1", "watchdog=2147483648", "watchdog=30:", "watchdog=30:0",
          "watchdog=1:2:3", "servers=-1", "servers=2:", "servers=2:first", "servers=last",
          "stripes=0", "stripes=2:", "stripes=2:0", "stripes=2:2TiB", "stripes=1KiB"})
        expect_words(refused(bad), {"it must be"});
}

TEST_F(Sources, ConfigurationFilesThatCannotBeRead) {
    expect_words(refused("config=/dev/zero"), {"/dev/zero", "more than 16MiB"});
    const std::string missing = file_ + ".missing/x.toml";
    expect_words(refused("config=" + missing), {missing.c_str(), "No such file or directory"});
    expect_words(refused("config=."), {"directory"});
    file("method = \n");
    expect_words(refused(""), {file_.c_str(), "line 1"});
    file("method = [1, 2]\n");
    expect_words(refused(""), {"'method'", file_.c_str()});
}

TEST_F(Sources, OfTheSessionAlone) {
    const Settings settings = read("");
    for (const SettingRow& row : setting_table()) {
        Settings one;
        const std::string standard = row.standard;
        const Status status = settings.for_file(std::string(row.name) + "=" + standard, one);
        EXPECT_EQ(status.code, row.per_file ? TW_OK : TW_ESETTING) << row.name;
    }
}

TEST_F(Sources, TableHasOneLineASettingWithItsOrigin) {
    environment("THALWEG_METHOD", "serial");
    const std::string table = read("format=cdf5").table();
    std::istringstream stream(table);
    std::string line;
    std::getline(stream, line);
    for (const SettingRow& row : setting_table()) {
        ASSERT_TRUE(std::getline(stream, line));
        std::istringstream words(line);
        std::string name, value, origin;
        words >> name >> value >> origin;
        EXPECT_EQ(name, row.name);
        EXPECT_EQ(origin, name == "method" ? "environment" : name == "format" ? "call" : "default");
        EXPECT_NE(line.find(row.meaning), std::string::npos);
    }
    EXPECT_FALSE(std::getline(stream, line));
}

}  // namespace
