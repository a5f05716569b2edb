// SPDX-License-Identifier: Apache-2.0
#include "show/png.hpp"

#include <algorithm>
#include <string_view>

namespace thalweg::app {

namespace {

void append_big_endian(std::string& bytes, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
}

/// Returns the checksum of a chunk (ISO 3309).
std::uint32_t crc_of(std::string_view bytes) {
    std::uint32_t crc = ~0U;
    for (const char byte : bytes) {
        crc ^= static_cast<std::uint8_t>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0);
    }
    return ~crc;
}

std::string chunk(const std::string& type, const std::string& data) {
    std::string bytes;
    append_big_endian(bytes, static_cast<std::uint32_t>(data.size()));
    bytes += type + data;
    append_big_endian(bytes, crc_of(type + data));
    return bytes;
}

/// Returns a zlib stream (RFC 1950) that contains the data without compression.
std::string stored(std::string_view data) {
    std::string stream = "\x78\x01";
    std::uint32_t a = 1, b = 0;  // Adler-32
    for (const char byte : data) {
        a = (a + static_cast<std::uint8_t>(byte)) % 65521;
        b = (b + a) % 65521;
    }
    do {
        const std::string_view block = data.substr(0, 0xFFFF);
        data.remove_prefix(block.size());
        const auto n = static_cast<std::uint32_t>(block.size());
        for (const std::uint32_t byte : {data.empty() ? 1U : 0U, n, n >> 8, ~n, ~n >> 8})
            stream += static_cast<char>(byte);
        stream += block;
    } while (!data.empty());
    append_big_endian(stream, b << 16 | a);
    return stream;
}

}  // namespace

std::string png_of(const Picture& picture) {
    std::string header, colours, lines;
    append_big_endian(header, static_cast<std::uint32_t>(picture.columns));
    append_big_endian(header, static_cast<std::uint32_t>(picture.rows));
    // 8 bits per pixel, which are an index of a colour; the only compression and filter methods of
    // PNG; not interlaced.
    header += std::string("\x08\x03\0\0\0", 5);
    for (const Colour& colour : picture.colours) colours.append(colour.begin(), colour.end());
    for (std::int64_t r = 0; r < picture.rows; ++r) {
        lines += '\0';  // unfiltered
        const auto begin = picture.pixels.begin() + r * picture.columns;
        lines.append(begin, begin + picture.columns);
    }
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("PLTE", colours) +
           chunk("IDAT", stored(lines)) + chunk("IEND", "");
}

}  // namespace thalweg::app
