// The methods of the library under test, and lower bounds of all methods.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "fields/describe.hpp"
#include "methods/method.hpp"

namespace thalweg::bench {

class Library : public Method {
public:
    /// @param flags  how fields are put; negative: as the options say
    explicit Library(const Context& context, int flags = -1);
    ~Library() override { tw_finalize(&session_); }

    void open(const std::string& path) override;
    void step(int step) override;
    void close() override;
    void finish() override { check_tw(session_, tw_wait(session_, 0), "tw_wait"); }
    FileReport report() override;

private:
    void describe();

    Context context_;
    int flags_;
    tw_session session_;
    std::vector<tw_decomposition> decompositions_;
    tw_file file_ = nullptr;
};

/// Lower bound: writes as many bytes as the other methods into one file, without format or
/// exchange.
class Raw : public Method {
public:
    explicit Raw(const Context& context) : context_(context), throttle_(throttle_of(context)) {}
    ~Raw() override;
    void open(const std::string& path) override;
    void step(int step) override;
    void close() override;

private:
    Context context_;
    detail::Throttle throttle_;
    int file_ = -1;
};

/// The least cost of passing data: copies all variables of a step to warm memory.
class Pack : public Method {
public:
    explicit Pack(const Context& context);
    void open(const std::string&) override {}
    void step(int step) override;
    void close() override {}

private:
    Context context_;
    std::vector<char> buffer_;
};

}  // namespace thalweg::bench
