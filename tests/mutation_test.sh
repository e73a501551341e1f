#!/usr/bin/env bash
# Breaks the code on purpose, in a copy, and demands that a named test turns red.
# Usage: mutation_test.sh SOURCE-DIRECTORY [MUTATION…]
#
# A file of tests/mutations/ names: file (what is broken), edit (the sed script that breaks it),
# run (the test, from the root of the copy) and red (what the test must print then).
set -euo pipefail
source=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- $(ls "$source/tests/mutations")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -C "$source" --exclude=./build --exclude=./.git -cf - . | tar -C "$scratch" -xf -
cd "$scratch"

passed=0 failed=0
for name in "$@"; do
  . "tests/mutations/$name"
  cp "$file" "$scratch.sound"
  sed -i "$edit" "$file"
  if cmp -s "$file" "$scratch.sound"; then
    echo "mutation $name: its edit changes nothing in $file"
    failed=$((failed + 1))
    continue
  fi
  if ! scripts/build release >"$scratch.log" 2>&1; then
    echo "mutation $name: does not build: $(tail -n 5 "$scratch.log")"
    failed=$((failed + 1))
  elif bash -c "$run" >"$scratch.log" 2>&1 || ! grep -qE "$red" "$scratch.log"; then
    echo "mutation $name: NOT NOTICED by: $run: $(tail -n 3 "$scratch.log")"
    failed=$((failed + 1))
  else
    echo "mutation $name: red: $(grep -E "$red" "$scratch.log" | tail -n 1)"
    passed=$((passed + 1))
  fi
  cp "$scratch.sound" "$file"
done
rm -f "$scratch.sound" "$scratch.log"
echo "mutation: $passed noticed, $failed not"
[ "$failed" -eq 0 ]
