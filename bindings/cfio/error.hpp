// Errors within the binding, and their codes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cfio.h"
#include "thalweg/thalweg.h"

namespace thalweg::cfio {

// The error that a function of cfio.h returns.
struct Error {
    int code = CFIO_ERROR_NONE;
    std::string text;
    bool shared = false;  // all clients have this error, so only one of them prints it
    bool done = false;    // the error was returned and must not be returned again
};

inline int code_of(int status) {
    switch (status) {
        case TW_OK: return CFIO_ERROR_NONE;
        case TW_ENOMEM: return CFIO_ERROR_MALLOC;
        case TW_EBOUNDS: return CFIO_ERROR_EXCEED_BOUND;
        case TW_ENOTFOUND: return CFIO_ERROR_VAR_NO_EXIST;
        default: return CFIO_ERROR_NC;
    }
}

inline std::string text_of(int status, tw_session session) {
    const std::string text = tw_error_message(session);
    return text.empty() ? tw_strerror(status) : text;
}

}  // namespace thalweg::cfio
