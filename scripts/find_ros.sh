#!/usr/bin/env bash
# Print the prefix of the ROS 2 to build against: jazzy, else the newest. Exit 1 where there is none.
# Looks at what is installed, not at the environment: a sourced setup file proves nothing.
set -euo pipefail

candidates=(/opt/ros/jazzy)
while read -r prefix; do
  if [[ $prefix != /opt/ros/jazzy ]]; then candidates+=("$prefix"); fi
done < <(printf '%s\n' /opt/ros/* | sort -r)  # the names are in alphabetical order of release

for prefix in "${candidates[@]}"; do
  if [[ ! -f $prefix/setup.bash ]]; then continue; fi
  if [[ -d $prefix/share/ament_cmake && -d $prefix/share/rclcpp ]]; then
    echo "$prefix"
    exit 0
  fi
  echo "ROS 2: $prefix has no ament_cmake or no rclcpp, taken as not installed" >&2
done
exit 1
