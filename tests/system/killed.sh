#!/usr/bin/env bash
# A killed run leaves every ended record readable.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: killed.sh PROGRAM LAUNCHER...   (LAUNCHER with its flags and the number of ranks)
set -euo pipefail
program="$1"
shift
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
if "$@" "$program" --die "$folder" 2>"$folder.log"; then
    echo "killed.sh: the run was to be killed, but ended well" >&2
    exit 1
fi
rm -f "$folder.log"
exec "$program" --look "$folder"
