// Random settings of a file: method, writers, service and so on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "random.hpp"
#include "system/pnetcdf.hpp"

/// Chooses the smallest length of a contiguous run that ranks read themselves.
inline void draw_straight(Random& random) {
    const auto least = random.pick<const char*>({"128KiB", "1", "200", "1GiB"});
    setenv("THALWEG_TEST_STRAIGHT", least, 1);
}

/// A set of settings with their possible values. A test changes those for which it needs others.
class RandomSettings {
public:
    using Names = std::vector<std::string>;

    /// Returns settings for tw_create.
    static RandomSettings writing() {
        RandomSettings s;
        s.set("method",
              {"auto", "serial", "direct", "slabs", "rows", "columns", "tiles", "record", "record"})
            .set("storage",
                 {"auto", "auto", "posix", "posix", "posix", "posix", PNETCDF, PNETCDF_BLOCKING},
                 80)
            .set("writers", {"auto", "1", "2", "3", "1/node", "2/node"}, 60)
            .set("piece", {"auto", "1", "4096", "64KiB", "1MiB"}, 25)
            .set("alignment", {"auto", "1", "512", "4096", "64KiB"}, 25)
            .set("publish", {"close", "live"}, 20)
            .set("durable", {"yes"}, 3)
            .set("service", {"inline", "inline", "background", "auto"});
        return s;
    }
    /// Returns settings for a session that reads.
    static RandomSettings reading() {
        RandomSettings s;
        s.set("log", {"off"})
            .set("node_size", {"0", "0", "1", "2", "3"})
            .set("piece", {"auto", "auto", "1", "64", "300", "4KiB"})
            .set("readers", {"auto", "auto", "auto", "1", "2", "1/node", "2/node"})
            .set("buffer", {"64KiB"}, 30)
            .set("read_ahead", {"yes"}, 25)
            .set("staging", {"2KiB"}, 25);
        return s;
    }

    /// @param percent  percentage of cases with the setting
    RandomSettings& set(const std::string& name, Names values, int percent = 100) {
        for (Choice& c : choices_)
            if (c.name == name) {
                c = {name, percent, std::move(values)};
                return *this;
            }
        choices_.push_back({name, percent, std::move(values)});
        return *this;
    }
    RandomSettings& leave_out(const std::string& name) { return set(name, {""}, 0); }

    /// Chooses settings in the form "name=value; name=value".
    std::string draw(Random& random) const {
        std::string text;
        for (const Choice& c : choices_) {
            if (!random.percent(c.percent)) continue;
            text += (text.empty() ? "" : "; ") + c.name + "=" + random.pick(c.values);
        }
        return text;
    }

private:
    struct Choice {
        std::string name;
        int percent;
        Names values;
    };
    std::vector<Choice> choices_;
};
