#!/usr/bin/env bash
# Installs a build into an empty folder, builds and runs a project against it, and the program from there.
# Usage: check.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/tests/package
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$1" --prefix "$folder/usr" >/dev/null
unset TBDSIM_CATALOGUE
"$folder/usr/bin/tbdsim" predict --hw dgx1 --model resnet50 >"$folder/prediction"
grep -q Throughput "$folder/prediction"
"$folder/usr/bin/tbdsim" docs man | cmp - "$folder/usr/share/man/man1/tbdsim.1"
for place in bash-completion/completions/tbdsim zsh/site-functions/_tbdsim zsh/vendor-completions/_tbdsim fish/vendor_completions.d/tbdsim.fish; do
  test -s "$folder/usr/share/$place"
done
# What the pages name and link is there; the licences of the data too.
grep -q "Apache License" "$folder/usr/share/doc/tbdsim/copyright"
(grep -oE '`[a-z_/]+/[A-Za-z_]+\.(md|py)' README.md docs/USING.md docs/ACCURACY.md \
  calibrate/collect/README.md | cut -d'`' -f2 | sort -u) | while read -r page; do
  test -s "$folder/usr/share/doc/tbdsim/$page" || { echo "a page names $page, which is not installed" >&2; exit 1; }
done
for page in README.md docs/USING.md docs/ACCURACY.md; do
  grep -oE '\]\([A-Za-z_./]+\)' "$page" | cut -d'(' -f2 | tr -d ')' | while read -r link; do
    test -s "$folder/usr/share/doc/tbdsim/$(dirname "$page")/$link" || { echo "$page links $link, which is not installed" >&2; exit 1; }
  done
done
"$folder/usr/bin/tbdsim" docs formats | cmp - "$folder/usr/share/doc/tbdsim/formats.md"
cmake -S "$here" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/usr" >/dev/null
cmake --build "$folder/build" >/dev/null
"$folder/build/uses_tbdsim"
