#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a source archive of a commit: packaging/release.sh [COMMIT] [FOLDER] [URL]
# FOLDER (build/release-archive by default) receives thalweg-VERSION.tar.gz and its SHA-256, and the
# recipes for Spack and EasyBuild with that sum. Their sources are in the folder URL of the web, where
# the archive will be published. The archive holds what the commit has, and the file VERSION with the
# version and the commit; it is the same bytes whenever it is made. Building it takes neither git nor
# the network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
commit="$(git rev-parse --verify "${1:-HEAD}^{commit}")"
folder="${2:-build/release-archive}"
url="${3:-}"

version="$(git show "$commit:CMakeLists.txt" | sed -n 's/^ *VERSION \([0-9.]*\)$/\1/p' | head -n 1)"
[[ -n "$version" ]] || { echo "release: no VERSION in CMakeLists.txt" >&2; exit 1; }
tag="$(git describe --tags --exact-match "$commit" 2>/dev/null || true)"
if [[ -n "$tag" && "$tag" != "v$version" ]]; then
    echo "release: the commit has the tag $tag, but CMakeLists.txt says $version" >&2
    exit 1
fi

name="thalweg-$version"
mkdir -p "$folder"
# A temporary folder inside: a run that fails leaves no archive.
work="$(mktemp -d "$folder/making.XXXXXX")"
trap 'rm -rf "$work"' EXIT
printf '%s\n%s\n' "$version" "$commit" >"$work/VERSION"
git archive --format=tar --prefix="$name/" --add-file="$work/VERSION" "$commit" >"$work/$name.tar"
gzip -9 --no-name "$work/$name.tar"
mv "$work/$name.tar.gz" "$folder/"
(cd "$folder" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
cat "$folder/$name.tar.gz.sha256"

# The recipes cannot have the sum of an archive that they are part of.
sum="$(cut -d ' ' -f 1 "$folder/$name.tar.gz.sha256")"
for recipe in packaging/spack/package.py "packaging/easybuild/$name"-*.eb; do
    sed "s|0\{64\}|$sum|; s|https://example.org/thalweg|${url:-https://example.org/thalweg}|" \
        "$recipe" >"$folder/${recipe##*/}"
done
