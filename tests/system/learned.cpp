// What files of a run have taken decides how the next one is written, where a calibration is wrong
// and the settings leave it open. The bytes are the same.
//
// SPDX-License-Identifier: Apache-2.0

#include <mpi.h>

#include <fstream>
#include <iterator>
#include <string>

#include "check.hpp"
#include "model.hpp"
#include "thalweg/thalweg.h"

namespace {

std::string folder;

std::string path_of(const std::string& name) { return folder + "/" + name; }

// A calibration by which one writer takes so many bytes a second, and as many as there are ranks
// take so many.
std::string calibrated(double one, double all) {
    const std::string path = path_of("calibration.toml");
    const std::string size = std::to_string(check::state.size);
    if (check::state.rank == 0)
        std::ofstream(path) << "ranks = " << size << "\nnodes = 1\ncores = " << size
                            << "\n[[folder]]\npath = '" << folder
                            << "'\nfile_system = 'ext4'\ncreate = 0\nrename = 0\ncall = 0\n"
                            << "writers = [1, " << size << "]\nrate = [" << one << ", " << all
                            << "]\n";
    MPI_Barrier(MPI_COMM_WORLD);
    return "log=off; service=inline; calibration=" + path;
}

// Steps of 16 KiB, which take 30 ms.
const std::string slowly = "method=record; bandwidth=512KiB; piece=4KiB";
constexpr int records = 4;

void write(Model& model, const std::string& name, const std::string& settings) {
    History h(model, path_of(name), settings, 64, 64);
    for (int r = 0; r < records; ++r) h.step(r);
    h.close_and_look(records, false);
}

std::string bytes_of(const std::string& name) {
    std::ifstream file(path_of(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void same_bytes(const std::string& a, const std::string& b) {
    if (check::state.rank != 0) return;
    const std::string bytes = bytes_of(a);
    CHECK(!bytes.empty());
    CHECK_TEXT(bytes == bytes_of(b), "%s and %s differ", a.c_str(), b.c_str());
}

bool told(Model& model, const std::string& words) {
    const char* json = nullptr;
    CHECK(tw_summary(model.session, &json) == TW_OK);
    return std::string(json == nullptr ? "" : json).find(words) != std::string::npos;
}

// By the calibration all ranks write ten times as fast as one; in truth they write no faster, and
// slower than it says of one.
void the_next_file_is_written_another_way() {
    Model model(MPI_COMM_WORLD, calibrated(1e7, 1e8));
    write(model, "first.nc", slowly);
    CHECK(model.figure("first.nc", "writers") == model.size);
    CHECK(!told(model, "steps of this run took"));
    write(model, "second.nc", slowly);
    CHECK(model.figure("second.nc", "writers") == 1);
    CHECK(told(model, "writers=1/node: steps of this run took"));
    same_bytes("first.nc", "second.nc");
    // Other files have their own measurements.
    write(model, "other.nc", slowly + "; staging=1MiB");
    CHECK(model.figure("other.nc", "writers") == model.size);
    model.end();
}

// All ranks write as fast as the calibration says, or at least faster than it says of one.
void a_way_that_keeps_its_promise_stays() {
    Model model(MPI_COMM_WORLD, calibrated(1e3, 3e5));
    for (int k = 0; k < 4; ++k) {
        const std::string name = "kept" + std::to_string(k) + ".nc";
        write(model, name, slowly);
        CHECK(model.figure(name, "writers") == model.size);
        same_bytes("kept0.nc", name);
    }
    CHECK(!told(model, "steps of this run took"));
    model.end();
}

void what_is_set_stays() {
    Model model(MPI_COMM_WORLD, calibrated(1e7, 1e8));
    const std::string settings = slowly + "; writers=" + std::to_string(check::state.size);
    for (const char* name : {"set1.nc", "set2.nc"}) {
        write(model, name, settings);
        CHECK(model.figure(name, "writers") == model.size);
    }
    CHECK(!told(model, "steps of this run took"));
    model.end();
}

// Files of several kinds that are open at a time.
void several_files_at_a_time() {
    Model model(MPI_COMM_WORLD, calibrated(1e7, 1e8));
    const std::string other = slowly + "; staging=1MiB";
    for (int k = 0; k < 3; ++k) {
        const std::string a = "a" + std::to_string(k) + ".nc", b = "b" + std::to_string(k) + ".nc";
        History one(model, path_of(a), slowly, 64, 64), two(model, path_of(b), other, 64, 64);
        for (int r = 0; r < records; ++r) {
            one.step(r);
            two.step(r);
        }
        two.close_and_look(records, false);
        one.close_and_look(records, false);
        if (k > 1) continue;
        CHECK(model.figure(a, "writers") == (k == 0 ? model.size : 1));
        CHECK(model.figure(b, "writers") == (k == 0 ? model.size : 1));
    }
    same_bytes("a0.nc", "a1.nc");
    same_bytes("b0.nc", "b2.nc");
    model.end();
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 40);
    folder = check::make_folder("learned");
    for (const auto& body :
         {the_next_file_is_written_another_way, a_way_that_keeps_its_promise_stays,
          what_is_set_stays, several_files_at_a_time}) {
        check::step("a session");
        body();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check::remove_folder(folder);
    return check::verdict("learned");
}
