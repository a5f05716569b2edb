// Random cases against the serial reference: whatever the decomposition, memory order, halo,
// stride, type, method, storage, budget and node size, the file must be byte for byte the one that
// serial netCDF-C writes.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: property [--seed N] [--cases N] [--first N] [--seconds N] [--ncvalidator PATH] [--keep]
//                 [--verbose] [--method M] [--storage S]
// A case follows from seed, number and rank count alone; the same three replay it.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "check.hpp"
#include "compare.hpp"
#include "oracle.hpp"
#include "random.hpp"
#include "thalweg/thalweg.h"
#include "values.hpp"

namespace {

// ---- a case ------------------------------------------------------------------------------------

constexpr int cases_per_session = 20;

struct Dim {
    std::string name;
    std::int64_t length = 1;
};

struct Box {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;
};

struct Decomposition {
    std::vector<int> dims;                // of the case, in memory order
    std::vector<std::vector<Box>> boxes;  // of each rank
    bool with_halo = false;
    std::vector<std::vector<std::int64_t>> low, high;  // halo of each rank
};

struct Attribute {
    int var = -1;  // -1: global
    std::string name;
    tw_type type = TW_CHAR;
    std::int64_t n = 0;
    std::vector<char> values;
};

struct Variable {
    std::string name;
    tw_type type = TW_FLOAT;
    std::vector<int> dims;  // of the case, in file order, without the record dimension
    bool record = false;
    int decomposition = -1;  // -1: replicated
};

struct Put {
    int var = 0;
    tw_type memory = TW_FLOAT;
    bool deferred = false;
    bool strided = false;
    bool replaced = false;  // a later put of the same step takes its place
    std::uint64_t salt = 0;
};

struct File {
    std::string name;
    std::string settings;
    std::string format;  // of the reference
    std::size_t header_pad = default_header_pad;
    std::vector<int> defined_dims;  // explicitly, before the variables
    bool defines_time = false;
    std::vector<Variable> vars;
    std::vector<Attribute> attributes;
    std::vector<Attribute> late_attributes;
    bool enddef = false;
    int steps = 0;
    // [step][rank]; the last entry holds what is put after the last step and before the close.
    std::vector<std::vector<std::vector<Put>>> puts;
    std::vector<bool> sync;  // after that step
};

struct Case {
    std::uint64_t seed = 0;
    std::vector<Dim> dims;
    std::vector<Decomposition> decompositions;
    std::vector<File> files;
};

struct Limits {
    std::string method;  // "" for any
    std::string storage;
};

const char time_name[] = "time";

// ---- making one --------------------------------------------------------------------------------

std::int64_t volume(const Box& box) {
    std::int64_t product = 1;
    for (const std::int64_t n : box.count) product *= n;
    return product;
}

std::vector<Dim> make_dims(Random& random) {
    // Small cases reach the corners; a few large ones reach rounds and pieces.
    const std::int64_t most = random.percent(70) ? 200 : random.percent(70) ? 2000 : 20000;
    const int n = static_cast<int>(random.between(1, 4));
    std::vector<Dim> dims;
    std::int64_t total = 1;
    for (int d = 0; d < n; ++d) {
        const std::int64_t room = std::max<std::int64_t>(1, most / total);
        const std::int64_t longest = std::min<std::int64_t>(room, random.percent(30) ? 200 : 13);
        Dim dim;
        dim.name =
            std::string(1, static_cast<char>('a' + d)) + (random.percent(20) ? "_long_name" : "");
        dim.length = random.percent(15) ? 1 : random.between(1, longest);
        total *= dim.length;
        dims.push_back(dim);
    }
    return dims;
}

void make_boxes(Random& random, const std::vector<std::int64_t>& shape, int ranks,
                Decomposition& to) {
    to.boxes.assign(static_cast<std::size_t>(ranks), {});
    Box whole{std::vector<std::int64_t>(shape.size(), 0), shape};
    const auto give = [&](const Box& box, std::int64_t rank) {
        to.boxes[static_cast<std::size_t>(rank)].push_back(box);
    };
    const std::int64_t kind = random.below(10);
    if (kind == 0) {  // all on one rank
        give(whole, random.below(ranks));
        return;
    }
    if (kind <= 2) {  // as models do: contiguous parts of one dimension, in the order of the ranks
        const auto d =
            static_cast<std::size_t>(random.below(static_cast<std::int64_t>(shape.size())));
        for (int r = 0; r < ranks; ++r) {
            Box box = whole;
            box.start[d] = shape[d] * r / ranks;
            box.count[d] = shape[d] * (r + 1) / ranks - box.start[d];
            // An empty box is one way to say that a rank holds nothing.
            if (box.count[d] > 0 || random.percent(50)) give(box, r);
        }
        return;
    }
    if (kind == 3) {  // rows dealt out in turn
        const auto d =
            static_cast<std::size_t>(random.below(static_cast<std::int64_t>(shape.size())));
        for (std::int64_t i = 0; i < std::min<std::int64_t>(shape[d], 60); ++i) {
            Box box = whole;
            box.start[d] = i;
            box.count[d] = i == 59 ? shape[d] - i : 1;
            give(box, i % ranks);
        }
        return;
    }
    std::vector<Box> boxes{whole};
    const std::int64_t wanted = random.percent(20) ? 60 : random.between(1, 3 * ranks);
    for (std::int64_t tries = 0;
         tries < 4 * wanted && static_cast<std::int64_t>(boxes.size()) < wanted; ++tries) {
        const auto b =
            static_cast<std::size_t>(random.below(static_cast<std::int64_t>(boxes.size())));
        const auto d =
            static_cast<std::size_t>(random.below(static_cast<std::int64_t>(shape.size())));
        if (boxes[b].count[d] < 2) continue;
        Box upper = boxes[b];
        const std::int64_t at = random.between(1, boxes[b].count[d] - 1);
        boxes[b].count[d] = at;
        upper.start[d] += at;
        upper.count[d] -= at;
        boxes.push_back(upper);
    }
    random.shuffle(boxes);
    const int holes = random.percent(30) ? 30 : random.percent(5) ? 100 : 0;
    for (const Box& box : boxes)
        if (!random.percent(holes)) give(box, random.below(ranks));
}

Decomposition make_decomposition(Random& random, const std::vector<Dim>& dims, int ranks) {
    Decomposition result;
    for (int d = 0; d < static_cast<int>(dims.size()); ++d)
        if (random.percent(85)) result.dims.push_back(d);
    if (result.dims.empty()) result.dims.push_back(0);
    random.shuffle(result.dims);
    std::vector<std::int64_t> shape;
    for (const int d : result.dims) shape.push_back(dims[static_cast<std::size_t>(d)].length);
    make_boxes(random, shape, ranks, result);
    result.with_halo = random.percent(35);
    const bool own_halos = random.percent(30);
    for (int r = 0; r < ranks; ++r) {
        std::vector<std::int64_t> low(shape.size(), 0);
        std::vector<std::int64_t> high(shape.size(), 0);
        if (result.with_halo) {
            for (std::size_t d = 0; d < shape.size(); ++d) {
                low[d] = random.between(0, 2);
                high[d] = random.between(0, 2);
            }
            if (r > 0 && !own_halos) {
                low = result.low[0];
                high = result.high[0];
            }
        }
        result.low.push_back(low);
        result.high.push_back(high);
    }
    return result;
}

Attribute make_attribute(Random& random, int var, int number, bool extended) {
    Attribute a;
    a.var = var;
    a.name = "att" + std::to_string(number);
    a.type = random.pick(extended ? all_types() : cdf2_types());
    a.n = random.percent(10) ? 0 : random.between(1, 9);
    a.values.resize(static_cast<std::size_t>(a.n * type_size(a.type)));
    for (std::int64_t i = 0; i < a.n; ++i)
        make_value(a.values.data() + i * type_size(a.type), a.type, a.type, random.next());
    if (a.type == TW_CHAR)
        for (char& c : a.values) c = static_cast<char>('a' + (c & 15));
    return a;
}

std::string make_settings(Random& random, const Limits& limits, bool small_staging) {
    std::string text;
    const auto add = [&](const std::string& name, const std::string& value) {
        if (!text.empty()) text += "; ";
        text += name + "=" + value;
    };
    using Names = std::vector<std::string>;
    add("method", !limits.method.empty() ? limits.method
                                         : random.pick(Names{"auto", "serial", "direct", "slabs",
                                                             "record", "record"}));
    const std::string storage = !limits.storage.empty()
                                    ? limits.storage
                                    : random.pick(Names{"auto", "posix", "posix", "pnetcdf"});
    add("storage", storage);
    if (random.percent(50)) add("pnetcdf_mode", random.pick(Names{"blocking", "nonblocking"}));
    if (random.percent(60))
        add("writers", random.pick(Names{"auto", "1", "2", "3", "1/node", "2/node"}));
    if (random.percent(20)) add("piece", random.pick(Names{"4096", "64KiB", "1MiB"}));
    if (random.percent(20))
        add("alignment", random.pick(Names{"auto", "1", "512", "4096", "64KiB"}));
    if (random.percent(20)) add("publish", random.pick(Names{"close", "live"}));
    if (random.percent(3)) add("durable", "yes");
    if (small_staging)
        add("staging", random.pick(Names{"0", "1", "100", "1KiB"}));
    else
        add("staging", "64MiB");
    return text;
}

bool holds_nothing(const Case& c, const File& f, int var, int rank) {
    const int d = f.vars[static_cast<std::size_t>(var)].decomposition;
    if (d < 0) return false;
    for (const Box& box :
         c.decompositions[static_cast<std::size_t>(d)].boxes[static_cast<std::size_t>(rank)])
        if (volume(box) > 0) return false;
    return true;
}

File make_file(Random& random, const Case& c, int number, int ranks, const Limits& limits) {
    File f;
    f.name = "file" + std::to_string(number) + ".nc";
    const std::int64_t format = random.below(4);
    const bool extended = format >= 2;
    // A step over the staging budget makes the puts collective: then they come in one order.
    const bool collective_puts = random.percent(20);
    f.settings = make_settings(random, limits, collective_puts);
    static const std::array<const char*, 4> formats{"cdf1", "cdf2", "cdf5", "auto"};
    f.settings += std::string("; format=") + formats[static_cast<std::size_t>(format)];
    if (random.percent(20)) {
        f.header_pad =
            static_cast<std::size_t>(random.pick(std::vector<std::int64_t>{0, 100, 4096, 10000}));
        f.settings += "; header_pad=" + std::to_string(f.header_pad);
    }

    const int nvars = static_cast<int>(random.between(1, 6));
    bool any_extended = false;
    for (int v = 0; v < nvars; ++v) {
        Variable var;
        var.name = std::string(1, static_cast<char>('T' + v % 4)) + std::to_string(v);
        var.type = random.pick(extended ? all_types() : cdf2_types());
        var.record = random.percent(60);
        if (random.percent(75)) {
            var.decomposition =
                static_cast<int>(random.below(static_cast<std::int64_t>(c.decompositions.size())));
            var.dims = c.decompositions[static_cast<std::size_t>(var.decomposition)].dims;
        } else {
            for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
                if (random.percent(40)) var.dims.push_back(d);
        }
        random.shuffle(var.dims);
        any_extended = any_extended || var.type > TW_DOUBLE;
        f.vars.push_back(var);
    }
    // Dimensions of replicated variables must be known before; others may be.
    for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
        bool needed = random.percent(20);
        for (const Variable& var : f.vars)
            if (var.decomposition < 0 && std::count(var.dims.begin(), var.dims.end(), d) > 0)
                needed = true;
        if (needed) f.defined_dims.push_back(d);
    }
    random.shuffle(f.defined_dims);
    bool any_record = false;
    for (const Variable& var : f.vars) any_record = any_record || var.record;
    f.defines_time = random.percent(20);

    int count = 0;
    for (int v = -1; v < nvars; ++v) {
        for (std::int64_t k = random.below(3); k > 0; --k) {
            f.attributes.push_back(make_attribute(random, v, ++count, extended));
            any_extended = any_extended || f.attributes.back().type > TW_DOUBLE;
        }
        if (v >= 0 && random.percent(25)) {
            Attribute a;
            a.var = v;
            a.name = "_FillValue";
            a.type = f.vars[static_cast<std::size_t>(v)].type;
            a.n = 1;
            a.values.resize(static_cast<std::size_t>(type_size(a.type)));
            make_value(a.values.data(), a.type, a.type, random.next());
            f.attributes.push_back(a);
        }
    }
    if (random.percent(15) && f.header_pad >= 4096)
        for (std::int64_t k = random.between(1, 3); k > 0; --k)
            f.late_attributes.push_back(
                make_attribute(random, static_cast<int>(random.between(-1, nvars - 1)), ++count,
                               format == 2 || (format == 3 && any_extended)));
    f.format = format < 3     ? formats[static_cast<std::size_t>(format)]
               : any_extended ? "cdf5"
                              : "cdf2";

    f.enddef = random.percent(40) || collective_puts || !f.late_attributes.empty();
    f.steps = any_record ? static_cast<int>(random.below(4)) : static_cast<int>(random.below(2));
    const bool open_end = random.percent(15);
    f.puts.resize(static_cast<std::size_t>(f.steps) + 1);
    for (int s = 0; s <= f.steps; ++s) {
        auto& of_ranks = f.puts[static_cast<std::size_t>(s)];
        of_ranks.resize(static_cast<std::size_t>(ranks));
        std::vector<int> chosen;
        for (int v = 0; v < nvars; ++v) {
            const Variable& var = f.vars[static_cast<std::size_t>(v)];
            // What is put after the last step is written by the close, which ends an open step.
            if (var.record ? (s < f.steps ? random.percent(90) : open_end && random.percent(70))
                           : random.percent(s == 0 ? 60 : 25))
                chosen.push_back(v);
        }
        random.shuffle(chosen);
        for (int r = 0; r < ranks; ++r) {
            auto& puts = of_ranks[static_cast<std::size_t>(r)];
            if (collective_puts && r > 0) {
                puts = of_ranks[0];
            } else {
                if (r > 0 && random.percent(50)) random.shuffle(chosen);
                for (const int v : chosen) {
                    // A rank that holds nothing may leave the put out.
                    if (!collective_puts && random.percent(30) && holds_nothing(c, f, v, r))
                        continue;
                    Put put;
                    put.var = v;
                    if (random.percent(4)) {
                        put.replaced = true;
                        put.salt = 1 + random.below(1000);
                        puts.push_back(put);
                        put.replaced = false;
                        put.salt = 0;
                    }
                    puts.push_back(put);
                }
            }
            for (Put& put : puts) {
                const tw_type type = f.vars[static_cast<std::size_t>(put.var)].type;
                put.memory =
                    type == TW_CHAR || random.percent(60) ? type : random.pick(number_types());
                // In the collective case the ranks must agree on what is copied.
                if (!collective_puts || r == 0) put.deferred = random.percent(35);
                put.strided = random.percent(25);
            }
        }
        f.sync.push_back(random.percent(10));
    }
    return f;
}

Case make_case(std::uint64_t seed, int ranks, const Limits& limits) {
    Random random(seed);
    Case c;
    c.seed = seed;
    c.dims = make_dims(random);
    for (std::int64_t k = random.between(1, 3); k > 0; --k)
        c.decompositions.push_back(make_decomposition(random, c.dims, ranks));
    const int files = random.percent(15) ? 2 : 1;
    for (int k = 0; k < files; ++k) c.files.push_back(make_file(random, c, k, ranks, limits));
    return c;
}

// ---- printing it -------------------------------------------------------------------------------

std::string list(const std::vector<std::int64_t>& items) {
    std::string text;
    for (const std::int64_t i : items) text += (text.empty() ? "" : ",") + std::to_string(i);
    return "(" + text + ")";
}

std::string describe(const Case& c) {
    std::string text = "  dimensions:";
    for (const Dim& d : c.dims) text += " " + d.name + "=" + std::to_string(d.length);
    text += "\n";
    for (std::size_t k = 0; k < c.decompositions.size(); ++k) {
        const Decomposition& x = c.decompositions[k];
        text += "  decomposition " + std::to_string(k) + ", memory order:";
        for (const int d : x.dims) text += " " + c.dims[static_cast<std::size_t>(d)].name;
        text += "\n";
        for (std::size_t r = 0; r < x.boxes.size(); ++r) {
            text += "    rank " + std::to_string(r) + ":";
            for (const Box& box : x.boxes[r]) text += " " + list(box.start) + "+" + list(box.count);
            if (x.with_halo) text += " halo " + list(x.low[r]) + list(x.high[r]);
            text += "\n";
        }
    }
    for (const File& f : c.files) {
        text += "  " + f.name + ": " + f.settings + " (reference: " + f.format + ")\n    def_dim:";
        for (const int d : f.defined_dims) text += " " + c.dims[static_cast<std::size_t>(d)].name;
        if (f.defines_time) text += " time=unlimited";
        text += f.enddef ? ", enddef" : ", no enddef";
        text += ", steps " + std::to_string(f.steps) + "\n";
        for (const Variable& v : f.vars) {
            text += std::string("    ") + type_name(v.type) + " " + v.name + "(" +
                    (v.record ? "time" : "");
            for (const int d : v.dims) text += " " + c.dims[static_cast<std::size_t>(d)].name;
            text += v.decomposition < 0 ? ") replicated"
                                        : ") decomposition " + std::to_string(v.decomposition);
            for (const Attribute& a : f.attributes)
                if (a.var >= 0 && f.vars[static_cast<std::size_t>(a.var)].name == v.name) {
                    text += " " + a.name;
                    text += std::string(":") + type_name(a.type) + "[" + std::to_string(a.n) + "]";
                }
            text += "\n";
        }
        for (const Attribute& a : f.late_attributes)
            text += "    late attribute " + a.name + " of variable " + std::to_string(a.var) + ":" +
                    type_name(a.type) + "[" + std::to_string(a.n) + "]\n";
        for (std::size_t s = 0; s < f.puts.size(); ++s) {
            for (std::size_t r = 0; r < f.puts[s].size(); ++r) {
                text += "    step " + std::to_string(s) + " rank " + std::to_string(r) + ":";
                for (const Put& put : f.puts[s][r])
                    text += " " + f.vars[static_cast<std::size_t>(put.var)].name + ":" +
                            type_name(put.memory) + (put.deferred ? ":deferred" : "") +
                            (put.strided ? ":strided" : "") + (put.replaced ? ":replaced" : "");
                text += "\n";
            }
            if (f.sync[s]) text += "    (then tw_sync)\n";
        }
    }
    return text;
}

// ---- data --------------------------------------------------------------------------------------

// Calls visit(index) for all indices of a box of the given lengths, the last dimension fastest.
template <class Visit>
void for_each_index(const std::vector<std::int64_t>& count, Visit&& visit) {
    for (const std::int64_t n : count)
        if (n <= 0) return;
    std::vector<std::int64_t> index(count.size(), 0);
    while (true) {
        visit(index);
        std::size_t d = count.size();
        while (d > 0) {
            --d;
            if (++index[d] < count[d]) break;
            index[d] = 0;
            if (d == 0) return;
        }
        if (count.empty()) return;
    }
}

// The hash that makes the value of an element: of its global index by dimension of the case, thus
// independent of rank and order.
struct Hasher {
    std::uint64_t base;
    explicit Hasher(const Case& c, std::size_t file, const Put& put, int step)
        : base(mix(mix(c.seed, file * 1000 + static_cast<std::uint64_t>(put.var)),
                   static_cast<std::uint64_t>(step) * 4096 + put.salt)) {}
    std::uint64_t operator()(const std::vector<int>& dims,
                             const std::vector<std::int64_t>& index) const {
        std::array<std::uint64_t, 4> global{};
        for (std::size_t d = 0; d < dims.size(); ++d)
            global[static_cast<std::size_t>(dims[d])] = static_cast<std::uint64_t>(index[d]);
        return mix(base ^ (global[0] + (global[1] << 16) + (global[2] << 32) + (global[3] << 48)));
    }
};

// One rank's array of one put, alive until the end of the step where the put is deferred.
struct Array {
    std::vector<char> bytes;
    std::int64_t n = 0;      // elements of a dense array
    std::int64_t first = 0;  // byte of the first element of a strided one
    std::vector<std::int64_t> extent;
    std::vector<std::int64_t> stride;
};

void make_junk(std::vector<char>& bytes, std::uint64_t seed) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] =
            static_cast<char>(static_cast<unsigned char>(mix(seed + i / 8) >> (8 * (i % 8))));
}

Array make_array(const Case& c, std::size_t file, int step, const Put& put, int rank,
                 Random& random) {
    const Variable& var = c.files[file].vars[static_cast<std::size_t>(put.var)];
    const std::int64_t size = type_size(put.memory);
    Array array;
    Hasher hash(c, file, put, step);
    if (var.decomposition < 0) {
        // Only rank 0's values of a replicated variable count.
        hash.base ^= static_cast<std::uint64_t>(rank) * 77777;
        std::vector<std::int64_t> count;
        std::vector<std::int64_t> strides;
        array.n = 1;
        for (const int d : var.dims) {
            count.push_back(c.dims[static_cast<std::size_t>(d)].length);
            array.n *= count.back();
        }
        std::int64_t running = size;
        strides.resize(count.size());
        for (std::size_t d = count.size(); d-- > 0;) {
            strides[d] = running;
            running *= count[d];
            if (put.strided) running += size * random.between(0, 2);
        }
        array.bytes.resize(static_cast<std::size_t>(running));
        if (put.strided) {
            array.extent = count;
            array.stride = strides;
        }
        for_each_index(count, [&](const std::vector<std::int64_t>& index) {
            std::int64_t at = 0;
            for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
            make_value(array.bytes.data() + at, put.memory, var.type, hash(var.dims, index));
        });
        return array;
    }
    const Decomposition& x = c.decompositions[static_cast<std::size_t>(var.decomposition)];
    const auto r = static_cast<std::size_t>(rank);
    const std::vector<Box>& boxes = x.boxes[r];
    const std::size_t nd = x.dims.size();
    std::vector<std::int64_t> base(boxes.size(), 0);  // byte of each box's first own element
    std::vector<std::vector<std::int64_t>> strides(boxes.size(), std::vector<std::int64_t>(nd));
    if (!put.strided) {
        for (std::size_t b = 0; b < boxes.size(); ++b) {
            std::int64_t stride = 1;
            std::int64_t own = 0;
            for (std::size_t d = nd; d-- > 0;) {
                strides[b][d] = stride * size;
                own += x.low[r][d] * stride;
                stride *= boxes[b].count[d] + x.low[r][d] + x.high[r][d];
            }
            // An empty box takes no place, whatever its halo.
            if (volume(boxes[b]) == 0) stride = 0;
            base[b] = (array.n + own) * size;
            array.n += stride;
        }
        array.bytes.resize(static_cast<std::size_t>(array.n * size));
    } else {
        const bool over_boxes = boxes.size() != 1 || random.percent(20);
        const bool with_halo = x.with_halo && random.percent(50);
        std::vector<std::int64_t> halo(nd, 0);
        for (std::size_t d = 0; d < nd; ++d) halo[d] = with_halo ? x.low[r][d] + x.high[r][d] : 0;
        array.extent.assign(nd, 0);
        for (const Box& box : boxes)
            for (std::size_t d = 0; d < nd; ++d)
                array.extent[d] = std::max(array.extent[d], box.count[d] + halo[d]);
        if (over_boxes)
            array.extent.insert(array.extent.begin(), static_cast<std::int64_t>(boxes.size()));
        // The strides nest in a random order, with gaps, some backwards.
        std::vector<std::size_t> order;
        for (std::size_t d = array.extent.size(); d-- > 0;) order.push_back(d);
        if (random.percent(20)) random.shuffle(order);
        array.stride.assign(array.extent.size(), 0);
        std::int64_t running = size * (random.percent(50) ? 1 : random.between(1, 3));
        for (const std::size_t d : order) {
            array.stride[d] = running;
            running = running * std::max<std::int64_t>(array.extent[d], 1) +
                      size * (random.percent(50) ? 0 : random.between(0, 3));
        }
        array.bytes.resize(static_cast<std::size_t>(running));
        for (std::size_t d = 0; d < array.stride.size(); ++d)
            if (random.percent(20)) {
                array.first += std::max<std::int64_t>(array.extent[d] - 1, 0) * array.stride[d];
                array.stride[d] = -array.stride[d];
            }
        const std::size_t skip = over_boxes ? 1 : 0;
        for (std::size_t b = 0; b < boxes.size(); ++b) {
            base[b] =
                array.first + (over_boxes ? array.stride[0] * static_cast<std::int64_t>(b) : 0);
            for (std::size_t d = 0; d < nd; ++d) {
                strides[b][d] = array.stride[d + skip];
                if (with_halo) base[b] += x.low[r][d] * strides[b][d];
            }
        }
    }
    make_junk(array.bytes, random.next());
    for (std::size_t b = 0; b < boxes.size(); ++b) {
        std::vector<std::int64_t> global(nd);
        for_each_index(boxes[b].count, [&](const std::vector<std::int64_t>& index) {
            std::int64_t at = base[b];
            for (std::size_t d = 0; d < nd; ++d) {
                at += index[d] * strides[b][d];
                global[d] = boxes[b].start[d] + index[d];
            }
            make_value(array.bytes.data() + at, put.memory, var.type, hash(x.dims, global));
        });
    }
    return array;
}

// ---- the reference -----------------------------------------------------------------------------

void put_attributes(Oracle& oracle, const std::vector<Attribute>& attributes) {
    for (const Attribute& a : attributes)
        oracle.att(a.var < 0 ? NC_GLOBAL : a.var, a.name, a.type, a.n, a.values.data());
}

void write_reference(const Case& c, std::size_t file, const std::string& path) {
    const File& f = c.files[file];
    Oracle oracle(path, f.format);
    const auto dim = [&](int d) {
        const Dim& x = c.dims[static_cast<std::size_t>(d)];
        oracle.dim(x.name, x.length);
        return x.name;
    };
    if (f.defines_time) oracle.dim(time_name, 0);
    for (const int d : f.defined_dims) dim(d);
    int a_record_variable = -1;
    for (const Variable& v : f.vars) {
        std::vector<std::string> names;
        if (v.record) {
            oracle.dim(time_name, 0);
            names.emplace_back(time_name);
        }
        for (const int d : v.dims) names.push_back(dim(d));
        const int id = oracle.var(v.name, v.type, names);
        if (v.record) a_record_variable = id;
    }
    put_attributes(oracle, f.attributes);
    oracle.enddef(f.header_pad);

    std::vector<char> bytes;
    for (int s = 0; s <= f.steps; ++s) {
        const auto& of_ranks = f.puts[static_cast<std::size_t>(s)];
        for (std::size_t r = 0; r < of_ranks.size(); ++r) {
            for (const Put& put : of_ranks[r]) {
                if (put.replaced) continue;
                const Variable& v = f.vars[static_cast<std::size_t>(put.var)];
                const std::size_t skip = v.record ? 1 : 0;
                std::vector<std::size_t> start(v.dims.size() + skip, 0);
                std::vector<std::size_t> count(v.dims.size() + skip, 1);
                if (v.record) start[0] = static_cast<std::size_t>(s);
                const Hasher hash(c, file, put, s);
                const std::int64_t size = type_size(put.memory);
                std::vector<Box> boxes;  // in file order
                if (v.decomposition < 0) {
                    if (r > 0) continue;
                    Box whole;
                    for (const int d : v.dims) {
                        whole.start.push_back(0);
                        whole.count.push_back(c.dims[static_cast<std::size_t>(d)].length);
                    }
                    boxes.push_back(whole);
                } else {
                    const Decomposition& x =
                        c.decompositions[static_cast<std::size_t>(v.decomposition)];
                    for (const Box& box : x.boxes[r]) {
                        Box turned;
                        for (const int d : v.dims) {
                            const auto m = static_cast<std::size_t>(
                                std::find(x.dims.begin(), x.dims.end(), d) - x.dims.begin());
                            turned.start.push_back(box.start[m]);
                            turned.count.push_back(box.count[m]);
                        }
                        boxes.push_back(turned);
                    }
                }
                for (const Box& box : boxes) {
                    if (volume(box) == 0) continue;
                    bytes.resize(static_cast<std::size_t>(volume(box) * size));
                    char* to = bytes.data();
                    std::vector<std::int64_t> global(box.start.size());
                    for_each_index(box.count, [&](const std::vector<std::int64_t>& index) {
                        for (std::size_t d = 0; d < index.size(); ++d)
                            global[d] = box.start[d] + index[d];
                        make_value(to, put.memory, v.type, hash(v.dims, global));
                        to += size;
                    });
                    for (std::size_t d = 0; d < box.start.size(); ++d) {
                        start[d + skip] = static_cast<std::size_t>(box.start[d]);
                        count[d + skip] = static_cast<std::size_t>(box.count[d]);
                    }
                    oracle.require(oracle.put(put.var, put.memory, start, count, bytes.data()),
                                   "nc_put_vara");
                }
            }
        }
        bool ended = s < f.steps;
        for (const auto& puts : of_ranks)
            for (const Put& put : puts)
                ended = ended || f.vars[static_cast<std::size_t>(put.var)].record;
        if (ended && a_record_variable >= 0) {
            // A step in which nobody held anything is a record all the same: one fill value makes
            // it.
            std::size_t records = 0;
            int unlimited = -1;
            oracle.require(nc_inq_unlimdim(oracle.id(), &unlimited), "nc_inq_unlimdim");
            oracle.require(nc_inq_dimlen(oracle.id(), unlimited, &records), "nc_inq_dimlen");
            if (records <= static_cast<std::size_t>(s)) {
                const Variable& v = f.vars[static_cast<std::size_t>(a_record_variable)];
                std::vector<std::size_t> start(v.dims.size() + 1, 0);
                const std::vector<std::size_t> count(v.dims.size() + 1, 1);
                start[0] = static_cast<std::size_t>(s);
                std::array<char, 8> fill{};
                oracle.require(
                    nc_inq_var_fill(oracle.id(), a_record_variable, nullptr, fill.data()),
                    "nc_inq_var_fill");
                oracle.require(oracle.put(a_record_variable, v.type, start, count, fill.data()),
                               "nc_put_vara");
            }
        }
    }
    if (!f.late_attributes.empty()) {
        oracle.redef();
        put_attributes(oracle, f.late_attributes);
        oracle.enddef_again();
    }
    oracle.close();
}

// ---- the library -------------------------------------------------------------------------------

// Runs a case through the library. All ranks go through the same collective calls even when a call
// fails, so that one wrong answer does not become a hang.
class Runner {
public:
    Runner(tw_session session, const Case& c, std::string folder)
        : session_(session), case_(c), folder_(std::move(folder)) {}

    bool run() {
        std::vector<tw_decomposition> decompositions;
        for (const Decomposition& x : case_.decompositions) decompositions.push_back(decompose(x));
        std::vector<tw_file> handles(case_.files.size(), nullptr);
        int steps = 0;
        for (std::size_t k = 0; k < handles.size(); ++k) {
            define(k, decompositions, &handles[k]);
            steps = std::max(steps, case_.files[k].steps);
        }
        kept_.resize(handles.size());
        // Several files advance step by step together.
        for (int s = 0; s <= steps; ++s)
            for (std::size_t k = 0; k < handles.size(); ++k) {
                const File& f = case_.files[k];
                if (s > f.steps) continue;
                put_step(handles[k], k, s);
                if (s == f.steps) {
                    late_attributes(handles[k], f);
                    check::step("%s close %s", name_.c_str(), f.name.c_str());
                    expect(tw_close(&handles[k]), "tw_close");
                    kept_[k].clear();
                    continue;
                }
                check::step("%s end_step %d %s", name_.c_str(), s, f.name.c_str());
                expect(tw_end_step(handles[k]), "tw_end_step");
                for (Array& array : kept_[k]) make_junk(array.bytes, 99);
                kept_[k].clear();
                if (f.sync[static_cast<std::size_t>(s)]) expect(tw_sync(handles[k], 0), "tw_sync");
            }
        return good_;
    }

    void set_name(std::string name) { name_ = std::move(name); }

private:
    void expect(int status, const char* call) {
        ++check::state.checks;
        if (status == TW_OK) return;
        if (good_)
            check::fail(__FILE__, __LINE__,
                        check::text("%s gave %s: %s", call, tw_strerror(status),
                                    tw_error_message(session_)));
        good_ = false;
    }

    tw_decomposition decompose(const Decomposition& x) {
        check::step("%s decompose", name_.c_str());
        const auto r = static_cast<std::size_t>(check::state.rank);
        std::string names;
        std::vector<std::int64_t> shape;
        for (const int d : x.dims) {
            names += (names.empty() ? "" : " ") + case_.dims[static_cast<std::size_t>(d)].name;
            shape.push_back(case_.dims[static_cast<std::size_t>(d)].length);
        }
        std::vector<std::int64_t> start;
        std::vector<std::int64_t> count;
        for (const Box& box : x.boxes[r]) {
            start.insert(start.end(), box.start.begin(), box.start.end());
            count.insert(count.end(), box.count.begin(), box.count.end());
        }
        tw_decomposition result = nullptr;
        const int n = static_cast<int>(x.boxes[r].size());
        if (x.with_halo)
            expect(tw_decompose_halo(session_, names.c_str(), n, shape.data(), start.data(),
                                     count.data(), x.low[r].data(), x.high[r].data(), &result),
                   "tw_decompose_halo");
        else
            expect(tw_decompose(session_, names.c_str(), n, shape.data(), start.data(),
                                count.data(), &result),
                   "tw_decompose");
        return result;
    }

    void define(std::size_t k, const std::vector<tw_decomposition>& decompositions,
                tw_file* handle) {
        const File& f = case_.files[k];
        check::step("%s create %s", name_.c_str(), f.name.c_str());
        expect(tw_create(session_, (folder_ + "/" + f.name).c_str(), f.settings.c_str(), handle),
               "tw_create");
        check::step("%s define %s", name_.c_str(), f.name.c_str());
        if (f.defines_time) expect(tw_def_dim(*handle, time_name, TW_UNLIMITED), "tw_def_dim");
        for (const int d : f.defined_dims) {
            const Dim& x = case_.dims[static_cast<std::size_t>(d)];
            expect(tw_def_dim(*handle, x.name.c_str(), x.length), "tw_def_dim");
        }
        for (const Variable& v : f.vars) {
            std::string names = v.record ? time_name : "";
            for (const int d : v.dims)
                names += (names.empty() ? "" : " ") + case_.dims[static_cast<std::size_t>(d)].name;
            // A record dimension that no decomposition hints at must be defined.
            if (v.record && v.decomposition < 0 && !f.defines_time && !time_known(f, v))
                expect(tw_def_dim(*handle, time_name, TW_UNLIMITED), "tw_def_dim");
            expect(tw_def_var(*handle, v.name.c_str(), v.type, names.c_str(),
                              v.decomposition < 0
                                  ? nullptr
                                  : decompositions[static_cast<std::size_t>(v.decomposition)]),
                   "tw_def_var");
        }
        put_attributes(*handle, f, f.attributes);
        if (f.enddef) {
            check::step("%s enddef %s", name_.c_str(), f.name.c_str());
            expect(tw_enddef(*handle), "tw_enddef");
        }
    }

    // Whether an earlier variable has made the record dimension.
    static bool time_known(const File& f, const Variable& until) {
        for (const Variable& v : f.vars) {
            if (&v == &until) return false;
            if (v.record) return true;
        }
        return false;
    }

    void put_attributes(tw_file handle, const File& f, const std::vector<Attribute>& attributes) {
        for (const Attribute& a : attributes) {
            const char* var =
                a.var < 0 ? nullptr : f.vars[static_cast<std::size_t>(a.var)].name.c_str();
            if (a.type == TW_CHAR && a.n % 2 == 1 && a.name != "_FillValue")
                expect(tw_put_att_text(handle, var, a.name.c_str(),
                                       std::string(a.values.begin(), a.values.end()).c_str()),
                       "tw_put_att_text");
            else
                expect(tw_put_att(handle, var, a.name.c_str(), a.type, a.n, a.values.data()),
                       "tw_put_att");
        }
    }

    void late_attributes(tw_file handle, const File& f) {
        if (f.late_attributes.empty()) return;
        check::step("%s late attributes %s", name_.c_str(), f.name.c_str());
        put_attributes(handle, f, f.late_attributes);
    }

    void put_step(tw_file handle, std::size_t k, int s) {
        const File& f = case_.files[k];
        Random random(mix(case_.seed, static_cast<std::uint64_t>(check::state.rank * 100 + s) + 7));
        for (const Put& put :
             f.puts[static_cast<std::size_t>(s)][static_cast<std::size_t>(check::state.rank)]) {
            const Variable& v = f.vars[static_cast<std::size_t>(put.var)];
            check::step("%s put %s step %d %s", name_.c_str(), v.name.c_str(), s, f.name.c_str());
            Array array = make_array(case_, k, s, put, check::state.rank, random);
            int status = TW_OK;
            if (!array.extent.empty())
                status = tw_put_strided(handle, v.name.c_str(), put.memory,
                                        array.bytes.data() + array.first,
                                        static_cast<int>(array.extent.size()), array.extent.data(),
                                        array.stride.data(), put.deferred ? TW_DEFERRED : TW_COPY);
            else if (put.deferred)
                status = tw_put_deferred(handle, v.name.c_str(), put.memory, array.bytes.data(),
                                         array.n);
            else
                status = tw_put(handle, v.name.c_str(), put.memory, array.bytes.data(), array.n);
            expect(status, "tw_put");
            if (put.deferred)
                kept_[k].push_back(std::move(array));
            else
                make_junk(array.bytes, 98);
        }
    }

    tw_session session_;
    const Case& case_;
    std::string folder_;
    std::string name_;
    std::vector<std::vector<Array>> kept_;  // of each file, until its step ends
    bool good_ = true;
};

// Settings that belong to the session: where the nodes end, and what files do not set themselves.
std::string session_settings(std::uint64_t seed) {
    Random random(seed);
    std::string text = "log=error; node_size=" + std::to_string(random.below(4));
    if (random.percent(30)) text += "; method=slabs";
    if (random.percent(60))
        text +=
            "; buffer=" + random.pick(std::vector<std::string>{"64KiB", "64KiB", "100000", "1MiB"});
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 90);
    const std::uint64_t seed = std::stoull(check::option(argc, argv, "--seed", "1"));
    const long cases = std::stol(check::option(argc, argv, "--cases", "300"));
    const long first = std::stol(check::option(argc, argv, "--first", "0"));
    const double seconds = std::stod(check::option(argc, argv, "--seconds", "0"));
    const std::string validator = check::option(argc, argv, "--ncvalidator", "");
    const bool keep = check::has_flag(argc, argv, "--keep");
    const bool verbose = check::has_flag(argc, argv, "--verbose");
    const Limits limits{check::option(argc, argv, "--method", ""),
                        check::option(argc, argv, "--storage", "")};
    const int ranks = check::state.size;
    const std::string folder = check::make_folder("property");
    if (check::state.rank == 0)
        check::print(check::text("property: seed %llu, cases %ld to %ld, %d ranks",
                                 static_cast<unsigned long long>(seed), first, first + cases - 1,
                                 ranks));

    const double begin = MPI_Wtime();
    tw_session session = nullptr;
    std::string settings;
    long done = 0;
    bool good = true;
    for (long k = first; k < first + cases && good; ++k) {
        int over = seconds > 0 && MPI_Wtime() - begin > seconds ? 1 : 0;
        MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (over != 0) break;
        const std::string name = check::text("case %ld", k);
        if (session == nullptr || k % cases_per_session == 0) {
            check::step("%s session", name.c_str());
            if (session != nullptr) CHECK(tw_finalize(&session) == TW_OK);
            settings = session_settings(
                mix(seed, static_cast<std::uint64_t>(k / cases_per_session) + 1000000007));
            const int status = tw_init(MPI_COMM_WORLD, settings.c_str(), &session);
            CHECK_TEXT(status == TW_OK, "%s: %s", settings.c_str(), tw_error_message(session));
            good = check::everywhere(status == TW_OK);
            if (!good) break;
        }
        check::step("%s make", name.c_str());
        const Case c = make_case(mix(seed, static_cast<std::uint64_t>(k)), ranks, limits);
        if (verbose && check::state.rank == 0)
            check::print(name + ", session: " + settings + "\n" + describe(c));
        Runner runner(session, c, folder);
        runner.set_name(name);
        bool equal = check::everywhere(runner.run());
        check::step("%s compare", name.c_str());
        // The files of one case are compared by different ranks, for speed.
        for (std::size_t f = 0; f < c.files.size(); ++f) {
            if (check::state.rank != static_cast<int>(f) % ranks) continue;
            const std::string path = folder + "/" + c.files[f].name;
            const std::string expected = folder + "/expected_" + c.files[f].name;
            write_reference(c, f, expected);
            const std::string what = difference(expected, path);
            CHECK_TEXT(what.empty(), "%s %s: %s", name.c_str(), c.files[f].name.c_str(),
                       what.c_str());
            if (!what.empty()) equal = false;
            if (equal && !validator.empty() && k % 50 == 0) {
                const int status = std::system((validator + " -q " + path).c_str());
                CHECK_TEXT(status == 0, "ncvalidator refuses the file of %s", name.c_str());
            }
        }
        good = check::everywhere(equal);
        ++done;
        if (!good && check::state.rank == 0)
            check::print(check::text(
                "%s failed; session settings: %s\n%s  files: %s\n  replay: mpirun -n %d property "
                "--seed %llu --first %ld --cases 1 --keep",
                name.c_str(), settings.c_str(), describe(c).c_str(), folder.c_str(), ranks,
                static_cast<unsigned long long>(seed), k));
        if (good && !keep && check::state.rank == 0)
            for (const File& f : c.files) {
                ::unlink((folder + "/" + f.name).c_str());
                ::unlink((folder + "/expected_" + f.name).c_str());
            }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check::step("finalize");
    if (session != nullptr && good) CHECK(tw_finalize(&session) == TW_OK);
    if (check::state.rank == 0) {
        check::print(check::text("property: %ld cases in %.1f s", done, MPI_Wtime() - begin));
        if (good && !keep) {
            std::error_code ignored;
            std::filesystem::remove_all(folder, ignored);
        }
    }
    return check::verdict("property");
}
