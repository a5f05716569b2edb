// Writes and reads a file with thalweg.hpp only.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "code_of.hpp"

namespace {

using thalweg::Block, thalweg::Edge, thalweg::replicated, thalweg::RestartFlags;
using thalweg::StridedArray, thalweg::Type;

double value(int step, std::int64_t y, std::int64_t x) {
    return 1000 * step + 10 * static_cast<double>(y) + static_cast<double>(x);
}

constexpr std::int64_t rows = 3, lon = 5;

/// The calls of one program, on one rank.
struct Program {
    int rank, size;
    thalweg::Session io{MPI_COMM_WORLD, "log=off"};
    std::vector<std::int64_t> shape{rows * size, lon};
    thalweg::Decomposition cells =
        io.decompose("lat lon", shape, {Block{{rows * rank, 0}, {rows, lon}}});

    /// Checks the role of this rank.
    void check_session() {
        CHECK(io.role() == thalweg::Role::model);
        int same = MPI_UNEQUAL;
        MPI_Comm_compare(io.model_comm(), MPI_COMM_WORLD, &same);
        CHECK(same == MPI_CONGRUENT);
    }

    /// Writes a file by steps.
    void write() {
        thalweg::File file = io.create("cpp.nc", "format=cdf5");
        file.def_dim("lat", rows * size);
        file.def_var("T", Type::float64, "time lat lon", cells);
        auto freed = io.decompose("* *", shape, {Block{{rows * rank, 0}, {rows, lon}}});
        file.def_var("S", Type::float32, "time lat lon", freed);
        freed.free();
        CHECK(!freed);
        CHECK(code_of([&] { file.def_var("Q", Type::float32, "lat lon", freed); }) == TW_EHANDLE);
        CHECK(code_of([&] { freed.free(); }) == TW_EHANDLE);
        file.def_var("n", Type::int64, "time");
        file.put_att("", "title", "a test");
        file.put_att("T", "valid_max", 1e6);
        file.put_att("T", "levels", std::vector<int>{1, 2, 3});
        CHECK(code_of([&] { file.def_var("T", Type::int32, "time lat lon", cells); }) ==
              TW_EEXISTS);
        file.enddef();
        CHECK(code_of([&] { file.def_dim("late", 3); }) == TW_ESTATE);
        for (int step = 0; step < 3; ++step) {
            std::vector<double> t;
            for (std::int64_t y = rows * rank; y < rows * (rank + 1); ++y)
                for (std::int64_t x = 0; x < lon; ++x) t.push_back(value(step, y, x));
            file.put("T", t);
            // The array of S is stored backwards in longitude.
            const std::int64_t extent[] = {rows, lon}, stride[] = {8 * lon, -8};
            file.put_deferred("S", StridedArray<double>{t.data() + lon - 1, extent, stride});
            file.put("n", std::vector<std::int64_t>{step});
            const std::vector<std::int64_t> start{step, rows * rank, 0}, count{1, rows, lon};
            CHECK(code_of([&] { file.put_box("T", start, count, t); }) == TW_ESTATE);
            CHECK(code_of([&] { file.put_box("T", start, {1, rows}, t); }) == TW_ESHAPE);
            CHECK(code_of([&] { file.put_box("T", start, {1, rows, 1}, t); }) == TW_ESHAPE);
            CHECK(code_of([&] { file.put("nothing", t); }) == TW_ENOTFOUND);
            CHECK(code_of([&] { file.put("T", t); }) == TW_ESTATE);
            file.end_step();
        }
        file.sync();
        thalweg::File moved = std::move(file);
        moved.close();
        CHECK(code_of([&] { moved.end_step(); }) == TW_EHANDLE);
    }

    /// Puts and reads records and boxes of a file that is being written.
    void put_records() {
        thalweg::File file = io.create("record.nc");
        file.def_dim("time", thalweg::unlimited);
        file.def_dim("lat", rows * size);
        file.def_dim("lon", lon);
        file.def_var("V", Type::float64, "time lat lon");
        file.def_var("scalar", Type::float64, "");
        std::vector<double> v(static_cast<std::size_t>(rows * lon), 10 + rank), got(v.size());
        file.put_record("V", cells, 1, v);
        const std::int64_t extent[] = {rows, lon}, stride[] = {8 * lon, 8};
        file.put_record("V", cells, 0, StridedArray<double>{v.data(), extent, stride});
        CHECK(code_of([&] { file.put_record("V", cells, -1, v); }) == TW_EBOUNDS);
        CHECK(code_of([&] { file.put_record("V", cells, 0, std::vector<double>(1)); }) ==
              (v.size() == 1 ? TW_OK : TW_ESHAPE));
        // Every other longitude of records 3 and 5, in this rank's rows.
        const std::vector<std::int64_t> start{3, rows * rank, 0}, count{2, rows, 3};
        std::vector<double> some(std::size_t(2 * rows * 3)), again(some.size());
        for (std::size_t i = 0; i < some.size(); ++i) some[i] = 100 * rank + double(i);
        file.put_box("V", start, count, some, {2, 1, 2});
        CHECK(code_of([&] { file.put_box("V", start, count, some, {2, 1}); }) == TW_ESHAPE);
        // Four start indices are one too many; a section that ignores the last one would be valid.
        const std::vector<std::int64_t> more{3, 0, 0, 0}, once{1, 1, 1, 6};
        std::vector<double> six(6);
        CHECK(code_of([&] { file.put_box("V", more, once, six); }) == TW_ESHAPE);
        CHECK(code_of([&] { file.put_box("V", {3}, {1}, std::vector<double>(1)); }) == TW_ESHAPE);
        CHECK(code_of([&] { file.put_box("scalar", {0, 0}, {2, 3}, six); }) == TW_ESHAPE);
        file.put_box("scalar", {}, {}, std::vector<double>{8});
        CHECK(code_of([&] { file.put_box("V", start, count, some, {2, 1, 0}); }) == TW_EARG);
        CHECK(code_of([&] { file.put_box("V", start, count, some, {2, 1, 3}); }) == TW_EBOUNDS);
        file.sync();
        file.get("V", cells, 1, got);
        CHECK(got == v);
        file.get_box("V", start, count, again, {2, 1, 2});
        CHECK(again == some);
        CHECK(code_of([&] { file.get_box("V", more, once, six); }) == TW_ESHAPE);
        CHECK(code_of([&] { file.get_box("scalar", {0}, {6}, six); }) == TW_ESHAPE);
        std::vector<double> one(1);
        file.get_box("scalar", {}, {}, one);
        CHECK(one[0] == 8);
        file.close();
    }

    /// Registers fields, writes them and reads them.
    void restart() {
        std::vector<double> t(static_cast<std::size_t>(rows * lon)), other(t.size());
        std::vector<int> levels{1, 2, 3};
        for (std::size_t i = 0; i < t.size(); ++i) t[i] = value(7, rows * rank, std::int64_t(i));
        const std::vector<double> wanted = t;
        thalweg::Restart restart = io.restart("durable=no");
        restart.def_dim("level", 3);
        restart.add("t", "lat lon", cells, t);
        restart.add("levels", "level", replicated, levels);
        const std::int64_t extent[] = {rows, lon}, stride[] = {8 * lon, 8};
        const StridedArray<double> strided{other.data(), extent, stride};
        restart.add("s", "lat lon", cells, strided, RestartFlags::optional);
        CHECK(code_of([&] { restart.add("t", "lat lon", cells, levels); }) == TW_ESHAPE);
        restart.put_att("", "step", 12);
        restart.put_att("t", "units", "K");
        restart.write("cpp_restart.nc");
        t.assign(t.size(), -1);
        levels.assign(3, 0);
        {
            const thalweg::Reader file = restart.read("cpp_restart.nc");
            CHECK(t == wanted && levels == (std::vector<int>{1, 2, 3}));
            CHECK(file.get_att<int>("", "step") == std::vector<int>{12});
            CHECK(file.get_att_text("t", "units") == "K");
        }
        CHECK(code_of([&] { restart.read("nowhere.nc"); }) == TW_EIO);
        // Both fields use the same work array, so they are copied.
        restart.add("t", "lat lon", cells, t, RestartFlags::copied);
        t.assign(t.size(), 4);
        restart.add("s", "lat lon", cells, t, RestartFlags::copied | RestartFlags::by_position);
        restart.set_var("s", "fill=0");
        t.assign(t.size(), 5);
        restart.write("cpp_restart.nc");
        CHECK(code_of([&] { restart.write("cpp_restart.nc"); }) == TW_EMISSING);
        thalweg::Reader file = restart.read("cpp_restart.nc");
        file.get("t", cells, 0, t);
        CHECK(t == wanted);
        file.get("s", cells, 0, strided);
        CHECK(other == std::vector<double>(other.size(), 4));
        CHECK(code_of([&] { (void)file.var("none"); }) == TW_ENOTFOUND);
        file.close();
        restart.free();
        CHECK(code_of([&] { restart.write("cpp_restart.nc"); }) == TW_EHANDLE);
    }

    /// Reads what write() wrote.
    void read() {
        thalweg::Reader file = io.open("cpp.nc");
        CHECK(file.dim("time") == 3);
        CHECK(file.dim("lat") == rows * size);
        const auto columns = io.decompose("lon lat", {lon, rows * size},
                                          {Block{{0, rows * (size - 1 - rank)}, {lon, rows}}});
        for (int step = 0; step < 3; ++step) {
            std::vector<double> t(static_cast<std::size_t>(rows * lon));
            std::vector<float> s(t.size());
            file.get("T", columns, step, t);
            file.get("S", columns, step, s);
            for (std::int64_t x = 0; x < lon; ++x)
                for (std::int64_t y = 0; y < rows; ++y) {
                    const auto i = static_cast<std::size_t>(x * rows + y);
                    const std::int64_t lat = rows * (size - 1 - rank) + y;
                    CHECK(t[i] == value(step, lat, x));
                    CHECK(s[i] == static_cast<float>(value(step, lat, lon - 1 - x)));
                }
            std::vector<std::int64_t> n(1);
            file.get("n", replicated, step, n);
            CHECK(n[0] == step);
        }
        std::vector<double> t(static_cast<std::size_t>(rows * lon));
        CHECK(code_of([&] { file.get("T", columns, 3, t); }) == TW_EBOUNDS);
        get_boxes(file);
        inquire(file);
        get_halos(file);
        file.close();
    }

    /// Reads sections of a variable.
    void get_boxes(thalweg::Reader& file) {
        // Every other longitude of all records, in this rank's last row.
        std::vector<double> some(9);
        const std::vector<std::int64_t> start{0, rows * (rank + 1) - 1, 0}, count{3, 1, 3};
        file.get_box("T", start, count, some, {1, 1, 2});
        for (int step = 0; step < 3; ++step)
            for (std::int64_t i = 0; i < 3; ++i)
                CHECK(some[static_cast<std::size_t>(3 * step + i)] ==
                      value(step, rows * (rank + 1) - 1, 2 * i));
        file.get_box("T", start, count, some);
        CHECK(some[8] == value(2, rows * (rank + 1) - 1, 2));
        some.resize(rank == 0 ? 8 : 9);
        CHECK(code_of([&] { file.get_box("T", start, count, some); }) == TW_ESHAPE);
        some.resize(9);
        CHECK(code_of([&] { file.get_box("T", start, count, some, {1, 1}); }) == TW_ESHAPE);
        CHECK(code_of([&] { file.get_box("T", start, count, some, {1, 1, 3}); }) == TW_EBOUNDS);
    }

    /// Asks for the names and attributes of a file.
    void inquire(thalweg::Reader& file) {
        const thalweg::Summary all = file.inq();
        CHECK(all.format == "cdf5" || all.format == "cdf2");
        CHECK(all.records == 3 && all.unlimited == "time" && all.groups == 0);
        CHECK(file.var("T").dims == (std::vector<std::string>{"time", "lat", "lon"}));
        CHECK(file.var("T").shape == (std::vector<std::int64_t>{3, rows * size, lon}));
        for (int v = 0; v < all.variables; ++v) {
            const std::string name = file.var_name(v);
            for (int a = 0; a < file.var(name).attributes; ++a)
                CHECK(!file.att_name(name, a).empty());
        }
        CHECK(file.dim_name(0) != "" && code_of([&] { file.dim_name(99); }) == TW_EBOUNDS);
        CHECK(code_of([&] { file.get_att_text("T", "nothing"); }) == TW_ENOTFOUND);

        CHECK(file.get_att_text("", "title") == "a test");
        CHECK(file.get_att<double>("T", "valid_max") == std::vector<double>{1e6});
        CHECK(file.get_att<short>("T", "levels") == (std::vector<short>{1, 2, 3}));
        CHECK(code_of([&] { file.get_att<signed char>("T", "valid_max"); }) == TW_ERANGE);
        CHECK(code_of([&] { file.get_att_text("T", "levels"); }) == TW_ETYPE);
    }

    /// Reads records with halos.
    void get_halos(thalweg::Reader& file) {
        // With a periodic longitude, the halo comes from the other side.
        auto round = io.decompose("lat lon", {rows * size, lon},
                                  {Block{{rows * rank, 0}, {rows, lon}}}, {0, 1}, {0, 2});
        CHECK(code_of([&] { round.fill_halo({Edge::keep}); }) == TW_EARG);
        round.fill_halo({Edge::keep, Edge::periodic});
        std::vector<double> t(static_cast<std::size_t>(rows * (lon + 3)));
        std::vector<float> again(t.size());
        file.get_deferred("T", round, 1, t);
        file.prefetch();
        file.get_deferred("T", round, 2, again);
        file.read();
        for (std::int64_t y = 0; y < rows; ++y)
            for (std::int64_t x = -1; x < lon + 2; ++x) {
                const auto i = static_cast<std::size_t>(y * (lon + 3) + x + 1);
                const std::int64_t lat = rows * rank + y, from = (x + lon) % lon;
                CHECK(t[i] == value(1, lat, from));
                CHECK(again[i] == static_cast<float>(value(2, lat, from)));
            }
    }

    /// Continues the file, from its third record on.
    void append() {
        thalweg::File file = io.append("cpp.nc");
        CHECK(file.inq().records == 3);
        file.def_var("n", Type::int64, "time");
        file.def_var("S", Type::float32, "time lat lon", cells);
        file.def_var("T", Type::float64, "time lat lon", cells);
        CHECK(code_of([&] { file.set_record(4); }) == TW_EBOUNDS);
        file.set_record(2, thalweg::Later::drop);
        file.put("n", std::vector<std::int64_t>{20});
        file.end_step();
        file.put("n", std::vector<std::int64_t>{30});
        file.end_step();
        file.close();
        thalweg::Reader reader = io.open("cpp.nc");
        CHECK(reader.inq().records == 4);
        for (int step = 0; step < 4; ++step) {
            std::vector<std::int64_t> n(1);
            reader.get("n", replicated, step, n);
            CHECK(n[0] == (step < 2 ? step : 10 * step));
        }
        reader.close();
    }

    /// Writes and reads boxes in arrays of equal extents, with space for one more box.
    void pad() {
        auto padded =
            io.decompose("lat lon", shape, {Block{{rows * rank, 0}, {rows, lon}}}, {1, 1}, {1, 1});
        CHECK(code_of([&] { padded.pad({rows + 2}, 2); }) == TW_ESHAPE);
        padded.pad({rows + 2, lon + 3}, 2);
        std::vector<double> t(static_cast<std::size_t>(2 * (rows + 2) * (lon + 3)), -1), u;
        for (std::int64_t y = 0; y < rows; ++y)
            for (std::int64_t x = 0; x < lon; ++x)
                t[static_cast<std::size_t>((y + 1) * (lon + 3) + x + 1)] =
                    value(0, rows * rank + y, x);
        thalweg::File file = io.create("padded.nc");
        file.def_var("T", Type::float64, "time lat lon", padded);
        file.put("T", t);
        file.end_step();
        file.close();
        thalweg::Reader reader = io.open("padded.nc");
        u.assign(t.size(), -1);
        reader.get("T", padded, 0, u);
        CHECK(u == t);
        reader.close();
    }

    /// Makes calls with wrong arguments, and ends the session.
    void fail() {
        CHECK(code_of([&] { io.open("nowhere.nc"); }) == TW_EIO);
        CHECK(code_of([&] { io.create("nowhere/x.nc"); }) == TW_EIO);
        CHECK(code_of([&] { io.decompose("x", {4}, {Block{{3}, {2}}}); }) == TW_EBOUNDS);
        CHECK(code_of([&] { io.decompose("x y", {4}, {}); }) == TW_ESHAPE);
        CHECK(code_of([&] { io.decompose("x y", {4, 4}, {Block{{0, 0}, {1}}}); }) == TW_ESHAPE);
        CHECK(code_of([&] { thalweg::Session bad(MPI_COMM_WORLD, "log=off; method=fast"); }) ==
              TW_ESETTING);
        CHECK(io.summary().find("cpp.nc") != std::string::npos);
        io.wait();
        CHECK(code_of([&] { io.wait(-1); }) == TW_EARG);
        io.finalize();
    }
};

void run(int rank, int size) {
    Program program{rank, size};
    program.check_session();
    program.write();
    program.put_records();
    if (rank == 0) {
        CHECK(thalweg::recover("cpp.nc") == "cpp.nc: 3 records, already complete");
        CHECK(code_of([&] { thalweg::recover("nowhere.nc"); }) == TW_ENOTFOUND);
    }
    program.restart();
    MPI_Barrier(MPI_COMM_WORLD);
    program.read();
    program.append();
    program.pad();
    program.fail();
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    try {
        run(rank, size);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "rank %d: unexpected: %s\n", rank, e.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
