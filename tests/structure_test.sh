#!/usr/bin/env bash
# The laws of the source tree that no compiler checks: one-way includes, LLVM in one room, no globals.
set -u
cd "$1" || exit 2
failed=0
refuse() {  # refuse "what is wrong" <grep output>
  [ -z "$2" ] && return
  printf '%s:\n%s\n' "$1" "$2"
  failed=1
}
sources=(include planner jit runtime tools bench examples tests)
refuse 'an include that climbs out of its room' \
  "$(grep -rnE '#include +"[^"]*\.\./' "${sources[@]}")"
refuse 'LLVM outside jit/llvm' \
  "$(grep -rnE '#include +[<"]llvm/' "${sources[@]}" | grep -v '^jit/llvm/')"
refuse 'a public header that includes something internal' \
  "$(grep -rnE '#include +"' include | grep -v '#include "einjit/')"
refuse 'the planner looking at clocks, threads or files' \
  "$(grep -rnE '#include +<(chrono|thread|mutex|fstream|filesystem|atomic|cstdio)>' planner)"
refuse 'the library printing or exiting' \
  "$(grep -rnE 'std::(cout|cerr|exit|abort)\b|\bprintf\(|\bfprintf\(' include planner jit runtime)"
refuse 'virtual outside backends and the jit door' \
  "$(grep -rnwE 'virtual' include planner jit runtime | grep -vE '^(runtime/backend\.h|jit/compiler\.h)' | grep -vE '^\S+\s*//')"
for f in $(find "${sources[@]}" -name '*.cc' -o -name '*.h'); do
  [[ "$(head -c 3 "$f")" == '// ' ]] || { echo "$f: its first line does not say what it is"; failed=1; }
done
[ $failed -eq 0 ] && echo "structure: all laws hold"
exit $failed
