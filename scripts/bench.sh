#!/usr/bin/env bash
# Measure the algorithms' speed: bench.sh [arguments of ga_bench].
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "${BASH_SOURCE[0]}")/env.sh" release
source_setup "$base/install/local_setup.bash"
exec "$base/install/ga_tools/lib/ga_tools/ga_bench" "$@"
