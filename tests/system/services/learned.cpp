// What steps of a run have taken decides how the next ones are written, of the same file and of
// others, where a calibration is wrong and the settings leave it open. The bytes are the same.
//
// SPDX-License-Identifier: Apache-2.0

#include <mpi.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "system/check.hpp"
#include "system/model.hpp"
#include "system/random.hpp"
#include "thalweg/thalweg.h"

namespace {

std::string folder;
std::uint64_t seed = 1;  // --seed N

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
constexpr int records = 3;

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

// Fixed-size variables are put before and after, and not at all.
void write_long(Model& model, const std::string& name, const std::string& settings) {
    History h(model, path_of(name), settings, 64, 64);
    for (int r = 0; r < 9; ++r) {
        if (r == 1 || r == 6) h.put("h", -1);
        h.step(r);
    }
    h.close_and_look(9, true);
}

// As the first test has it, within one file.
void the_next_steps_are_written_another_way() {
    Model model(MPI_COMM_WORLD, calibrated(1e7, 1e8));
    write_long(model, "all.nc", slowly + "; writers=" + std::to_string(model.size));
    CHECK(model.figure("all.nc", "writers") == model.size);
    write_long(model, "changed.nc", slowly);
    // Of more than two ranks, other numbers are tried.
    const double writers = model.figure("changed.nc", "writers");
    CHECK(model.size == 2 ? writers == 1 : writers < model.size);
    CHECK(told(model, "on: steps of this run took"));
    same_bytes("all.nc", "changed.nc");
    model.end();
}

// By the calibration one writer is the fastest, of those with whom it was measured, and not of all
// ranks. Each method is tried, and all leave the same bytes.
void other_methods_are_tried() {
    Model model(MPI_COMM_WORLD, calibrated(1e7, 1.04e7));
    const std::string open = "bandwidth=512KiB; piece=4KiB";
    write_long(model, "record.nc", open + "; method=record; writers=1");
    write_long(model, "open.nc", open);
    same_bytes("record.nc", "open.nc");
    model.end();
}

// The number of records that a file counts which is being written, as CDF-2.
std::int64_t counted(const std::string& name) {
    const std::string bytes = bytes_of(name + ".part");
    std::int64_t n = 0;
    for (std::size_t i = 4; i < 8 && i < bytes.size(); ++i)
        n = 256 * n + static_cast<unsigned char>(bytes[i]);
    return n;
}

// Calibrations that have nothing to do with the machine: files change their way once or more often.
void any_way_gives_the_same_bytes() {
    Random random(seed);
    int changed = 0;
    for (int k = 0; k < 30; ++k) {
        const double one = random.between(1, 1000) * 1e6, all = random.between(1, 1000) * 1e6;
        Model model(MPI_COMM_WORLD, calibrated(one, all));
        const std::string which =
            random.pick<std::string>({"", "method=record; ", "method=slabs; ", "method=tiles; ",
                                      "writers=1; ", "writers=2; "});
        const std::string settings =
            which + random.pick<std::string>({"", "staging=2KiB", "piece=300", "service=auto"});
        const std::string title = "case " + std::to_string(k) + ": " + settings;
        check::step(title.c_str());
        const std::int64_t ny = random.between(1, 60), nx = random.between(1, 60);
        const int steps = static_cast<int>(random.between(4, 33));
        for (const auto& [name, how] :
             {std::pair<std::string, std::string>("serial.nc", "method=serial"),
              {"any.nc", settings}}) {
            History h(model, path_of(name), how, ny, nx);
            for (int r = 0; r < steps; ++r) {
                if (r % 7 == k % 7) h.put("h", -1);
                h.step(r);
                // The first writer counts, whoever that is.
                if (model.rank == 0 && how.find("service=auto") == std::string::npos)
                    CHECK(counted(name) == r + 1);
            }
            h.close_and_look(steps, k % 7 < steps);
        }
        same_bytes("serial.nc", "any.nc");
        if (told(model, "on: ")) ++changed;
        model.end();
    }
    CHECK_TEXT(changed > 3, "only %d files of 30 changed their way", changed);
}

// Whoever takes the file's name while it is written is left alone. By what the first file took, the
// second one begins with one writer, and slabs by all ranks are tried after its fourth step.
void another_file_takes_the_name(bool taken) {
    Model model(MPI_COMM_WORLD, calibrated(1e8, 1.2e8));
    const std::string settings = "bandwidth=512KiB; piece=4KiB";
    write(model, "first.nc", settings);
    const std::string name = path_of("renamed.nc"), part = name + ".part";
    History h(model, name, settings, 64, 64);
    CHECK(model.figure("renamed.nc", "writers") == 1);
    for (int r = 0; r < 2; ++r) h.step(r);
    if (taken && model.rank == 0) {
        std::filesystem::rename(part, path_of("moved"));
        std::ofstream(part) << "not ours";
    }
    MPI_Barrier(model.comm);
    for (int r = 2; r < 7; ++r) h.step(r);
    CHECK((model.figure("renamed.nc", "writers") == 1) == taken);
    CHECK(told(model, "from record 4 on: ") != taken);
    MPI_Barrier(model.comm);
    if (taken && model.rank == 0) {
        CHECK(std::filesystem::file_size(part) == 8);
        std::filesystem::rename(path_of("moved"), part);
    }
    MPI_Barrier(model.comm);
    h.close_and_look(7, false);
    model.end();
}
void nobody_takes_the_name() { another_file_takes_the_name(false); }
void somebody_takes_the_name() { another_file_takes_the_name(true); }

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 40);
    folder = check::make_folder("learned");
    seed = std::stoull(check::option(argc, argv, "--seed", "1"));
    for (const auto& body :
         {the_next_file_is_written_another_way, a_way_that_keeps_its_promise_stays,
          what_is_set_stays, several_files_at_a_time, the_next_steps_are_written_another_way,
          other_methods_are_tried, any_way_gives_the_same_bytes, nobody_takes_the_name,
          somebody_takes_the_name}) {
        check::step("a session");
        body();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check::remove_folder(folder);
    return check::verdict("learned");
}
