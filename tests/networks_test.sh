#!/usr/bin/env bash
# Plans and contracts whole public networks, where a folder of them stands beside the checkout.
# Usage: networks_test.sh BUILD-DIRECTORY NETWORKS-DIRECTORY
set -euo pipefail
[ -d "$2" ] || { echo "skipped: no folder $2"; exit 0; }
"$1"/tests/networks_check "$2" $([ "${EINJIT_SHORT:-1}" = 0 ] && echo --all)
