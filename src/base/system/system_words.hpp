// The system's texts for errors, with the limits that cause them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::detail {

/// Returns the system's text for an error. If a limit is the cause, the text says which one.
std::string system_words(int error);

/// Returns the limit of this process on the size of files, in parentheses; it also applies to
/// memory that processes share. Empty if there is none.
std::string size_limit_words();

}  // namespace thalweg::detail
