#!/usr/bin/env bash
# Build and run every test: test.sh [release|sanitize]. The last line is `N passed, M failed, K skipped`.
set -euo pipefail
kind=${1:-release}
# shellcheck source=scripts/env.sh
. "$(dirname "${BASH_SOURCE[0]}")/env.sh" "$kind"

status=0
"$root/scripts/build.sh" "$kind" -DBUILD_TESTING=ON || status=$?
rm -rf "$base"/build/*/{Testing,test_results,pytest.xml}

if [[ $kind == sanitize ]]; then
  export ASAN_OPTIONS=halt_on_error=1:detect_leaks=1
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
fi

# Nodes of tests that run at once would see each other.
jobs=$(nproc)
if [[ -n $ros ]]; then jobs=1; fi

# Only what this build has built: an older binary must not pass for a package that no longer builds.
built=()
for rc in "$base"/build/*/colcon_build.rc; do
  if [[ -f $rc && $(cat "$rc") == 0 && ! -f ${rc%/*}/tests_not_built ]]; then built+=("$(basename "$(dirname "$rc")")"); fi
done
if [[ ${#built[@]} -gt 0 ]]; then
  colcon --log-base "$base/log" test --base-paths "$root" --packages-select "${built[@]}" \
    --build-base "$base/build" --install-base "$base/install" --executor sequential \
    --event-handlers console_start_end- console_stderr- summary- \
    --ctest-args -j "$jobs" || status=$?
fi

colcon --log-base /dev/null list --topological-order --names-only --base-paths "$root" |
  "$root/scripts/test_summary.py" "$base" || status=1
exit "$status"
