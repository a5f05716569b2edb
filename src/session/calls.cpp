// SPDX-License-Identifier: Apache-2.0
#include "session/calls.hpp"

namespace thalweg::detail {

namespace {

thread_local std::string loose;

int keep_loose(Status status) {
    (void)alone([&]() -> Status {
        loose = std::move(status.text);
        return {};
    });
    return status.code;
}

}  // namespace

const char* loose_text() { return loose.c_str(); }

void forget_loose_text() { loose.clear(); }

int no_handle(const char* call) {
    return keep_loose(alone([&] {
        return failure(
            TW_EHANDLE,
            "{}: the handle is null: it was never created, or was already closed or freed", call);
    }));
}

int refuse_thread(tw_session session, const char* call) {
    if (session->meetings) session->meetings->refuse_thread(call);
    return keep_loose(alone([&] { return thread_failure(call, session->rank); }));
}

Status enter(tw_session session, Call call, const char* of, const Status& mine,
             std::int64_t detail) {
    const auto describe = [of] { return *of == '\0' ? std::string() : std::string("of ") + of; };
    return session->meetings->enter({call, 0, detail, call == Call::finalize, std::ref(describe)},
                                    mine);
}

}  // namespace thalweg::detail
