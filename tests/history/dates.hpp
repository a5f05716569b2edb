// Dates for tests of the history.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "history/calendar/calendar.hpp"

namespace thalweg::history {

/// Returns the time of a date, which must exist in the calendar.
inline Time at(Calendar calendar, const char* text) {
    Date date;
    const Status status = parse_date(calendar, text, date);
    EXPECT_TRUE(status.ok()) << status.text;
    return time_of(calendar, date);
}

}  // namespace thalweg::history
