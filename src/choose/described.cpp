// SPDX-License-Identifier: Apache-2.0
#include "choose/described.hpp"

#include <algorithm>

namespace thalweg::detail {

namespace {

/// Words before those of the dimensions.
enum Word : std::size_t { irregular, listed, negative_run, first_of_dims };

/// Lengths of runs of lists go by integers.
constexpr double run_unit = 1000;

const Variable* largest_of(const Definitions& definitions) {
    const Variable* largest = nullptr;
    const auto bytes = [](const Variable& v) { return v.elements() * v.element(); };
    for (const Variable& v : definitions.variables)
        if (v.record && !v.shape.empty() && v.decomposition != nullptr &&
            !v.decomposition->replicated && (largest == nullptr || bytes(v) > bytes(*largest)))
            largest = &v;
    return largest;
}

/// The file's dimension at a place in a variable's shape.
int dim_at(const Definitions& definitions, const Variable& v, std::size_t at) {
    std::vector<int> dims;
    for (const int d : v.dims)
        if (d != definitions.record_dim()) dims.push_back(d);
    return at < dims.size() ? dims[at] : -1;
}

/// A grid of ranks in which a part's place follows from the rank: the strides, at which the parts
/// of each dimension change, tell how many there are.
bool find_grid(const Definitions& definitions, const Variable& v,
               std::span<const std::int64_t> strides, std::int64_t ranks, Held& held) {
    std::vector<std::pair<std::int64_t, std::size_t>> cut;  // stride, place in the shape
    for (std::size_t d = 0; d < strides.size(); ++d)
        if (strides[d] < ranks) cut.emplace_back(strides[d], d);
    std::sort(cut.begin(), cut.end());
    if (cut.empty() || cut.front().first != 1) return false;
    for (std::size_t i = cut.size(); i-- > 0;) {
        const auto [stride, d] = cut[i];
        const std::int64_t next = i + 1 < cut.size() ? cut[i + 1].first : ranks;
        if (next % stride != 0 || next / stride > v.shape[d]) return false;
        held.grid.push_back({dim_at(definitions, v, d), next / stride});
    }
    return true;
}

}  // namespace

planning::Asked asked_of(const FileOptions& options) {
    planning::Asked asked;
    asked.method = options.method;
    asked.queued = options.service == "background";
    asked.direct = options.service == "inline";  // service=auto may go on in the background
    asked.writers_open =
        options.writers == "auto" && options.writer_first == 0 && options.writer_stride <= 0;
    return asked;
}

bool asks_cost_model(const FileOptions& options, Format format, const Surroundings& around) {
    const bool plain = !is_netcdf4(format) && !options.by_variable && !options.tile_files &&
                       (options.storage == "auto" || options.storage == "posix");
    const bool by_servers =
        around.servers && (options.service == "servers" || options.service == "auto");
    const bool several = around.nodes == 1 || around.file_system.sharing == Sharing::parallel;
    return plain && !by_servers && several && around.machine != nullptr &&
           around.machine->nodes == around.nodes &&
           (options.method == "auto" || asked_of(options).writers_open);
}

std::vector<std::int64_t> held_words(const Definitions& definitions, int rank, int ranks) {
    const Variable* const v = largest_of(definitions);
    if (v == nullptr) return {1};
    std::vector<std::int64_t> words(first_of_dims + v->shape.size(), INT64_MIN);
    const auto held = held_by(*v->decomposition, v->order, v->shape);
    words[irregular] = held.size() > 1 ? 1 : 0;
    words[listed] = v->decomposition->listed != nullptr ? 1 : 0;
    if (held.size() != 1) return words;
    if (held.front().list != nullptr) {
        const IndexList& list = *held.front().list->list;
        if (!list.runs.empty())
            words[negative_run] =
                -static_cast<std::int64_t>(run_unit * list.elements / list.runs.size());
        // That of the fastest listed dimension.
        words[first_of_dims + static_cast<std::size_t>(held.front().list->dims.back())] = -1;
        return words;
    }
    for (std::size_t d = 0; d < v->shape.size(); ++d)
        words[first_of_dims + d] = -(held.front().box.low[d] > 0 ? rank : ranks);
    return words;
}

Held held_of(const Definitions& definitions, std::span<const std::int64_t> words, int ranks) {
    Held held;
    const Variable* const v = largest_of(definitions);
    if (v == nullptr || words[irregular] != 0) return held;
    std::vector<std::int64_t> strides;
    for (std::size_t d = 0; d < v->shape.size(); ++d) {
        const std::int64_t word = words[first_of_dims + d];
        strides.push_back(word == INT64_MIN ? ranks : -word);
    }
    if (words[listed] == 0) {
        held.regular = ranks > 1 && find_grid(definitions, *v, strides, ranks, held);
        return held;
    }
    if (words[negative_run] == INT64_MIN) return held;
    held.list_run = std::max(1.0, -static_cast<double>(words[negative_run]) / run_unit);
    for (std::size_t d = 0; d < strides.size(); ++d)
        if (strides[d] == 1) held.grid = {{dim_at(definitions, *v, d), ranks}};
    held.regular = !held.grid.empty();
    return held;
}

bool describe_run(const FileOptions& options, const Definitions& definitions,
                  const Surroundings& around, const Held& held, planning::Run& run) {
    const Machine* const machine = around.machine;
    if (machine == nullptr || !held.regular || machine->nodes != around.nodes) return false;
    const Folder* const folder = machine->folder_of(around.folder, around.file_system.name);
    if (folder == nullptr) return false;
    run.ranks = around.ranks;
    run.nodes = around.nodes;
    run.cores = std::max(1, machine->cores);
    run.machine = *machine;
    run.folder = *folder;
    run.file_system = around.file_system;
    run.stripe_size = around.stripe_size;
    run.outputs = 1000;  // creating the file is the same for all ways
    run.writers = options.writers;
    run.durable = options.durable;
    run.limits.buffer = options.buffer;
    run.limits.staging = options.staging;
    if (options.piece > 0) run.limits.piece = options.piece;
    run.grid = held.grid;
    run.list_run = held.list_run;
    for (const Dimension& d : definitions.dims) {
        run.dimensions.push_back(d.name);
        run.lengths.push_back(std::max<std::int64_t>(1, d.length));
    }
    for (const Variable& v : definitions.variables) {
        if (!v.record || v.elements() == 0) continue;
        planning::RunVariables of;
        of.element = v.element();
        for (std::size_t d = 0; d < v.shape.size(); ++d)
            of.dims.push_back(dim_at(definitions, v, d));
        auto& all = run.variables;
        if (!all.empty() && all.back().element == of.element && all.back().dims == of.dims)
            ++all.back().count;
        else
            all.push_back(std::move(of));
    }
    return !run.variables.empty();
}

}  // namespace thalweg::detail
