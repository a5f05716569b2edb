// SPDX-License-Identifier: Apache-2.0
#include "repack/output.hpp"

#include <sys/stat.h>

#include "base/log.hpp"
#include "storage/chunked/chunk_grid.hpp"
#include "storage/posix/file_system.hpp"
#include "storage/posix/paths.hpp"

namespace thalweg::app {

using namespace detail;

namespace {

bool same_file(const std::string& a, const std::string& b) {
    struct stat of_a {
    }, of_b{};
    return stat(a.c_str(), &of_a) == 0 && stat(b.c_str(), &of_b) == 0 &&
           of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

}  // namespace

Status check_not_input(const std::vector<std::string>& inputs, const std::string& output) {
    std::string own;
    if (Status status = follow_links(output, own); !status.ok()) return status;
    for (const std::string& path : inputs)
        for (const std::string& written : {own, temporary_path(own)})
            if (path == written || same_file(path, written))
                return failure(TW_EARG, "{} and {} are the same file", path, written);
    return {};
}

Output::Output(Comm& comm, std::string path, const Definitions& definitions)
    : comm_(comm), path_(std::move(path)), definitions_(definitions) {}

/// Claims the name of the output on rank 0, and broadcasts the path of its data.
Status Output::claim(bool folder) {
    std::vector<char> bytes;
    Status status;
    if (comm_.rank() == 0) {
        ClaimRequest request;
        request.path = path_;
        request.folder = folder;
        std::vector<std::string> said;
        std::string of_stripes;
        status = Claim::take(request, claim_, said, of_stripes);
        for (const std::string& line : said) log::warn("{}: {}", path_, line);
        if (claim_) bytes.assign(claim_->data_path().begin(), claim_->data_path().end());
    }
    if (status = agree(comm_, status); !status.ok()) return status;
    comm_.broadcast(bytes, 0);
    data_path_.assign(bytes.begin(), bytes.end());
    return {};
}

void Output::choose_writers() {
    char parallel = 0;
    if (comm_.rank() == 0)
        parallel = file_system_at(folder_of(data_path_)).sharing == Sharing::parallel ? 1 : 0;
    comm_.broadcast(&parallel, 1, 0);
    std::int64_t first = comm_.rank();  // first rank of the node
    comm_.split_shared()->all_reduce({&first, 1}, Reduce::min);
    const std::int64_t writes = parallel != 0 || first == 0 ? 1 : 0;
    writer_ = comm_.sum_before(writes);
    writers_ = writes;
    comm_.all_reduce({&writers_, 1}, Reduce::sum);
    if (writes == 0) writer_ = -1;
}

Status Output::create(StorageOptions options) {
    zarr_ = options.format == Format::zarr;
    if (Status status = claim(zarr_); !status.ok()) return status;
    choose_writers();
    options.writers = static_cast<int>(writers_);
    storage_ = make_storage(is_netcdf4(options.format) ? "netcdf4" : zarr_ ? "zarr" : "posix");
    Status status = storage_->create(comm_, data_path_, definitions_, options, writer_ >= 0, map_);
    if (claim_ && !status.ok()) claim_->discard();
    return status;
}

std::int64_t Output::records_in_chunk(int variable) const {
    const auto stored = storage_->stored(variable);
    const bool record = definitions_.variables[static_cast<std::size_t>(variable)].record;
    return record && stored && !stored->chunk.empty() && !zarr_ ? stored->chunk.front() : 1;
}

std::int64_t Output::unit(int variable) const {
    const auto at = static_cast<std::size_t>(variable);
    if (map_.grain.empty()) return 1;
    return map_.grain[at] / static_cast<std::int64_t>(definitions_.variables[at].element());
}

std::int64_t Output::band(int variable) const {
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    return zarr_ ? grid_of(v, storage_->stored(variable)->chunk).band : unit(variable);
}

std::int64_t Output::padding(int variable, std::int64_t first, std::int64_t elements) const {
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    const std::int64_t bytes = v.elements() * static_cast<std::int64_t>(v.element());
    if (first + elements < v.elements()) return 0;
    return map_.padded[static_cast<std::size_t>(variable)] - bytes;
}

Chunk Output::chunk(int variable, std::int64_t record, std::int64_t first, std::int64_t elements,
                    char* data) const {
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    const auto size = static_cast<std::int64_t>(v.element());
    const std::int64_t own = elements * size, padding = this->padding(variable, first, elements);
    const FillValue fill = v.fill_value(order());
    for (std::int64_t b = 0; b < padding; ++b)
        data[own + b] = fill[static_cast<std::size_t>(b % size)];
    Chunk c;
    c.variable = variable;
    c.record = record;
    c.first = first;
    c.elements = elements;
    c.offset = map_.offset[static_cast<std::size_t>(variable)] +
               (v.record ? record * map_.record_bytes : 0) + first * size;
    c.data = data;
    c.bytes = own + padding;
    return c;
}

Status Output::write_together(const Status& mine, std::span<const Chunk> chunks) {
    Status status = mine;
    if (status.ok() && !chunks.empty()) status = storage_->write(chunks);
    if (Placement* const placement = storage_->placement())
        status = place_chunks(comm_, 0, *placement, std::move(status));
    return agree(comm_, status);
}

Status Output::count(std::int64_t records, bool all) {
    if (all) storage_->complete_records();
    Status status = storage_->end_unit(records, true);
    if (Placement* const placement = storage_->placement())
        status = place_chunks(comm_, 0, *placement, std::move(status));
    if (status = agree(comm_, status); !status.ok()) return status;
    if (all) storage_->complete_records();
    return agree(comm_, storage_->set_records(records, false));
}

Status Output::finish(const Status& mine, std::int64_t records) {
    Status status = agree(comm_, mine);
    if (status.ok()) status = count(records, true);
    if (status.ok()) status = agree(comm_, storage_->close(records, {}));
    if (claim_ && status.ok()) status = claim_->publish(false);
    status = agree(comm_, status);
    if (claim_ && !status.ok()) claim_->discard();
    return status;
}

}  // namespace thalweg::app
