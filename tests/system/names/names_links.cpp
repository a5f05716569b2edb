// Tests objects that exist under the name of a new file: links, a pipe, a folder, the files of a
// killed run; and long names.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "names.hpp"
#include "support/content.hpp"

namespace names {

void links() {
    for (const Kind& kind : kinds()) {
        check::step("links: {}; {}", kind.session, kind.file);
        make_folders();
        go("here");
        const std::string scratch = root + "/away0", home = root + "/here0";
        const std::string longest = home + "/" + std::string(255, 'n');
        if (check::state.rank == 0) {
            std::ofstream(scratch + "/target.nc") << "older";
            ::chmod((scratch + "/target.nc").c_str(), 0640);
            fs::create_symlink(scratch + "/target.nc", home + "/link.nc");
            fs::create_symlink("../away0/new.nc", home + "/dangling.nc");
            ::mkfifo((home + "/fifo.nc").c_str(), 0666);
            std::ofstream(home + "/left.nc.part") << "of a dead run";
        }
        MPI_Barrier(MPI_COMM_WORLD);
        {
            Model model(kind.session);
            if (model) {
                const auto write = [&](const std::string& path) {
                    tw_file file = nullptr;
                    OK(tw_create(session, path.c_str(), kind.file.c_str(), &file));
                    if (file == nullptr) return;
                    model.define(file);
                    model.step(file, 0);
                    OK(tw_close(&file));
                    model.look(path, 1);
                };
                write(home + "/link.nc");
                write(home + "/dangling.nc");
                write(home + "/left.nc");
                write(longest);
                for (const std::string& path : {home + "/fifo.nc", home}) {
                    tw_file file = nullptr;
                    const int code = tw_create(session, path.c_str(), kind.file.c_str(), &file);
                    CHECK_TEXT(code == TW_EIO, "{}: {}", path, code);
                }
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (check::state.rank != 0) continue;
        struct stat info {};
        CHECK(::stat((scratch + "/target.nc").c_str(), &info) == 0 &&
              (info.st_mode & 07777) == 0640);
        CHECK(fs::is_symlink(home + "/link.nc") && fs::is_symlink(home + "/dangling.nc"));
        CHECK(list(scratch) == "new.nc target.nc");
        CHECK(content_of(home + "/left.nc.part.1") == "of a dead run");
        const std::string all = list(home);
        CHECK_TEXT(
            all == "dangling.nc fifo.nc left.nc left.nc.part.1 link.nc " + std::string(255, 'n'),
            all);
    }
}

}  // namespace names
