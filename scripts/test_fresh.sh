#!/usr/bin/env bash
# Do what the README says on a machine that has nothing but apt and make: test_fresh.sh [debian-root|debian-user|ubuntu-root]...
# Each is a root file system of its own in build/fresh: as root in /root, or as a user with sudo in a private home directory.
# It holds a copy of this tree, and runs the README's first commands (`make sim`, `make test`); the tests run the others.
# The last line is the total: `N passed, M failed, K skipped`.
#
#   FRESH_FOLDER      where the root file systems are made (build/fresh)
#   FRESH_CCACHE      root's ccache folder to compile with, as root; then ccache is installed as well (none: everything is
#                     compiled)
#   FRESH_SOURCES_DEBIAN, FRESH_SOURCES_UBUNTU    files of apt sources (the machine's own, where it runs that distribution,
#                     otherwise those that mmdebstrap knows)
#   FRESH_KEEP=1      keep the root file systems
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=/usr/bin:/bin:/usr/sbin:/sbin
folder=${FRESH_FOLDER:-$root/build/fresh}
checkout=puma-suite

declare -A release=([debian]=bookworm [ubuntu]=noble) title=([debian]='Debian 12' [ubuntu]='Ubuntu 24.04') \
  components=([debian]=main [ubuntu]='main universe')

fail() {
  printf 'test-fresh: %s\n' "$@" >&2
  exit 2
}

# --- inside a mount and process namespace of its own: nothing stays mounted or running after it ends

# inside ROOTFS USER: mount what a system has, then run the commands of the standard input, each as typed.
inside() {
  local rootfs=$1 user=$2 home device command status=0 TIMEFORMAT='== %0R s, %0U s of processor time'
  mount -t proc proc "$rootfs/proc"
  mount --rbind /sys "$rootfs/sys"
  mount -t tmpfs -o mode=755 tmpfs "$rootfs/dev"
  for device in null zero full random urandom tty; do
    touch "$rootfs/dev/$device"
    mount --bind "/dev/$device" "$rootfs/dev/$device"
  done
  mkdir "$rootfs/dev/pts" "$rootfs/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$rootfs/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$rootfs/dev/shm"
  ln -s pts/ptmx "$rootfs/dev/ptmx"
  ln -s /proc/self/fd "$rootfs/dev/fd"
  for device in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${device%:*}" "$rootfs/dev/${device#*:}"; done
  mount --bind "$folder/archives" "$rootfs/var/cache/apt/archives"
  local settings=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 CI=true)
  if [[ -n ${FRESH_CCACHE:-} && $user == root ]]; then
    mkdir -p "$FRESH_CCACHE" "$rootfs/ccache"
    mount --bind "$FRESH_CCACHE" "$rootfs/ccache"
    settings+=(CCACHE_DIR=/ccache)
  fi
  for command in http_proxy https_proxy no_proxy; do
    if [[ -n ${!command:-} ]]; then settings+=("$command=${!command}"); fi
  done
  if [[ $user != root ]]; then
    if ! chroot "$rootfs" env -i "${settings[@]}" DEBIAN_FRONTEND=noninteractive \
      bash -c 'apt-get -qq update && apt-get -qq install --no-install-recommends sudo' >"$folder/sudo.txt" 2>&1; then
      cat "$folder/sudo.txt"
      return 1
    fi
    echo "$user ALL=(ALL) NOPASSWD: ALL" >"$rootfs/etc/sudoers.d/$user"
  fi
  home=$(chroot "$rootfs" getent passwd "$user" | cut -d: -f6)
  settings+=("HOME=$home" "USER=$user" "LOGNAME=$user")
  while IFS= read -r command; do
    echo "== $user@$(basename "$rootfs"):~/$checkout$ $command"
    # shellcheck disable=SC2016
    if ! time chroot --userspec="$user:$user" --groups="$(chroot "$rootfs" id -G "$user" | tr ' ' ,)" "$rootfs" \
      env -i "${settings[@]}" bash -c 'cd "$HOME/$0" && eval "$1"' "$checkout" "$command" </dev/null; then
      status=1
    fi
  done
  return $status
}

if [[ ${1:-} == --inside ]]; then
  inside "$2" "$3"
  exit
fi

# --- outside

variants=("$@")
if [[ $# -eq 0 ]]; then variants=(debian-root debian-user ubuntu-root); fi
for variant in "${variants[@]}"; do
  case $variant in
    debian-root | debian-user | ubuntu-root | ubuntu-user) ;;
    *) fail "unknown '$variant'; there are debian-root, debian-user, ubuntu-root and ubuntu-user" ;;
  esac
done

if [[ $EUID -ne 0 ]]; then fail 'a root file system can be made and entered by root only: sudo make test-fresh'; fi
if ! command -v mmdebstrap >/dev/null; then fail 'mmdebstrap is missing: scripts/setup.sh --for fresh'; fi
if ! error=$(unshare --mount --pid --fork mount -t tmpfs tmpfs /mnt 2>&1); then
  fail "this machine lets root mount nothing (CAP_SYS_ADMIN is missing, as in a container without it): $error"
fi

mkdir -p "$folder/archives"
touch "$folder/COLCON_IGNORE"
log=$folder/log.txt
# Mounts and processes end with their namespace; what is left are files.
if [[ ${FRESH_KEEP:-} != 1 ]]; then trap 'rm -rf "$folder"/{debian,ubuntu}*' EXIT; fi

# own_sources RELEASE: the machine's apt sources of that release, without those of other parties; 1 if it has none. All in
# the one-line form: some machines have both forms, a file can have only one.
own_sources() {
  local file found
  found=$(list_sources "$1")
  if [[ -z $found ]]; then return 1; fi
  echo "$found"
}
list_sources() {
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    if [[ -f $file ]]; then
      awk -v release="$1" '/^deb / && $0 ~ " " release "(-[a-z]+)* " { print }' "$file"
    fi
  done
  for file in /etc/apt/sources.list.d/*.sources; do
    if [[ ! -f $file ]]; then continue; fi
    sed '/^#/d' "$file" | awk -v release="$1" '
      function value(name,  at) {
        for (at = 1; at <= NF; at++) if (index($at, name ":") == 1) return substr($at, length(name) + 3)
        return ""
      }
      BEGIN { RS = ""; FS = "\n" }
      {
        options = value("Signed-By") == "" ? "" : " [signed-by=" value("Signed-By") "]"
        uris = split(value("URIs"), uri, " ")
        suites = split(value("Suites"), suite, " ")
        for (u = 1; u <= uris; u++)
          for (s = 1; s <= suites; s++)
            if (suite[s] ~ "^" release "(-[a-z]+)*$") print "deb" options " " uri[u] " " suite[s] " " value("Components")
      }'
  done
}

# bare DISTRIBUTION: make its bare root file system, as an archive; what is said goes to the log.
bare() {
  local distribution=$1 archive=$folder/$1.tar
  if [[ -f $archive ]]; then return; fi
  local include=make,ca-certificates given=FRESH_SOURCES_${1^^} sources=("$folder/$1.txt")
  if [[ -n ${FRESH_CCACHE:-} ]]; then include+=,ccache; fi
  if [[ -n ${!given:-} ]]; then
    sources=("${!given}")
  elif ! own_sources "${release[$distribution]}" >"${sources[0]}"; then
    sources=()
  fi
  apt-config dump | grep -E '^Acquire::(http|https|Check-Valid-Until|Retries)' >"$folder/$distribution.conf" || true
  mmdebstrap --variant=apt --components="${components[$distribution]}" --include="$include" --aptopt="$folder/$distribution.conf" \
    --format=tar "${release[$distribution]}" "$archive.part" "${sources[@]}" >"$log" 2>&1 &&
    mv "$archive.part" "$archive"
}

# try VARIANT: 0: everything as it should be.
try() {
  local variant=$1 distribution=${1%-*} user=root rootfs=$folder/$1
  rm -rf "$rootfs"
  mkdir -p "$rootfs"
  tar -C "$rootfs" --numeric-owner -xf "$folder/$distribution.tar" --exclude='./dev/*' || return 1
  cp -L /etc/resolv.conf "$rootfs/etc/resolv.conf"
  printf '127.0.0.1 localhost %s\n::1 localhost\n' "$(hostname)" >"$rootfs/etc/hosts"
  if [[ $variant == *-user ]]; then
    user=tester
    chroot "$rootfs" useradd --create-home --shell /bin/bash "$user" || return 1
  fi
  local home=$rootfs/root
  if [[ $user != root ]]; then home=$rootfs/home/$user; fi
  chmod 700 "$home"
  mkdir "$home/$checkout"
  tree "$home/$checkout" || return 1
  chroot "$rootfs" chown -R "$user:$user" "${home#"$rootfs"}/$checkout"
  commands | unshare --mount --propagation private --pid --fork --kill-child "$root/scripts/test_fresh.sh" \
    --inside "$rootfs" "$user"
}

# tree FOLDER: copy the sources there, those not committed included.
tree() {
  local file
  if git -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
    while IFS= read -r -d '' file; do
      if [[ -e $root/$file ]]; then printf '%s\0' "$file"; fi
    done < <(git -C "$root" ls-files -z --cached --others --exclude-standard) |
      tar -C "$root" --null -T - -cf - | tar -C "$1" -xf -
  else
    tar -C "$root" --exclude=./build -cf - . | tar -C "$1" -xf -
  fi
}

# commands: the README's first block, one command a line.
commands() { /usr/bin/python3 "$root/scripts/documents.py" commands "$root/README.md" fresh; }

status=0 passed=0 failed=0 skipped=0 notes=
summary='^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$'
for variant in "${variants[@]}"; do
  distribution=${variant%-*}
  echo "== $variant: a bare ${title[$distribution]}"
  if ! bare "$distribution"; then
    if [[ $distribution == ubuntu && $(. /etc/os-release && echo "$ID") != ubuntu ]]; then
      notes+="not run: $variant: the packages of ${title[$distribution]} cannot be had on this machine: "
      notes+="$(grep -m 1 '^[EW]: ' "$log" || echo "see $log")"$'\n'
    else
      cat "$log"
      notes+="FAILED $variant: mmdebstrap"$'\n'
      status=1
    fi
    continue
  fi
  begin=$SECONDS
  if ! try "$variant" 2>&1 | tee "$log"; then
    status=1
    notes+="FAILED $variant"$'\n'$(sed -nE 's/^FAILED /&'"$variant"': /p' "$log")$'\n'
  fi
  if [[ $(grep -E "$summary" "$log" | tail -n 1) =~ $summary ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + BASH_REMATCH[3]))
  else
    status=1
    notes+="FAILED $variant: ended without a summary"$'\n'
  fi
  notes+="$variant: $(((SECONDS - begin) / 60)) min"$'\n'
  if [[ ${FRESH_KEEP:-} != 1 ]]; then rm -rf "${folder:?}/$variant"; fi
done
echo -n "$notes"
echo "$passed passed, $failed failed, $skipped skipped"
exit "$status"
