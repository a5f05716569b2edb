// Sessions in C++, a part of thalweg.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

#include "thalweg/history.hpp"
#include "thalweg/restart.hpp"
#include "thalweg/writing.hpp"

namespace thalweg {

/// Role of a rank in its session.
enum class Role : int {
    model = TW_MODEL,   ///< the rank runs the model
    server = TW_SERVER  ///< the rank writes files for the model's ranks
};

/// Kinds of text that Session::summary returns.
enum class SummaryForm : int {
    json = TW_SUMMARY_JSON,  ///< figures of the session so far
    /// The most important of these figures, as a table to be printed.
    table = TW_SUMMARY_TABLE,
    settings = TW_SUMMARY_SETTINGS  ///< the settings in effect, and where each value comes from
};

/// A session, from tw_init to tw_finalize. Files, decompositions and restarts may outlive it: they
/// are then empty.
class Session {
public:
#ifndef THALWEG_SERIAL
    /// Calls tw_init. @note Collective over comm
    explicit Session(MPI_Comm comm, const std::string& settings = "")
        : session_(std::make_shared<handles::Session>()) {
        begun(tw_init(comm, settings.c_str(), &session_->handle));
        MPI_Comm_rank(comm, &session_->rank);
    }
    /// Calls tw_init_components. Returns a session for each component; it is empty if this rank is
    /// not in the component. On a server, the function returns when all sessions have ended.
    /// @param components  communicator of each component; MPI_COMM_NULL if this rank is not in the
    ///                    component
    /// @note Collective over comm
    static std::vector<Session> components(MPI_Comm comm, const std::vector<MPI_Comm>& components,
                                           bool serves, const std::string& settings = "") {
        std::vector<tw_session> started(components.size() + 1);  // one more, so that the array is
                                                                 // never empty
        const tw_status code =
            tw_init_components(comm, static_cast<int>(components.size()), components.data(),
                               serves ? 1 : 0, settings.c_str(), started.data());
        const std::string text = code == TW_OK ? "" : tw_error_message(nullptr);
        std::vector<Session> made;
        for (std::size_t c = 0; c < components.size(); ++c) {
            Session one;
            if (started[c] != nullptr && code != TW_OK) tw_finalize(&started[c]);
            if (started[c] != nullptr) {
                one.session_ = std::make_shared<handles::Session>();
                one.session_->handle = started[c];
                MPI_Comm_rank(comm, &one.session_->rank);
            }
            made.push_back(std::move(one));
        }
        if (code != TW_OK) throw Error(code, text);
        return made;
    }
#endif
    /// tw_init_serial: starts a session of this process alone
    static Session serial(const std::string& settings = "") {
        Session made;
        made.session_ = std::make_shared<handles::Session>();
        made.begun(tw_init_serial(settings.c_str(), &made.session_->handle));
        return made;
    }
    Session(Session&& other) noexcept : session_(std::move(other.session_)) {}
    /// First ends the session that is replaced, as the destructor does.
    Session& operator=(Session&& other) noexcept {
        if (this != &other) {
            end();
            session_ = std::move(other.session_);
        }
        return *this;
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    /// Ends the session if finalize() was not called; the first error is then printed to standard
    /// error. While an exception unwinds the stack, the destructor abandons the session
    /// (tw_abandon), because other ranks may be in other calls. They are notified when this rank
    /// calls MPI_Finalize or begins a session with the same ranks.
    /// @note Collective, except while an exception is unwinding the stack
    ~Session() { end(); }

    /// tw_finalize: throws the first error that no other call has thrown @note Collective
    void finalize() {
        const tw_status code = tw_finalize(address());
        if (session_ && session_->handle == nullptr && session_->unseen)
            throw Error(*std::exchange(session_->unseen, std::nullopt));
        check(code);
    }
    /// Calls tw_abandon.
    void abandon() { check(tw_abandon(address())); }
    /// Calls tw_cancel. @note Collective, but the other ranks may be in other calls
    void cancel(const std::string& why) { check(tw_cancel(address(), why.c_str())); }
    /// Gives up the handle; the caller has to end it with tw_finalize. All objects that the session
    /// has made become empty.
    tw_session release() noexcept { return std::exchange(*address(), nullptr); }
    tw_session handle() const noexcept { return session_ ? session_->handle : nullptr; }
    explicit operator bool() const noexcept { return handle() != nullptr; }

    /// tw_wait: waits for files closed with "close=later", until at most `most` are incomplete
    /// @note Collective
    void wait(std::int64_t most = 0) { check(tw_wait(handle(), most)); }
    /// Calls tw_inq_role.
    Role role() const {
        tw_role role = TW_MODEL;
        check(tw_inq_role(handle(), &role));
        return static_cast<Role>(role);
    }
#ifndef THALWEG_SERIAL
    /// tw_model_comm: returns a communicator that belongs to the session
    MPI_Comm model_comm() const {
        MPI_Comm comm = MPI_COMM_NULL;
        check(tw_model_comm(handle(), &comm));
        return comm;
    }
#endif

    /// Calls tw_decompose_halo. A rank whose arguments differ in their numbers of dimensions takes
    /// part with -1 boxes, so that all ranks throw.
    /// @param dims  names, or an asterisk for each dimension: "lat lon", "* *"
    /// @note Collective
    Decomposition decompose(const std::string& dims, const std::vector<std::int64_t>& shape,
                            const std::vector<Block>& blocks,
                            const std::vector<std::int64_t>& halo_low = {},
                            const std::vector<std::int64_t>& halo_high = {}) {
        const std::size_t nd = count_names(dims);
        const auto fits = [nd](const std::vector<std::int64_t>& v) { return v.size() == nd; };
        bool fit = fits(shape) && (halo_low.empty() || fits(halo_low)) &&
                   (halo_high.empty() || fits(halo_high));
        std::vector<std::int64_t> start, count;
        for (const Block& b : blocks) {
            fit = fit && fits(b.start) && fits(b.count);
            start.insert(start.end(), b.start.begin(), b.start.end());
            count.insert(count.end(), b.count.begin(), b.count.end());
        }
        tw_decomposition made = nullptr;
        const tw_status code = tw_decompose_halo(
            handle(), dims.c_str(), fit ? static_cast<int>(blocks.size()) : -1,
            handles::padded(shape).data(), start.data(), count.data(),
            halo_low.empty() ? nullptr : handles::padded(halo_low).data(),
            halo_high.empty() ? nullptr : handles::padded(halo_high).data(), &made);
        if (!fit && code != TW_EHANDLE)
            throw Error(TW_ESHAPE,
                        "decompose '" + dims + "': not " + std::to_string(nd) +
                            " numbers in shape, halos, and each block's start and count");
        check(code);
        return {session_, made, nd};
    }
    /// tw_decompose_list: `indices` over the dimensions `listed`; -1 is a hole @note Collective
    Decomposition decompose_list(const std::string& dims, const std::vector<std::int64_t>& shape,
                                 const std::string& listed, std::span<const std::int64_t> indices,
                                 ListKind kind = ListKind::unique) {
        const std::size_t nd = count_names(dims);
        tw_decomposition made = nullptr;
        const std::vector<std::int64_t> none;
        check(tw_decompose_list(handle(), dims.c_str(),
                                handles::padded(shape.size() == nd ? shape : none).data(),
                                listed.c_str(), handles::size_of(indices), indices.data(),
                                static_cast<tw_list_kind>(kind), &made));
        return {session_, made, nd};
    }

    /// Calls tw_create. @note Collective
    File create(const std::string& path, const std::string& settings = "") {
        tw_file file = nullptr;
        check(tw_create(handle(), path.c_str(), settings.c_str(), &file));
        return {session_, file};
    }
    /// tw_open with mode=append: opens an existing file, for adding and replacing records
    /// @note Collective
    File append(const std::string& path, const std::string& settings = "") {
        tw_file file = nullptr;
        check(tw_open(handle(), path.c_str(), ("mode=append; " + settings).c_str(), &file));
        return {session_, file};
    }
    /// Calls tw_open. @note Collective
    Reader open(const std::string& path, const std::string& settings = "") {
        tw_file file = nullptr;
        check(tw_open(handle(), path.c_str(), settings.c_str(), &file));
        return {session_, file};
    }
    /// Calls tw_history_open. @note Collective
    History history(const std::string& config, const std::string& calendar,
                    const std::string& start, const std::string& settings = "") {
        tw_history made = nullptr;
        check(tw_history_open(handle(), config.c_str(), calendar.c_str(), start.c_str(),
                              settings.c_str(), &made));
        return {session_, made};
    }
    /// Calls tw_restart_new. @note Collective
    Restart restart(const std::string& settings = "") {
        tw_restart made = nullptr;
        check(tw_restart_new(handle(), settings.c_str(), &made));
        return {session_, made};
    }

    /// Calls tw_summary. @note Collective
    std::string summary(SummaryForm form = SummaryForm::json) {
        const char* text = nullptr;
        check(tw_summary(handle(), static_cast<tw_summary_form>(form), &text));
        return text;
    }

private:
    Session() = default;
    /// Checks the status of the call that began the session.
    void begun(tw_status code) {
        if (code == TW_OK) return;
        const std::string text = tw_error_message(session_->handle);
        tw_finalize(&session_->handle);
        throw Error(code, text.empty() ? tw_strerror(code) : text);
    }
    /// Counts the names of a list; a backslash escapes a blank or a backslash in a name.
    static std::size_t count_names(const std::string& names) {
        std::size_t n = 0;
        bool inside = false;
        for (std::size_t i = 0; i < names.size(); ++i) {
            const bool kept = names[i] == '\\' && i + 1 < names.size() &&
                              (names[i + 1] == ' ' || names[i + 1] == '\\');
            const bool blank =
                !kept && std::string(" \t\n\v\f\r").find(names[i]) != std::string::npos;
            if (kept) ++i;
            if (!blank && !inside) ++n;
            inside = !blank;
        }
        return n;
    }
    tw_session* address() {
        if (!session_) session_ = std::make_shared<handles::Session>();
        return &session_->handle;
    }
    void check(tw_status code) const { handles::check(code, handle()); }
    void end() noexcept try {
        if (handle() == nullptr) return;
        if (std::uncaught_exceptions() > exceptions_) {
            tw_abandon(&session_->handle);
            return;
        }
        const tw_status code = tw_finalize(&session_->handle);
        if (session_->rank != 0 || (code == TW_OK && !session_->unseen)) return;
        std::fprintf(stderr, "thalweg: %s\n",
                     session_->unseen ? session_->unseen->what() : tw_error_message(nullptr));
    } catch (const std::exception&) {  // a destructor must not throw
    }

    handles::SessionPtr session_;
    /// Number of uncaught exceptions when the session began.
    int exceptions_ = std::uncaught_exceptions();
};

/// Ways in which recover() treats a file of the final name that has more records than the temporary
/// one.
enum class Longer : int {
    keep = TW_KEEP_LONGER,       ///< change neither file and throw TW_EEXISTS
    replace = TW_REPLACE_LONGER  ///< replace the longer file
};

/// Calls tw_recover. Returns a description of what was done. Needs neither a session nor MPI.
inline std::string recover(const std::string& path, Longer longer = Longer::keep) {
    char text[4096] = "";
    const tw_status code =
        tw_recover(path.c_str(), static_cast<tw_recovery>(longer), text, sizeof text);
    if (code != TW_OK) throw Error(code, *text == '\0' ? tw_strerror(code) : text);
    return text;
}

}  // namespace thalweg
