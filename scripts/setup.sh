#!/usr/bin/env bash
# Install what is missing: setup.sh [--for bench|test|lint|fuzz|fresh|ci]... Without --for: what `make sim` needs. Silent when
# nothing is missing.
set -euo pipefail
PATH=/usr/bin:/bin:/usr/sbin:/sbin

scripts=$(dirname "${BASH_SOURCE[0]}")
lists=()
while [[ ${1:-} == --for && -f $scripts/packages-${2:-}.txt ]]; do
  lists+=("$scripts/packages-$2.txt")
  shift 2
done
if [[ $# -gt 0 ]]; then
  echo "usage: setup.sh [--for bench|test|lint|fuzz|fresh|ci]..." >&2
  exit 2
fi
# The tools of lint and the root file systems are used without a build.
case "${lists[*]}" in
  *-lint.txt | *-fresh.txt | *-ci.txt) ;;
  *) lists+=("$scripts/packages.txt") ;;
esac

distribution=$(. /etc/os-release && echo "$ID")
wanted=()
while read -r names condition; do
  case $condition in
    only=*) [[ ${condition#only=} == "$distribution" ]] || continue ;;
    or=*) [[ ! -e ${condition#or=} ]] || continue ;;
  esac
  wanted+=("$names")
done < <(sed 's/#.*//; /^[[:space:]]*$/d' "${lists[@]}")

# dpkg-query fails when it does not know a name; that name is then simply not in its answer.
declare -A installed=()
# shellcheck disable=SC2016
while read -r state name; do
  if [[ $state == ii ]]; then installed[$name]=1; fi
done < <(tr '|' '\n' < <(printf '%s\n' "${wanted[@]}") |
  xargs dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' 2>/dev/null)

missing=()
for names in "${wanted[@]}"; do
  IFS='|' read -ra alternatives <<<"$names"
  for name in "${alternatives[@]}"; do
    if [[ -n ${installed[$name]:-} ]]; then continue 2; fi
  done
  missing+=("$names")
done
if [[ ${#missing[@]} -eq 0 ]]; then exit 0; fi

# The first alternative that apt knows of each missing requirement.
choose() {
  local names name
  chosen=()
  for names in "${missing[@]}"; do
    IFS='|' read -ra alternatives <<<"$names"
    for name in "${alternatives[@]}" "${alternatives[0]}"; do
      if [[ -n $(apt-cache show --no-all-versions "$name" 2>/dev/null) ]]; then break; fi
    done
    chosen+=("$name")
  done
}

if ! command -v apt-get >/dev/null; then
  echo "setup: apt-get not found; install the equivalents of these Debian packages by hand," >&2
  echo "setup: then call scripts/build.sh, scripts/test.sh, ... without make:" >&2
  echo "  ${missing[*]}" >&2
  exit 2
fi
choose

as_root=()
if [[ $EUID -ne 0 ]]; then
  as_root=(sudo)
  # Without a terminal sudo cannot ask for a password.
  if ! command -v sudo >/dev/null || { [[ ! -t 0 ]] && ! sudo -n true 2>/dev/null; }; then
    echo "setup: packages are missing and there are no rights to install them; run as root:" >&2
    echo "  apt-get update && apt-get install -y --no-install-recommends ${chosen[*]}" >&2
    exit 2
  fi
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@" </dev/null 2>&1
}
if ! apt update >"$log"; then
  echo "setup: apt-get update failed, trying with the package lists at hand:" >&2
  grep '^[EW]:' "$log" >&2 || cat "$log" >&2
fi
choose
install=(install -y --no-install-recommends "${chosen[@]}")
size=$(apt-get -qq --print-uris "${install[@]}" 2>/dev/null |
  awk '{ bytes += $3 } END { printf "%d packages, %.0f MB to download", NR, bytes / 1e6 }')
echo "setup: installing ${chosen[*]} ($size)"
if ! apt -o APT::Status-Fd=1 "${install[@]}" | tee "$log" | "$scripts/progress.sh" apt; then
  grep -v '^[dp][lm]status:' "$log" >&2
  echo "setup: installation failed; the command was:" >&2
  echo "  ${as_root[*]} apt-get ${install[*]}" >&2
  exit 2
fi
