// The C functions of histories, which read and write files by the other C functions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>

#include "base/hash.hpp"
#include "history/history.hpp"
#include "session/calls.hpp"

using namespace thalweg::detail;
namespace history = thalweg::history;

struct tw_history_impl {
    tw_history_impl(tw_session session, int number) : ranks(session, number) {}

    history::Ranks ranks;
    std::unique_ptr<history::History> history;  ///< null: the history is closed
    std::deque<history::Field> closed_fields;
    std::int64_t most_memory = 0;
};

namespace {

/// Runs the body of a function that calls functions of the session, and measures its own time.
template <class F>
tw_status outside(tw_session session, F&& body) {
    const OwnArithmetic arithmetic;
    SessionTelemetry& t = session->telemetry;
    const double begin = now(), others = t.in_calls + t.history_work;
    const tw_status code = report(session, catch_errors(std::forward<F>(body)));
    t.history_work += now() - begin - (t.in_calls + t.history_work - others);
    return code;
}

template <class F>
tw_status with_history(tw_history handle, F&& body, const char* call = __builtin_FUNCTION()) {
    if (handle == nullptr) return no_handle(call);
    return outside(handle->ranks.session(), [&]() -> Status {
        if (!handle->history) return failure(TW_ECLOSED, "{}: the history is closed", call);
        return body(*handle->history);
    });
}

template <class F>
tw_status with_ranks(tw_history handle, Call call, F&& body) {
    if (handle == nullptr) return no_handle(name_of(call));
    tw_session session = handle->ranks.session();
    handle->ranks.begin(call);
    const std::int64_t before = session->agreement ? session->agreement->count() : 0;
    const auto checked = [&](history::History& h) -> Status {
        try {
            return std::invoke(body, h);
        } catch (const std::exception&) {
            Status status = exception_status();
            if (session->team->size() > 1 && is_interrupted(*session, before, name_of(call)))
                end_job(*session, name_of(call), "", status);
            return status;
        }
    };
    return with_history(handle, checked, name_of(call));
}

Status named(const char* call, const char* name, Status status) {
    if (!status.ok())
        status.text = fmt::format("{}: '{}': {}", call, text_or_empty(name), status.text);
    return status;
}

Status find_boxes(const Decomposition& d, const tw_array& array,
                  std::vector<history::SentBox>& boxes) {
    if (!valid_type(array.type)) return failure(TW_ETYPE, "{}", no_type(array.type));
    if (lacks_data(d, array)) return failure(TW_EARG, "the array is missing (null pointer)");
    ArrayView view;
    if (Status status = check_array(d, array, view); !status.ok()) return status;
    const std::int64_t size = size_of(array.type);
    if (d.listed || d.replicated) {
        const auto extent = d.listed ? d.listed_extent() : d.shape;
        history::Integers stride = history::dense_steps(extent, size);
        if (!view.dense) std::copy_n(view.stride.begin(), stride.size(), stride.begin());
        boxes.push_back({0, view.data, std::move(stride)});
        return {};
    }
    std::vector<int> order(d.nd());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t b = 0; b < d.blocks.size(); ++b) {
        HeldBox held;
        held.block = static_cast<int>(b);
        const Strided at = locate(d, order, held, view);
        boxes.push_back({held.block, at.base, {at.stride.begin(), at.stride.begin() + d.nd()}});
    }
    return {};
}

/// Finds the memory of one block, which is passed alone, in the same form as in a whole array.
Status find_block(const Decomposition& d, int block, tw_type type, const void* data, std::int64_t n,
                  history::SentBox& box) {
    if (d.listed || d.replicated || block < 0 || block >= std::ssize(d.blocks))
        return failure(TW_EBOUNDS, "box {} is not one of the {} boxes of this rank", block,
                       d.listed || d.replicated ? 0 : d.blocks.size());
    std::vector<std::int64_t> extent = d.padded;
    if (extent.empty())
        for (int i = 0; i < d.nd(); ++i)
            extent.push_back(d.blocks[block].count[i] + d.halo_low[i] + d.halo_high[i]);
    if (volume(extent) != n)
        return failure(TW_ESHAPE, "the array has {} elements, but box {} has {}", n, block,
                       volume(extent));
    if (n > 0 && data == nullptr) return failure(TW_EARG, "the array is missing (null pointer)");
    box = {block, static_cast<const char*>(data), history::dense_steps(extent, size_of(type))};
    for (int i = 0; i < d.nd(); ++i) box.base += d.halo_low[i] * box.stride[i];
    return {};
}

Status find_part(history::History& of, history::Declaration& declaration, std::int64_t n,
                 history::Part& part, std::shared_ptr<const Decomposition>& form) {
    Status status = decomposition_of(declaration.decomposition, of.session(), form);
    if (!status.ok()) return status;
    if (form && form->listed && form->listed->shared)
        return failure(TW_EOVERLAP, "its decomposition was made with TW_LIST_SHARED");
    if (form) declaration.serial = form->serial;
    status = of.declared().find_part(declaration, n, part);
    if (status.ok() && !form) form = replicate(of.session()->rank, part.dims, part.shape);
    return status;
}

Status send(tw_field field, const tw_array& array, const double* weight) {
    std::vector<history::SentBox> boxes;
    Status status = find_boxes(*field->form, array, boxes);
    return status.ok() ? field->history->send(*field, boxes, true, array.type, weight) : status;
}

template <class F>
tw_status with_field(tw_field field, F&& body, const char* call = __builtin_FUNCTION()) {
    if (field == nullptr) return no_handle(call);
    if (field->history == nullptr) return TW_ECLOSED;
    return outside(field->history->session(), [&]() -> Status {
        Status status = body();
        if (!status.ok() && status.place.variable.empty())
            reword(status, "{}: field '{}': {}", call, OfVariable{field->name}, status.text);
        return status;
    });
}

/// Moves "step=SECONDS", the length of the model's step, from the settings to `step`.
Status take_step_length(std::string& settings, history::Time& step) {
    std::string rest, item;
    Status status;
    for (std::size_t at = 0; at <= settings.size(); at += item.size() + 1) {
        item = settings.substr(at, settings.find(';', at) - at);
        const std::size_t name = item.find_first_not_of(' ');
        if (name == std::string::npos || item.compare(name, 5, "step=") != 0) {
            rest += item + ";";
            continue;
        }
        char* end = nullptr;
        const std::string value = item.substr(name + 5);
        status = history::parse_seconds(std::strtod(value.c_str(), &end), step);
        if (end == value.c_str() || *end != '\0' || step <= 0)
            status = failure(TW_ESETTING, "the setting step is '{}'; it must be seconds", value);
    }
    settings = rest;
    return status;
}

struct OpenArguments {
    const char* config;
    const char* calendar;
    const char* start;
    std::string settings;
    history::RunTimes run;

    Status check(tw_session session, tw_history* handle) {
        if (handle == nullptr)
            return failure(TW_EARG, "the pointer for the history's handle is null");
        if (config == nullptr || calendar == nullptr || start == nullptr)
            return failure(TW_EARG, "the configuration, calendar or start is missing");
        Status status = history::parse_calendar(calendar, run.calendar);
        history::Date date;
        if (status.ok()) status = history::parse_date(run.calendar, start, date);
        if (status.ok()) run.start = history::time_of(run.calendar, date);
        if (status.ok()) status = take_step_length(settings, run.step);
        Settings ignored;
        return status.ok() ? session->settings.for_file(settings, ignored) : status;
    }
};

/// Returns the smallest number that no open history of the session has.
int free_number(const tw_session_impl& session) {
    int number = 0;
    const auto has = [&](const auto& one) {
        const auto& handle = *static_cast<const tw_history_impl*>(one.get());
        return handle.history && handle.ranks.number() == number;
    };
    while (std::ranges::any_of(session.histories, has)) ++number;
    return number;
}

}  // namespace

extern "C" {

tw_status tw_history_open(tw_session session, const char* config, const char* calendar,
                          const char* start, const char* settings, tw_history* handle) {
    tell(handle, tw_history{});
    if (!is_model(session)) return no_model(session);
    OpenArguments arguments{config, calendar, start, text_or_empty(settings), {}};
    std::string text;
    const tw_status agreed = guarded(session, [&]() -> Status {
        std::uint64_t hash = hash_of_nothing;
        for (const char* each : {config, calendar, start, arguments.settings.c_str()})
            hash = hash_of(text_or_empty(each), hash);
        const Status mine = arguments.check(session, handle);
        Status status =
            enter(session, Call::history_open, "", mine, static_cast<std::int64_t>(hash));
        text = text_or_empty(config);
        const bool file = text.find('\n') == std::string::npos;
        return status.ok() && file ? history::read_text(session, config, text) : status;
    });
    if (agreed != TW_OK) return agreed;
    return outside(session, [&]() -> Status {
        auto made = std::make_shared<tw_history_impl>(session, free_number(*session));
        history::Table table;
        const std::string name = text == arguments.config ? "the configuration" : arguments.config;
        const auto read = [&](const std::string& list, Settings& effective) {
            return session->settings.for_file(arguments.settings + ";" + list, effective);
        };
        const auto problems = history::parse_table(text, name, arguments.run, read, table);
        if (Status status = history::problem_status(problems, name); !status.ok()) {
            status.text = "the configuration of the history has errors:\n" + status.text;
            return status;
        }
        made->history = std::make_unique<history::History>(made->ranks, std::move(table),
                                                           arguments.run, arguments.settings);
        session->histories.push_back(made);
        *handle = made.get();
        return {};
    });
}

tw_status tw_history_coordinate(tw_history handle, const char* name, const char* dims,
                                tw_decomposition decomposition, tw_array array,
                                const char* attributes) {
    return with_history(handle, [&](history::History& h) {
        history::Declaration declaration{name, array.type, dims, decomposition, attributes};
        std::int64_t n = array.n;
        if (array.rank >= 0 && array.extent != nullptr)
            n = volume({array.extent, static_cast<std::size_t>(array.rank)});
        history::Part part;
        std::shared_ptr<const Decomposition> form;
        std::vector<history::SentBox> boxes;
        Status status = find_part(h, declaration, n, part, form);
        if (status.ok()) status = find_boxes(*form, array, boxes);
        if (status.ok()) status = h.declared().add_coordinate(declaration, std::move(part), boxes);
        return named("tw_history_coordinate", name, std::move(status));
    });
}

tw_status tw_history_field(tw_history handle, const char* name, tw_type type, const char* dims,
                           tw_decomposition decomposition, const char* attributes,
                           tw_field* field) {
    tell(field, tw_field{});
    return with_history(handle, [&](history::History& h) {
        history::Declaration declaration{name, type, dims, decomposition, attributes};
        history::Part part;
        std::shared_ptr<const Decomposition> form;
        history::Field* made = nullptr;
        Status status = field == nullptr
                            ? failure(TW_EARG, "the pointer for the field's handle is null")
                            : find_part(h, declaration, -1, part, form);
        if (status.ok()) status = h.declared().add_field(declaration, std::move(part), made);
        if (status.ok()) {
            made->form = std::move(form);
            made->history = &h;
            *field = made;
        }
        return named("tw_history_field", name, std::move(status));
    });
}

tw_status tw_history_ready(tw_history handle) {
    return with_ranks(handle, Call::history_ready, [&](history::History& h) {
        Status status = h.ready();
        handle->most_memory = h.memory();
        return status;
    });
}

tw_status tw_history_time(tw_history handle, double seconds) {
    return with_history(handle, [&](history::History& h) { return h.set_time(seconds); });
}

int tw_wants(tw_field field) { return field == nullptr ? 0 : field->wanted; }

tw_status tw_send(tw_field field, tw_type type, const void* data, int64_t n) {
    return with_field(field, [&] { return send(field, tw_dense(type, data, n), nullptr); });
}

tw_status tw_send_array(tw_field field, tw_array array, const double* weight) {
    return with_field(field, [&] { return send(field, array, weight); });
}

tw_status tw_send_block(tw_field field, int block, tw_type type, const void* data, int64_t n) {
    return with_field(field, [&]() -> Status {
        if (!valid_type(type)) return failure(TW_ETYPE, "{}", no_type(type));
        history::SentBox box;
        Status status = find_block(*field->form, block, type, data, n, box);
        if (!status.ok()) return status;
        return field->history->send(*field, {&box, 1}, false, type, nullptr);
    });
}

tw_status tw_history_end_step(tw_history handle) {
    return with_ranks(handle, Call::history_end_step, &history::History::end_step);
}

tw_status tw_history_save(tw_history handle, tw_restart restart) {
    return with_ranks(handle, Call::history_save,
                      [&](history::History& h) { return h.save(restart); });
}

tw_status tw_history_load(tw_history handle, tw_file file) {
    return with_ranks(handle, Call::history_load,
                      [&](history::History& h) { return h.load(file); });
}

tw_status tw_history_memory(tw_history handle, int64_t* now, int64_t* most) {
    return with_history(handle, [&](history::History& h) -> Status {
        tell(now, h.memory());
        tell(most, std::max(h.memory(), handle->most_memory));
        return {};
    });
}

tw_status tw_history_close(tw_history* handle) {
    if (handle == nullptr || *handle == nullptr) return no_handle();
    const tw_history closing = *handle;
    *handle = nullptr;
    return with_ranks(closing, Call::history_close, [&](history::History& h) {
        Status status = h.close();
        closing->closed_fields = h.declared().release_fields();
        closing->history.reset();
        return status;
    });
}

}  // extern "C"
