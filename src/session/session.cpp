// SPDX-License-Identifier: Apache-2.0
#include "session/session.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

using namespace thalweg;

Memory* tw_session_impl::arena(Status& status) {
    if (!memory) {
        const auto members = static_cast<std::int64_t>(team->topology().members.size());
        memory = team->node().share(static_cast<std::size_t>(settings.number("buffer") * members));
        Status mine;
        if (!memory)
            mine = failure(TW_ENOMEM, "cannot allocate {} bytes shared by the ranks of a node",
                           settings.number("buffer") * members);
        status = team->agree(mine);
        if (!status.ok()) memory.reset();
    }
    return memory.get();
}

Background* tw_session_impl::background(Status& status) {
    if (!threads) threads = Background::make(*team, status);
    return threads.get();
}

Packers& tw_session_impl::packers() {
    if (!packer_threads) {
        const auto asked = static_cast<int>(std::max<std::int64_t>(0, settings.number("threads")));
        const auto sharers = static_cast<int>(team->topology().members.size());
        const int allowed = allowed_threads(asked, sharers);
        if (allowed < asked && team->rank() == 0)
            spdlog::info("threads is {}: {} ranks a node leave processors for {}", asked, sharers,
                         allowed);
        packer_threads = std::make_unique<Packers>(allowed);
    }
    return *packer_threads;
}

FileOptions tw_session_impl::options_for(const Settings& s) const {
    FileOptions o;
    o.method = s.text("method");
    o.storage = s.text("storage");
    o.format = s.text("format");
    o.writers = s.text("writers");
    o.writer_first = s.number("writer_first");
    o.writer_stride = s.number("writer_stride");
    o.stripe_count = s.number("stripe_count");
    o.stripe_size = s.number("stripe_size");
    o.tiles = s.text("tiles");
    o.tile_files = s.flag("tile_files");
    o.readers = s.text("readers");
    o.read_ahead = s.flag("read_ahead");
    o.alignment = s.number("alignment");
    o.piece = s.number("piece");
    o.straight = s.number("straight");
    o.buffer = s.number("buffer");
    o.staging = s.number("staging");
    o.header_pad = s.number("header_pad");
    o.pnetcdf_blocking = s.text("pnetcdf_mode") == "blocking";
    o.append = s.text("mode") == "append";
    o.live = s.text("publish") == "live";
    o.durable = s.flag("durable");
    o.service = s.text("service");
    o.queue = s.number("queue");
    o.queue_inline = s.text("queue_full") == "inline";
    o.bandwidth = s.number("bandwidth");
    for (const char* name : {"deflate", "shuffle", "zstd", "quantize", "chunks"})
        if (s.given(name)) o.packing[name] = s.text(name);
    return o;
}

const std::string& tw_session_impl::summarize() {
    std::vector<FileFigures> figures = finished;
    std::vector<ReadFigures> inputs = finished_inputs;
    for (const auto& f : files) {
        if (f->file) figures.push_back(f->file->figures());
        if (f->reader) inputs.push_back(f->reader->figures());
    }
    summary = thalweg::summarize(team->world(), figures, inputs);
    return summary;
}
