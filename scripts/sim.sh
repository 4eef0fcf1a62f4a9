#!/usr/bin/env bash
# Let the simulated PUMA swing freely and report: sim.sh [arguments of free_swing].
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "${BASH_SOURCE[0]}")/env.sh" release
source_setup "$base/install/local_setup.bash"
package=$base/install/ga_dynamics
exec "$package/lib/ga_dynamics/free_swing" "$package/share/ga_dynamics/robots/puma560_akb.urdf" "$@"
