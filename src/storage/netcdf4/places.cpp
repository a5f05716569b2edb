// The places of chunks in a netCDF-4 file, for references to them.
// SPDX-License-Identifier: Apache-2.0
#include "storage/places.hpp"

#include "storage/netcdf4/contents.hpp"
#include "storage/netcdf4/hdf5_view.hpp"

namespace thalweg::detail {

namespace {

using Way = StoredVariable::Way;

/// Tests if a data set that is shorter than its dimensions ends at a chunk boundary. If it does
/// not, the rest of its last chunk is undefined.
bool ends_between_chunks(const StoredVariable& s, const std::vector<std::int64_t>& shape) {
    for (std::size_t d = 0; d < shape.size(); ++d)
        if (s.extent[d] < shape[d] && s.extent[d] % s.chunk[d] != 0) return false;
    return true;
}

VariablePlaces places_of(const StoredVariable& s, const Variable& v,
                         const std::vector<std::int64_t>& shape) {
    VariablePlaces places;
    places.fill = s.fill;
    places.readable = s.way != Way::none;
    if (!places.readable) {
        places.why = s.why;
    } else if (s.way == Way::hdf5) {
        places.why = "Zarr has no equivalent of its type, its filters or its layout in HDF5";
    } else if (s.way == Way::range) {
        places.offset = s.address;
        places.stride = v.elements() * v.element();
    } else {
        places.chunked = true;
        places.chunk = s.chunk;
        places.filters = s.filters;
        if (s.extent != shape && (!ends_between_chunks(s, shape) || s.beyond != s.fill))
            places.why = "its data set in HDF5 is shorter than its dimensions, and ends in a chunk";
    }
    return places;
}

class Netcdf4Places final : public Places {
public:
    Netcdf4Places(std::string path, std::unique_ptr<Source> source, Netcdf4Contents contents)
        : Places(std::move(source)), path_(std::move(path)) {
        size_ = contents.size;
        for (std::size_t i = 0; i < contents.stored.size(); ++i) {
            const StoredVariable& s = contents.stored[i];
            const int at = i;
            places_.push_back(places_of(s, variable(at), shape(at)));
        }
        stored_ = std::move(contents.stored);
        sets_.assign(stored_.size(), H5I_INVALID_HID);
    }
    ~Netcdf4Places() override { Netcdf4Places::forget(); }

    Status find_chunks(int variable) override {
        const QuietHdf5 quiet;
        VariablePlaces& v = places_[variable];
        hid_t set = H5I_INVALID_HID;
        if (Status status = open_set(variable, set); !status.ok()) return status;
        const std::vector<std::int64_t> whole = shape(variable);
        if (volume(whole) == 0) return {};
        std::vector<hsize_t> corner(whole.size(), 0);
        for (std::size_t d = whole.size(); d > 0;) {
            ChunkPlace place;
            if (Status status = find_chunk(variable, set, corner, place); !status.ok())
                return status;
            v.chunks.push_back(place);
            for (d = whole.size(); d > 0; --d) {
                corner[d - 1] += v.chunk[d - 1];
                if (static_cast<std::int64_t>(corner[d - 1]) < whole[d - 1]) break;
                corner[d - 1] = 0;
            }
        }
        return {};
    }

    void forget() override {
        Places::forget();
        const QuietHdf5 quiet;
        for (hid_t& set : sets_)
            if (set >= 0) H5Dclose(std::exchange(set, H5I_INVALID_HID));
        view_.reset();
    }

private:
    Status find_chunk(int variable, hid_t set, const std::vector<hsize_t>& corner,
                      ChunkPlace& place) {
        for (std::size_t d = 0; d < corner.size(); ++d)
            if (static_cast<std::int64_t>(corner[d]) >= stored_[variable].extent[d]) return {};
        StoredChunk chunk;
        if (Status status = view_->locate(stored_[variable], set, corner.data(), chunk);
            !status.ok())
            return status;
        if (chunk.address < 0) return {};
        if (chunk.bytes > size_ - chunk.address)
            return failure(TW_EIO, "{}: the file is truncated: it ends before byte {}",
                           OfFile{path_}, chunk.address + chunk.bytes);
        place = {chunk.address, chunk.bytes};
        if (chunk.skipped != 0)
            places_[variable].why = fmt::format(
                "the chunk at byte {} was written without some of its filters", chunk.address);
        return {};
    }

    Status open_set(int variable, hid_t& set) {
        if (!view_) {
            Status status;
            view_ = Hdf5View::open(path_, status);
            if (!status.ok()) return status;
        }
        hid_t& known = sets_[variable];
        if (known < 0) known = view_->open_set(stored_[variable].name);
        set = known;
        return known < 0 ? failure(TW_EFORMAT, "HDF5 cannot open a data set") : Status{};
    }

    std::string path_;
    std::vector<StoredVariable> stored_;
    std::unique_ptr<Hdf5View> view_;
    std::vector<hid_t> sets_;
};

}  // namespace

std::unique_ptr<Places> open_netcdf4_places(const std::string& path, std::unique_ptr<Source> source,
                                            Status& status) {
    Netcdf4Contents contents;
    status = read_netcdf4_contents(path, contents);
    if (!status.ok()) return nullptr;
    return std::make_unique<Netcdf4Places>(path, std::move(source), std::move(contents));
}

}  // namespace thalweg::detail
