// Copies of what is put, until the ranks meet: converted to the file's type, so that their size is
// known from the definitions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "service/file_context.hpp"

namespace thalweg::detail {

/// What a rank stages of a variable that it holds by a decomposition.
struct Staged {
    const Variable& variable;
    const Decomposition& decomposition;
    std::span<const int> order;

    std::int64_t bytes() const {
        const Decomposition& d = decomposition;
        return (d.listed ? d.stored : d.held) * variable.element();
    }
    /// @param view     receives the copy
    /// @return the number of values that do not fit
    std::int64_t copy(Packers& packers, ArrayView& view, char* to) const;

private:
    std::int64_t copy_blocks(Packers& packers, const ArrayView& view, char* to) const;
    std::int64_t copy_list(Packers& packers, const ArrayView& view, char* to) const;
};

/// Memory for copies of which nobody knows beforehand how many there will be. What was taken stays
/// where it is until all of it is given back, and is kept for the next step.
class StagingMemory {
public:
    /// @return null without the memory for them
    char* take(std::int64_t bytes);
    void give_back() { chunk_ = at_ = 0; }
    /// Bytes that the system has given.
    std::int64_t bytes() const { return bytes_; }

private:
    std::vector<std::unique_ptr<Memory>> chunks_;
    std::size_t chunk_ = 0, at_ = 0;  ///< where the next copy goes
    std::int64_t bytes_ = 0;
};

class Staging {
public:
    explicit Staging(const FileContext& file);
    /// Leaves its memory to the session's next file.
    ~Staging();
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    /// Bytes of all variables of this rank.
    std::int64_t bytes() const { return bytes_; }

    /// Copies what this rank holds of an array.
    /// @param view     receives the copy
    /// @param misfits  receives the number of values that do not fit
    /// @return TW_OK, TW_ENOMEM
    Status copy(int variable, ArrayView& view, std::int64_t& misfits);
    /// Bytes that the system has given.
    std::int64_t taken() const { return memory_ ? bytes_ : 0; }

private:
    const FileContext& file_;
    std::vector<std::int64_t> at_;  ///< of each variable
    std::int64_t bytes_ = 0;
    std::unique_ptr<Memory> memory_;  ///< kept from step to step
};

}  // namespace thalweg::detail
