// Opens files, and handles their states.
//
// SPDX-License-Identifier: Apache-2.0
#include "dataset.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ranks.hpp"
#include "storage.hpp"
#include "types.hpp"

namespace thalweg::nc {

const char* name_of_format(Format format) {
    switch (format) {
        case Format::cdf1: return "cdf1";
        case Format::cdf2: return "cdf2";
        case Format::cdf5: return "cdf5";
        case Format::netcdf4: return "netcdf4";
        case Format::netcdf4_classic: return "netcdf4-classic";
    }
    return "auto";
}

namespace {

Format format_named(const std::string& name) {
    for (const Format f : {Format::cdf1, Format::cdf2, Format::cdf5, Format::netcdf4_classic})
        if (name == name_of_format(f)) return f;
    return Format::netcdf4;
}

// Throws the system's error if a path cannot be read or written, as netCDF-C does.
void check_readable(const std::string& path, bool writable) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) {
        // A set of tiles has no file with its own name.
        if (errno == ENOENT && access((path + ".0000").c_str(), R_OK) == 0) return;
        throw Error{errno, path + ": " + std::strerror(errno)};
    }
    if (S_ISREG(info.st_mode) && info.st_size == 0)
        throw Error{NC_ENOTNC, path + ": the file is empty"};
    if (access(path.c_str(), writable ? R_OK | W_OK : R_OK) != 0)
        throw Error{errno, path + ": " + std::strerror(errno)};
}

}  // namespace

Dataset::Dataset(Session& session, const Writers& writers, std::string path)
    : session_(session), root_(writers.first), path_(std::move(path)) {
    settings_ = "attributes=first";
    if (writers.number > 0)
        settings_ +=
            "; writers=" + std::to_string(writers.number) + ":" + std::to_string(writers.first);
    if (writers.number > 1) settings_ += ":" + std::to_string(writers.stride);
}

Dataset::~Dataset() {
    if (file_ != nullptr) tw_close(&file_);
}

void Dataset::check(int status, const std::string& where) const { session_.check(status, where); }

void Dataset::create(Format format, bool clobber) {
    format_ = format;
    if (!clobber)
        on_rank(comm(), root_, [&] {
            if (access(path_.c_str(), F_OK) == 0)
                throw Error{NC_EEXIST, path_ + ": the file exists"};
        });
    const std::string settings = settings_ + "; format=" + name_of_format(format_);
    const auto make = [&] {
        return tw_create(session_.handle(), path_.c_str(), settings.c_str(), &file_);
    };
    int status = make();
    if (status == TW_EMISMATCH) {  // the ranks pass different names: use that of the root
        path_ = broadcast(comm(), root_, path_);
        status = make();
    }
    check(status);
}

void Dataset::open(bool writable) {
    // A file of this name may still be incomplete although it was closed, so wait for it.
    check(tw_wait(session_.handle(), 0));
    on_rank(comm(), root_, [&] { check_readable(path_, writable); });
    writable_ = writable;
    define_ = false;
    fill_mode_ = NC_FILL;
    open_for_reading();
    adopt();
}

void Dataset::open_for_reading() {
    const std::string& path = serial_ ? serial_->work_path() : path_;
    check(tw_open(session_.handle(), path.c_str(), "", &file_));
    state_ = State::reading;
}

void Dataset::adopt() {
    const char* text = nullptr;
    tw_file_info info;
    check(tw_inq(file_, &info));
    format_ = format_named(info.format);
    const std::string unlimited = info.unlimited;
    for (int d = 0; d < info.ndims; d++) {
        Dimension dimension;
        check(tw_inq_name(file_, TW_DIMENSION, nullptr, d, &text));
        dimension.name = text;
        check(tw_inq_dim(file_, text, &dimension.length));
        dimension.unlimited = !unlimited.empty() && dimension.name == unlimited;
        table_.dimensions.push_back(dimension);
    }
    const auto attributes = [&](const char* var, int n) {
        detail::NamedList<Attribute> result;
        for (int a = 0; a < n; a++) {
            Attribute attribute;
            check(tw_inq_name(file_, TW_ATTRIBUTE, var, a, &text));
            attribute.name = text;
            tw_type type = TW_CHAR;
            check(tw_inq_att(file_, var, attribute.name.c_str(), &type, &attribute.n));
            attribute.type = static_cast<nc_type>(type);
            attribute.bytes.resize(static_cast<std::size_t>(attribute.n) * size_of(attribute.type));
            if (!attribute.bytes.empty())
                check(tw_get_att(file_, var, attribute.name.c_str(), type, attribute.n,
                                 attribute.bytes.data()));
            result.push_back(attribute);
        }
        return result;
    };
    table_.attributes = attributes("", info.natts);
    for (int v = 0; v < info.nvars; v++) {
        Variable variable;
        check(tw_inq_name(file_, TW_VARIABLE, nullptr, v, &text));
        variable.name = text;
        tw_type type = TW_CHAR;
        int rank = 0, own = 0;
        check(tw_inq_var(file_, variable.name.c_str(), &type, &rank, &own));
        variable.type = static_cast<nc_type>(type);
        for (int d = 0; d < rank; d++) {
            check(tw_inq_var_dim(file_, variable.name.c_str(), d, &text, nullptr));
            variable.dims.push_back(table_.find_dimension(text));
        }
        variable.attributes = attributes(variable.name.c_str(), own);
        table_.variables.push_back(variable);
    }
    variables_in_file_ = table_.variables.size();
}

int Dataset::format() const {
    switch (format_) {
        case Format::cdf1: return NC_FORMAT_CLASSIC;
        case Format::cdf2: return NC_FORMAT_64BIT_OFFSET;
        case Format::cdf5: return NC_FORMAT_64BIT_DATA;
        case Format::netcdf4: return NC_FORMAT_NETCDF4;
        case Format::netcdf4_classic: return NC_FORMAT_NETCDF4_CLASSIC;
    }
    return 0;
}

// ---- states -------------------------------------------------------------------------------------

// @param adopted  the definitions come from an existing file, with their storage
void Dataset::define_all(bool adopted) {
    for (const Dimension& d : table_.dimensions)
        check(tw_def_dim(file_, d.name.c_str(), d.unlimited ? TW_UNLIMITED : d.length));
    const auto put = [&](const std::string& var, const std::vector<Attribute>& attributes) {
        for (const Attribute& a : attributes)
            if (size_of(a.type) > 0)
                check(tw_put_att(file_, var.c_str(), a.name.c_str(), static_cast<tw_type>(a.type),
                                 a.n, a.bytes.data()));
    };
    put("", table_.attributes);
    for (const Variable& v : table_.variables) {
        check(tw_def_var(file_, v.name.c_str(), static_cast<tw_type>(v.type),
                         joined(table_.names(v)).c_str(), nullptr));
        std::string settings = adopted || !is_netcdf4() ? "" : settings_of(table_, v);
        if (!adopted && v.storage.no_fill)
            settings += settings.empty() ? "fill=none" : "; fill=none";
        if (!settings.empty()) check(tw_set_var(file_, v.name.c_str(), settings.c_str()));
        put(v.name, v.attributes);
    }
    if (!adopted && !is_netcdf4() && spacing_) {
        Index words[] = {spacing_->header_pad, spacing_->var_align, spacing_->var_pad,
                         spacing_->record_align};
        share(session_.comm(), root_, words, 4);
        const std::string list =
            "header_pad=" + std::to_string(words[0]) + "; var_align=" + std::to_string(words[1]) +
            "; var_pad=" + std::to_string(words[2]) + "; record_align=" + std::to_string(words[3]);
        check(tw_set_var(file_, "", list.c_str()));
    }
    check(tw_enddef(file_));
    variables_in_file_ = table_.variables.size();
    if (!adopted) laid_out();
}

void Dataset::hand_over() {
    const std::string why = is_netcdf4() ? beyond_library(table_) : "";
    if (why.empty()) {
        define_all(false);
        state_ = State::writing;
        dirty_ = true;
        return;
    }
    inform(session_.comm(), path_ + " is written by one rank: " + why);
    complete();
    serial_ = std::make_unique<Serial>(session_.comm(), root_);
    serial_->create(path_, table_, NC_NETCDF4 | (is_classic_model() ? NC_CLASSIC_MODEL : 0));
    variables_in_file_ = table_.variables.size();
    state_ = State::serial;
    dirty_ = true;
}

void Dataset::complete() {
    handed_over(tw_close(&file_));
    check(tw_wait(session_.handle(), 0));
}

// Tests if the edits are only attributes, which the library can change in a classic file while it
// appends.
bool Dataset::keeps_definitions() const {
    return continues_in_place_ && state_ == State::reading && !is_netcdf4() &&
           std::all_of(edits_.begin(), edits_.end(), [](const Edit& e) {
               return e.kind == Edit::Kind::attribute && e.attribute.name != fill_attribute;
           });
}

// Closes the file, lets one rank change it, and opens it again.
void Dataset::make_edits() {
    if (edits_.empty()) return;
    edits_begin();
    if (keeps_definitions()) {
        edits_.clear();
        open_for_writing();
        return;
    }
    const std::vector<Edit> edits = std::exchange(edits_, {});
    if (file_ != nullptr) complete();
    try {
        if (serial_) {
            serial_->pause();
            serial_->edit(edits, table_);
        } else {
            on_rank(session_.comm(), root_, [&] { edit_file(path_, edits, table_, is_netcdf4()); });
        }
    } catch (const Error&) {  // the file keeps its old definitions
        open_for_reading();
        table_ = {};
        adopt();
        throw;
    }
    dirty_ = false;
    pending_ = 0;
    open_for_reading();
    variables_in_file_ = table_.variables.size();
}

// Opens a file that was open for reading for writing; after a failure it stays open for reading.
// One rank writes netCDF-4 files that the library cannot continue.
void Dataset::open_for_writing() {
    if (serial_) {
        check(tw_close(&file_));
        serial_->resume();
        state_ = State::serial;
        return;
    }
    try {
        if (is_netcdf4() && !continues_in_place_)
            throw Error{NC_EPERM, "it is an existing netCDF-4 file"};
        continue_file();
    } catch (const Error& error) {
        if (!is_netcdf4()) throw;
        auto serial = std::make_unique<Serial>(session_.comm(), root_);
        serial->open(path_, table_);
        inform(session_.comm(), path_ + " is written by one rank: " + error.text);
        check(tw_close(&file_));
        serial_ = std::move(serial);
        state_ = State::serial;
    }
}

// Opens the file so that the library appends to it; after a failure it stays open for reading.
void Dataset::continue_file() {
    check(tw_close(&file_));
    const std::string settings = settings_ + "; mode=append";
    try {
        check(tw_open(session_.handle(), path_.c_str(), settings.c_str(), &file_));
        define_all(true);
    } catch (const Error&) {
        if (file_ != nullptr) tw_close(&file_);
        open_for_reading();
        throw;
    }
    state_ = State::writing;
    dirty_ = true;
}

void Dataset::begin_writing() {
    if (!writable_) throw Error{NC_EPERM, path_ + " is open for reading"};
    need_data_mode();
    settle_attributes();
    make_edits();
    if (state_ == State::defining) hand_over();
    if (state_ == State::reading) open_for_writing();
}

void Dataset::begin_reading() {
    need_data_mode();
    settle_attributes();
    make_edits();
    if (state_ == State::defining) hand_over();
    if (state_ == State::writing) sync();
    if (state_ == State::serial) {
        serial_->pause();
        open_for_reading();
    }
}

void Dataset::keep_late(const Error& error) {
    if (late_put_ >= 0) return;
    late_ = error;
    late_put_ = put_calls_;
}

// Compares the puts of the ranks. A rank whose call was wrong may have put fewer sections than the
// others.
Dataset::News Dataset::compare() const {
    Index most[] = {late_put_, -late_put_, dirty_ ? 1 : 0, pending_};
    reduce(session_.comm(), MPI_MAX, most, 4);
    return {most[0] != -most[1], most[2] != 0, most[3] > 0};
}

void Dataset::tell_late(const News& news) {
    const Error error = std::exchange(late_, {});
    late_put_ = -1;
    if (news.late) agree(session_.comm(), error);
}

void Dataset::sync() {
    if (define_ && format_ != Format::netcdf4)
        throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    if (!writable_) {  // for a file that is only read, look for records that another program has
                       // added
        check(tw_sync(file_, 0));
        for (Dimension& d : table_.dimensions)
            if (d.unlimited) check(tw_inq_dim(file_, d.name.c_str(), &d.length));
        return;
    }
    need_data_mode();
    settle_attributes();
    make_edits();
    if (state_ == State::defining) hand_over();
    const News news = compare();
    if (state_ == State::serial) {
        serial_->sync();
        dirty_ = false;
    }
    if (state_ == State::writing && news.dirty) {
        handed_over(tw_sync(file_, 0));
        dirty_ = false;
    }
    tell_late(news);
}

void Dataset::flush() {
    if (state_ == State::writing && compare().pending) end_step();
}

void Dataset::close() {
    if (writable_) {
        if (define_) check_sizes();
        define_ = false;
        settle_attributes();
        make_edits();
        if (state_ == State::defining) hand_over();
    }
    if (file_ != nullptr) handed_over(tw_close(&file_));
    if (serial_) serial_->close();
    serial_.reset();
    tell_late(compare());
}

}  // namespace thalweg::nc
