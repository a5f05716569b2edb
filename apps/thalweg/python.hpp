// Commands that Python's package thalweg has.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thalweg::app {

/// Replaces this process by a command of the package.
/// @return exit code; only if Python cannot be started
int become_python(const std::string& command, const std::vector<std::string>& arguments);

/// Writes the page of a run by the package, which says on standard error why it cannot.
bool write_page(const std::string& summary, const std::string& page);

/// Runs a Python program, which must need no packages, with an argument and returns its output.
std::string output_of_python(const char* text, const std::string& argument);

}  // namespace thalweg::app
