#!/usr/bin/env bash
# Every C++ block in README.md and docs/ compiles, and every `$ einjit …` line runs.
# Usage: snippets_test.sh SOURCE-DIRECTORY BUILD-DIRECTORY
set -euo pipefail
cd "$1"
build=$(cd "$2" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
count=0
for page in README.md docs/*.md; do
  awk -v out="$scratch/$(basename "$page" .md)" '
    /^```cpp$/ { n++; file = out "_" n ".cc"; inside = 1; next }
    /^```/ { inside = 0 }
    inside { print > file }' "$page"
done
for snippet in "$scratch"/*.cc; do
  g++ -std=c++20 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$snippet" || { cat "$snippet"; exit 1; }
  count=$((count + 1))
done
cd "$scratch"
cp "$OLDPWD"/examples/*.npy . 2>/dev/null || true
while read -r line; do
  PATH=$build/tools:$PATH bash -c "$line" >/dev/null || { echo "failed: $line"; exit 1; }
  count=$((count + 1))
done < <(sed -nE 's/^\$ (einjit .*)/\1/p' "$OLDPWD"/README.md "$OLDPWD"/docs/*.md)
echo "skipped 0, snippets that compile or run: $count"
