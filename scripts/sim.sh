#!/usr/bin/env bash
# Simulate the PUMA under computed-torque control and write a report: sim.sh [arguments of puma sim].
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "${BASH_SOURCE[0]}")/env.sh" release
source_setup "$base/install/local_setup.bash"
exec "$base/install/puma_hardware/lib/puma_hardware/puma" sim --output "$root/build/sim" "$@"
