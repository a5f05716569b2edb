// Bad input before the definitions end: decompositions, settings, paths, definitions.
// SPDX-License-Identifier: Apache-2.0
#include "bad_input.hpp"

namespace bad_input {

// ---- decompositions ----------------------------------------------------------------------------

void decompositions() {
    Session s;
    tw_decomposition d = nullptr;
    const std::int64_t p = ranks();
    {  // each rank holds its own element and that of its neighbour
        const Numbers shape{p + 1};
        const Numbers start{static_cast<std::int64_t>(rank())};
        const Numbers count{2};
        if (p > 1)
            ALL(s, TW_EOVERLAP, WORDS("rank 0", "rank 1", "x"),
                tw_decompose(s, "x", 1, shape.data(), start.data(), count.data(), &d));
        CHECK(d == nullptr);
    }
    {  // two blocks of the last rank share a corner
        const Numbers shape{10, 10};
        const Numbers start{0, 0, 4, 4};
        const Numbers count{5, 5, 5, 5};
        ALL(s, TW_EOVERLAP, WORDS(rank_word(last_rank()), "4, 4"),
            tw_decompose(s, "y x", rank() == last_rank() ? 2 : 0, shape.data(), start.data(),
                         count.data(), &d));
    }
    {  // all ranks hold all elements
        const Numbers shape{7, 3, 5};
        const Numbers start{0, 0, 0};
        if (p > 1)
            ALL(s, TW_EOVERLAP, {"rank"},
                tw_decompose(s, "z y x", 1, shape.data(), start.data(), shape.data(), &d));
    }
    {  // on one rank, blocks are outside the shape
        const Numbers shape{100};
        const bool bad = rank() == last_rank();
        for (const auto& [from, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{
                 {98, 5}, {-1, 2}, {100, 1}, {huge, 1}, {1, huge}, {huge, huge}}) {
            const Numbers start{bad ? from : rank()};
            const Numbers count{bad ? n : 1};
            ALL(s, TW_EBOUNDS,
                WORDS(rank_word(last_rank()), "x", std::to_string(from), from < 0 ? "" : "100"),
                tw_decompose(s, "x", 1, shape.data(), start.data(), count.data(), &d));
        }
        const Numbers start{rank()};
        const Numbers count{bad ? -3 : 1};
        ALL(s, CODES(TW_ESHAPE, TW_EARG), WORDS(rank_word(last_rank()), "-3"),
            tw_decompose(s, "x", 1, shape.data(), start.data(), count.data(), &d));
    }
    if (p > 1) {  // the ranks disagree
        const Numbers shape{rank() == last_rank() ? 21 : 20, 5};
        ALL(s, TW_EMISMATCH, WORDS(rank_word(last_rank()), "20", "21"),
            tw_decompose(s, "y x", 0, shape.data(), nullptr, nullptr, &d));
        const Numbers same{20, 5};
        ALL(s, TW_EMISMATCH, WORDS(rank_word(last_rank()), "lat", "row"),
            tw_decompose(s, rank() == last_rank() ? "row x" : "lat x", 0, same.data(), nullptr,
                         nullptr, &d));
        ALL(s, TW_EMISMATCH, WORDS(rank_word(last_rank())),
            tw_decompose(s, rank() == last_rank() ? "x y" : "y x", 0, same.data(), nullptr, nullptr,
                         &d));
        ALL(s, TW_EMISMATCH, WORDS(rank_word(last_rank())),
            tw_decompose(s, rank() == last_rank() ? "y" : "y x", 0, same.data(), nullptr, nullptr,
                         &d));
    }
    {  // invalid lengths
        for (const std::int64_t bad :
             {std::int64_t{0}, std::int64_t{-4}, std::numeric_limits<std::int64_t>::min()}) {
            const Numbers shape{5, bad};
            ALL(s, CODES(TW_ESHAPE, TW_EARG), WORDS("x", std::to_string(bad)),
                tw_decompose(s, "y x", 0, shape.data(), nullptr, nullptr, &d));
        }
        const Numbers shape{std::int64_t{1} << 40, std::int64_t{1} << 40};
        ALL(s, CODES(TW_ESHAPE, TW_EARG), {"1099511627776"},
            tw_decompose(s, "y x", 0, shape.data(), nullptr, nullptr, &d));
    }
    {  // names
        const Numbers shape(40, 1), unlike{2, 3};
        ALL(s, TW_ESHAPE, {"'lon' is named twice in 'lon lon', with lengths 2 and 3"},
            tw_decompose(s, "lon lon", 0, unlike.data(), nullptr, nullptr, &d));
        ALL(s, TW_EARG, {}, tw_decompose(s, "", 0, shape.data(), nullptr, nullptr, &d));
        ALL(s, TW_EARG, {}, tw_decompose(s, "  ", 0, shape.data(), nullptr, nullptr, &d));
        std::string many;
        for (int i = 0; i < 40; ++i) many += " d" + std::to_string(i);
        ALL(s, CODES(TW_EARG, TW_EUNSUPPORTED, TW_ESHAPE), {"40"},
            tw_decompose(s, many.c_str(), 0, shape.data(), nullptr, nullptr, &d));
    }
    {  // null pointers, on one rank
        const Numbers shape{50};
        const Numbers start{rank()};
        const Numbers count{1};
        const bool bad = rank() == last_rank();
        ALL(s, TW_EARG, {},
            tw_decompose(s, bad ? nullptr : "x", 1, shape.data(), start.data(), count.data(), &d));
        ALL(s, TW_EARG, {},
            tw_decompose(s, "x", 1, bad ? nullptr : shape.data(), start.data(), count.data(), &d));
        ALL(s, TW_EARG, {},
            tw_decompose(s, "x", 1, shape.data(), bad ? nullptr : start.data(), count.data(), &d));
        ALL(s, TW_EARG, {},
            tw_decompose(s, "x", 1, shape.data(), start.data(), bad ? nullptr : count.data(), &d));
        ALL(s, TW_EARG, {"-1"},
            tw_decompose(s, "x", bad ? -1 : 1, shape.data(), start.data(), count.data(), &d));
        ALL(s, TW_EARG, {},
            tw_decompose(s, "x", 1, shape.data(), start.data(), count.data(), bad ? nullptr : &d));
        const Numbers halo{bad ? -2 : 1};
        ALL(s, CODES(TW_EARG, TW_ESHAPE), {"-2"},
            tw_decompose_halo(s, "x", 1, shape.data(), start.data(), count.data(), halo.data(),
                              nullptr, &d));
        HERE(s, TW_EHANDLE, {},
             tw_decompose(nullptr, "x", 1, shape.data(), start.data(), count.data(), &d));
    }
    // after these errors, the session still works
    const Line line(s);
    CHECK(line.handle != nullptr);
}

// ---- settings ----------------------------------------------------------------------------------

void expect_init(const Codes& accepted, const Words& words, const char* settings) {
    tw_session s = nullptr;
    ALL(s, accepted, words, tw_init(MPI_COMM_WORLD, settings, &s));
    OK_ALL(s, tw_finalize(&s));
    CHECK(s == nullptr);
}

void settings() {
    // tests/session has all kinds of wrong values, and the order of origins.
    expect_init(TW_ESETTING, {"colour"}, "colour=red");
    expect_init(TW_OK, {}, " method = record ;; buffer = 1MiB ; ");
    if (ranks() > 1) {
        tw_session s = nullptr;
        ALL(s, CODES(TW_EMISMATCH, TW_ESETTING), WORDS("rank", "method"),
            tw_init(MPI_COMM_WORLD, rank() == last_rank() ? "method=serial" : "method=record", &s));
        OK_ALL(s, tw_finalize(&s));
        // one rank has an invalid value
        ALL(s, CODES(TW_ESETTING, TW_EMISMATCH), {"rank"},
            tw_init(MPI_COMM_WORLD, rank() == last_rank() ? "method=fastest" : "method=record",
                    &s));
        OK_ALL(s, tw_finalize(&s));
    }
    // one rank has a misspelled name
    if (rank() == last_rank()) ::setenv("THALWEG_METOD", "record", 1);
    expect_init(TW_ESETTING, WORDS("THALWEG_METOD", "did you mean THALWEG_METHOD?"), nullptr);
    ::unsetenv("THALWEG_METOD");
    Session s;
    tw_file f = nullptr;
    ALL(s, TW_ESETTING, {"colour"}, tw_create(s, path_of("s.nc").c_str(), "colour=red", &f));
    ALL(s, TW_ESETTING, WORDS("method", "fastest"),
        tw_create(s, path_of("s.nc").c_str(), "method=fastest", &f));
    // A file cannot change the session's settings.
    ALL(s, TW_ESETTING, {"node_size"}, tw_create(s, path_of("s.nc").c_str(), "node_size=1", &f));
    if (ranks() > 1)
        ALL(s, CODES(TW_EMISMATCH, TW_ESETTING), {"rank"},
            tw_create(s, path_of("s.nc").c_str(),
                      rank() == last_rank() ? "method=serial" : "method=slabs", &f));
    CHECK(f == nullptr);
    CHECK(!exists(path_of("s.nc")));
}

// ---- paths -------------------------------------------------------------------------------------

void paths() {
    Session s;
    tw_file f = nullptr;
    const std::string inside = path_of("inside");
    if (rank() == 0) {
        ::mkdir(inside.c_str(), 0777);
        ::mkdir((inside + "/folder").c_str(), 0777);
        std::ofstream(inside + "/plain") << "not a folder";
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const auto refuse = [&](const std::string& path, const Words& words) {
        ALL(s, TW_EIO, words, tw_create(s, path.c_str(), nullptr, &f));
        CHECK(f == nullptr);
        // If the call has succeeded, free the name for the next test.
        if (f != nullptr) tw_close(&f);
    };
    refuse(inside + "/folder", {"folder", "Is a directory"});
    refuse(inside + "/missing/a.nc", {"a.nc: the folder ", "/missing does not exist"});
    refuse(inside + "/plain/a.nc", {"plain", "Not a directory"});
    refuse(inside + "/" + std::string(300, 'n') + ".nc", {"File name too long"});
    if (::access("/sys", W_OK) != 0 || ::geteuid() == 0)
        refuse("/sys/thalweg.nc", {"/sys/thalweg.nc", "cannot create"});  // the reason depends on
                                                                          // the system
    ALL(s, CODES(TW_EARG, TW_EIO), {}, tw_create(s, "", nullptr, &f));
    ALL(s, TW_EARG, {}, tw_create(s, nullptr, nullptr, &f));
    ALL(s, CODES(TW_EARG, TW_EMISMATCH), {},
        tw_create(s, rank() == last_rank() ? nullptr : (inside + "/a.nc").c_str(), nullptr, &f));
    ALL(s, TW_EARG, {},
        tw_create(s, (inside + "/a.nc").c_str(), nullptr, rank() == last_rank() ? nullptr : &f));
    HERE(s, TW_EHANDLE, {}, tw_create(nullptr, (inside + "/a.nc").c_str(), nullptr, &f));
    if (ranks() > 1)
        ALL(s, TW_EMISMATCH, {"rank"},
            tw_create(s, (inside + (rank() == last_rank() ? "/b.nc" : "/a.nc")).c_str(), nullptr,
                      &f));
    CHECK(f == nullptr);
    MPI_Barrier(MPI_COMM_WORLD);
    // Failed calls leave nothing behind.
    CHECK_TEXT(entries(inside) == 2, "%s has %lld entries, expected 2", inside.c_str(),
               static_cast<long long>(entries(inside)));
    MPI_Barrier(MPI_COMM_WORLD);

    // An older file of the same name stays as it is until the new one is complete.
    const Line line(s);
    const std::string path = inside + "/old.nc";
    if (rank() == 0) std::ofstream(path) << "old contents";
    MPI_Barrier(MPI_COMM_WORLD);
    tw_file file = create_two(s, path, line);
    OK_ALL(s, tw_enddef(file));
    OK_HERE(s, put(file, "T", line.values<float>(1)));
    OK_ALL(s, tw_end_step(file));
    if (rank() == 0) {
        std::string old;
        std::getline(std::ifstream(path), old);
        CHECK(old == "old contents");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK_ALL(s, tw_close(&file));
    expect_file(path, line.length, {line.all_values<float>(1)}, {});

    // The folder is removed while the file is written: the close must return an error on all ranks.
    const std::string gone = inside + "/gone";
    if (rank() == 0) ::mkdir(gone.c_str(), 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    file = create_two(s, gone + "/a.nc", line);
    OK_ALL(s, tw_enddef(file));
    OK_HERE(s, put(file, "T", line.values<float>(1)));
    OK_ALL(s, tw_end_step(file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) std::filesystem::remove_all(gone);
    MPI_Barrier(MPI_COMM_WORLD);
    ALL(s, CODES(TW_EIO, TW_ENETCDF), {"a.nc"}, tw_close(&file));
    CHECK(file == nullptr);
}

void in_use() {
    Session s;
    const Line line(s);
    const std::string path = path_of("used.nc");
    if (rank() == 0) [[maybe_unused]]
        const int made = ::symlink(folder.c_str(), path_of("link").c_str());
    MPI_Barrier(MPI_COMM_WORLD);
    tw_file first = create_two(s, path, line);
    tw_file second = nullptr;
    for (const std::string& name :
         {path, folder + "/./used.nc", folder + "//used.nc",
          folder + "/link/../" + std::filesystem::path(folder).filename().string() + "/used.nc",
          folder + "/link/used.nc"}) {
        // "link/.." is the parent of the folder that the link names.
        ALL(s, TW_EINUSE, {"used.nc"}, tw_create(s, name.c_str(), nullptr, &second));
        CHECK(second == nullptr);
        if (second != nullptr) tw_close(&second);
    }
    OK_HERE(s, put(first, "T", line.values<float>(2)));
    OK_HERE(s, put(first, "h", line.values<float>(3)));
    OK_ALL(s, tw_end_step(first));
    OK_ALL(s, tw_close(&first));
    expect_file(path, line.length, {line.all_values<float>(2)}, line.all_values<float>(3));
    // After the close, the name can be used again.
    first = create_two(s, path, line);
    OK_ALL(s, tw_close(&first));
    expect_file(path, line.length, {}, {});
}

// ---- definitions -------------------------------------------------------------------------------

void definitions() {
    Session s;
    const Line line(s);
    const Numbers shape{5, line.length};
    tw_decomposition two = nullptr;
    OK_ALL(s, tw_decompose(s, "y x", 0, shape.data(), nullptr, nullptr, &two));
    const Numbers other_length{line.length + 1};
    tw_decomposition other = nullptr;
    OK_ALL(s, tw_decompose(s, "x", 0, other_length.data(), nullptr, nullptr, &other));

    const std::string path = path_of("definitions.nc");
    tw_file f = nullptr;
    OK_ALL(s, tw_create(s, path.c_str(), "format=cdf5", &f));
    OK_HERE(s, tw_def_dim(f, "z", 7));
    HERE(s, TW_EEXISTS, WORDS("z", "definitions.nc"), tw_def_dim(f, "z", 7));
    HERE(s, TW_EEXISTS, {"z"}, tw_def_dim(f, "z", 8));
    HERE(s, TW_EARG, {}, tw_def_dim(f, "", 3));
    HERE(s, TW_EARG, {}, tw_def_dim(f, nullptr, 3));
    HERE(s, TW_EARG, {"a/b"}, tw_def_dim(f, "a/b", 3));
    HERE(s, TW_EARG, {}, tw_def_dim(f, std::string(300, 'n').c_str(), 3));
    HERE(s, CODES(TW_EARG, TW_ESHAPE), WORDS("q", "-5"), tw_def_dim(f, "q", -5));
    HERE(s, TW_EHANDLE, {}, tw_def_dim(nullptr, "q", 5));
    OK_HERE(s, tw_def_dim(f, "time", TW_UNLIMITED));
    HERE(s, CODES(TW_EEXISTS, TW_EARG, TW_EFORMAT, TW_ESTATE), WORDS("time", "again"),
         tw_def_dim(f, "again", TW_UNLIMITED));

    OK_HERE(s, tw_def_var(f, "T", TW_FLOAT, "time x", line.handle));
    HERE(s, TW_EEXISTS, WORDS("T", "definitions.nc"),
         tw_def_var(f, "T", TW_FLOAT, "x", line.handle));
    HERE(s, TW_EARG, {}, tw_def_var(f, "", TW_FLOAT, "x", line.handle));
    HERE(s, TW_EARG, {}, tw_def_var(f, nullptr, TW_FLOAT, "x", line.handle));
    HERE(s, CODES(TW_EARG, TW_ESHAPE), {}, tw_def_var(f, "b", TW_FLOAT, nullptr, line.handle));
    HERE(s, TW_EARG, {"a/b"}, tw_def_var(f, "a/b", TW_FLOAT, "x", line.handle));
    for (const int bad : {0, -1, 12, 99})
        HERE(s, TW_ETYPE, WORDS("b", std::to_string(bad)),
             tw_def_var(f, "b", static_cast<tw_type>(bad), "x", line.handle));
    HERE(s, TW_ENOTFOUND, WORDS("b", "nowhere"),
         tw_def_var(f, "b", TW_FLOAT, "z nowhere", nullptr));
    // Misspelled dimensions must not become the record dimension.
    HERE(s, TW_ENOTFOUND, WORDS("b", "no dimension 'nowhere'", "tw_def_dim"),
         tw_def_var(f, "b", TW_FLOAT, "nowhere", nullptr));
    for (const tw_decomposition d : {tw_decomposition(nullptr), line.handle})
        HERE(s, TW_ENOTFOUND, WORDS("b", "no dimension 'tmie'; did you mean 'time'?"),
             tw_def_var(f, "b", TW_FLOAT, "tmie x", d));
    HERE(s, CODES(TW_ENOTFOUND, TW_ESHAPE), {"b"},
         tw_def_var(f, "b", TW_FLOAT, "time z", line.handle));
    HERE(s, CODES(TW_ENOTFOUND, TW_ESHAPE), {"b"}, tw_def_var(f, "b", TW_FLOAT, "x", two));
    HERE(s, CODES(TW_ENOTFOUND, TW_ESHAPE), {"b"},
         tw_def_var(f, "b", TW_FLOAT, "z y x", line.handle));
    HERE(s, CODES(TW_ESHAPE, TW_EARG, TW_EFORMAT, TW_ENOTFOUND), WORDS("b", "time"),
         tw_def_var(f, "b", TW_FLOAT, "x time", line.handle));
    HERE(s, TW_ESHAPE,
         WORDS("b", "x", std::to_string(line.length), std::to_string(line.length + 1)),
         tw_def_var(f, "b", TW_FLOAT, "x", other));
    HERE(s, TW_EHANDLE, {}, tw_def_var(nullptr, "b", TW_FLOAT, "x", line.handle));
    // A failed definition has no effect, so its name can still be used.
    OK_HERE(s, tw_def_var(f, "b", TW_SHORT, "y x", two));

    const double one = 1;
    HERE(s, TW_ENOTFOUND, {"nothing"}, tw_put_att(f, "nothing", "a", TW_DOUBLE, 1, &one));
    HERE(s, TW_EARG, {}, tw_put_att(f, "T", "", TW_DOUBLE, 1, &one));
    HERE(s, TW_EARG, {}, tw_put_att(f, "T", nullptr, TW_DOUBLE, 1, &one));
    HERE(s, TW_EARG, {}, tw_put_att(f, "T", "a", TW_DOUBLE, 1, nullptr));
    HERE(s, CODES(TW_EARG, TW_ESHAPE), {"-1"}, tw_put_att(f, "T", "a", TW_DOUBLE, -1, &one));
    HERE(s, TW_EARG, {"2305843009213693952"},
         tw_put_att(f, "T", "a", TW_DOUBLE, std::int64_t(1) << 61, &one));
    HERE(s, TW_ETYPE, {"77"}, tw_put_att(f, "T", "a", static_cast<tw_type>(77), 1, &one));
    HERE(s, TW_EARG, WORDS("'a/b'", "for an attribute"),
         tw_put_att(f, "T", "a/b", TW_DOUBLE, 1, &one));
    HERE(s, TW_EARG, {}, tw_put_att_text(f, "T", "a", nullptr));
    HERE(s, TW_ETYPE, WORDS("_FillValue", "T"),
         tw_put_att(f, "T", "_FillValue", TW_DOUBLE, 1, &one));
    HERE(s, CODES(TW_ESHAPE, TW_EARG, TW_ETYPE), WORDS("_FillValue", "T"),
         tw_put_att(f, "T", "_FillValue", TW_FLOAT, 0, &one));
    HERE(s, TW_EHANDLE, {}, tw_put_att(nullptr, "T", "a", TW_DOUBLE, 1, &one));
    HERE(s, TW_EHANDLE, {}, tw_enddef(nullptr));

    OK_ALL(s, tw_enddef(f));
    HERE(s, TW_ESTATE, {"definitions.nc"}, tw_def_dim(f, "late", 3));
    HERE(s, TW_ESTATE, {"definitions.nc"}, tw_def_var(f, "late", TW_FLOAT, "x", line.handle));
    const float fill = 2;
    HERE(s, TW_ESTATE, {"_FillValue"}, tw_put_att(f, "T", "_FillValue", TW_FLOAT, 1, &fill));
    OK_HERE(s, put(f, "T", line.values<float>(2)));
    HERE(s, TW_ESTATE, {"definitions.nc"}, tw_def_var(f, "late", TW_FLOAT, "x", line.handle));
    OK_ALL(s, tw_end_step(f));
    OK_ALL(s, tw_close(&f));
    CHECK(exists(path));
}

// Tests definitions of the last rank that differ from those of the other ranks.
void disagreements() {
    if (ranks() < 2) return;
    Session s;
    const Line line(s);
    const Numbers both{3, line.length};
    tw_decomposition wide = nullptr;
    OK_ALL(s, tw_decompose(s, "y x", 0, both.data(), nullptr, nullptr, &wide));
    const bool odd = rank() == last_rank();
    const float fill[2] = {1, 2};
    struct Way {
        const char* what;
        Words words;
        std::function<void(tw_file)> define;
    };
    const std::vector<Way> ways{
        {"name",
         {"T", "S"},
         [&](tw_file f) { tw_def_var(f, odd ? "S" : "T", TW_FLOAT, "x", line.handle); }},
        {"type",
         {"T"},
         [&](tw_file f) { tw_def_var(f, "T", odd ? TW_DOUBLE : TW_FLOAT, "x", line.handle); }},
        {"length", {"z", "4", "5"}, [&](tw_file f) { tw_def_dim(f, "z", odd ? 4 : 5); }},
        {"record", {"z"}, [&](tw_file f) { tw_def_dim(f, "z", odd ? TW_UNLIMITED : 5); }},
        {"missing",
         {"U"},
         [&](tw_file f) {
             if (!odd) tw_def_var(f, "U", TW_INT, "x", line.handle);
         }},
        {"more",
         {"U"},
         [&](tw_file f) {
             if (odd) tw_def_var(f, "U", TW_INT, "x", line.handle);
         }},
        {"order of dimensions",
         {"T"},
         [&](tw_file f) { tw_def_var(f, "T", TW_INT, odd ? "x y" : "y x", wide); }},
        {"replicated",
         {"T"},
         [&](tw_file f) {
             tw_def_dim(f, "x", line.length);
             tw_def_var(f, "T", TW_INT, "x", odd ? nullptr : line.handle);
         }},
        {"attribute value",
         {"units", "T", "K", "degC"},
         [&](tw_file f) {
             tw_def_var(f, "T", TW_INT, "x", line.handle);
             tw_put_att_text(f, "T", "units", odd ? "degC" : "K");
         }},
        {"attribute missing",
         {"units", "T"},
         [&](tw_file f) {
             tw_def_var(f, "T", TW_INT, "x", line.handle);
             if (!odd) tw_put_att_text(f, "T", "units", "K");
         }},
        {"global attribute",
         {"valid", "1", "2"},
         [&](tw_file f) {
             tw_def_var(f, "T", TW_INT, "x", line.handle);
             tw_put_att(f, "", "valid", TW_FLOAT, 1, odd ? fill : fill + 1);
         }},
        {"attribute type",
         {"valid"},
         [&](tw_file f) {
             const std::int32_t zero = 0;
             tw_put_att(f, "", "valid", odd ? TW_INT : TW_FLOAT, 1, &zero);
         }},
    };
    int number = 0;
    for (const Way& way : ways) {
        const std::string name = "odd" + std::to_string(number) + ".nc";
        const std::string path = path_of(name);
        tw_file f = nullptr;
        OK_ALL(s, tw_create(s, path.c_str(), nullptr, &f));
        way.define(f);
        Words words = way.words;
        words.push_back(rank_word(last_rank()));
        words.push_back(name);
        const std::string before = current_test;
        current_test += std::string(" (") + way.what + ")";
        if (number % 2 == 0)
            ALL(s, TW_EMISMATCH, words, tw_enddef(f));
        else
            ALL(s, TW_EMISMATCH, words, tw_end_step(f));
        // Later calls are refused with the reason, and no file is published.
        HERE(s, CODES(TW_EMISMATCH, TW_ESTATE, TW_ENOTFOUND), {},
             put(f, "T", line.values<float>(1)));
        ALL(s, CODES(TW_EMISMATCH, TW_ESTATE), {name}, tw_end_step(f));
        ALL(s, CODES(TW_EMISMATCH, TW_OK, TW_ESTATE), {}, tw_close(&f));
        CHECK(f == nullptr);
        CHECK(!exists(path));
        current_test = before;
        ++number;
    }
    {  // definitions made later are compared when the file is closed
        const std::string path = path_of("late.nc");
        tw_file f = create_two(s, path, line);
        OK_ALL(s, tw_enddef(f));
        OK_HERE(s, put(f, "T", line.values<float>(5)));
        OK_ALL(s, tw_end_step(f));
        OK_HERE(s, tw_put_att_text(f, nullptr, "history", odd ? "mine" : "ours"));
        ALL(s, TW_EMISMATCH, WORDS("history", "mine", "ours", "late.nc", rank_word(last_rank())),
            tw_close(&f));
        CHECK(f == nullptr);
    }
    {  // the file has the data of the steps, but not the definitions that differ
        const std::string path = path_of("late2.nc");
        tw_file f = create_two(s, path, line);
        OK_ALL(s, tw_enddef(f));
        OK_HERE(s, put(f, "T", line.values<float>(5)));
        OK_ALL(s, tw_end_step(f));
        if (odd) OK_HERE(s, tw_put_att_text(f, "T", "units", "K"));
        ALL(s, TW_EMISMATCH, WORDS("units", "T"), tw_close(&f));
    }
}

}  // namespace bad_input
