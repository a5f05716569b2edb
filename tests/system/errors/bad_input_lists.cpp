// Bad input of lists of indices.
//
// SPDX-License-Identifier: Apache-2.0
#include "bad_input.hpp"

namespace bad_input {

void lists() {
    Session s;
    tw_decomposition d = nullptr;
    const std::int64_t p = ranks();
    const bool bad = rank() == last_rank();
    const Numbers shape{4, 2 * p, 5};  // z y x
    const auto list = [&](const Numbers& own, tw_list_kind kind = TW_LIST_UNIQUE) {
        return tw_decompose_list(s, "z y x", shape.data(), "y x",
                                 static_cast<std::int64_t>(own.size()), own.data(), kind, &d);
    };
    const Numbers good{10 * rank(), 10 * rank() + 7, -1};
    {  // on one rank, indices are outside the shape
        for (const std::int64_t index : {10 * p, std::int64_t{-2}, huge, -huge}) {
            Numbers own = good;
            if (bad) own.insert(own.begin() + 1, index);
            ALL(s, TW_EBOUNDS,
                WORDS(rank_word(last_rank()), "position 1", std::to_string(index),
                      std::to_string(10 * p - 1)),
                list(own));
            CHECK(d == nullptr);
        }
    }
    {  // an index occurs twice: on one rank, and on two ranks
        Numbers own = good;
        if (bad) own.push_back(good[1]);
        ALL(s, TW_EOVERLAP,
            WORDS(rank_word(last_rank()), "positions 1 and 3", std::to_string(10 * (p - 1) + 7),
                  std::to_string(2 * (p - 1) + 1) + ", 2"),
            list(own));
        own = good;
        if (bad) own.insert(own.begin(), 7);
        if (p > 1)
            ALL(s, TW_EOVERLAP,
                WORDS("index 7 (1, 2)", "rank 0, at position 1",
                      "rank " + std::to_string(last_rank()) + ", at position 0"),
                list(own));
    }
    {  // names, pointers and flags
        const auto named = [&](const char* dims, const char* listed) {
            return tw_decompose_list(s, dims, shape.data(), listed, 3, good.data(), TW_LIST_UNIQUE,
                                     &d);
        };
        ALL(s, TW_EARG, {"z x"}, named("z y x", "z x"));
        ALL(s, TW_EARG, {"x y"}, named("z y x", "x y"));
        ALL(s, TW_EARG, {"q"}, named("z y x", "q"));
        ALL(s, TW_EARG, {}, named("z y x", ""));
        ALL(s, TW_EARG, {}, named("z y x", nullptr));
        ALL(s, TW_EARG, {}, named("", "x"));
        ALL(s, TW_EEXISTS, {"y"}, named("y y x", "x"));
        ALL(s, TW_EARG, {"7"}, list(good, static_cast<tw_list_kind>(7)));
        ALL(s, TW_EARG, {},
            tw_decompose_list(s, "z y x", shape.data(), "y x", 3, bad ? nullptr : good.data(),
                              TW_LIST_UNIQUE, &d));
        ALL(s, TW_EARG, {"-5"},
            tw_decompose_list(s, "z y x", shape.data(), "y x", bad ? -5 : 3, good.data(),
                              TW_LIST_UNIQUE, &d));
        ALL(s, TW_EARG, {},
            tw_decompose_list(s, "z y x", bad ? nullptr : shape.data(), "y x", 3, good.data(),
                              TW_LIST_UNIQUE, &d));
        ALL(s, TW_EARG, {},
            tw_decompose_list(s, "z y x", shape.data(), "y x", 3, good.data(), TW_LIST_UNIQUE,
                              bad ? nullptr : &d));
        const Numbers wide{std::int64_t{1} << 31, std::int64_t{1} << 40};
        ALL(s, TW_ESHAPE, {},
            tw_decompose_list(s, "z x", wide.data(), "x", 0, nullptr, TW_LIST_UNIQUE, &d));
        if (p > 1) {
            ALL(s, TW_EMISMATCH, WORDS(rank_word(last_rank())), named("z y x", bad ? "x" : "y x"));
            ALL(s, TW_EMISMATCH, WORDS(rank_word(last_rank()), "shared"),
                list(good, bad ? TW_LIST_SHARED : TW_LIST_UNIQUE));
        }
        HERE(s, TW_EHANDLE, {},
             tw_decompose_list(nullptr, "x", shape.data(), "x", 0, nullptr, TW_LIST_UNIQUE, &d));
    }
    // Equal declarations give the same decomposition. One with shared indices cannot be used for
    // writing.
    OK_ALL(s, list(good));
    const tw_decomposition first = d;
    OK_ALL(s, list(good));
    CHECK(first != d);
    tw_decomposition shared = nullptr;
    OK_ALL(s, list(Numbers{3, 3, -1}, TW_LIST_SHARED));
    std::swap(shared, d);
    const tw_edge edges[] = {TW_HALO_CLIP, TW_HALO_CLIP, TW_HALO_CLIP};
    ALL(s, TW_EARG, {"halo"}, tw_fill_halo(first, edges));
    tw_file f = nullptr;
    OK_ALL(s, tw_create(s, (folder + "/lists.nc").c_str(), nullptr, &f));
    HERE(s, TW_EOVERLAP, WORDS("v", "TW_LIST_SHARED"), tw_def_var(f, "v", TW_INT, "z y x", shared));
    HERE(s, TW_ESHAPE, WORDS("v", "z y x"), tw_def_var(f, "v", TW_INT, "z y", first));
    OK_ALL(s, tw_def_var(f, "v", TW_INT, "z y x", first));
    OK_ALL(s, tw_enddef(f));
    // arrays of another size or form; there are 3 positions and 4 levels
    std::vector<int> array(40, 1);
    const Numbers extent{4, 3, 1}, wrong{3, 4}, stride{12, 4, 4};
    const int codes[] = {
        tw_put(f, "v", TW_INT, array.data(), 11),
        tw_put_array(f, "v", tw_strided(TW_INT, array.data(), 3, extent.data(), stride.data()),
                     TW_DEFERRED),
        tw_put_array(f, "v", tw_strided(TW_INT, array.data(), 2, wrong.data(), stride.data()),
                     TW_DEFERRED)};
    for (const int code : codes) {
        ++check::state.checks;
        if (code != TW_ESHAPE)
            check::fail(__FILE__, __LINE__,
                        check::text("an array of another form gave %s", tw_strerror(code)));
    }
    OK_ALL(s,
           tw_put_array(f, "v", tw_strided(TW_INT, array.data(), 2, extent.data(), stride.data()),
                        TW_DEFERRED));
    OK_ALL(s, tw_close(&f));
}

}  // namespace bad_input
