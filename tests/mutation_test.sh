#!/usr/bin/env bash
# Breaks the code on purpose, in a copy, and demands that the suite turns red.
# Usage: mutation_test.sh SOURCE-DIRECTORY BUILD-DIRECTORY (a build whose compiler cache is warm)
set -euo pipefail
source=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -C "$source" --exclude=build --exclude=.git -cf - . | tar -C "$scratch" -xf -
cd "$scratch"

# The known wrong way of fusing axes (two neighbours merge where one tensor alone agrees).
grep -q 'may_fuse' planner/fuse.cc || { echo "planner/fuse.cc has no may_fuse to break"; exit 1; }
tests/mutations/fuse_by_first_tensor.sh planner/fuse.cc
cmake --preset release -DEINJIT_TESTS=OFF >log 2>&1 && cmake --build --preset release >>log 2>&1 || {
  tail -n 20 log
  exit 1
}
if build/release/tools/einjit_oracle tests/oracle --backend jit >log 2>&1; then
  echo "mutation: the wrong fusion rule was not noticed"
  exit 1
fi
echo "mutation: wrong fusion rule turns the oracle red: $(tail -n 1 log)"
