#!/usr/bin/env bash
# Installs a build into an empty folder, builds and runs a project against it, and the program from there.
# Usage: check.sh BUILD_FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$1" --prefix "$folder/usr" >/dev/null
unset TBDSIM_CATALOGUE
"$folder/usr/bin/tbdsim" predict --hw dgx1 --model resnet50 | grep -q Throughput
"$folder/usr/bin/tbdsim" docs man | cmp - "$folder/usr/share/man/man1/tbdsim.1"
for place in bash-completion/completions/tbdsim zsh/site-functions/_tbdsim zsh/vendor-completions/_tbdsim; do
  test -s "$folder/usr/share/$place"
done
"$folder/usr/bin/tbdsim" docs formats | cmp - "$folder/usr/share/doc/tbdsim/formats.md"
cmake -S "$here" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/usr" >/dev/null
cmake --build "$folder/build" >/dev/null
"$folder/build/uses_tbdsim"
