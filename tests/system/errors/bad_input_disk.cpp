// Tests wrong input in sessions, and headers that do not fit.
// SPDX-License-Identifier: Apache-2.0
#include "bad_input.hpp"

namespace bad_input {

// If a limit on file sizes ends within the header, the error is the same on all ranks.
void header_limit() {
    Session s("");
    struct rlimit before {};
    getrlimit(RLIMIT_FSIZE, &before);
    const Line line;
    for (const char* format : {"cdf2", "netcdf4; storage=netcdf4"})
        for (const rlim_t limit : {0, 100, 300, 1000, 3000, 10000, 30000, 100000}) {
            tw_file f = nullptr;
            const std::string path = path_of("header.nc");
            const std::string settings = std::string("format=") + format;
            OK(tw_create(s, path.c_str(), settings.c_str(), &f));
            OK(tw_def_var(f, "T", TW_FLOAT, "x", line.handle));
            OK(tw_put_att_text(f, "T", "units", "K"));
            struct rlimit small = before;
            small.rlim_cur = limit;
            setrlimit(RLIMIT_FSIZE, &small);
            const int status = tw_enddef(f);
            setrlimit(RLIMIT_FSIZE, &before);
            CHECK_TEXT(
                status == TW_OK || status == TW_EIO || status == TW_ENOMEM || status == TW_ENETCDF,
                "{}, {} bytes: {}", format, limit, tw_strerror(status));
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
    CHECK(tw_init(MPI_COMM_NULL, nullptr, &session) == TW_EMPI);
    tw_finalize(&session);
    CHECK(tw_finalize(nullptr) != TW_OK);
    session = nullptr;
    CHECK(tw_finalize(&session) != TW_OK);
    const char* json = nullptr;
    CHECK(tw_summary(nullptr, TW_SUMMARY_JSON, &json) == TW_EHANDLE);
    MPI_Barrier(MPI_COMM_WORLD);
    {  // a file without definitions
        OK(tw_init(MPI_COMM_WORLD, base_settings.c_str(), &session));
        tw_file f = nullptr;
        OK(tw_create(session, path_of("empty.nc").c_str(), "format=cdf2", &f));
        OK(tw_close(&f));
        CHECK(exists(path_of("empty.nc")));
        OK(tw_finalize(&session));
    }
    {  // tw_finalize closes open files
        const std::string path = path_of("open.nc");
        OK(tw_init(MPI_COMM_WORLD, base_settings.c_str(), &session));
        CHECK(std::string(tw_error_message(session)).empty());
        const Line line;
        tw_file f = create_two(path, line);
        OK(put(f, "T", line.values<float>(4)));
        OK(tw_end_step(f));
        OK(put(f, "h", line.values<float>(5)));
        ALL(TW_EARG, {}, tw_summary(session, TW_SUMMARY_JSON, nullptr));
        ALL(TW_EARG, WORDS("form", "3"),
            tw_summary(session, static_cast<tw_summary_form>(3), &json));
        OK(tw_summary(session, TW_SUMMARY_SETTINGS, &json));
        CHECK(std::string(json).find("method") != std::string::npos);
        OK(tw_summary(session, TW_SUMMARY_TABLE, &json));
        CHECK(std::string(json).find("write") != std::string::npos);
        OK(tw_finalize(&session));
        CHECK(session == nullptr);
        expect_file(path, line.length, {line.all_values<float>(4)}, line.all_values<float>(5));
    }
    if (ranks() > 1) {  // tw_finalize returns the errors of files that it closes
        OK(tw_init(MPI_COMM_WORLD, base_settings.c_str(), &session));
        const Line line;
        tw_file f = create_two(path_of("open2.nc"), line);
        OK(tw_enddef(f));
        if (rank() == 0) OK(put(f, "h", line.values<float>(5)));
        const int status = tw_finalize(&session);
        CHECK_TEXT(status == TW_EMISSING, tw_strerror(status));
        CHECK(session == nullptr);
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

}  // namespace bad_input
