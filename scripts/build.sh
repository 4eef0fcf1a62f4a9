#!/usr/bin/env bash
# Build every package: build.sh [release|sanitize|fuzz] [cmake arguments]. Says little unless something fails.
set -euo pipefail
kind=${1:-release}
cmake_args=("${@:2}")
# shellcheck source=scripts/env.sh
. "$(dirname "${BASH_SOURCE[0]}")/env.sh" "$kind"

colcon_args=(--base-paths "$root")
case $kind in
  release) flags=(-DCMAKE_BUILD_TYPE=Release -DGA_WERROR=ON) ;;
  sanitize) flags=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DGA_SANITIZE=address,undefined") ;;
  fuzz)
    flags=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++ -DGA_FUZZ=ON)
    colcon_args+=(--packages-up-to ga_dynamics)
    ;;
  *)
    echo "usage: build.sh [release|sanitize|fuzz] [cmake arguments]" >&2
    exit 2
    ;;
esac

# The variants, and other checkouts, compile much the same.
if command -v ccache >/dev/null; then
  cmake_args+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
fi

# A CMake cache knows the source directory and the ROS 2 that it was made for.
origin="$root ${ros:-without ROS 2}"
if [[ -d $base && $(cat "$base/origin" 2>/dev/null) != "$origin" ]]; then rm -rf "$base"; fi
mkdir -p "$base/build"
echo "$origin" >"$base/origin"
touch "$root/build/COLCON_IGNORE"
rm -f "$base"/build/*/colcon_build.rc

echo "building in build/$variant (${ros:-without ROS 2})"
status=0
MAKEFLAGS=-j$(nproc) colcon --log-base "$base/log" build "${colcon_args[@]}" \
  --build-base "$base/build" --install-base "$base/install" \
  --executor sequential --continue-on-error \
  --event-handlers console_start_end- console_stderr- summary- \
  --cmake-args --no-warn-unused-cli -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF \
  -DPython3_EXECUTABLE=/usr/bin/python3 -DPYTHON_EXECUTABLE=/usr/bin/python3 \
  -DBUILD_TESTING=OFF "${flags[@]}" "${cmake_args[@]}" || status=$?

for log in "$base"/log/latest_build/*/stdout_stderr.log; do
  package=$(basename "$(dirname "$log")")
  if [[ ! -f $log || $(cat "$base/build/$package/colcon_build.rc" 2>/dev/null) == 0 ]]; then continue; fi
  echo "--- $package: build failed; the end of $log:"
  tail -n 100 "$log"
done

if [[ -z $ros ]] && grep -l '=/opt/ros/' "$base"/build/*/CMakeCache.txt 2>/dev/null; then
  echo "a build without ROS 2 has found something in /opt/ros" >&2
  exit 1
fi
exit "$status"
