// Reads the places of the variables from the header of a classic netCDF file that is known to be
// valid.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

struct Header {
    struct Var {
        std::string name;
        bool record = false;
        std::vector<std::int64_t> shape;  // without the record dimension
        std::int64_t element = 0, bytes = 0, begin = 0;
    };
    bool good = false;
    std::int64_t bytes = 0;  // size of the header
    std::vector<Var> variables;

    explicit Header(const std::string& path) : in_(path, std::ios::binary) {
        if (number(3) != 0x434446) return;
        version_ = number(1);
        count();  // records
        std::vector<std::int64_t> dims;
        for (std::int64_t n = list(); n > 0 && in_; --n) {
            name();
            dims.push_back(count());
        }
        attributes();
        for (std::int64_t n = list(); n > 0 && in_; --n) variables.push_back(variable(dims));
        bytes = in_.tellg();
        good = static_cast<bool>(in_);
    }

    std::int64_t record_variables() const {
        std::int64_t n = 0;
        for (const Var& v : variables) n += v.record;
        return n;
    }
    // Returns the bytes from record to record.
    std::int64_t record_bytes() const {
        std::int64_t sum = 0;
        for (const Var& v : variables)
            if (v.record) sum += record_variables() == 1 ? v.bytes : (v.bytes + 3) / 4 * 4;
        return sum;
    }

private:
    std::int64_t number(int width) {
        std::uint64_t value = 0;
        for (int i = 0; i < width; ++i)
            value = value << 8 | static_cast<std::uint64_t>(static_cast<unsigned char>(in_.get()));
        return static_cast<std::int64_t>(value);
    }
    std::int64_t count() { return number(version_ == 5 ? 8 : 4); }
    std::int64_t list() {
        number(4);
        return count();
    }
    std::string name() {
        std::string text(static_cast<std::size_t>(count()), '\0');
        in_.read(text.data(), static_cast<std::streamsize>(text.size()));
        in_.ignore(static_cast<std::streamsize>((4 - text.size() % 4) % 4));
        return text;
    }
    static std::int64_t size_of(std::int64_t type) {
        static const std::int64_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
        return sizes[type];
    }
    void attributes() {
        for (std::int64_t n = list(); n > 0 && in_; --n) {
            name();
            const std::int64_t size = size_of(number(4));
            in_.ignore((count() * size + 3) / 4 * 4);
        }
    }
    Var variable(const std::vector<std::int64_t>& dims) {
        Var v;
        v.name = name();
        for (std::int64_t n = count(); n > 0 && in_; --n) {
            const std::int64_t length = dims.at(static_cast<std::size_t>(count()));
            v.record |= length == 0;
            if (length > 0) v.shape.push_back(length);
        }
        attributes();
        v.bytes = v.element = size_of(number(4));
        for (const std::int64_t length : v.shape) v.bytes *= length;
        count();  // vsize
        v.begin = number(version_ == 1 ? 4 : 8);
        return v;
    }

    std::ifstream in_;
    std::int64_t version_ = 0;
};
