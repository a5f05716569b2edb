# SPDX-License-Identifier: Apache-2.0
# Checks the format of the sources, and corrects it.

c_family_files() {
    find include src bindings apps lab examples tests -type f \
        \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) -print0
}

badly_formatted() {
    { c_family_files | xargs -0 -r -n 64 -P "$jobs" clang-format --dry-run 2>&1 || true; } |
        sed -n 's/^\([^ :]*\):[0-9].*-Wclang-format-violations.*/\1/p' | sort -u
}

check_scripts() {
    local script
    for script in run tools/*.bash .ci/*; do
        bash -n "$script" || return
    done
}

check_form() {
    local bad
    bad="$(badly_formatted)"
    if [[ -n "$bad" ]]; then
        printf 'not formatted: %s\n' $bad
        return 1
    fi
    # When a comment is formatted anew, the licence's line can become part of it.
    bad="$(git grep -lE '[^/* ] SPDX-License-Identifier:' -- '*.cpp' '*.hpp' '*.c' '*.h' || true)"
    if [[ -n "$bad" ]]; then
        printf 'the licence does not stand on a line of its own: %s\n' $bad
        return 1
    fi
    "$venv/bin/ruff" format --quiet --check . &&
        "$venv/bin/ruff" check --quiet . &&
        "$venv/bin/python3" tests/mutants/mutants.py --list >/dev/null &&
        check_scripts && python3 tools/settings_page.py --check &&
        python3 tools/house.py --check && python3 tools/house.py &&
        echo "format and lint: ok"
}

format_sources() {
    c_family_files | xargs -0 -r clang-format -i
    "$venv/bin/ruff" format --quiet .
    "$venv/bin/ruff" check --quiet --fix .
}
