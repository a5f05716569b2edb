// tw_recover: the one C function that needs no session.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/system/arithmetic.hpp"
#include "publish/recover.hpp"

using namespace thalweg::detail;

namespace {

void copy_text(const std::string& from, char* to, int64_t length) {
    if (to == nullptr || length <= 0) return;
    const auto n = std::min(from.size(), static_cast<std::size_t>(length) - 1);
    std::memcpy(to, from.data(), n);
    to[n] = '\0';
}

Status recover_path(const char* path, tw_recovery longer, std::string& done) {
    if (path == nullptr || *path == '\0') return failure(TW_EARG, "the path of a file is empty");
    if (longer != TW_KEEP_LONGER && longer != TW_REPLACE_LONGER)
        return failure(TW_EARG, "{}: tw_recover: invalid value {} for argument 'longer'", path,
                       static_cast<int>(longer));
    return recover(path, longer == TW_REPLACE_LONGER, done);
}

}  // namespace

extern "C" tw_status tw_recover(const char* path, tw_recovery longer, char* text,
                                int64_t length) try {
    const OwnArithmetic arithmetic;
    std::string done;
    const Status status = recover_path(path, longer, done);
    copy_text(status.ok() ? done : status.text, text, length);
    return status.code;
} catch (const std::exception&) {
    const Status status = exception_status();
    copy_text(status.text, text, length);
    return status.code;
}
