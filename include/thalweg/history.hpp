// Histories in C++, a part of thalweg.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "thalweg/decomposition.hpp"
#include "thalweg/reading.hpp"
#include "thalweg/restart.hpp"

namespace thalweg {

/// A field of a history (History::field). It is valid until the history ends.
class Field {
public:
    Field() = default;

    /// Calls tw_wants.
    bool wanted() const noexcept { return tw_wants(field_) != 0; }
    /// tw_send_array
    template <AnyArray A>
    void send(const A& array, std::optional<double> weight = {}) const {
        check(tw_send_array(field_, handles::array_of(array), weight ? &*weight : nullptr));
    }
    /// Calls tw_send_block.
    template <Array A>
    void send_block(int block, const A& array) const {
        check(tw_send_block(field_, block, handles::type_in<const A>(), std::ranges::data(array),
                            handles::size_of(array)));
    }
    tw_field handle() const noexcept { return field_; }

private:
    friend class History;
    Field(handles::SessionPtr session, tw_field field)
        : session_(std::move(session)), field_(field) {}
    void check(tw_status code) const {
        handles::check(code, session_ ? session_->handle : nullptr);
    }

    handles::SessionPtr session_;
    tw_field field_ = nullptr;
};

/// Files of instants, means and others, as a configuration asks for them (Session::history). A
/// history must be closed by close(): its destructor cannot do it, as other ranks might not take
/// part.
class History {
public:
    History() = default;
    History(History&& other) noexcept = default;
    History& operator=(History&& other) noexcept {
        History old(std::move(*this));
        owned_.swap(other.owned_);
        return *this;
    }
    History(const History&) = delete;
    History& operator=(const History&) = delete;
    ~History() = default;

    /// Calls tw_history_coordinate.
    /// @param held  a Decomposition, or `replicated`
    template <AnyArray A>
    void coordinate(const std::string& name, const std::string& dims, const Holding& held,
                    const A& array, const std::string& attributes = "") {
        held.check(name);
        owned_.check(tw_history_coordinate(history(), name.c_str(), dims.c_str(), held.handle(),
                                           handles::array_of(array), attributes.c_str()));
    }
    /// Calls tw_history_field.
    /// @param held  a Decomposition, or `replicated`
    Field field(const std::string& name, Type type, const std::string& dims, const Holding& held,
                const std::string& attributes = "") {
        held.check(name);
        tw_field made = nullptr;
        owned_.check(tw_history_field(history(), name.c_str(), static_cast<tw_type>(type),
                                      dims.c_str(), held.handle(), attributes.c_str(), &made));
        return {owned_.session_ptr(), made};
    }
    /// Calls tw_history_ready. @note Collective
    void ready() { owned_.check(tw_history_ready(history())); }
    /// Calls tw_history_time.
    void time(double seconds) { owned_.check(tw_history_time(history(), seconds)); }
    /// Calls tw_history_end_step. @note Collective if a record is due
    void end_step() { owned_.check(tw_history_end_step(history())); }
    /// Calls tw_history_save. @note Collective
    void save(Restart& restart) { owned_.check(tw_history_save(history(), restart.handle())); }
    /// Calls tw_history_load.
    /// @param file  as Restart::read returns it
    /// @note Collective
    void load(const Reader& file) { owned_.check(tw_history_load(history(), file.handle())); }
    /// tw_history_memory: bytes kept for open windows
    std::int64_t memory() const {
        std::int64_t now = 0;
        owned_.check(tw_history_memory(history(), &now, nullptr));
        return now;
    }
    /// Calls tw_history_close. @note Collective
    void close() { owned_.check(tw_history_close(owned_.address())); }

    tw_history handle() const noexcept { return history(); }
    explicit operator bool() const noexcept { return history() != nullptr; }

private:
    friend class Session;
    History(handles::SessionPtr session, tw_history history)
        : owned_(std::move(session), history) {}
    tw_history history() const noexcept { return owned_.get(); }

    handles::Owned<tw_history> owned_;
};

}  // namespace thalweg
