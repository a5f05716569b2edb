// The resources that a session gives its files, made here without a session.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "service/background/background.hpp"
#include "service/file_options.hpp"

namespace thalweg::detail {

class Resources final : public SessionResources {
public:
    /// @param port  connection to the servers; null if there are none
    Resources(Team& team, std::int64_t buffer, ServerConnection* port = nullptr)
        : team_(team),
          port_(port),
          arena_(team.node().share(static_cast<std::size_t>(buffer))),
          call_agreement_(team) {}
    Memory* arena(Status&) override { return arena_.get(); }
    Background* background(Status& status) override {
        if (!background_) background_ = Background::make(team_, status);
        return background_.get();
    }
    Packers& packers() override { return packers_; }
    ServerConnection* port() override { return port_; }
    CallAgreement& call_agreement() override { return call_agreement_; }

private:
    Team& team_;
    ServerConnection* port_;
    std::unique_ptr<Memory> arena_;
    std::unique_ptr<Background> background_;
    Packers packers_{1};
    CallAgreement call_agreement_;
};

}  // namespace thalweg::detail
