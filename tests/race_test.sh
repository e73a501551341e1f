#!/usr/bin/env bash
# ThreadSanitizer sees compiled kernels: a seeded race is reported, in a kernel's whole vectors and in
# its ragged edge, and the program without the race is silent. race_test.sh <build folder of "tsan">
set -u
race=$1/tests/race
failed=0
for what in body edge none; do
  said=$("$race" $what 2>&1)
  status=$?
  case $what in
    none) [ $status -eq 0 ] && ! grep -q ThreadSanitizer <<<"$said" ;;
    *) [ $status -eq 66 ] && grep -q 'ThreadSanitizer: data race' <<<"$said" ;;
  esac || {
    printf 'race %s: status %d\n%s\n' $what $status "$said"
    failed=$((failed + 1))
  }
done
echo "passed $((3 - failed)), failed $failed"
[ $failed -eq 0 ]
