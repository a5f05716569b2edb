// Tests blocks of HDF5 object headers: which one holds the length of a data set.
// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/index/object_header.hpp"

#include <gtest/gtest.h>

#include <string>

using namespace std::string_literals;
using namespace thalweg::detail;

namespace {

/// Makes a message of version 2.
/// @param numbered  messages contain their number
std::string message(int type, std::size_t bytes, bool numbered) {
    std::string m{static_cast<char>(type), static_cast<char>(bytes), 0, 0};
    if (numbered) m += std::string(2, '\7');
    return m + std::string(bytes, '\1');
}

std::string first(const std::string& messages, int flags) {
    std::string block = "OHDR\2" + std::string(1, static_cast<char>(flags));
    if ((flags & 0x20) != 0) block += std::string(16, '\3');
    if ((flags & 0x10) != 0) block += std::string(4, '\3');
    return block + std::string(std::size_t(1) << (flags & 3), '\3') + messages + "SUM!";
}

std::string next(const std::string& messages) { return "OCHK" + messages + "SUM!"; }

/// Makes a message of version 1.
std::string old(int type, std::size_t bytes) {
    return std::string{static_cast<char>(type), 0, static_cast<char>(bytes), 0, 0, 0, 0, 0} +
           std::string(bytes, '\1');
}

bool has(const std::string& block) { return has_length(block); }

}  // namespace

TEST(ObjectHeader, Version2) {
    for (const int flags : {0, 1, 2, 4, 5, 0x24, 0x35, 0x14}) {
        const bool numbered = (flags & 4) != 0;
        const auto m = [&](int type, std::size_t bytes) { return message(type, bytes, numbered); };
        EXPECT_TRUE(has(first(m(3, 20) + m(1, 30) + m(8, 40), flags))) << flags;
        EXPECT_FALSE(has(first(m(3, 20) + m(8, 40), flags))) << flags;
        EXPECT_FALSE(has(first(m(3, 20) + m(8, 40) + "\1\0\0"s.substr(0, 3), flags))) << flags;
        EXPECT_TRUE(has(first(m(3, 200), flags).substr(0, 100))) << "cut off";
        EXPECT_TRUE(has(next(m(12, 20) + m(1, 30)))) << flags;
        EXPECT_FALSE(has(next(m(12, 20) + m(8, 30)))) << flags;
    }
}

TEST(ObjectHeader, Version1) {
    const std::string head = std::string("\1\0\3\0", 4) + std::string(12, '\2');
    EXPECT_TRUE(has(head + old(3, 16) + old(1, 24)));
    EXPECT_FALSE(has(head + old(3, 16) + old(8, 24)));
    EXPECT_TRUE(has(old(12, 40) + old(1, 24)));
    EXPECT_FALSE(has(old(12, 40) + old(8, 24)));
}

TEST(ObjectHeader, WhatCannotBeRead) {
    EXPECT_TRUE(has(""));
    EXPECT_TRUE(has("OHDR"));
    EXPECT_TRUE(has("OCHK"));
    EXPECT_TRUE(has(std::string(40, '\5')));
}
