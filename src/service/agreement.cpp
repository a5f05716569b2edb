// The agreement of all ranks before they work together: on the call, errors, and the puts of each
// rank.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>

#include "base/bits.hpp"
#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/text/text.hpp"
#include "base/trace.hpp"
#include "service/service.hpp"

namespace thalweg::detail {

namespace {

/// The words that the ranks combine: a bit for each variable and question, whether there are boxes,
/// and hashes that show whether the ranks' records and late attributes are the same.
struct Words {
    explicit Words(std::size_t variables)
        : each((variables + 63) / 64),
          all(4 * each + 5, 0),
          put(all.data(), each),
          lacking(all.data() + each, each),
          bare(all.data() + 2 * each, each),
          with_halo(all.data() + 3 * each, each),
          rest(all.data() + 4 * each, 5) {}
    std::size_t each;
    std::vector<std::int64_t> all;
    std::span<std::int64_t> put, lacking, bare, with_halo;
    /// Words for boxes, for the hash of the records and for the hash of the late attributes. Each
    /// hash is followed by its complement, which shows after the bitwise or whether all ranks had
    /// the same hash.
    std::span<std::int64_t> rest;
};

/// Returns a hash of the records and their holdings. It does not depend on the order of the calls.
std::int64_t hash_of_records(const Batch& batch) {
    std::uint64_t sum = 0;
    for (const auto& [key, parts] : batch.parts)
        for (const WaitingPart& p : parts) {
            const std::array<std::int64_t, 3> words{p.variable, p.record, p.holding->key};
            if (!p.by_put) sum += hash_of_words(words, hash_of_nothing);
        }
    return sum;
}

std::int64_t hash_of_late(const FileContext& file) {
    std::vector<std::string> lines;
    for (const auto& [variable, attribute] : file.late)
        lines.push_back(describe(variable < 0 ? "" : file.variable(variable).name, attribute));
    return hash_of_lines(lines);
}

/// The variables on whose puts the ranks agree in a call: all of them, or the one of a collective
/// put.
struct Agreeing {
    Agreeing(const Batch& batch, Call call, int variable)
        : first(call == Call::put ? std::max(0, variable) : 0),
          end(call == Call::put ? variable + 1 : batch.puts.size()) {}
    std::size_t first, end;
};

/// Returns the words that describe what this rank has put.
Words words_of(const FileContext& file, const Batch& batch, Call call, int variable) {
    Words words(batch.puts.size());
    for (auto [i, end] = Agreeing(batch, call, variable); i < end; ++i) {
        const Batch::Put& p = batch.puts[i];
        if (p.put)
            set_bit(words.put, i);
        else if (file.holdings[i]->decomposition->has_part())
            set_bit(words.lacking, i);
        if (call != Call::put && !p.put) continue;
        if (p.form == Form::without_halo) set_bit(words.bare, i);
        if (p.form == Form::with_halo) set_bit(words.with_halo, i);
    }
    const std::int64_t records = hash_of_records(batch);
    const std::int64_t late = call == Call::close ? hash_of_late(file) : 0;
    const std::int64_t boxes =
        (batch.boxed ? 1 : 0) | (batch.by_itself ? 2 : 0) | (batch.in_arrays ? 4 : 0);
    const std::array<std::int64_t, 5> rest{boxes, records, ~records, late, ~late};
    std::copy(rest.begin(), rest.end(), words.rest.begin());
    return words;
}

/// Returns on all ranks an error that rank 0 describes.
template <class Describe>
Status from_first_rank(const FileContext& file, Describe&& describe) {
    Status mine;
    if (file.team.rank() == 0) mine = describe();
    std::vector<char> none;
    return file.team.broadcast_outcome(mine, none);
}

/// Returns the error for puts with and without halos. It does not name the wrong rank: if boxes
/// have different sizes, an array without a halo may look like a smaller box with its halo.
/// @param put  this rank has put the variable
Status mixed_forms(const FileContext& file, const Batch& batch, std::size_t variable, bool put) {
    const Variable& v = file.definitions.variables[variable];
    std::string mine;
    const Form form = batch.puts[variable].form;
    if (put && form != Form::either)
        mine = (form == Form::with_halo ? '+' : '-') +
               extents_in_words(*file.holdings[variable]->decomposition, form);
    const auto all = file.team.world().gather({mine.data(), mine.size()}, 0);
    return from_first_rank(file, [&] {
        const auto first = [&](char sign) {
            return static_cast<int>(
                std::find_if(all.begin(), all.end(),
                             [&](const auto& one) { return !one.empty() && one[0] == sign; }) -
                all.begin());
        };
        const auto extents = [&](int rank) {
            return std::string_view(all[rank].data(), all[rank].size()).substr(1);
        };
        const int without = first('-'), with = first('+');
        return failure(
            TW_EMISMATCH,
            "{}: variable '{}': the ranks pass arrays of different forms: without halo, {} on rank "
            "{}; with halo, {} on rank {}. If the boxes share an array of fixed extents, declare "
            "them with tw_pad",
            file.path, OfVariable{v.name}, extents(without), OfRank{without}, extents(with), with);
    });
}

/// Returns the error that names the ranks which lack a variable.
Status missing_variable(const FileContext& file, const Batch& batch, std::size_t variable) {
    const Variable& v = file.definitions.variables[variable];
    const char lacks =
        !batch.puts[variable].put && file.holdings[variable]->decomposition->has_part();
    const auto all = file.team.world().gather({&lacks, 1}, 0);
    return from_first_rank(file, [&] {
        std::vector<std::string> ranks;
        std::size_t number = 0;
        int first = -1;
        for (std::size_t r = 0; r < all.size(); ++r) {
            if (!all[r][0]) continue;
            if (++number <= 16) ranks.push_back(std::to_string(r));
            if (number == 1) first = r;
        }
        if (number > 16) ranks.push_back(fmt::format("and {} more", number - 16));
        return about(
            failure(TW_EMISSING,
                    "{}: variable '{}' of record {} was not put on rank {}, but was on others",
                    file.path, OfVariable{v.name},
                    OfRecord{file.options.wording.index(batch.record)}, joined(ranks, ", ")),
            OfRank{first});
    });
}

}  // namespace

Status agree_on(FileContext& file, Batch& batch, Call call, int variable, const Status& mine,
                Agreed& agreed) {
    Stopwatch watch(file.figures.times[FileTimes::wait]);
    const std::size_t n = batch.puts.size();
    agreed.put.assign(n, 0);
    Words words = words_of(file, batch, call, variable);
    if (Status status = file.enter(call, variable, mine, {words.all}); !status.ok()) return status;
    agreed.boxed = (words.rest[0] & 3) != 0;
    agreed.by_itself = (words.rest[0] & 2) != 0;
    agreed.copied = (words.rest[0] & 4) == 0;
    agreed.same_parts = are_alike(words.rest.subspan(1, 2));
    agreed.same_late = are_alike(words.rest.subspan(3, 2));
    std::size_t missing = n;
    for (auto [i, end] = Agreeing(batch, call, variable); i < end; ++i) {
        agreed.put[i] = has_bit(words.put, i);
        agreed.any_record |= agreed.put[i] && batch.is_record(i);
        if (agreed.put[i] && has_bit(words.lacking, i) && call != Call::put && missing == n)
            missing = i;
    }
    if (missing < n) return missing_variable(file, batch, missing);
    for (auto [i, end] = Agreeing(batch, call, variable); i < end; ++i)
        if (has_bit(words.bare, i) && has_bit(words.with_halo, i))
            return mixed_forms(file, batch, i, call == Call::put || batch.puts[i].put);
    return {};
}

Status end_open_step(Service& service, FileContext& file, const Batch& batch, Agreed& agreed,
                     Status& misfit) {
    if (!batch.step_is_open(agreed)) return {};
    Stopwatch watch(file.figures.times[FileTimes::step]);
    Span span("step");
    span.record(batch.record);
    misfit = service.end_step();
    // The first step also contains the fixed-size variables, so they are complete after it.
    agreed.put.assign(agreed.put.size(), 0);
    // One rank may learn of an error before the others, so agree that all stop.
    return file.keep(file.team.agree(misfit.code == TW_ERANGE ? Status{} : misfit));
}

}  // namespace thalweg::detail
