// Computes the statistics that check_numbers.py asks for. Reads cases from standard input until its
// end; each is a line and bytes, and its answer a status and the results:
//
//   OP INNER TYPE MISSING WEIGHT_FIELD COUNTS MIN_VALID DDOF ELEMENTS STRIDE OUT_TYPE EVENTS
//   the missing value (8 bytes), the fill value (8 bytes)
//   each event: a byte, its weight as a double, and for a sample ('S') the data and the weight
//   field
//
// An event 'I' ends an inner window, 'R' moves the state to another accumulator, as a restart does.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "history/statistics/accumulator.hpp"

using namespace thalweg::history;

namespace {

std::size_t size_of(int type) {
    static const std::size_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return sizes[type];
}

template <class T>
void read(T* to, std::size_t n = 1) {
    std::cin.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(n * sizeof(T)));
    if (!std::cin) std::exit(2);
}

void restart(const Statistic& statistic, std::int64_t elements, Accumulator& accumulator) {
    Accumulator next(statistic, elements);
    next.set_numbers(accumulator.numbers());
    auto from = accumulator.arrays(), to = next.arrays();
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
        const std::size_t size = size_of(from[i].type) * static_cast<std::size_t>(elements);
        bytes += size;
        std::memcpy(to[i].data, from[i].data, size);
    }
    if (thalweg::history::is_extreme(statistic.op) && !statistic.inner &&
        size_of(statistic.results) > size_of(statistic.type))
        bytes += (size_of(statistic.results) - size_of(statistic.type)) *
                 static_cast<std::size_t>(elements);
    if (bytes != static_cast<std::size_t>(accumulator.bytes())) std::exit(3);
    accumulator = std::move(next);
}

}  // namespace

int main() {
    std::ios::sync_with_stdio(false);
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string op, inner;
        int type = 0, missing = 0, out = 0;
        std::int64_t elements = 0, stride = 1, events = 0;
        Statistic statistic;
        words >> op >> inner >> type >> missing >> statistic.weight_field >> statistic.counts >>
            statistic.min_valid >> statistic.ddof >> elements >> stride >> out >> events;
        statistic.op = *op_of(op);
        if (inner != "-") statistic.inner = op_of(inner);
        statistic.type = static_cast<tw_type>(type);
        statistic.results = static_cast<tw_type>(out);
        statistic.missing = static_cast<Missing>(missing);
        Value fill{};
        read(&statistic.missing_value);
        read(&fill);
        Accumulator accumulator(statistic, elements);
        int status = TW_OK;
        const auto keep = [&](const thalweg::detail::Status& own) {
            if (status == TW_OK) status = own.code;
        };
        std::vector<char> data(static_cast<std::size_t>(elements * stride) * size_of(type));
        std::vector<double> weights(static_cast<std::size_t>(elements));
        for (; events > 0; --events) {
            char kind = 0;
            double weight = 0;
            read(&kind);
            read(&weight);
            if (kind == 'R') restart(statistic, elements, accumulator);
            if (kind == 'I') keep(accumulator.end_inner(weight));
            if (kind != 'S') continue;
            read(data.data(), data.size());
            if (statistic.weight_field) read(weights.data(), weights.size());
            accumulator.begin_sample(weight);
            // add the elements in two calls, as for a field with two blocks
            const std::int64_t half = elements / 2;
            const auto run = [&](std::int64_t first, std::int64_t count) {
                accumulator.add(
                    {first, count,
                     data.data() + static_cast<std::size_t>(first * stride) * size_of(type), stride,
                     statistic.weight_field ? weights.data() + first : nullptr});
            };
            run(half, elements - half);
            run(0, half);
            keep(accumulator.end_sample());
        }
        const void* results = nullptr;
        keep(accumulator.finish(static_cast<tw_type>(out), fill, results));
        std::cout.write(reinterpret_cast<const char*>(&status), sizeof status);
        std::cout.write(static_cast<const char*>(results),
                        elements * static_cast<std::int64_t>(size_of(out)));
    }
    return 0;
}
