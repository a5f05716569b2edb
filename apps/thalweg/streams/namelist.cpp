// SPDX-License-Identifier: Apache-2.0
#include "streams/namelist.hpp"

#include <cctype>
#include <charconv>
#include <set>

#include "streams/convert.hpp"

namespace thalweg::app {

namespace {

constexpr std::int64_t most_repeats = 10000;

class Reader {
public:
    Reader(std::string_view text, std::vector<history::Problem>& problems)
        : text_(text), problems_(problems) {}

    std::vector<Assignment> read() {
        while (!text_.empty()) {
            skip(" \t\r");
            if (starts_group())
                group();
            else
                skip_line();
        }
        return std::move(found_);
    }

private:
    char front() const { return text_.empty() ? '\0' : text_.front(); }
    bool starts_group() const {
        return (front() == '&' || front() == '$') && text_.size() > 1 &&
               std::isalpha(static_cast<unsigned char>(text_[1])) != 0;
    }

    std::string_view take(std::size_t n) {
        const std::string_view taken = text_.substr(0, n);
        for (const char c : taken) line_ += c == '\n';
        text_.remove_prefix(taken.size());
        return taken;
    }
    void skip(std::string_view characters) { take(text_.find_first_not_of(characters)); }
    void skip_line() {
        take(text_.find('\n'));
        take(1);
    }
    /// Skips blanks, line ends and comments.
    void skip_blanks() {
        for (skip(" \t\r\n"); front() == '!'; skip(" \t\r\n")) skip_line();
    }
    void fail(std::int64_t line, std::string what) { problems_.push_back({line, std::move(what)}); }

    void group() {
        const std::int64_t line = line_;
        take(1);
        name_ = in_lower_case(take(text_.find_first_of(" \t\r\n/!,=")));
        const bool again = !names_.insert(name_).second;
        if (again)
            fail(line, fmt::format("group '{}' comes again: Fortran reads the first", name_));
        const std::size_t before = found_.size();
        for (skip_blanks(); !text_.empty() && front() != '/' && !starts_group(); skip_blanks())
            item();
        if (again) found_.resize(before);
        begun_ = false;
        const std::string end = in_lower_case(text_.substr(0, text_.find_first_of(" \t\r\n/!", 1)));
        if (front() != '/' && end != "&end" && end != "$end")
            return fail(line, fmt::format("group '{}' has no end: '/'", name_));
        skip_line();
    }

    /// Reads a separator, the name of the next assignment, or a value.
    void item() {
        const std::int64_t line = line_;
        if (front() == ',' || front() == ';') {
            if (separated_) add(std::nullopt, 1, line);
            separated_ = true;
            take(1);
            return;
        }
        if (assignment()) return;
        std::string word;
        if (front() != '\'' && front() != '"')
            word = front() == '(' ? take(text_.find(')') + 1)
                                  : take(text_.find_first_of(" \t\r\n,;/!=('\""));
        if (word.empty() && front() != '\'' && front() != '"') {
            fail(line, fmt::format("'{}' is not expected here", take(1)));
            return;
        }
        std::int64_t times = 1;
        const auto star = word.find('*');
        const bool repeated =
            star != std::string::npos &&
            std::from_chars(word.data(), word.data() + star, times).ptr == word.data() + star &&
            times > 0 && times <= most_repeats;
        if (repeated) word.erase(0, star + 1);
        if (!word.empty())
            add(word, times, line);
        else if (front() == '\'' || front() == '"')
            add(quoted_text(), times, line);
        else
            add(std::nullopt, times, line);
        separated_ = false;
    }

    void add(const std::optional<std::string>& value, std::int64_t times, std::int64_t line) {
        if (!begun_) return fail(line, fmt::format("'{}' belongs to no name", value.value_or(",")));
        for (std::int64_t i = 0; i < times; ++i) found_.back().values.push_back(value);
    }

    /// Reads a text in quotes, in which two quotes stand for one. It may go on in the next line.
    std::string quoted_text() {
        const std::int64_t line = line_;
        const char quote = take(1).front();
        std::string value;
        for (;; value += quote) {
            const auto end = text_.find(quote);
            for (const char c : take(end))
                if (c != '\n' && c != '\r') value += c;
            if (text_.empty()) fail(line, "a text that begins here has no end");
            take(1);
            if (front() != quote) return value;
            take(1);
        }
    }

    /// Reads "name =" or "name(2:3) =".
    /// @return false if something else is next
    bool assignment() {
        const auto end = text_.find_first_of(" \t\r\n,;/!=('\"");
        if (end == 0 || std::isalpha(static_cast<unsigned char>(front())) == 0) return false;
        Assignment next{name_, std::string(text_.substr(0, end)), line_, 0, false, true, {}};
        auto rest = text_.find_first_not_of(" \t", end);
        while (rest != std::string_view::npos && text_[rest] == '(') {
            const auto close = text_.find(')', rest);
            if (close == std::string_view::npos) return false;
            next.whole = next.whole && !next.subscripts &&
                         read_subscript(text_.substr(rest + 1, close - rest - 1), next.first);
            next.subscripts = true;
            rest = text_.find_first_not_of(" \t", close + 1);
        }
        if (rest == std::string_view::npos || text_[rest] != '=') return false;
        take(rest + 1);
        found_.push_back(std::move(next));
        begun_ = separated_ = true;
        return true;
    }

    /// Reads "2", "2:3" or ":".
    static bool read_subscript(std::string_view text, std::size_t& first) {
        const std::string low = trimmed(text.substr(0, text.find(':')));
        std::int64_t n = 1;
        const auto [end, error] = std::from_chars(low.data(), low.data() + low.size(), n);
        const bool number = error == std::errc() && end == low.data() + low.size() && n >= 1;
        first = static_cast<std::size_t>(n - 1);
        return (number || (low.empty() && text.find(':') != std::string_view::npos)) &&
               text.find(',') == std::string_view::npos && text.find(':') == text.rfind(':');
    }

    std::string_view text_;
    std::vector<history::Problem>& problems_;
    std::vector<Assignment> found_;
    std::set<std::string> names_;
    std::string name_;
    std::int64_t line_ = 1;
    bool begun_ = false;      ///< the group has an assignment, to which values belong
    bool separated_ = false;  ///< no value has come since the last separator
};

}  // namespace

std::vector<Assignment> read_namelists(std::string_view text,
                                       std::vector<history::Problem>& problems) {
    return Reader(text, problems).read();
}

}  // namespace thalweg::app
