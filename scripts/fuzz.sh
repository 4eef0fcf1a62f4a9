#!/usr/bin/env bash
# Fuzz the URDF reader for FUZZ_SECONDS (60). Crashing inputs are left in build/fuzz/artifacts.
set -euo pipefail
"$(dirname "${BASH_SOURCE[0]}")/build.sh" fuzz
# shellcheck source=scripts/env.sh
. "$(dirname "${BASH_SOURCE[0]}")/env.sh" fuzz
mkdir -p "$base/corpus" "$base/artifacts"
exec "$base/build/ga_dynamics/fuzz_urdf" -max_total_time="${FUZZ_SECONDS:-60}" \
  -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$base/artifacts/" \
  "$base/corpus" "$root/ga_dynamics/fuzz/corpus"
