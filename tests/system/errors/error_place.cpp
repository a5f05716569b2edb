// Tests tw_error_place: it returns file, variable, record and rank of an error, on all ranks alike
// after a collective call.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: error_place

#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "system/model.hpp"
#include "thalweg/thalweg.h"

namespace {

std::string folder;

struct Place {
    std::string file, variable;
    std::int64_t record = -2;
    int rank = -2;

    explicit Place(tw_session session) {
        const char *of_file = nullptr, *of_variable = nullptr;
        CHECK(tw_error_place(session, &of_file, &of_variable, &record, &rank) == TW_OK);
        file = of_file;
        variable = of_variable;
    }
    std::string text() const {
        return check::text("file '{}', variable '{}', record {}, rank {}", file, variable, record,
                           rank);
    }
};

void alike(Model& model) {
    const std::vector<std::string> all = check::gather(Place(model.session).text());
    for (const std::string& text : all)
        CHECK_TEXT(text == all.front(), "{}, but on rank 0 {}", text, all.front());
}

#define EXPECT_PLACE(wanted_file, wanted_variable, wanted_record, wanted_rank)                     \
    do {                                                                                           \
        const Place its(model.session);                                                            \
        CHECK_TEXT(its.file == (wanted_file) && its.variable == (wanted_variable) &&               \
                       its.record == (wanted_record) && its.rank == (wanted_rank),                 \
                   "{} of: {}", its.text(), model.error());                                        \
    } while (false)

void failed_open(Model& model) {
    check::step("a failed open");
    const std::string path = folder + "/none.nc";
    tw_file file = nullptr;
    CHECK(tw_open(model.session, path.c_str(), nullptr, &file) == TW_EIO);
    CHECK(Place(model.session).file == path);
    CHECK(Place(model.session).variable.empty());
    CHECK(Place(model.session).record == -1);
    alike(model);
}

void unknown_variable(Model& model) {
    check::step("an unknown variable");
    History h(model, folder + "/unknown.nc", "");
    const float value = 1;
    CHECK(tw_put(h.file, "record 9 (rank 8)", TW_FLOAT, &value, 1) == TW_ENOTFOUND);
    CHECK(Place(model.session).file == h.path);
    CHECK_TEXT(Place(model.session).variable == "record 9 (rank 8)", Place(model.session).text());
    CHECK(Place(model.session).record == -1);
    h.step(0);
    h.put("h", -1);
    h.close();
}

/// Tests a rank that passes too many elements. It must get the error at once, and all ranks at the
/// next collective call.
void wrong_shape(Model& model) {
    check::step("a wrong shape");
    History h(model, folder + "/shape.nc", "");
    const int odd = model.size - 1;
    if (model.rank == odd) {
        const std::vector<float> data(static_cast<std::size_t>(h.count[0] * h.columns + 1));
        CHECK(tw_put(h.file, "T", TW_FLOAT, data.data(), static_cast<std::int64_t>(data.size())) ==
              TW_ESHAPE);
        CHECK(Place(model.session).file == h.path);
        CHECK(Place(model.session).variable == "T");
    } else {
        h.put("T", 0);
    }
    const int ended = tw_end_step(h.file);
    CHECK_TEXT(model.size == 1 || ended != TW_OK, tw_strerror(ended));
    if (ended != TW_OK) {
        EXPECT_PLACE(h.path, "T", 0, odd);
        alike(model);
    }
    (void)tw_close(&h.file);
}

/// Tests that a name that contains an apostrophe is returned completely.
void apostrophe(Model& model) {
    check::step("an apostrophe");
    tw_file file = nullptr;
    const std::string path = folder + "/apostrophe.nc";
    CHECK(tw_create(model.session, path.c_str(), nullptr, &file) == TW_OK);
    const float value = 1;
    CHECK(tw_put(file, "model's T", TW_FLOAT, &value, 1) == TW_ENOTFOUND);
    CHECK_TEXT(Place(model.session).variable == "model's T", "{} of: {}",
               Place(model.session).text(), model.error());
    CHECK(tw_close(&file) == TW_OK);
}

void failed_write(Model& model) {
    for (const char* settings : {"service=inline", "service=background"}) {
        check::step("a failed write: {}", settings);
        const std::string path = folder + "/write.nc";
        History h(model, path, settings, 256, 256);
        MPI_Barrier(model.comm);
        struct rlimit before {};
        getrlimit(RLIMIT_FSIZE, &before);
        struct rlimit small = before;
        small.rlim_cur = 400 << 10;  // one record fits, and a part of the next
        setrlimit(RLIMIT_FSIZE, &small);
        int status = TW_OK;
        for (std::int64_t r = 0; r < 8 && status == TW_OK; ++r) {
            status = h.try_put("T", r);
            const int ended = tw_end_step(h.file);
            if (status == TW_OK) status = ended;
        }
        status = tw_sync(h.file, 0);
        CHECK_TEXT(status == TW_EIO, tw_strerror(status));
        CHECK_TEXT(Place(model.session).file == path, Place(model.session).text());
        CHECK_TEXT(Place(model.session).rank >= 0 || model.size == 1, "{} of: {}",
                   Place(model.session).text(), model.error());
        alike(model);
        CHECK(tw_close(&h.file) == TW_EIO);
        setrlimit(RLIMIT_FSIZE, &before);
        MPI_Barrier(model.comm);
    }
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    folder = check::make_folder("error_place");
    Model model(MPI_COMM_WORLD, "log=off; staging=16MiB; buffer=256KiB");
    CHECK(Place(model.session).text() == "file '', variable '', record -1, rank -1");
    failed_open(model);
    unknown_variable(model);
    wrong_shape(model);
    apostrophe(model);
    failed_write(model);
    model.end();
    return check::verdict("error_place");
}
