#!/usr/bin/env bash
# Build the packages: build.sh [release|sim|sanitize|fuzz] [cmake arguments]. `sim` is `release` without what `make sim` does
# not run. Shows its progress; the compilers' output stays in the logs unless something fails.
set -euo pipefail
kind=${1:-release}
cmake_args=("${@:2}")
case $kind in
  release | sim | sanitize | fuzz) ;;
  *)
    echo "usage: build.sh [release|sim|sanitize|fuzz] [cmake arguments]" >&2
    exit 2
    ;;
esac
# shellcheck source=scripts/env.sh
. "$(dirname "${BASH_SOURCE[0]}")/env.sh" "${kind/#sim/release}"

selection=()
tools=ON
case $kind in
  release) flags=(-DCMAKE_BUILD_TYPE=Release -DGA_WERROR=ON) ;;
  sim)
    flags=(-DCMAKE_BUILD_TYPE=Release -DGA_WERROR=ON)
    # The demonstration under ros2_control calls `ga`.
    if [[ -z $ros ]]; then
      tools=OFF
      selection=(--packages-up-to puma_hardware)
    fi
    ;;
  sanitize) flags=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DGA_SANITIZE=address,undefined") ;;
  fuzz)
    flags=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++ -DGA_FUZZ=ON)
    selection=(--packages-up-to ga_dynamics)
    ;;
esac
# Without ROS 2 the packages are plain CMake, whether or not the distribution has ament.
if [[ -z $ros ]]; then flags+=(-DCMAKE_DISABLE_FIND_PACKAGE_ament_cmake=ON); fi

# The variants, and other checkouts, compile much the same.
if command -v ccache >/dev/null; then
  cmake_args+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
fi

# A CMake cache knows the source directory and the ROS 2 that it was made for, and an install folder keeps what packages
# no longer install: layout is raised when files move from one package to another.
layout=5
origin="$root ${ros:-without ROS 2} $layout"
if [[ -d $base && $(cat "$base/origin" 2>/dev/null) != "$origin" ]]; then rm -rf "$base"; fi

# Processor time of a first build, measured with GCC 12, in minutes.
minutes=0
if [[ ! -d $base/build ]]; then
  case $kind-${ros:+ros}-" ${cmake_args[*]} " in
    sim--*) minutes=6 ;;
    release--*BUILD_TESTING=ON*) minutes=14 ;;
    release--*) minutes=8 ;;
    *BUILD_TESTING=ON*) minutes=40 ;;
    *) minutes=15 ;;
  esac
fi
mkdir -p "$base/build"
echo "$origin" >"$base/origin"
touch "$root/build/COLCON_IGNORE"
rm -f "$base"/build/*/{colcon_build.rc,tests_not_built}

packages() {
  colcon --log-base /dev/null list --topological-order --names-only --base-paths "$root" "$@" 2>/dev/null
}
mapfile -t selected < <(packages "${selection[@]}")

cores=$(nproc)
echo -n "building in build/$variant (${ros:-without ROS 2})"
if ((minutes > 0)); then
  echo -n ": about $(((minutes + cores - 1) / cores)) min the first time, with $cores cores"
fi
echo

# rc PACKAGE: the exit status of its build, nothing where it was not tried.
rc() { cat "$base/build/$1/colcon_build.rc" 2>/dev/null || true; }

# compile PACKAGES -- [cmake arguments]: colcon builds them, one after the other.
compile() {
  local names=()
  while [[ $1 != -- ]]; do
    names+=("$1")
    shift
  done
  MAKEFLAGS=-j$cores colcon --log-base "$base/log" build --base-paths "$root" --packages-select "${names[@]}" \
    --build-base "$base/build" --install-base "$base/install" \
    --executor sequential --continue-on-error \
    --event-handlers console_direct+ console_start_end+ console_stderr- summary- \
    --cmake-args --no-warn-unused-cli -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF \
    -DPython3_EXECUTABLE=/usr/bin/python3 -DPYTHON_EXECUTABLE=/usr/bin/python3 \
    -DBUILD_TESTING=OFF -DGA_TOOLS=$tools "${flags[@]}" "${cmake_args[@]}" "${@:2}" \
    2>"$base/stderr.log" | "$root/scripts/progress.sh" colcon "${#names[@]}"
}

# failed: print the end of the logs of the packages that the last call of compile could not build.
failed() {
  local log package explained=false
  for log in "$base"/log/latest_build/*/stdout_stderr.log; do
    package=$(basename "$(dirname "$log")")
    if [[ ! -f $log || $(rc "$package") == 0 ]]; then continue; fi
    echo "--- $package: build failed; the end of $log:"
    tail -n 100 "$log"
    explained=true
  done
  if ! $explained; then cat "$base/stderr.log"; fi
}

status=0
compile "${selected[@]}" -- || status=$?
if ((status != 0)); then failed; fi

# What fails may be a test or what it depends on: that must not keep the packages after it from being built.
if ((status != 0)) && [[ " ${cmake_args[*]} " == *BUILD_TESTING=ON* ]]; then
  for package in "${selected[@]}"; do
    if [[ $(rc "$package") == 0 ]]; then continue; fi
    if [[ -z $(rc "$package") ]]; then
      if compile "$package" --; then continue; fi
      failed
    fi
    echo "--- $package: building it without its tests"
    if compile "$package" -- -DBUILD_TESTING=OFF; then
      touch "$base/build/$package/tests_not_built"
    else
      failed
    fi
  done
fi

if [[ -z $ros ]] && grep -l '=/opt/ros/' "$base"/build/*/CMakeCache.txt 2>/dev/null; then
  echo "a build without ROS 2 has found something in /opt/ros" >&2
  exit 1
fi
exit "$status"
