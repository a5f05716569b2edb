// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace thalweg::scale {

namespace {

struct Number {
    const char* name;
    double Machine::*value;
    double least = 0;
};

constexpr Number numbers[] = {
    {"nodes", &Machine::nodes, 1},
    {"cores", &Machine::cores, 1},
    {"leaf", &Machine::leaf, 1},
    {"uplinks", &Machine::uplinks, 1},
    {"link", &Machine::link},
    {"hop", &Machine::hop},
    {"loopback", &Machine::loopback, 1},
    {"copy", &Machine::copy},
    {"run", &Machine::run},
    {"jitter", &Machine::jitter},
    {"wake", &Machine::wake},
    {"futex", &Machine::futex},
    {"rouse", &Machine::rouse},
    {"update", &Machine::update},
    {"servers", &Machine::servers},
    {"targets", &Machine::targets},
    {"target", &Machine::target, 1},
    {"client", &Machine::client, 1},
    {"writer", &Machine::writer, 1},
    {"flight", &Machine::flight},
    {"stripe", &Machine::stripe, 512},
    {"stripes", &Machine::stripes},
    {"call", &Machine::call},
    {"rpc", &Machine::rpc},
    {"lock", &Machine::lock},
    {"metadata", &Machine::metadata},
};

Machine named(const std::string& name) {
    Machine m;
    m.name = name;
    if (name == "tree") {
        m.rpc = m.lock = 0;
    } else if (name == "parallel") {
        m.servers = 16;
        m.targets = 40;
        m.metadata = 20000;
    } else if (name == "slow") {
        m.link = 1.25e9;
        m.hop = 5e-6;
        m.servers = 2;
        m.targets = 4;
        m.target = 200e6;
        m.client = 1e9;
        m.writer = 0.4e9;
        m.rpc = 2e-3;
        m.lock = 5e-3;
        m.metadata = 1000;
    } else {
        throw std::invalid_argument("no machine '" + name + "': there are tree, parallel, slow");
    }
    return m;
}

/// Changes numbers of the machine. Throws std::invalid_argument.
void change(Machine& m, const std::string& text) {
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const auto equal = part.find('=');
        bool found = false;
        for (const Number& n : numbers) {
            if (part.substr(0, equal) != n.name || equal == std::string::npos) continue;
            m.*n.value = std::stod(part.substr(equal + 1));
            if (!(m.*n.value >= n.least))
                throw std::invalid_argument("SCALE_SET: '" + part + "' is too small");
            found = true;
        }
        if (!found) throw std::invalid_argument("SCALE_SET: cannot read '" + part + "'");
    }
}

std::string variable(const char* name, const char* otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : text;
}

}  // namespace

const Machine& machine() {
    static const Machine made = [] {
        Machine m = named(variable("SCALE_MACHINE", "tree"));
        change(m, variable("SCALE_SET", ""));
        return m;
    }();
    return made;
}

std::vector<std::pair<std::string, double>> numbers_of(const Machine& m) {
    std::vector<std::pair<std::string, double>> all;
    for (const Number& n : numbers) all.emplace_back(n.name, m.*n.value);
    return all;
}

}  // namespace thalweg::scale
