#!/usr/bin/env bash
# Every source is laid out as .clang-format says.
set -euo pipefail
cd "$1"
find include planner jit runtime tools tests bench examples -name '*.cc' -o -name '*.h' | sort |
  xargs clang-format-19 --dry-run --Werror
