#!/usr/bin/env bash
# The program einjit from outside: values, keys, exit statuses, messages. Usage: cli_test.sh PROGRAM
set -u
einjit=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
checks=0 failed=0

holds() { [ -z "$1" ] || grep -qE -- "$1" "$2"; }  # holds PATTERN FILE

expect() {  # expect STATUS STDOUT-PATTERN STDERR-PATTERN WORD…: patterns are extended regular expressions
  local status=$1 out=$2 err=$3
  shift 3
  "$einjit" "$@" >out 2>err
  local found=$?
  checks=$((checks + 1))
  if [ $found -ne "$status" ] || ! holds "$out" out || ! holds "$err" err; then
    failed=$((failed + 1))
    printf 'einjit %s\n  expected status %s, output ~ %s, errors ~ %s; found status %s and\n' "$*" "$status" \
      "$out" "$err" "$found"
    sed 's/^/    /' out err
  fi
}

npy() {  # npy FILE TYPE SHAPE-TUPLE STRUCT-FORMAT NUMBER…: a .npy file without numpy
  python3 - "$@" <<'PYTHON'
import struct, sys
name, kind, shape, form, *numbers = sys.argv[1:]
header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
header += " " * ((64 - (10 + len(header) + 1) % 64) % 64) + "\n"
convert = int if form in "iq" else float
with open(name, "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    f.write(struct.pack("<%d%s" % (len(numbers), form), *map(convert, numbers)))
PYTHON
}

npy a.npy '<f8' '(2, 3)' d 1 2 3 4 5 6
npy b.npy '<f8' '(3, 2)' d 1 0 2 1 0 3
npy s.npy '<f4' '()' f 5
npy i.npy '<i4' '(2,)' i 1 2
npy i8.npy '<f8' '(2,)' d 1 2

expect 0 'einjit eval' '' --help
for command in eval plan contract machine; do expect 0 'Example:' '' $command --help; done
expect 2 '' 'subcommand' 
expect 2 '' '' nonsense
expect 2 '' '' plan
expect 2 '' 'no shape' plan 'ij->i' --shapes 8x9

expect 0 '^f64 2×2$' '' eval 'ij,jk->ik' a.npy b.npy
expect 0 '^5 11$' '' eval 'ij,jk->ik' a.npy b.npy
expect 0 '^14 23$' '' eval 'ij,jk->ik' a.npy b.npy
expect 0 '"norm":' '' eval 'ij,jk' a.npy b.npy --json
expect 0 '^f32 scalar$' '' eval '->' s.npy
expect 0 '^5$' '' eval '->' s.npy
expect 0 '^5 5 5$' '' eval '->i' s.npy --sizes i=3
expect 0 '' '' eval 'ij,jk->ik' a.npy b.npy -o c.npy --backend reference
blis=/usr/lib/x86_64-linux-gnu/blis-serial/libblas.so.3
if [ -r $blis ]; then
  expect 0 '' '' eval 'ij,jk->ik' a.npy b.npy -o c.npy --backend 'blas!' --blas $blis
else
  echo "skipped: 1 ($blis is not installed)"
fi
expect 1 '' 'io_error: cannot read the BLAS /nowhere.so' eval 'ij,jk->ik' a.npy b.npy -o c.npy --blas /nowhere.so
expect 0 '^5 14$' '' eval 'ik->ki' c.npy

expect 0 '^path ' '' plan 'ij,jk,kl->il' --shapes 8,9 9,10 10,11
expect 0 'gemm|gemv|dot' '' plan 'ij,jk,kl->il' --shapes 8,9 9,10 10,11
expect 0 '^tc 0\.000 ' '' plan ',->' --shapes - ''
echo '[[0,1],[0,1]]' >order.json
expect 0 '"path":\[\[0,1\],\[0,1\]\]' '' plan 'ij,jk,kl->il' --shapes 8,9 9,10 10,11 --json --path order.json
expect 0 '"path":' '' plan 'ij,jk,kl->il' --shapes 8,9 9,10 10,11 --json
keys=$(python3 -c 'import json; print(*sorted(json.load(open("out"))))')
checks=$((checks + 1))
if [ "$keys" != "flops path peak_bytes rwc sc search_seconds tc" ]; then
  failed=$((failed + 1))
  echo "plan --json has the keys: $keys"
fi

cat >chain.json <<'JSON'
{"name": "chain", "inputs": [[1, 2], [2, 3], [3, -4]], "output": [1, -4],
 "extents": {"1": 8, "2": 9, "3": 10, "-4": 11}, "dtype": "f64",
 "paths": {"ours": {"path": [[1, 2], [0, 1]]}}}
JSON
expect 0 '"path":\[\[1,2\],\[0,1\]\]' '' plan chain.json --json --path stored:ours
expect 0 '"gflops_per_second":' '' contract chain.json --json --seed 3 --threads 2
expect 0 '^norm ' '' contract chain.json --path greedy --backend jit
expect 0 'target_cpu' '' machine
expect 0 '^scalar$' '' machine --lowerings

expect 1 '' '^error: invalid_expression: ' plan 'ij,j%->i' --shapes 2,3 3,4
expect 1 '' '\^' plan 'ij,j%->i' --shapes 2,3 3,4
expect 1 '' '^error: operand_count_mismatch: ' plan 'ij,jk' --shapes 2,3
expect 1 '' '^error: extent_mismatch: ' plan 'ij,jk' --shapes 2,3 4,5
expect 1 '' '^error: dtype_mismatch: ' eval 'i' i.npy
expect 1 '' '^error: io_error: ' eval 'i' none.npy
expect 1 '' '^error: io_error: ' plan none.json
expect 1 '' '^error: corrupt_file: ' plan order.json
expect 1 '' '^error: invalid_argument: ' plan 'ij->i' --shapes 2,3 --path nonsense
expect 1 '' '^error: invalid_argument: .*ours' plan chain.json --path stored:theirs
expect 1 '' '^error: memory_limit_exceeded: ' contract chain.json --memory-limit 16
expect 1 '' '^error: size_overflow: ' eval 'i->ij' i8.npy --sizes j=9223372036854775807
expect 1 '' '^error: invalid_argument: ' contract chain.json --threads 0

echo "passed $((checks - failed)), failed $failed"
[ $failed -eq 0 ]
