// Tests wrong input in sessions and reading, and headers that do not fit.
// SPDX-License-Identifier: Apache-2.0
#include "bad_input.hpp"

namespace bad_input {

// If a limit on file sizes ends within the header, the error is the same on all ranks.
void header_limit() {
    Session s("");
    struct rlimit before {};
    getrlimit(RLIMIT_FSIZE, &before);
    const Line line(s, "y");
    for (const char* format : {"cdf2", "netcdf4; storage=netcdf4"})
        for (const rlim_t limit : {0, 100, 300, 1000, 3000, 10000, 30000, 100000}) {
            tw_file f = nullptr;
            const std::string path = path_of("header.nc");
            const std::string settings = std::string("format=") + format;
            OK_ALL(s, tw_create(s, path.c_str(), settings.c_str(), &f));
            OK_HERE(s, tw_def_var(f, "T", TW_FLOAT, "y", line.handle));
            OK_HERE(s, tw_put_att_text(f, "T", "units", "K"));
            struct rlimit small = before;
            small.rlim_cur = limit;
            setrlimit(RLIMIT_FSIZE, &small);
            const int status = tw_enddef(f);
            setrlimit(RLIMIT_FSIZE, &before);
            CHECK_TEXT(
                status == TW_OK || status == TW_EIO || status == TW_ENOMEM || status == TW_ENETCDF,
                "%s, %d bytes: %s", format, static_cast<int>(limit), tw_strerror(status));
            int all = status;
            MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);
            CHECK(all == status);
            const int closed = tw_close(&f);
            CHECK((closed == TW_OK) == (status == TW_OK));
            CHECK(exists(path) == (status == TW_OK));
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank() == 0) ::unlink(path.c_str());
            MPI_Barrier(MPI_COMM_WORLD);
        }
}

// ---- sessions ----------------------------------------------------------------------------------

void sessions() {
    for (int status = -30; status <= 5; ++status) CHECK(tw_strerror(status) != nullptr);
    CHECK(std::string(tw_strerror(TW_ESHAPE)).find("TW_ESHAPE") == 0);
    CHECK(tw_error_message(nullptr) != nullptr);
    CHECK(tw_init(MPI_COMM_WORLD, nullptr, nullptr) == TW_EARG);
    tw_session s = nullptr;
    CHECK(tw_init(MPI_COMM_NULL, nullptr, &s) == TW_EMPI);
    tw_finalize(&s);
    CHECK(tw_finalize(nullptr) != TW_OK);
    s = nullptr;
    CHECK(tw_finalize(&s) != TW_OK);
    const char* json = nullptr;
    CHECK(tw_summary(nullptr, TW_SUMMARY_JSON, &json) == TW_EHANDLE);
    MPI_Barrier(MPI_COMM_WORLD);
    {  // a file without definitions
        OK_ALL(s, tw_init(MPI_COMM_WORLD, base_settings.c_str(), &s));
        tw_file f = nullptr;
        OK_ALL(s, tw_create(s, path_of("empty.nc").c_str(), "format=cdf2", &f));
        OK_ALL(s, tw_close(&f));
        CHECK(exists(path_of("empty.nc")));
        OK_ALL(s, tw_finalize(&s));
    }
    {  // tw_finalize closes open files
        const std::string path = path_of("open.nc");
        OK_ALL(s, tw_init(MPI_COMM_WORLD, base_settings.c_str(), &s));
        CHECK(std::string(tw_error_message(s)).empty());
        const Line line(s);
        tw_file f = create_two(s, path, line);
        OK_HERE(s, put(f, "T", line.values<float>(4)));
        OK_ALL(s, tw_end_step(f));
        OK_HERE(s, put(f, "h", line.values<float>(5)));
        ALL(s, TW_EARG, {}, tw_summary(s, TW_SUMMARY_JSON, nullptr));
        ALL(s, TW_EARG, WORDS("form", "3"), tw_summary(s, static_cast<tw_summary_form>(3), &json));
        OK_ALL(s, tw_summary(s, TW_SUMMARY_SETTINGS, &json));
        CHECK(std::string(json).find("method") != std::string::npos);
        OK_ALL(s, tw_summary(s, TW_SUMMARY_TABLE, &json));
        CHECK(std::string(json).find("write") != std::string::npos);
        OK_ALL(s, tw_finalize(&s));
        CHECK(s == nullptr);
        expect_file(path, line.length, {line.all_values<float>(4)}, line.all_values<float>(5));
    }
    if (ranks() > 1) {  // tw_finalize returns the errors of files that it closes
        OK_ALL(s, tw_init(MPI_COMM_WORLD, base_settings.c_str(), &s));
        const Line line(s);
        tw_file f = create_two(s, path_of("open2.nc"), line);
        OK_ALL(s, tw_enddef(f));
        if (rank() == 0) OK_HERE(s, put(f, "h", line.values<float>(5)));
        check::step("%s: tw_finalize", current_test.c_str());
        const int status = tw_finalize(&s);
        judge_all(__FILE__, __LINE__, "tw_finalize", status, "", {TW_EMISSING}, {});
        CHECK(s == nullptr);
    }
    {  // sessions on different parts of the ranks, at the same time
        MPI_Comm half = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, rank() % 2, -rank(), &half);
        tw_session own = nullptr;
        CHECK(tw_init(half, base_settings.c_str(), &own) == TW_OK);
        MPI_Comm_free(&half);  // the session has its own copy of the communicator
        const std::int64_t n = 3;
        const std::int64_t zero = 0;
        int place = 0;
        tw_decomposition d = nullptr;
        // Ranks in this half are numbered backwards. Only its rank 0 holds elements.
        place = rank() >= ranks() - 2 ? 1 : 0;
        CHECK(tw_decompose(own, "x", place, &n, &zero, &n, &d) == TW_OK);
        tw_file f = nullptr;
        const std::string path = path_of("half" + std::to_string(rank() % 2) + ".nc");
        CHECK(tw_create(own, path.c_str(), nullptr, &f) == TW_OK);
        CHECK(tw_def_var(f, "v", TW_INT, "x", d) == TW_OK);
        const std::vector<std::int32_t> v{1, 2, 3};
        CHECK(tw_put(f, "v", TW_INT, v.data(), place * 3) == TW_OK);
        CHECK(tw_close(&f) == TW_OK);
        CHECK(tw_finalize(&own) == TW_OK);
        MPI_Barrier(MPI_COMM_WORLD);
        if (place == 1) {
            int id = 0;
            std::vector<std::int32_t> got(3);
            CHECK(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
            CHECK(nc_get_var_int(id, 0, got.data()) == NC_NOERR);
            CHECK(got == v);
            nc_close(id);
        }
    }
}

void reading() {
    Session s;
    const Line line(s);
    const std::string path = path_of("read.nc");
    tw_file f = create_two(s, path, line);
    OK_HERE(s, put(f, "T", line.values<float>(1)));
    OK_ALL(s, tw_end_step(f));
    OK_ALL(s, tw_close(&f));
    ALL(s, TW_EIO, WORDS("none.nc", "No such file"),
        tw_open(s, path_of("none.nc").c_str(), nullptr, &f));
    ALL(s, CODES(TW_EIO, TW_EFORMAT), {folder}, tw_open(s, folder.c_str(), nullptr, &f));
    if (rank() == 0) std::ofstream(path_of("text.nc")) << "this is not a netCDF file at all";
    MPI_Barrier(MPI_COMM_WORLD);
    ALL(s, CODES(TW_EFORMAT, TW_EIO, TW_ENETCDF), {"text.nc"},
        tw_open(s, path_of("text.nc").c_str(), nullptr, &f));
    ALL(s, TW_EARG, {}, tw_open(s, nullptr, nullptr, &f));
    CHECK(f == nullptr);
    OK_ALL(s, tw_open(s, path.c_str(), nullptr, &f));
    std::int64_t n = 0;
    OK_HERE(s, tw_inq_dim(f, "time", &n));
    CHECK(n == 1);
    OK_HERE(s, tw_inq_dim(f, "x", &n));
    CHECK(n == line.length);
    HERE(s, TW_ENOTFOUND, WORDS("nothing", "read.nc"), tw_inq_dim(f, "nothing", &n));
    std::vector<float> got(static_cast<std::size_t>(line.count));
    const auto room = static_cast<std::int64_t>(got.size());
    ALL(s, TW_ENOTFOUND, {"nothing"},
        tw_get(f, "nothing", line.handle, 0, TW_FLOAT, got.data(), room));
    ALL(s, TW_EBOUNDS, WORDS("T", "1"), tw_get(f, "T", line.handle, 1, TW_FLOAT, got.data(), room));
    ALL(s, TW_EBOUNDS, WORDS("T", "-1"),
        tw_get(f, "T", line.handle, -1, TW_FLOAT, got.data(), room));
    ALL(s, TW_ETYPE, {"T"}, tw_get(f, "T", line.handle, 0, TW_CHAR, got.data(), room));
    // A mistake of one rank is an error on all ranks.
    const bool odd = rank() == last_rank();
    ALL(s, TW_ESHAPE, {"T"},
        tw_get(f, "T", line.handle, 0, TW_FLOAT, got.data(), odd ? room + 1 : room));
    ALL(s, TW_EARG, {"T"},
        tw_get(f, "T", line.handle, 0, TW_FLOAT, odd ? nullptr : got.data(), room));
    if (ranks() > 1)
        ALL(s, CODES(TW_EMISMATCH, TW_OK), {},
            tw_get(f, odd ? "h" : "T", line.handle, 0, TW_FLOAT, got.data(), room));
    HERE(s, CODES(TW_ESTATE, TW_EUNSUPPORTED), {"read.nc"}, tw_def_dim(f, "q", 2));
    HERE(s, CODES(TW_ESTATE, TW_EUNSUPPORTED), {"read.nc"}, put(f, "T", got));
    OK_ALL(s, tw_get(f, "T", line.handle, 0, TW_FLOAT, got.data(), room));
    CHECK(got == line.values<float>(1));
    OK_ALL(s, tw_close(&f));
}

}  // namespace bad_input
