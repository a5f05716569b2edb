// Tests a process that may open no more files.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <cerrno>

#include "names.hpp"

namespace names {

/// Tests that the error contains the system's text, whichever library meets the limit.
void too_many_files() {
    Model model("");
    int met = 0;
    for (const std::string settings :
         {"storage=posix", "storage=" PNETCDF, "format=netcdf4", "service=background"})
        for (int more = 0; more < 12; ++more) {
            check::step("too many files: {}, {} more", settings, more);
            const std::string path = root + "/many.nc";
            rlimit before{};
            getrlimit(RLIMIT_NOFILE, &before);
            rlimit few = before;
            const int next = ::dup(0);  // the lowest free descriptor
            ::close(next);
            few.rlim_cur = static_cast<rlim_t>(next + more);
            if (check::state.rank == 0) setrlimit(RLIMIT_NOFILE, &few);
            tw_file file = nullptr;
            int code = tw_create(session, path.c_str(), settings.c_str(), &file);
            if (code == TW_OK) {
                model.define(file);
                code = tw_enddef(file);
            }
            std::string text = tw_error_message(session);
            if (code == TW_OK) {
                const std::vector<double> data = model.values(0);
                CHECK(tw_put(file, "T", TW_DOUBLE, data.data(), model.count * columns) == TW_OK);
                code = tw_end_step(file);
                if (code == TW_OK) code = tw_close(&file);
                text = tw_error_message(session);
            }
            if (file != nullptr) (void)tw_close(&file);
            setrlimit(RLIMIT_NOFILE, &before);
            if (code != TW_OK) {
                ++met;
                CHECK_TEXT(text.find(std::strerror(EMFILE)) != std::string::npos, "{} {}", code,
                           text);
                CHECK_TEXT(text.find("many.nc") != std::string::npos, text);
                continue;
            }
            // The error must contain the system's text when the file is read, too.
            if (check::state.rank == 0) setrlimit(RLIMIT_NOFILE, &few);
            code = tw_open(session, path.c_str(), nullptr, &file);
            setrlimit(RLIMIT_NOFILE, &before);
            text = tw_error_message(session);
            CHECK_TEXT(code == TW_OK || text.find(std::strerror(EMFILE)) != std::string::npos,
                       "{} {}", code, text);
            if (code == TW_OK) OK(tw_close(&file));
        }
    CHECK_TEXT(met > 4, "{}", met);
}

}  // namespace names
