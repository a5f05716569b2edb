// Bad input before the definitions end: decompositions, settings, paths, definitions.
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <functional>

#include "bad_input.hpp"

namespace bad_input {

/// Tests the arguments of decompositions that the C interface checks, and that ranks disagree on;
/// tests/decomposition has all others.
void decompositions() {
    Session s;
    tw_decomposition d = nullptr;
    const bool bad = rank() == last_rank();
    const Numbers shape{50}, two{bad ? 21 : 20, 5}, start{rank()}, count{1}, halo{bad ? -2 : 1};
    const auto decompose = [&](const char* dims, int n, const Numbers* lengths,
                               const Numbers* starts, const Numbers* counts) {
        const auto data = [](const Numbers* of) { return of == nullptr ? nullptr : of->data(); };
        return tw_decompose(s, dims, n, data(lengths), data(starts), data(counts), &d);
    };
    ALL(TW_EARG, {}, decompose(bad ? nullptr : "x", 1, &shape, &start, &count));
    ALL(TW_EARG, {}, decompose("x", 1, bad ? nullptr : &shape, &start, &count));
    ALL(TW_EARG, {}, decompose("x", 1, &shape, bad ? nullptr : &start, &count));
    ALL(TW_EARG, {}, decompose("x", 1, &shape, &start, bad ? nullptr : &count));
    ALL(TW_EARG, "-1", decompose("x", bad ? -1 : 1, &shape, &start, &count));
    ALL(TW_EARG, {}, decompose("  ", 0, &shape, nullptr, nullptr));
    ALL(TW_EARG, {},
        tw_decompose(s, "x", 1, shape.data(), start.data(), count.data(), bad ? nullptr : &d));
    ALL(TW_EARG, "-2",
        tw_decompose_halo(s, "x", 1, shape.data(), start.data(), count.data(), halo.data(), nullptr,
                          &d));
    HERE(TW_EHANDLE, {},
         tw_decompose(nullptr, "x", 1, shape.data(), start.data(), count.data(), &d));
    const std::string here = rank_word(last_rank());
    if (ranks() > 1) {
        ALL(TW_EMISMATCH, WORDS(here, "20", "21"), decompose("y x", 0, &two, nullptr, nullptr));
        ALL(TW_EMISMATCH, here, decompose(bad ? "y" : "y x", 0, &two, nullptr, nullptr));
        ALL(TW_EOVERLAP, WORDS("rank 0", "rank", "x"), decompose("x", 1, &shape, &count, &count));
    }
    const auto list = [&](const char* listed, std::int64_t n, const Numbers* indices, int kind) {
        return tw_decompose_list(s, "x", shape.data(), listed, n,
                                 indices == nullptr ? nullptr : indices->data(),
                                 static_cast<tw_list_kind>(kind), &d);
    };
    ALL(TW_EARG, {}, list(nullptr, 1, &start, TW_LIST_UNIQUE));
    ALL(TW_EARG, {}, list("x", 1, bad ? nullptr : &start, TW_LIST_UNIQUE));
    ALL(TW_EARG, "-5", list("x", bad ? -5 : 1, &start, TW_LIST_UNIQUE));
    ALL(TW_EARG, "7", list("x", 1, &start, 7));
    if (ranks() > 1)
        ALL(TW_EMISMATCH, WORDS(here, "shared"),
            list("x", 1, &start, bad ? TW_LIST_SHARED : TW_LIST_UNIQUE));
    // A list whose indices several ranks have is only for reading, and has no halo.
    OK(list("x", 1, &count, TW_LIST_SHARED));
    const tw_edge edge = TW_HALO_CLIP;
    ALL(TW_EARG, "halo", tw_fill_halo(d, &edge));
    tw_file f = nullptr;
    OK(tw_create(s, path_of("lists.nc").c_str(), nullptr, &f));
    HERE(TW_EOVERLAP, WORDS("v", "TW_LIST_SHARED"), tw_def_var(f, "v", TW_INT, "x", d));
    OK(tw_close(&f));
    OK(tw_free_decomposition(&d));
    // Inquire about a decomposition; property.cpp compares all that is declared.
    tw_decomposition_info info{};
    OK(tw_decompose(s, "my\\ x", 1, shape.data(), start.data(), count.data(), &d));
    OK(tw_inq_decomposition(d, &info));
    CHECK(std::string(info.dims) == "my\\ x" && info.stored == 1);
    HERE(TW_EARG, "info is missing", tw_inq_decomposition(d, nullptr));
    const tw_decomposition copy = d;
    OK(tw_free_decomposition(&d));
    for (const tw_decomposition gone : {copy, tw_decomposition(nullptr)})
        HERE(TW_EHANDLE, {}, tw_inq_decomposition(gone, &info));
    CHECK(info.dims == nullptr);
    // After these errors, the session still works.
    CHECK(Line().handle != nullptr);
}

/// Tests settings that are wrong on one rank; tests/session has all kinds of wrong values.
void settings() {
    const bool odd = rank() == last_rank();
    const auto init = [&](const calls::Codes& codes, const calls::Words& words, const char* with) {
        ALL(codes, words, tw_init(MPI_COMM_WORLD, with, &session));
        OK(tw_finalize(&session));
        CHECK(session == nullptr);
    };
    init(TW_ESETTING, "colour", "colour=red");
    init(TW_OK, {}, " method = record ;; buffer = 1MiB ; ");
    if (ranks() > 1)
        for (const char* other : {"method=serial", "method=fastest"})
            init(CODES(TW_EMISMATCH, TW_ESETTING), "rank", odd ? other : "method=record");
    if (odd) ::setenv("THALWEG_METOD", "record", 1);
    init(TW_ESETTING, WORDS("THALWEG_METOD", "did you mean THALWEG_METHOD?"), nullptr);
    ::unsetenv("THALWEG_METOD");
    Session s;
    tw_file f = nullptr;
    const std::string path = path_of("s.nc");
    ALL(TW_ESETTING, WORDS("method", "fastest"), tw_create(s, path.c_str(), "method=fastest", &f));
    // A file cannot change the session's settings.
    ALL(TW_ESETTING, "node_size", tw_create(s, path.c_str(), "node_size=1", &f));
    if (ranks() > 1)
        ALL(CODES(TW_EMISMATCH, TW_ESETTING), "rank",
            tw_create(s, path.c_str(), odd ? "method=serial" : "method=slabs", &f));
    CHECK(f == nullptr && !exists(path));
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
    const auto refuse = [&](const std::string& path, const calls::Words& words) {
        ALL(TW_EIO, words, tw_create(s, path.c_str(), nullptr, &f));
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
    ALL(CODES(TW_EARG, TW_EIO), {}, tw_create(s, "", nullptr, &f));
    ALL(TW_EARG, {}, tw_create(s, nullptr, nullptr, &f));
    ALL(CODES(TW_EARG, TW_EMISMATCH), {},
        tw_create(s, rank() == last_rank() ? nullptr : (inside + "/a.nc").c_str(), nullptr, &f));
    ALL(TW_EARG, {},
        tw_create(s, (inside + "/a.nc").c_str(), nullptr, rank() == last_rank() ? nullptr : &f));
    HERE(TW_EHANDLE, {}, tw_create(nullptr, (inside + "/a.nc").c_str(), nullptr, &f));
    if (ranks() > 1)
        ALL(TW_EMISMATCH, {"rank"},
            tw_create(s, (inside + (rank() == last_rank() ? "/b.nc" : "/a.nc")).c_str(), nullptr,
                      &f));
    CHECK(f == nullptr);
    MPI_Barrier(MPI_COMM_WORLD);
    // Failed calls leave nothing behind.
    CHECK_TEXT(entries(inside) == 2, "{} has {} entries, expected 2", inside, entries(inside));
    MPI_Barrier(MPI_COMM_WORLD);

    // An older file of the same name stays as it is until the new one is complete.
    const Line line;
    const std::string path = inside + "/old.nc";
    if (rank() == 0) std::ofstream(path) << "old contents";
    MPI_Barrier(MPI_COMM_WORLD);
    tw_file file = create_two(path, line);
    OK(tw_enddef(file));
    OK(put(file, "T", line.values<float>(1)));
    OK(tw_end_step(file));
    if (rank() == 0) {
        std::string old;
        std::getline(std::ifstream(path), old);
        CHECK(old == "old contents");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(tw_close(&file));
    expect_file(path, line.length, {line.all_values<float>(1)}, {});

    // The folder is removed while the file is written: the close must return an error on all ranks.
    const std::string gone = inside + "/gone";
    if (rank() == 0) ::mkdir(gone.c_str(), 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    file = create_two(gone + "/a.nc", line);
    OK(tw_enddef(file));
    OK(put(file, "T", line.values<float>(1)));
    OK(tw_end_step(file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) std::filesystem::remove_all(gone);
    MPI_Barrier(MPI_COMM_WORLD);
    ALL(CODES(TW_EIO, TW_ENETCDF), {"a.nc"}, tw_close(&file));
    CHECK(file == nullptr);
}

void in_use() {
    Session s;
    const Line line;
    const std::string path = path_of("used.nc");
    if (rank() == 0) [[maybe_unused]]
        const int made = ::symlink(folder.c_str(), path_of("link").c_str());
    MPI_Barrier(MPI_COMM_WORLD);
    tw_file first = create_two(path, line);
    tw_file second = nullptr;
    for (const std::string& name :
         {path, folder + "/./used.nc", folder + "//used.nc",
          folder + "/link/../" + std::filesystem::path(folder).filename().string() + "/used.nc",
          folder + "/link/used.nc"}) {
        // "link/.." is the parent of the folder that the link names.
        ALL(TW_EINUSE, {"used.nc"}, tw_create(s, name.c_str(), nullptr, &second));
        CHECK(second == nullptr);
        if (second != nullptr) tw_close(&second);
    }
    OK(put(first, "T", line.values<float>(2)));
    OK(put(first, "h", line.values<float>(3)));
    OK(tw_end_step(first));
    OK(tw_close(&first));
    expect_file(path, line.length, {line.all_values<float>(2)}, line.all_values<float>(3));
    // After the close, the name can be used again.
    first = create_two(path, line);
    OK(tw_close(&first));
    expect_file(path, line.length, {}, {});
}

// ---- definitions -------------------------------------------------------------------------------

/// Tests definitions that the C interface checks, or whose error names what was meant;
/// tests/dataset has all others.
void definitions() {
    Session s;
    const Line line;
    const std::string path = path_of("definitions.nc");
    tw_file f = nullptr;
    OK(tw_create(s, path.c_str(), "format=cdf2", &f));
    OK(tw_def_dim(f, "z", 7));
    HERE(TW_EEXISTS, WORDS("z", "definitions.nc"), tw_def_dim(f, "z", 7));
    HERE(TW_EARG, {}, tw_def_dim(f, nullptr, 3));
    HERE(TW_EARG, {}, tw_def_dim(f, std::string(300, 'n').c_str(), 3));
    HERE(TW_EHANDLE, {}, tw_def_dim(nullptr, "q", 5));
    OK(tw_def_dim(f, "time", TW_UNLIMITED));
    const auto define = [&](const char* name, int type, const char* dims, tw_decomposition d) {
        return tw_def_var(f, name, static_cast<tw_type>(type), dims, d);
    };
    OK(define("T", TW_FLOAT, "time x", line.handle));
    HERE(TW_EEXISTS, WORDS("T", "definitions.nc"), define("T", TW_FLOAT, "x", line.handle));
    HERE(TW_EARG, {}, define(nullptr, TW_FLOAT, "x", line.handle));
    HERE(CODES(TW_EARG, TW_ESHAPE), {}, define("b", TW_FLOAT, nullptr, line.handle));
    HERE(TW_ETYPE, WORDS("b", "99"), define("b", 99, "x", line.handle));
    // Misspelled dimensions must not become the record dimension.
    HERE(TW_ENOTFOUND, WORDS("b", "no dimension 'nowhere'", "tw_def_dim"),
         define("b", TW_FLOAT, "nowhere", nullptr));
    for (const tw_decomposition d : {tw_decomposition(nullptr), line.handle})
        HERE(TW_ENOTFOUND, WORDS("b", "no dimension 'tmie'; did you mean 'time'?"),
             define("b", TW_FLOAT, "tmie x", d));
    HERE(TW_EHANDLE, {}, tw_def_var(nullptr, "b", TW_FLOAT, "x", line.handle));
    // A failed definition has no effect, so its name can still be used.
    OK(define("b", TW_SHORT, "x", line.handle));

    const double one = 1;
    HERE(TW_ENOTFOUND, "nothing", tw_put_att(f, "nothing", "a", TW_DOUBLE, 1, &one));
    HERE(TW_EARG, {}, tw_put_att(f, "T", "", TW_DOUBLE, 1, &one));
    HERE(TW_EARG, {}, tw_put_att(f, "T", nullptr, TW_DOUBLE, 1, &one));
    HERE(TW_EARG, {}, tw_put_att(f, "T", "a", TW_DOUBLE, 1, nullptr));
    HERE(CODES(TW_EARG, TW_ESHAPE), "-1", tw_put_att(f, "T", "a", TW_DOUBLE, -1, &one));
    HERE(TW_EARG, "2305843009213693952",
         tw_put_att(f, "T", "a", TW_DOUBLE, std::int64_t(1) << 61, &one));
    HERE(TW_ETYPE, "77", tw_put_att(f, "T", "a", static_cast<tw_type>(77), 1, &one));
    HERE(TW_EARG, WORDS("'a/b'", "for an attribute"),
         tw_put_att(f, "T", "a/b", TW_DOUBLE, 1, &one));
    HERE(TW_EARG, {}, tw_put_att_text(f, "T", "a", nullptr));
    HERE(TW_ETYPE, WORDS("_FillValue", "T"), tw_put_att(f, "T", "_FillValue", TW_DOUBLE, 1, &one));
    HERE(CODES(TW_ESHAPE, TW_EARG, TW_ETYPE), WORDS("_FillValue", "T"),
         tw_put_att(f, "T", "_FillValue", TW_FLOAT, 0, &one));
    HERE(TW_EHANDLE, {}, tw_put_att(nullptr, "T", "a", TW_DOUBLE, 1, &one));
    HERE(TW_EHANDLE, {}, tw_enddef(nullptr));

    OK(tw_enddef(f));
    HERE(TW_ESTATE, "definitions.nc", tw_def_dim(f, "late", 3));
    HERE(TW_ESTATE, "definitions.nc", define("late", TW_FLOAT, "x", line.handle));
    const float fill = 2;
    HERE(TW_ESTATE, "_FillValue", tw_put_att(f, "T", "_FillValue", TW_FLOAT, 1, &fill));
    OK(put(f, "T", line.values<float>(2)));
    OK(tw_end_step(f));
    OK(tw_close(&f));
    CHECK(exists(path));
    // A format that cannot hold a type names one that can, on all ranks.
    OK(tw_create(s, path.c_str(), "format=cdf2", &f));
    OK(define("v", TW_UINT, "x", line.handle));
    ALL(TW_EFORMAT, WORDS("v", "uint", "cdf2", "cdf5"), tw_enddef(f));
    (void)tw_close(&f);
}

// Tests definitions of the last rank that differ from those of the other ranks; tests/dataset has
// all differences.
void disagreements() {
    if (ranks() < 2) return;
    Session s;
    const Line line;
    const bool odd = rank() == last_rank();
    struct Way {
        calls::Words words;
        std::function<void(tw_file)> define;
    };
    const std::vector<Way> ways{
        {{"T", "S"},
         [&](tw_file f) { tw_def_var(f, odd ? "S" : "T", TW_FLOAT, "x", line.handle); }},
        {{"z", "4", "5"}, [&](tw_file f) { tw_def_dim(f, "z", odd ? 4 : 5); }},
        {{"U"},
         [&](tw_file f) {
             if (!odd) tw_def_var(f, "U", TW_INT, "x", line.handle);
         }},
        {{"units", "T", "K", "degC"}, [&](tw_file f) {
             tw_def_var(f, "T", TW_INT, "x", line.handle);
             tw_put_att_text(f, "T", "units", odd ? "degC" : "K");
         }}};
    int number = 0;
    for (const Way& way : ways) {
        const std::string name = "odd" + std::to_string(number) + ".nc";
        const std::string path = path_of(name);
        tw_file f = nullptr;
        OK(tw_create(s, path.c_str(), nullptr, &f));
        way.define(f);
        calls::Words words = way.words;
        words.push_back(rank_word(last_rank()));
        words.push_back(name);
        ALL(TW_EMISMATCH, words, number % 2 == 0 ? tw_enddef(f) : tw_end_step(f));
        // Later calls are refused with the reason, and no file is published.
        HERE(CODES(TW_EMISMATCH, TW_ESTATE, TW_ENOTFOUND), {}, put(f, "T", line.values<float>(1)));
        ALL(CODES(TW_EMISMATCH, TW_ESTATE), {name}, tw_end_step(f));
        ALL(CODES(TW_EMISMATCH, TW_OK, TW_ESTATE), {}, tw_close(&f));
        CHECK(f == nullptr);
        CHECK(!exists(path));
        ++number;
    }
    {  // definitions made later are compared when the file is closed
        const std::string path = path_of("late.nc");
        tw_file f = create_two(path, line);
        OK(tw_enddef(f));
        OK(put(f, "T", line.values<float>(5)));
        OK(tw_end_step(f));
        OK(tw_put_att_text(f, nullptr, "history", odd ? "mine" : "ours"));
        ALL(TW_EMISMATCH, WORDS("history", "mine", "ours", "late.nc", rank_word(last_rank())),
            tw_close(&f));
        CHECK(f == nullptr);
    }
}

}  // namespace bad_input
