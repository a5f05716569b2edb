// Tests blocks of different sizes in padded arrays, as models with blocks use them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "forms.hpp"

namespace forms {

/// Blocks of 4 x 6 with a halo, smaller in the last row and column, which the ranks have in turn. A
/// rank's arrays have space for more blocks than it has.
struct Blocks {
    static constexpr std::int64_t rows = 4, columns = 6;
    Numbers shape, low{1, 2}, high{2, 1}, start, count;
    std::int64_t boxes = 0, room = 0;
    tw_decomposition handle = nullptr;

    explicit Blocks(Model& m, bool padded = true) {
        const std::int64_t down = m.size + 1, across = 3;
        shape = {rows * (down - 1) + 3, columns * (across - 1) + 2};
        for (std::int64_t b = m.rank; b < down * across; b += m.size) {
            const std::int64_t at[2] = {b / across * rows, b % across * columns};
            start.insert(start.end(), {at[0], at[1]});
            count.insert(count.end(),
                         {std::min(rows, shape[0] - at[0]), std::min(columns, shape[1] - at[1])});
            ++boxes;
        }
        room = down * across / m.size + 2;
        OK(tw_decompose_halo(m.session, "y x", static_cast<int>(boxes), shape.data(), start.data(),
                             count.data(), low.data(), high.data(), &handle));
        if (padded) OK(tw_pad(handle, extent().data(), room));
    }
    Numbers extent() const { return {rows + low[0] + high[0], columns + low[1] + high[1]}; }
    std::size_t at(std::int64_t b, std::int64_t j, std::int64_t i) const {
        return static_cast<std::size_t>((b * extent()[0] + j) * extent()[1] + i);
    }
    std::vector<double> junk_array() const { return std::vector<double>(at(room, 0, 0), junk); }
    /// Calls visit(position in the whole array, global j, global i) for each held element.
    template <class Visit>
    void for_held(Visit&& visit) const {
        for (std::int64_t b = 0; b < boxes; ++b)
            for (std::int64_t j = 0; j < count[static_cast<std::size_t>(2 * b)]; ++j)
                for (std::int64_t i = 0; i < count[static_cast<std::size_t>(2 * b + 1)]; ++i)
                    visit(at(b, j + low[0], i + low[1]), start[static_cast<std::size_t>(2 * b)] + j,
                          start[static_cast<std::size_t>(2 * b + 1)] + i);
    }
    std::vector<double> values(std::int64_t record) const {
        std::vector<double> array = junk_array();
        for_held([&](std::size_t at, std::int64_t j, std::int64_t i) {
            array[at] = value(record, j, i);
        });
        return array;
    }
};

/// Writes and reads whole arrays with unused boxes, with used boxes only, and without the halo.
void padded(Model& m, const std::string& settings) {
    const Blocks b(m);
    const std::string path = folder + "/padded.nc";
    const Numbers extent{b.room, b.extent()[0], b.extent()[1]}, stride = dense_strides(extent);
    tw_file f = nullptr;
    OK(tw_create(m.session, path.c_str(), settings.c_str(), &f));
    OK(tw_def_var(f, "T", TW_DOUBLE, "time y x", b.handle));
    std::vector<double> array[5];
    for (std::int64_t r = 0; r < 5; ++r) array[r] = b.values(r);
    const std::int64_t box = extent[1] * extent[2];
    OK(tw_put(f, "T", TW_DOUBLE, array[0].data(), b.room * box));
    OK(tw_end_step(f));
    OK(tw_put_array(f, "T", tw_dense(TW_DOUBLE, array[1].data(), b.boxes * box), TW_DEFERRED));
    OK(tw_end_step(f));
    OK(tw_put_array(f, "T", tw_strided(TW_DOUBLE, array[2].data(), 3, extent.data(), stride.data()),
                    0));
    OK(tw_end_step(f));
    const Numbers used{b.boxes, extent[1], extent[2]};
    OK(tw_put_array(f, "T", tw_strided(TW_DOUBLE, array[3].data(), 3, used.data(), stride.data()),
                    TW_DEFERRED));
    OK(tw_end_step(f));
    const Numbers inner{b.room, Blocks::rows, Blocks::columns};
    OK(tw_put_array(f, "T",
                    tw_strided(TW_DOUBLE, &array[4][b.at(0, b.low[0], b.low[1])], 3, inner.data(),
                               stride.data()),
                    0));
    OK(tw_end_step(f));
    const Numbers odd{b.room, Blocks::rows + 1, Blocks::columns};
    if (b.boxes > 0) {
        HERE(TW_ESHAPE, WORDS(", 7, 9)", ", 4, 6) without halo", std::to_string(b.room)),
             tw_put_array(f, "T",
                          tw_strided(TW_DOUBLE, array[4].data(), 3, odd.data(), stride.data()),
                          TW_DEFERRED));
        HERE(TW_ESHAPE, WORDS("T", std::to_string(b.room * box + 1)),
             tw_put_array(f, "T", tw_dense(TW_DOUBLE, array[4].data(), b.room * box + 1),
                          TW_DEFERRED));
    }
    ALL(TW_OK, {}, tw_close(&f));
    expect_records(m, path, b.shape, 5);

    OK(tw_open(m.session, path.c_str(), "", &f));
    for (const bool dense : {true, false}) {
        std::vector<double> got = b.junk_array();
        if (dense)
            OK(tw_get(f, "T", b.handle, 3, TW_DOUBLE, got.data(), b.room * box));
        else
            OK(tw_get_array(f, "T", b.handle, 3,
                            tw_strided(TW_DOUBLE, got.data(), 3, extent.data(), stride.data()), 0));
        CHECK(got == array[3]);  // elements outside of all boxes must not change
    }
    ALL(TW_OK, {}, tw_close(&f));
}

/// Tests that the halo of a padded box is filled like any other.
void padded_halos(Model& m, const std::string& settings) {
    const Blocks b(m);
    const std::string path = folder + "/halos.nc";
    tw_file f = nullptr;
    OK(tw_create(m.session, path.c_str(), settings.c_str(), &f));
    OK(tw_def_var(f, "T", TW_DOUBLE, "time y x", b.handle));
    const std::vector<double> values = b.values(0);
    OK(tw_put(f, "T", TW_DOUBLE, values.data(), static_cast<std::int64_t>(values.size())));
    OK(tw_end_step(f));
    ALL(TW_OK, {}, tw_close(&f));
    const tw_edge edges[] = {TW_HALO_CLIP, TW_HALO_PERIODIC};
    OK(tw_fill_halo(b.handle, edges));
    OK(tw_open(m.session, path.c_str(), "", &f));
    std::vector<double> got = b.junk_array();
    OK(tw_get(f, "T", b.handle, 0, TW_DOUBLE, got.data(), static_cast<std::int64_t>(got.size())));
    ALL(TW_OK, {}, tw_close(&f));
    int wrong = 0;
    for (std::int64_t k = 0; k < b.room; ++k)
        for (std::int64_t j = 0; j < b.extent()[0]; ++j)
            for (std::int64_t i = 0; i < b.extent()[1]; ++i) {
                double wanted = junk;
                if (k < b.boxes) {
                    const auto c = static_cast<std::size_t>(2 * k);
                    const std::int64_t y = b.start[c] + j - b.low[0];
                    const std::int64_t x = b.start[c + 1] + i - b.low[1];
                    const bool inside = j < b.low[0] + b.count[c] + b.high[0] &&
                                        i < b.low[1] + b.count[c + 1] + b.high[1] && y >= 0 &&
                                        y < b.shape[0];
                    if (inside) wanted = value(0, y, (x + b.shape[1]) % b.shape[1]);
                }
                wrong += got[b.at(k, j, i)] != wanted;
            }
    CHECK_TEXT(wrong == 0, "%d wrong values with halos", wrong);
}

/// Tests whole arrays of blocks, with a decomposition that has no padding.
void blocks_without_padding(Model& m, const std::string& settings) {
    const Blocks b(m, false);
    tw_decomposition bare = nullptr;
    OK(tw_decompose(m.session, "y x", static_cast<int>(b.boxes), b.shape.data(), b.start.data(),
                    b.count.data(), &bare));
    tw_file f = nullptr;
    OK(tw_create(m.session, (folder + "/bare.nc").c_str(), settings.c_str(), &f));
    OK(tw_def_var(f, "T", TW_DOUBLE, "time y x", bare));
    OK(tw_def_var(f, "H", TW_DOUBLE, "time y x", b.handle));
    ALL(TW_OK, {}, tw_enddef(f));
    const std::vector<double> array = b.values(0);
    const Numbers stride = dense_strides({b.room, b.extent()[0], b.extent()[1]});
    for (const std::int64_t boxes : {b.room, b.boxes}) {
        const Numbers extent{boxes, b.extent()[0], b.extent()[1]};
        HERE(TW_ESHAPE, WORDS("T", "(" + std::to_string(boxes) + ", 7, 9)", "tw_pad"),
             tw_put_array(f, "T",
                          tw_strided(TW_DOUBLE, array.data(), 3, extent.data(), stride.data()),
                          TW_DEFERRED));
    }
    const Numbers extent{b.room, b.extent()[0], b.extent()[1]};
    HERE(TW_ESHAPE, WORDS("H", "(" + std::to_string(b.room), "tw_pad"),
         tw_put_array(f, "H", tw_strided(TW_DOUBLE, array.data(), 3, extent.data(), stride.data()),
                      TW_DEFERRED));
    HERE(TW_ESHAPE, {"T"},
         tw_put_array(f, "T", tw_dense(TW_DOUBLE, array.data(), b.room * 63), TW_DEFERRED));
    ALL(TW_OK, {}, tw_close(&f));
}

void bad_padding(Model& m, const std::string&) {
    const Blocks b(m, false);
    const Numbers good = b.extent();
    ALL(TW_EARG, {}, tw_pad(b.handle, nullptr, b.room));
    ALL(TW_ESHAPE, WORDS("'x'", "8", "halo", "rank"),
        tw_pad(b.handle, Numbers{good[0], good[1] - 1}.data(), b.room));
    ALL(TW_ESHAPE, {"-1"}, tw_pad(b.handle, Numbers{-1, good[1]}.data(), b.room));
    ALL(TW_ESHAPE, WORDS("boxes is", "rank 0"),
        tw_pad(b.handle, good.data(), m.rank == 0 ? b.boxes - 1 : b.room));
    ALL(TW_ESHAPE, {}, tw_pad(b.handle, good.data(), -1));
    ALL(TW_ESHAPE, {}, tw_pad(b.handle, good.data(), INT64_MAX / 8));
    if (m.size > 1)
        ALL(TW_EMISMATCH, WORDS("'y'", "7", "9"),
            tw_pad(b.handle, Numbers{m.rank == 0 ? 9 : 7, 9}.data(), b.room));
    ALL(TW_OK, {}, tw_pad(b.handle, good.data(), b.room));
    CHECK(tw_pad(nullptr, good.data(), b.room) == TW_EHANDLE);
}

}  // namespace forms
