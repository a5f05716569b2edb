// An existing classic file, read by every rank for itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/team.hpp"
#include "definitions/definitions.hpp"
#include "storage/storage.hpp"

namespace thalweg {

class Reader {
public:
    Reader(Team& team, std::string path) : team_(team), path_(std::move(path)) {}
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    /// @note Collective
    Status open();
    Status close();
    /// Local.
    Status dimension(const std::string& name, std::int64_t& length) const;
    /// @param n  elements at data for a dense array; -1 for a strided one
    /// @note Collective
    Status get(const std::string& name, const Decomposition* decomposition, std::int64_t record,
               int type, void* data, std::int64_t n, int rank, const std::int64_t* extent,
               const std::int64_t* byte_stride);

private:
    Status read_header();
    Status get_own(const std::string& name, const Decomposition* decomposition, std::int64_t record,
                   int type, void* data, std::int64_t n, int rank, const std::int64_t* extent,
                   const std::int64_t* byte_stride);
    Status read_fully(char* to, std::int64_t bytes, std::int64_t offset) const;

    Team& team_;
    std::string path_;
    Definitions definitions_;
    FileMap map_;
    std::int64_t records_ = 0;
    bool signed_bytes_ = false;  ///< CDF-5
    int fd_ = -1;
    std::vector<char> buffer_;
};

}  // namespace thalweg
