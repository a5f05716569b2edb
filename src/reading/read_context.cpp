// SPDX-License-Identifier: Apache-2.0
#include "reading/read_context.hpp"

#include <algorithm>

#include "definitions/definitions.hpp"

namespace thalweg::detail {

namespace {

/// Number of bytes that Linux reads ahead in a file by default.
constexpr std::int64_t default_run = std::int64_t(128) << 10;

/// Size in bytes of a read without an exchange. It fits into the second-level cache.
constexpr std::int64_t straight_piece = std::int64_t(512) << 10;

}  // namespace

bool ReadContext::reads() const {
    return std::find(readers.begin(), readers.end(), team.rank()) != readers.end();
}

Status ReadContext::find(const std::string& name, int& number) const {
    number = source->definitions().find_variable(name);
    if (number >= 0) return {};
    if (const std::string why = missing(source->contents(), name); !why.empty())
        return failure(TW_EUNSUPPORTED, "{}: '{}': {} (rank {})", path, name, why,
                       OfRank{team.rank()});
    return no_variable(source->definitions(), path, name, team.rank());
}

Status ReadContext::check_type(int number, int type) const {
    const Variable& v = variable(number);
    if (!valid_type(type)) return failure(TW_ETYPE, "{}", no_type(type));
    if (!valid_type(v.type)) return source->check(number, 0);
    if ((type == TW_CHAR) == (v.type == TW_CHAR)) return {};
    return failure(TW_ETYPE, "it has type {}, not {}", name_of(v.type),
                   name_of(static_cast<tw_type>(type)));
}

tw_type ReadContext::type_of_array(int number, int type) const {
    const bool same = variable(number).type == TW_BYTE && type == TW_UBYTE;
    return same && !has_new_types(source->contents().format) ? TW_BYTE : static_cast<tw_type>(type);
}

Status ReadContext::with_place(Status status, int number) const {
    if (!status.ok())
        reword(status, "{}: variable '{}': {} (rank {})", OfFile{path},
               OfVariable{variable(number).name}, status.text, OfRank{team.rank()});
    return status;
}

StreamOptions ReadContext::stream_options() const {
    StreamOptions stream;
    stream.budget = options.buffer * std::ssize(team.topology().members);
    stream.piece = std::max<std::int64_t>(0, options.piece);
    return stream;
}

std::int64_t ReadContext::shortest_run() const {
    return options.straight < 0 ? default_run : options.straight;
}

std::span<char> ReadContext::straight_buffer() {
    if (buffer.empty()) {
        const std::int64_t piece = options.piece > 0 ? options.piece : straight_piece;
        buffer.resize(std::clamp<std::int64_t>(piece, 8, options.buffer));
    }
    return buffer;
}

VariableSlot place_of(const Box& box, std::int64_t element, std::int64_t grain) {
    VariableSlot place;
    place.element = element;
    place.bytes = box.volume() * element;
    place.padded = (place.bytes + 3) / 4 * 4;
    place.shape.assign(box.count.begin(), box.count.begin() + box.nd);
    place.grain = grain;
    return place;
}

void add(ReadFigures& figures, const StreamCounts& counts) {
    figures.unpack += counts.pack + counts.move;
    figures.wait += counts.wait;
    figures.messages += counts.messages;
    figures.message_bytes += counts.message_bytes;
}

}  // namespace thalweg::detail
