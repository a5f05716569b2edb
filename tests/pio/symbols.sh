#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# symbols.sh LIBRARY SONAME LIST [more]: checks that the library's soname is SONAME, and that the
# library exports exactly the names of the list (with `more`: at least these names), so that
# programs that were linked with another build can run. New names are added to the list. If a name
# is removed, or its arguments change, the library needs another SONAME.
set -euo pipefail
library="$1" soname="$2" list="$3"
found="$(objdump -p "$library" | sed -n 's/^ *SONAME *//p')"
[[ "$found" == "$soname" ]] || {
    echo "symbols.sh: the SONAME is '$found', not '$soname'"
    exit 1
}
names() { nm -D --defined-only "$library" | awk '{print $3}' | LC_ALL=C sort; }
if [[ "${4:-}" == more ]]; then
    missing="$(LC_ALL=C comm -23 "$list" <(names))"
    [[ -z "$missing" ]] || {
        echo "symbols.sh: $library lacks"
        echo "$missing"
        exit 1
    }
    exit 0
fi
diff "$list" <(names) || {
    echo "symbols.sh: $library exports other names (>) or lacks some (<)"
    exit 1
}
