#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# symbols.sh LIBRARY SONAME LIST: checks that the library's soname is SONAME, and that the library
# exports exactly the names of the list.
set -euo pipefail
library="$1" soname="$2" list="$3"
found="$(objdump -p "$library" | sed -n 's/^ *SONAME *//p')"
[[ "$found" == "$soname" ]] || {
    echo "symbols.sh: the SONAME is '$found', not '$soname'"
    exit 1
}
names() { nm -D --defined-only "$library" | awk '{print $3}' | LC_ALL=C sort; }
diff "$list" <(names) || {
    echo "symbols.sh: $library exports other names (>) or lacks some (<)"
    exit 1
}
