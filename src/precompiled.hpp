// Headers that almost every file of the library includes, compiled once. Each file still includes
// the headers that it uses: `./run test --all` compiles without this one.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>
