#!/usr/bin/env bash
# Compare the control laws in the scenarios of the law score: bench_laws.sh [arguments of bench_laws]. Prints a table and
# writes build/laws.json and build/laws.html.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "${BASH_SOURCE[0]}")/env.sh" release
source_setup "$base/install/local_setup.bash"
exec "$base/install/ga_tools/lib/ga_tools/bench_laws" "$root/puma_description/urdf/puma560.urdf" \
  --json "$root/build/laws.json" --html "$root/build/laws.html" "$@"
