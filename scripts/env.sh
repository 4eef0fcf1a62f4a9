# shellcheck shell=bash disable=SC2034
# The environment of every build, test and run; source it: `. scripts/env.sh release|sanitize|fuzz`.
# Sets root, variant (ros, plain, sanitize, fuzz), ros (prefix, empty without ROS 2), base (build directory).

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Whatever the caller has sourced or put first on the PATH: start from the distribution alone.
# MAKEFLAGS would hand our own make's variables and job server to the packages' builds.
for name in $(compgen -e); do
  case $name in
    ROS_DOMAIN_ID) ;;
    AMENT_* | COLCON_* | ROS_* | RMW_* | CYCLONEDDS_URI | FASTDDS_* | FASTRTPS_*) unset "$name" ;;
    CMAKE_PREFIX_PATH | CMAKE_MODULE_PATH | PKG_CONFIG_PATH | LD_LIBRARY_PATH) unset "$name" ;;
    PYTHONPATH | PYTHONHOME | VIRTUAL_ENV | CONDA_PREFIX) unset "$name" ;;
    MAKEFLAGS | MFLAGS | MAKELEVEL | MAKEOVERRIDES) unset "$name" ;;
  esac
done
export PATH=/usr/bin:/bin:/usr/sbin:/sbin
export COLCON_HOME=$root/build/.colcon  # not the user's defaults.yaml
export COLCON_EXTENSION_BLOCKLIST=colcon_core.event_handler.desktop_notification

# The setup files of colcon and ROS 2 are not written for `set -eu`.
source_setup() {
  set +eu
  # shellcheck disable=SC1090
  . "$1"
  set -eu
}

ros=
case ${ROS:-auto} in
  auto) ros=$("$root/scripts/find_ros.sh") || ros= ;;
  off) ;;
  *)
    echo "ROS=$ROS: only ROS=off is known; unset, ROS 2 is used where it is installed" >&2
    exit 2
    ;;
esac
# Sanitizers and the fuzzer are for our code; ROS 2 itself is neither instrumented nor free of leaks.
if [[ $1 != release ]]; then ros=; fi

if [[ -n $ros ]]; then
  source_setup "$ros/setup.bash"
  export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST
  export ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-$(($$ % 101 + 1))}
  # Cyclone DDS would still bind the outer interface.
  CYCLONEDDS_URI='<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo" multicast="false"/>'
  export CYCLONEDDS_URI+='</Interfaces></General></Domain></CycloneDDS>'
fi

if [[ -z $ros ]]; then export ROS=off; fi  # the scripts called from here need not look again

variant=$1
if [[ $variant == release ]]; then variant=${ros:+ros}; fi
variant=${variant:-plain}
base=$root/build/$variant
