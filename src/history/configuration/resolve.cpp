// SPDX-License-Identifier: Apache-2.0
#include "history/configuration/resolve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/text/nearest.hpp"
#include "base/text/text.hpp"
#include "history/configuration/keys.hpp"

namespace thalweg::history {

namespace {

/// Tests if a name matches a pattern with '*' and '?'.
bool matches(std::string_view pattern, std::string_view name) {
    // For each length: the pattern so far matches the beginning of the name.
    std::vector<bool> matched(name.size() + 1);
    matched[0] = true;
    for (const char c : pattern) {
        for (std::size_t n = 1; n <= name.size() && c == '*'; ++n)
            matched[n] = matched[n] || matched[n - 1];
        if (c == '*') continue;
        for (std::size_t n = name.size(); n > 0; --n)
            matched[n] = matched[n - 1] && (c == '?' || c == name[n - 1]);
        matched[0] = false;
    }
    return matched.back();
}

/// Tests if a type can represent a number: an integer type exactly, a floating-point type rounded.
bool has_number(tw_type type, double number) {
    return detail::with_number(type, [&](auto zero) {
        using Limits = std::numeric_limits<decltype(zero)>;
        if (!Limits::is_integer) return std::abs(number) <= Limits::max();
        // The largest 64-bit integer is not a double, but the number after it is.
        return number == std::trunc(number) && number >= static_cast<double>(Limits::min()) &&
               number < 2 * static_cast<double>(Limits::max() / 2 + 1);
    });
}

/// Tests if the samples of a field are averages over steps, which can be split.
bool is_average(const StreamField& field) {
    const Op op = field.statistic.inner.value_or(field.statistic.op);
    return op == Op::mean || op == Op::rms || op == Op::mean_square || op == Op::std ||
           op == Op::fraction;
}

class Resolver {
public:
    Resolver(const Table& table, std::vector<DeclaredField>& declared, Problems& problems,
             Names& warnings)
        : table_(table),
          declared_(declared),
          problems_(problems),
          warnings_(warnings),
          computations_(declared, problems, [this](const auto&... of) { miss(of...); }) {
        for (const DeclaredField& field : declared) names_.push_back(field.name);
    }

    /// Finds tables of fields that neither the model nor a stream has, and that define none.
    void check_tables() {
        for (const auto& [name, keys] : table_.fields)
            if (!keys.expression && !declares(name) && !used_.contains(name))
                problems_.push_back(
                    {keys.line,
                     fmt::format(
                         "[field.{}]: neither the model nor a stream has a field of this name{}",
                         name, detail::did_you_mean(name, names_))});
    }

    ResolvedStream stream(int position) {
        const StreamTable& stream = table_.streams[position];
        where_ = fmt::format("stream '{}'", stream.name);
        Names selected;
        select(stream, selected);
        for (const auto& [name, keys] : stream.field)
            if (!has(selected, name)) selected.push_back(name);
        Names terms;
        for (const std::string& name : selected)
            if (!stream.file_per_variable) add_terms(stream, name, terms);
        ResolvedStream resolved{position, {}};
        for (const std::string& name : selected) {
            const bool term = has(terms, name);
            if (!add(stream, name, term, resolved) || !stream.file_per_variable) continue;
            Names beside;
            add_terms(stream, name, beside);
            for (const std::string& each : beside) add(stream, each, true, resolved);
        }
        for (const std::string& term : terms)
            if (!has(selected, term)) add(stream, term, true, resolved);
        if (resolved.fields.empty() && problems_.empty()) fail(stream.line, "it has no fields");
        check_levels(stream, resolved);
        return resolved;
    }

private:
    /// Adds the fields without which the coordinates of a selected one mean nothing.
    void add_terms(const StreamTable& stream, const std::string& name, Names& terms) const {
        const auto keys = stream.field.find(name);
        const bool renamed = keys != stream.field.end() && !keys->second.of.empty();
        const int position = computations_.find(renamed ? keys->second.of : name);
        if (position < 0 || interpolates(stream, position)) return;
        for (const std::string& term : declared_[position].terms)
            if (term != name && declares(term) && !has(terms, term)) terms.push_back(term);
    }

    template <class... Args>
    void fail(std::int64_t line, fmt::format_string<Args...> format, Args&&... args) {
        problems_.push_back(
            {line, where_ + ": " + fmt::format(format, std::forward<Args>(args)...)});
    }

    void select(const StreamTable& stream, Names& list) {
        const Selectors& selectors = stream.fields;
        for (const Selector& selector : selectors.list) {
            if (selector.remove) {
                remove(selectors, selector, list);
                continue;
            }
            bool found = !selector.glob();
            for (const std::string& name : named(selector)) {
                found = true;
                if (has(list, name)) continue;
                const auto all = table_.fields.find(name);
                if (declares(name) || stream.field.contains(name) ||
                    (all != table_.fields.end() && all->second.expression))
                    list.push_back(name);
                else
                    miss(selectors.line, name);
            }
            if (!found) fail(selectors.line, "no field matches '{}'", selector.text);
        }
    }

    void remove(const Selectors& selectors, const Selector& selector, Names& list) {
        const Names group = selector.group ? named(selector) : Names{};
        const auto removed = std::erase_if(list, [&](const std::string& name) {
            return selector.group ? has(group, name) : matches(selector.text, name);
        });
        if (removed == 0)
            fail(selectors.line, "'-{}{}' removes nothing", selector.group ? "@" : "",
                 selector.text);
    }

    /// Returns the names that a selector matches. A plain name is returned even if no field has it.
    Names named(const Selector& selector) {
        if (selector.group) return group(selector.text);
        if (!selector.glob()) return {selector.text};
        Names found;
        std::ranges::copy_if(names_, std::back_inserter(found),
                             [&](const std::string& name) { return matches(selector.text, name); });
        return found;
    }

    const Names& group(const std::string& name) {
        const auto known = groups_.find(name);
        if (known != groups_.end()) return known->second;
        groups_[name] = {};
        Names list;
        const auto found = table_.groups.find(name);
        if (found != table_.groups.end())
            for (const Selector& selector : found->second.list) {
                if (selector.remove) {
                    remove(found->second, selector, list);
                    continue;
                }
                for (const std::string& each : named(selector))
                    if (!has(list, each)) list.push_back(each);
            }
        return groups_[name] = std::move(list);
    }

    bool interpolates(const StreamTable& stream, int field) const {
        const Names& dims = declared_[field].dims;
        return stream.levels && stream.levels->interpolates() && has(dims, stream.levels->dim);
    }

    bool declares(const std::string& name) const { return computations_.find(name) >= 0; }

    void miss(std::int64_t line, const std::string& name, std::int64_t column = 0) {
        used_.insert(name);
        const std::string text = fmt::format("the model declares no field '{}'{}", name,
                                             detail::did_you_mean(name, names_));
        if (table_.missing_fields_warn)
            warnings_.push_back(where_ + ": " + text);
        else
            problems_.push_back({line, where_ + ": " + text, column});
    }

    /// Finds the field whose values a variable has: one of the model or a computed one.
    /// @return -1 after a problem
    int find_field(std::int64_t line, const FieldKeys& keys, const std::string& name) {
        const std::string& of = keys.of.empty() ? name : keys.of;
        const int found = computations_.find(of);
        if (found < 0 && keys.expression)
            return computations_.add(keys, fmt::format("{}, field '{}'", where_, name));
        if (found < 0) miss(line, of);
        return found;
    }

    /// @return false if the model does not declare the field
    bool add(const StreamTable& stream, const std::string& name, bool term,
             ResolvedStream& resolved) {
        used_.insert(name);
        const auto found = stream.field.find(name);
        const FieldKeys* const own = found != stream.field.end() ? &found->second : nullptr;
        StreamField field;
        field.name = name;
        field.term = term;
        if (own != nullptr)
            field.keys = *own;
        else if (const auto all = table_.fields.find(name); all != table_.fields.end())
            field.keys = all->second;
        const std::int64_t line = own != nullptr ? own->line : stream.fields.line;
        field.declared = find_field(line, field.keys, name);
        if (field.declared < 0) return false;
        check_units(stream, line, field);
        if (interpolates(stream, field.declared))
            field.declared = computations_.interpolate(stream, field.declared, field.keys);
        if (field.declared < 0) return false;
        const DeclaredField declared = declared_[field.declared];
        field.inner = field.keys.inner ? field.keys.inner : stream.inner;
        Statistic& statistic = field.statistic;
        statistic.op = field.keys.op.value_or(stream.op);
        if (field.inner) statistic.inner = field.inner->op;
        statistic.type = declared.type;
        statistic.missing = declared.missing;
        statistic.missing_value = declared.missing_value;
        statistic.counts = stream.counts;
        statistic.min_valid = stream.min_valid;
        statistic.ddof = statistic.op == Op::std ? stream.ddof : 0;
        find_weight(stream, line, declared, field);
        choose_type(stream, line, declared, field);
        if (stream.reduce.op) reduce(stream, declared, field);
        if (stream.reduce.maps()) map(line, field);
        // The results of reductions and maps are real.
        const bool joins = !field.reduced.empty() || stream.reduce.maps();
        if (joins && !is_real(field.type))
            field.type = stream.type == FileType::double_ ? TW_DOUBLE : TW_FLOAT;
        statistic.results = joins ? TW_DOUBLE : field.type;
        if (field.keys.fill && !has_number(field.type, *field.keys.fill))
            fail(field.keys.line, "field '{}': 'fill': its type in the file has no {}", name,
                 *field.keys.fill);
        check_region(stream, declared);
        resolved.fields.push_back(std::move(field));
        return true;
    }

    void check_units(const StreamTable& stream, std::int64_t line, const StreamField& field) {
        const DeclaredField& declared = declared_[field.declared];
        if (!declared.computation || !declared.computation->expression || field.keys.units) return;
        const Expression& expression = *declared.computation->expression;
        if (!expression.condition().empty() || expression.is_condition() ||
            counts_valid(field.keys.op.value_or(stream.op)))
            return;
        fail(line, "field '{}': 'units' is missing: those of an expression are not known",
             field.name);
    }

    void find_weight(const StreamTable& stream, std::int64_t line, const DeclaredField& declared,
                     StreamField& field) {
        if (!stream.timing.local_times.empty()) {
            field.statistic.weight_field = true;  // 1 at the local times, otherwise 0
            if (!declared.has_centres)
                fail(stream.line_of("local_time"),
                     "'local_time' needs longitudes and latitudes, which field '{}' has not",
                     declared.name);
        }
        const std::string& name = field.keys.weight ? *field.keys.weight : stream.weight;
        const bool takes = is_average(field) && field.statistic.op != Op::fraction;
        if (!name.empty() && counts_valid(field.statistic.op) && !stream.reduce.op)
            fail(line, "field '{}': op = \"{}\" takes no weight: give it weight = \"\"", field.name,
                 op_name(field.statistic.op));
        if (name.empty() || (!takes && !stream.reduce.op)) return;
        const int position = computations_.find(name);
        if (position < 0) {
            fail(field.keys.weight ? line : stream.line_of("weight"),
                 "the model declares no field '{}', the weight of '{}'{}", name, field.name,
                 detail::did_you_mean(name, names_));
            return;
        }
        const auto refuse = [&](std::string_view why) {
            fail(line, "field '{}' has the weight '{}': {}", field.name, name, why);
        };
        if (position == field.declared) refuse("a field cannot be its own weight");
        if (field.statistic.min_valid > 0) refuse("'min_valid' and 'weight' exclude each other");
        if (field.statistic.ddof > 0) refuse("'ddof' needs samples that count alike");
        const DeclaredField& weight = declared_[position];
        for (const std::string& dim : weight.dims)
            if (!has(declared.dims, dim))
                fail(line, "the weight '{}' has the dimension '{}', which '{}' lacks", name, dim,
                     field.name);
        field.weight = position;
        field.statistic.weight_field = true;
    }

    void choose_type(const StreamTable& stream, std::int64_t line, const DeclaredField& declared,
                     StreamField& field) {
        const FileType wanted = field.keys.type.value_or(stream.type);
        const Op op = field.statistic.op;
        field.type = wanted == FileType::double_  ? TW_DOUBLE
                     : wanted == FileType::float_ ? TW_FLOAT
                                                  : declared.type;
        if (is_real(declared.type)) return;
        if (!is_statistic(op)) {
            field.type = declared.type;
        } else if (wanted == FileType::same &&
                   (field.inner || (op != Op::min && op != Op::max && op != Op::sum))) {
            fail(line,
                 "field '{}' has integers, but its {} has not: its type has to be \"float\" or "
                 "\"double\"",
                 field.name, op_name(op));
        }
    }

    /// Finds the dimensions over which a field is reduced, and if each sample is reduced.
    void reduce(const StreamTable& stream, const DeclaredField& declared, StreamField& field) {
        const Names& over = stream.reduce.over.empty() ? declared.horizontal : stream.reduce.over;
        std::ranges::copy_if(over, std::back_inserter(field.reduced),
                             [&](const auto& dim) { return has(declared.dims, dim); });
        if (field.reduced.empty() && !field.term) {
            if (over.empty())
                fail(stream.line_of("reduce"),
                     "reduce: the horizontal dimensions of field '{}' are not known: give 'over'",
                     field.name);
            else
                fail(stream.line_of("over"), "over: field '{}' has the dimensions '{}'", field.name,
                     detail::joined_names(declared.dims));
        }
        if (field.reduced.empty()) return;
        Statistic& statistic = field.statistic;
        const ReduceOp op = *stream.reduce.op;
        const bool extreme = op == ReduceOp::min || op == ReduceOp::max;
        if (extreme && field.weight >= 0)
            fail(field.keys.line, "field '{}': 'weight' has no effect with extremes", field.name);
        const bool whole = field.weight < 0 && statistic.missing == Missing::none;
        // A sum without valid elements does not count in the mean of the sums; with weights it is
        // 0.
        const bool sums = field.weight >= 0 || statistic.missing != Missing::varying;
        const bool commutes = statistic.op == Op::mean  ? op == ReduceOp::mean || (sums && !extreme)
                              : statistic.op == Op::min ? op == ReduceOp::min
                              : statistic.op == Op::max ? op == ReduceOp::max
                              : statistic.op == Op::sum ? whole && !extreme
                                                        : false;
        field.reduces_samples = !commutes || field.inner;
        if (field.reduces_samples) set_reduced_samples(statistic);
    }

    /// Finds out if each sample of a field is mapped.
    void map(std::int64_t line, StreamField& field) {
        const auto commutes = [](Op op) {
            return op == Op::mean || op == Op::sum || is_difference(op) || !is_statistic(op);
        };
        const Op op = field.statistic.op;
        field.reduces_samples = field.inner ? !commutes(op) || !commutes(field.inner->op)
                                            : !commutes(op) && op != Op::fraction;
        if (field.reduces_samples && field.statistic.weight_field)
            fail(line,
                 "field '{}': op = \"{}\" of mapped samples takes neither 'weight' nor "
                 "'local_time'",
                 field.name, op_name(commutes(op) ? field.inner->op : op));
    }

    void check_levels(const StreamTable& stream, const ResolvedStream& resolved) {
        if (!stream.levels || resolved.fields.empty()) return;
        const std::string& dim = stream.levels->dim;
        Names known;
        for (const StreamField& field : resolved.fields)
            for (const std::string& each : declared_[field.declared].dims)
                known.push_back(each == stream.levels->name ? dim : each);
        if (!has(known, dim))
            fail(stream.line_of("levels"), "levels: none of its fields has the dimension '{}'{}",
                 dim, detail::did_you_mean(dim, known));
        const auto region = table_.regions.find(stream.region);
        if (region == table_.regions.end()) return;
        if (std::ranges::find(region->second.index, dim, &IndexRange::dim) !=
            region->second.index.end())
            fail(stream.line_of("levels"),
                 "region '{}' and the levels both select elements of dimension '{}'", stream.region,
                 dim);
    }

    void check_region(const StreamTable& stream, const DeclaredField& declared) {
        const auto found = table_.regions.find(stream.region);
        if (found == table_.regions.end()) return;
        const RegionTable& region = found->second;
        const bool points = !region.points.empty() || !region.points_file.empty();
        if ((region.box && !declared.has_axes) || (points && !declared.has_centres))
            fail(stream.line_of("region"),
                 "region '{}' needs {}longitudes and latitudes, which field '{}' has not",
                 region.name, points ? "" : "axes of ", declared.name);
        for (const IndexRange& range : region.index) {
            const auto dim = std::ranges::find(declared.dims, range.dim);
            const auto place = static_cast<std::size_t>(dim - declared.dims.begin());
            if (dim == declared.dims.end())
                fail(stream.line_of("region"), "region '{}': field '{}' has no dimension '{}'",
                     region.name, declared.name, range.dim);
            else if (place < declared.shape.size() && range.last >= declared.shape[place])
                problems_.push_back(
                    {region.line,
                     fmt::format("region '{}': '{}' has the indices 0 to {}, not {}", region.name,
                                 range.dim, declared.shape[place] - 1, range.last)});
        }
    }

    const Table& table_;
    std::vector<DeclaredField>& declared_;
    Problems& problems_;
    Names& warnings_;
    Computations computations_;
    Names names_;
    std::map<std::string, Names, std::less<>> groups_;
    std::set<std::string, std::less<>> used_;  ///< names of the streams' variables
    std::string where_;
};

/// Finds variables of different streams whose files have the same name.
void check_files(const Table& table, const std::vector<ResolvedStream>& streams,
                 Problems& problems) {
    std::map<std::pair<std::string, std::string>, const StreamTable*> files;
    for (const ResolvedStream& resolved : streams) {
        const StreamTable& stream = table.streams[resolved.table];
        if (!stream.file_per_variable) continue;
        for (const StreamField& field : resolved.fields) {
            if (field.term) continue;
            const auto [place, fresh] =
                files.try_emplace({path_of(stream, stream.path), field.name}, &stream);
            if (!fresh)
                problems.push_back({stream.line_of("path"),
                                    fmt::format("stream '{}': 'path': the file of '{}' would have "
                                                "the same name as in stream '{}'",
                                                stream.name, field.name, place->second->name)});
        }
    }
}

}  // namespace

void set_reduced_samples(Statistic& statistic) {
    statistic.weight_field = false;
    statistic.type = TW_DOUBLE;
    statistic.missing = Missing::varying;
    statistic.missing_value = value_of(TW_DOUBLE, std::numeric_limits<double>::lowest());
}

void set_splits(const StreamTable& stream, std::span<const StreamField> fields,
                WindowRules& rules) {
    // A filter selects samples as points in time, and counts know no durations.
    if (stream.counts || stream.sample || !stream.hours.empty() || fields.empty()) return;
    if (rules.every != Every::window) return;
    rules.splits = std::ranges::any_of(fields, is_average);
    rules.passes = std::ranges::all_of(fields, is_average);
}

Problems resolve(const Table& table, std::vector<DeclaredField>& declared,
                 std::vector<ResolvedStream>& streams, Names& warnings) {
    Problems problems;
    Resolver resolver(table, declared, problems, warnings);
    streams.clear();
    for (std::size_t i = 0; i < table.streams.size(); ++i)
        streams.push_back(resolver.stream(static_cast<int>(i)));
    check_files(table, streams, problems);
    resolver.check_tables();
    std::ranges::stable_sort(problems, {}, &Problem::line);
    // Report a problem once, though a field or group may be in several streams.
    const auto same = [](const Problem& a, const Problem& b) {
        return a.line == b.line && a.text == b.text;
    };
    problems.erase(std::unique(problems.begin(), problems.end(), same), problems.end());
    return problems;
}

}  // namespace thalweg::history
