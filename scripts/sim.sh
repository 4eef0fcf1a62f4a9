#!/usr/bin/env bash
# Simulate the PUMA under computed-torque control and write a report: sim.sh [arguments]. Through ros2_control where ROS 2
# is installed (arguments of puma_bringup's demonstrate), otherwise in the plain runtime (arguments of puma sim).
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "${BASH_SOURCE[0]}")/env.sh" release
source_setup "$base/install/local_setup.bash"
if [[ -n $ros ]] && ros2 pkg prefix controller_manager >/dev/null 2>&1; then
  exec ros2 run puma_bringup demonstrate --output "$root/build/sim" "$@"
fi
exec "$base/install/puma_hardware/bin/puma" sim --output "$root/build/sim" "$@"
