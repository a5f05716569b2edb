// SPDX-License-Identifier: Apache-2.0
#include "case.hpp"

#include <algorithm>
#include <array>

#include "system/random.hpp"
#include "system/random_settings.hpp"
#include "system/values.hpp"

namespace {

std::vector<Dim> make_dims(Random& random) {
    // Small cases test corner cases. A few large ones need several rounds and pieces.
    const std::int64_t most = random.percent(70) ? 200 : random.percent(70) ? 2000 : 20000;
    const int n = static_cast<int>(random.between(1, 4));
    std::vector<Dim> dims;
    std::int64_t total = 1;
    for (int d = 0; d < n; ++d) {
        const std::int64_t room = std::max<std::int64_t>(1, most / total);
        const std::int64_t longest = std::min<std::int64_t>(room, random.percent(10)   ? 700
                                                                  : random.percent(30) ? 200
                                                                                       : 13);
        Dim dim;
        dim.name =
            std::string(1, static_cast<char>('a' + d)) + (random.percent(20) ? "_long_name" : "");
        dim.length = random.percent(15) ? 1 : random.between(1, longest);
        total *= dim.length;
        dims.push_back(dim);
    }
    if (n > 1 && dims[0].length <= 30 && random.percent(8)) dims[1] = dims[0];
    return dims;
}

/// Tests if the first two dimensions are one, which variables can have twice, as a covariance does.
bool has_twins(const Case& c) { return c.dims.size() > 1 && c.dims[0].name == c.dims[1].name; }

bool has(const std::vector<int>& dims, int d) {
    return std::find(dims.begin(), dims.end(), d) != dims.end();
}

/// Brings a dimension that is there twice into the order in which the library takes it.
void order_twins(const Case& c, std::vector<int>& dims) {
    const auto first = std::find(dims.begin(), dims.end(), 0);
    const auto second = std::find(dims.begin(), dims.end(), 1);
    if (has_twins(c) && first != dims.end() && second < first) std::iter_swap(first, second);
}

Decomposition make_part(Random& random, const Case& c, std::vector<int> dims, int ranks,
                        parts::Cover cover) {
    // A list cannot have a dimension twice.
    if (cover == parts::Cover::shared && has_twins(c) && has(dims, 0)) std::erase(dims, 1);
    Decomposition x;
    do x = parts::make_decomposition(random, dims, c.lengths(), ranks, cover);
    while (x.listed > 0 && has_twins(c) && has(dims, 0) && has(dims, 1));
    order_twins(c, x.dims);
    const bool whole = x.listed == 0 || x.listed == x.dims.size();
    x.unnamed = whole && !has_twins(c) && random.percent(10);
    return x;
}

std::vector<int> some_dims(Random& random, const Case& c) {
    std::vector<int> some;
    for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
        if (random.percent(85)) some.push_back(d);
    if (some.empty()) some.push_back(0);
    return some;
}

Attribute make_attribute(Random& random, int var, int number, bool extended, bool late) {
    Attribute a;
    a.var = var;
    // Sometimes use the name of an earlier attribute, which is then replaced. Not for late
    // attributes: if the header becomes shorter, its old end stays in the padding, but not in that
    // of the reference.
    a.name = "att" + std::to_string(!late && random.percent(10) ? number / 2 : number);
    a.type = random.pick(extended ? all_types() : cdf2_types());
    a.n = random.percent(10) ? 0 : random.between(1, 9);
    a.values.resize(static_cast<std::size_t>(a.n * type_size(a.type)));
    for (std::int64_t i = 0; i < a.n; ++i)
        make_value(a.values.data() + i * type_size(a.type), a.type, a.type, random.next());
    if (a.type == TW_CHAR)
        for (char& c : a.values) c = static_cast<char>('a' + (c & 15));
    return a;
}

bool is_netcdf4(const std::string& format) { return format.rfind("netcdf4", 0) == 0; }

// Chooses the storage of a netCDF-4 variable, or of all in a file.
std::string make_packing(Random& random, const Case& c, const std::vector<int>& dims) {
    std::string text;
    if (random.percent(50)) text += "deflate=" + std::to_string(random.below(4));
    if (random.percent(30)) text += random.percent(50) ? "; shuffle=yes" : "; shuffle=no";
    if (random.percent(30) && !dims.empty()) {
        text += "; chunks=";
        std::string list;
        for (const int d : dims) {
            const Dim& x = c.dims[static_cast<std::size_t>(d)];
            if (list.find(x.name + "=") != std::string::npos) continue;
            if (list.empty() || random.percent(60))
                list += (list.empty() ? "" : ",") + x.name + "=" +
                        std::to_string(random.between(1, x.length + 1));
        }
        text += list;
    }
    return text;
}

std::string make_settings(Random& random, const Limits& limits, bool small_staging,
                          const std::string& format) {
    RandomSettings settings = RandomSettings::writing();
    if (!limits.method.empty()) settings.set("method", {limits.method});
    if (is_netcdf4(format))
        settings.set("storage", {"auto", "netcdf4"});
    else if (!limits.storage.empty())
        settings.set("storage", {limits.storage});
    settings.set("service", {"inline", "background", "auto", "servers"});
    if (small_staging)
        settings.set("staging", {"0", "1", "100", "1KiB"}).set("queue", {"4KiB", "5000", "auto"});
    else
        settings.set("staging", {"64MiB"}).set("queue", {"1MiB", "4MiB", "auto"}, 30);
    return settings.draw(random);
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
    static const std::array<const char*, 6> formats{"cdf1", "cdf2",    "cdf5",
                                                    "auto", "netcdf4", "netcdf4-classic"};
    const std::int64_t format = limits.storage == "netcdf4" ? random.between(4, 5)
                                : !limits.storage.empty()   ? random.below(4)
                                                            : random.below(6);
    const bool extended = format >= 2 && format < 5;
    const std::string name = formats[static_cast<std::size_t>(format)];
    // A step that exceeds the staging memory makes the puts collective, so all ranks put in the
    // same order.
    const bool collective_puts = random.percent(20);
    f.settings = make_settings(random, limits, collective_puts, name);
    f.settings += "; format=" + name;
    if (is_netcdf4(name) && random.percent(40)) {
        std::vector<int> dims;
        for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) dims.push_back(d);
        f.settings += "; " + make_packing(random, c, dims);
    }
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
        // Names that netCDF allows, with other characters than letters and digits.
        if (random.percent(10))
            var.name += random.pick(std::vector<std::string>{"_\xc3\xa9t\xc3\xa9", ".a-b+c@d", " x",
                                                             "(1)", "_" + std::string(200, 'n')});
        var.type = random.pick(extended ? all_types() : cdf2_types());
        var.record = random.percent(60);
        if (random.percent(75)) {
            do var.decomposition = static_cast<int>(random.below(std::ssize(c.decompositions)));
            while (c.decompositions[static_cast<std::size_t>(var.decomposition)].shared);
            var.dims = c.decompositions[static_cast<std::size_t>(var.decomposition)].dims;
        } else {
            for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
                if (random.percent(40)) var.dims.push_back(d);
        }
        if (var.decomposition < 0 ||
            !c.decompositions[static_cast<std::size_t>(var.decomposition)].unnamed)
            random.shuffle(var.dims);
        order_twins(c, var.dims);
        any_extended = any_extended || var.type > TW_DOUBLE;
        if (is_netcdf4(name) && random.percent(20) && !var.dims.empty())
            var.settings = make_packing(random, c, var.dims);
        f.vars.push_back(var);
    }
    // Dimensions of replicated variables must be defined before the variables; others may be.
    for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
        bool needed = random.percent(20);
        const bool twins = d < 2 && has_twins(c);
        for (const Variable& var : f.vars)
            if (var.decomposition < 0 && (has(var.dims, d) || (twins && has(var.dims, 1 - d))))
                needed = true;
        if (needed && !(twins && d == 1)) f.defined_dims.push_back(d);
    }
    random.shuffle(f.defined_dims);
    bool any_record = false;
    for (const Variable& var : f.vars) any_record = any_record || var.record;
    f.defines_time = random.percent(20);

    int count = 0;
    for (int v = -1; v < nvars; ++v) {
        for (std::int64_t k = random.below(3); k > 0; --k) {
            f.attributes.push_back(make_attribute(random, v, ++count, extended, false));
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
    for (std::size_t i = 0; i < f.attributes.size(); ++i) {
        const Attribute& a = f.attributes[i];
        const bool replaced = std::any_of(
            f.attributes.begin() + static_cast<std::ptrdiff_t>(i) + 1, f.attributes.end(),
            [&](const Attribute& later) { return later.var == a.var && later.name == a.name; });
        any_extended = any_extended || (!replaced && a.type > TW_DOUBLE);
    }
    if (random.percent(15) && f.header_pad >= 4096)
        for (std::int64_t k = random.between(1, 3); k > 0; --k)
            f.late_attributes.push_back(
                make_attribute(random, static_cast<int>(random.between(-1, nvars - 1)), ++count,
                               format == 2 || format == 4 || (format == 3 && any_extended), true));
    f.format = format != 3 ? name : any_extended ? "cdf5" : "cdf2";

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
            // Data that are put after the last step are written by the close, which ends the open
            // step.
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
                    // A rank that holds nothing may leave out its put.
                    if (!collective_puts && random.percent(30) && holds_nothing(c, f, v, r))
                        continue;
                    Put put;
                    put.var = v;
                    if (!f.vars[static_cast<std::size_t>(v)].record && random.percent(4)) {
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
                // If puts are collective, the ranks must agree on which of them are deferred.
                if (!collective_puts || r == 0) put.deferred = random.percent(35);
                put.strided = random.percent(25);
            }
        }
        f.sync.push_back(random.percent(10));
    }
    return f;
}

}  // namespace

Case make_case(std::uint64_t seed, int ranks, const Limits& limits) {
    Random random(seed);
    Case c;
    c.seed = seed;
    c.ranks = ranks;
    c.dims = make_dims(random);
    for (std::int64_t k = random.between(1, 3); k > 0; --k)
        c.decompositions.push_back(
            make_part(random, c, some_dims(random, c), ranks, parts::Cover::some));
    if (random.percent(30))
        c.decompositions.push_back(
            make_part(random, c, some_dims(random, c), ranks, parts::Cover::shared));
    const int files = random.percent(15) ? 2 : 1;
    for (int k = 0; k < files; ++k) c.files.push_back(make_file(random, c, k, ranks, limits));
    return c;
}

Decomposition Case::decomposition_of(const Variable& v) const {
    return v.decomposition < 0 ? parts::whole(v.dims, lengths(), ranks)
                               : decompositions[static_cast<std::size_t>(v.decomposition)];
}

Array make_array(const Case& c, std::size_t file, int step, const Put& put, int rank,
                 Random& random) {
    const Variable& var = c.files[file].vars[static_cast<std::size_t>(put.var)];
    const std::uint64_t same_on_all =
        mix(c.seed + 1009 * file + 31 * static_cast<std::uint64_t>(step) +
            static_cast<std::uint64_t>(put.var));
    const Decomposition x = c.decomposition_of(var);
    Array array =
        place_array(x, rank, put.strided, same_on_all % 2 == 0, type_size(put.memory), random);
    Hasher hash(c, file, put, step);
    // Only rank 0's values of a replicated variable are written.
    if (var.decomposition < 0) hash.base ^= static_cast<std::uint64_t>(rank) * 77777;
    array.for_each_element([&](char* to, const std::vector<std::int64_t>& global) {
        make_value(to, put.memory, var.type, hash(x.dims, global));
    });
    return array;
}

std::string describe(const Case& c) {
    std::string text = "  dimensions:";
    for (const Dim& d : c.dims) text += " " + d.name + "=" + std::to_string(d.length);
    for (std::size_t k = 0; k < c.decompositions.size(); ++k) {
        const Decomposition& x = c.decompositions[k];
        text += "\n  decomposition " + std::to_string(k) + ":";
        for (const int d : x.dims) text += " " + c.dims[static_cast<std::size_t>(d)].name;
        if (x.listed > 0)
            text += ", lists of " + std::to_string(x.listed) + " from " + std::to_string(x.first);
        text += x.with_halo ? ", halos" : x.padded.empty() ? "" : ", padded";
    }
    for (const File& f : c.files) {
        text += "\n  " + f.name + ": " + f.settings + " (" + f.format + "), steps " +
                std::to_string(f.steps);
        for (const Variable& v : f.vars) {
            text += std::string("\n    ") + type_name(v.type) + " " + v.name + "(" +
                    (v.record ? "time" : "");
            for (const int d : v.dims) text += " " + c.dims[static_cast<std::size_t>(d)].name;
            text += ") decomposition " + std::to_string(v.decomposition) + " " + v.settings;
        }
    }
    return text + "\n";
}
