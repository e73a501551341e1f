#!/usr/bin/env bash
# Installs a build into an empty folder and builds examples/outside against it with find_package(einjit).
# Usage: outside_test.sh SOURCE-DIRECTORY BUILD-DIRECTORY
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$2" --prefix "$scratch/prefix" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
{
  cmake -S "$1/examples/outside" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" \
    -DCMAKE_BUILD_TYPE=Release
  cmake --build "$scratch/build"
} >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
printed=$("$scratch/build/outside")
[ "$printed" = "5 11 14 23 " ] || { echo "expected '5 11 14 23 ', found '$printed'"; exit 1; }
"$scratch/prefix/bin/einjit" plan 'ij,jk->ik' --shapes 2,3 3,4 --json >/dev/null
echo "outside: find_package(einjit) builds and computes"
