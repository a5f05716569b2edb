// A history: the fields of a model, and the streams that take them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "history/centres.hpp"
#include "history/stream.hpp"

namespace thalweg::history {

/// A declaration of tw_history_coordinate or tw_history_field.
struct Declaration {
    const char* name = nullptr;
    tw_type type = TW_FLOAT;
    const char* dims = nullptr;
    tw_decomposition decomposition = nullptr;
    const char* attributes = nullptr;
    int serial = 0;  ///< serial number of the decomposition
};

/// A history. Methods marked collective agree by Ranks::meet; all others are local.
class History {
public:
    History(Ranks& ranks, Table table, const RunTimes& run, std::string settings);
    ~History();
    History(const History&) = delete;
    History& operator=(const History&) = delete;

    /// Finds the part of a declaration that this rank holds.
    /// @param n  number of elements if every rank has the whole array; -1: not known
    Status find_part(const Declaration& declaration, std::int64_t n, Part& part) const;
    /// @param boxes  this rank's array
    Status add_coordinate(const Declaration& declaration, Part part,
                          std::span<const SentBox> boxes);
    Status add_field(const Declaration& declaration, Part part, Field*& field);
    /// @note Collective
    Status ready();
    bool is_ready() const { return ready_; }

    Status set_time(double seconds);
    /// @param whole   all boxes of the rank
    /// @param weight  null: the step's length
    Status send(Field& field, std::span<const SentBox> boxes, bool whole, tw_type type,
                const double* weight);
    /// @note Collective if a record is due
    Status end_step();

    /// @note Collective
    Status save(tw_restart restart);
    /// @note Collective
    Status load(tw_file file);
    /// @note Collective
    Status close();

    std::int64_t memory() const;
    tw_session session() const { return ranks_.session(); }
    /// Moves the fields out, so that their handles stay valid until the session ends.
    std::deque<Field> release_fields();

private:
    /// A choice of elements of fields with one decomposition. All ranks create these in the same
    /// order, because all streams and declarations are the same.
    struct Taken {
        int serial = 0;  ///< serial number of the fields' decomposition
        std::vector<std::string> dims;
        Integers shape;
        Choice choice;
        std::shared_ptr<const Chosen> chosen;
        tw_decomposition target = nullptr, restart = nullptr;
    };
    /// Longitudes and latitudes of a field's elements.
    struct Centres {
        const Coordinate *longitude = nullptr, *latitude = nullptr;
        std::vector<std::string> dims;  ///< dimensions of the field that longitudes, latitudes or
                                        ///< both have
        bool complete() const { return longitude != nullptr && latitude != nullptr; }
        friend bool operator==(const Centres&, const Centres&) = default;
    };
    /// The elements that a region picks from fields that ranks hold in the same way.
    struct RegionPick {
        const RegionTable* region;
        const Field* field;  ///< one of these fields
        Centres centres;
        Pick pick;
    };
    /// A record that is due.
    struct Due {
        Stream* stream;
        Window window;
        bool before = false;  ///< the window ended before the step
    };

    Status begin_step(double seconds);
    Status check_declaration(const Declaration& declaration) const;
    Status resolve_all(std::vector<ResolvedStream>& resolved);
    std::int64_t declarations_hash() const;
    Status find_choice(const StreamTable& stream, const std::vector<std::string>& dims,
                       const Pick& pick, Choice& choice) const;
    Centres centres(const Field& field) const;
    const RegionPick* pick_of(const StreamTable& stream, const Field& field) const;
    Status list_picks(const std::vector<ResolvedStream>& resolved);
    Status read_regions();
    Status read_list(RegionTable& region);
    Status find_centres(const RegionPick& one, std::vector<Centre>& found) const;
    Status find_nearest(std::vector<Integers>& indices);
    Status find_picks();
    Status check_picks(const StreamTable& stream, const RegionPick& one,
                       const RegionPick& other) const;
    std::vector<std::string> names_beside(const RegionPick& one) const;
    void turn_eastward(const StreamTable& stream, const Coordinate& c, const Choice& choice,
                       std::vector<char>& data) const;
    std::vector<WrittenCoordinate> coordinates_of(const StreamTable& stream,
                                                  const std::vector<Variable*>& variables);
    const Coordinate* axis(const std::string& dim) const;
    bool has_axes(const std::vector<std::string>& dims) const;
    Taken& taken(int serial, const Part& part, const Choice& choice);
    Status declare_all();
    Status make_variable(Stream& stream, const StreamField& about);
    Status make_variables(const std::vector<ResolvedStream>& resolved);
    Status agree_on_declarations(const Status& mine);

    Status check_samples(const std::vector<Due>& due);
    Status find_differences(const std::vector<Due>& due, std::span<const std::int64_t> words);
    Status check_unsent(const std::vector<Due>& due, std::span<const std::int64_t> words);
    Status write_records(const std::vector<Due>& due);
    Status write_record(const Due& due);
    Status end_lost_step();
    std::vector<Due> find_due() const;
    std::vector<Due> find_open();
    Status limit_open();
    void drop_records(const std::vector<Due>& due);
    std::vector<Variable*> all_variables() const;
    std::vector<Output*> all_outputs() const;
    Status gather_states(std::vector<VariableState>& states);
    Status declare_for_restart();
    Status save_arrays(tw_restart restart, tw_file file);
    Status read_state(tw_file file, nlohmann::json& state) const;
    void take_state(const nlohmann::json& state);
    Status load_arrays(tw_file file, const nlohmann::json& state);
    Status resume_outputs(const nlohmann::json& state);
    /// Lists the properties of a stream that must be the same after a restart, as keys and values.
    std::vector<std::pair<std::string, std::string>> describe(Stream& stream) const;

    Ranks& ranks_;
    Table table_;
    FileContext context_;
    std::deque<Field> fields_;
    std::map<std::string, std::int64_t> lengths_;  ///< lengths of dimensions
    std::deque<RegionPick> picks_;
    std::map<std::string, Coordinate> station_names_;  ///< names of stations, by region
    std::deque<Taken> taken_;
    std::map<const Variable*, Taken*> taken_of_;
    std::map<std::pair<const Coordinate*, const Taken*>, std::shared_ptr<const std::vector<char>>>
        coordinate_data_;
    std::vector<std::unique_ptr<Stream>> streams_;
    bool ready_ = false;
    bool in_step_ = false;
    std::optional<Time> previous_;  ///< time of the last step that has ended
    Time now_ = 0;
    Time length_ = 0;     ///< length of the last step
    Status lost_;         ///< reason why the time of this step was refused
    Time lost_time_ = 0;  ///< the refused time
    bool saved_ = false;  ///< nothing has been sent since the last tw_history_save
    /// Variables for which a warning was printed that they were not sent.
    std::set<const Variable*> warned_;
    std::set<std::pair<const Variable*, bool>> sent_in_record_;  ///< variable, and Due::before
    std::vector<char> values_;
};

}  // namespace thalweg::history
