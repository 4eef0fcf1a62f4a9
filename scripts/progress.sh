#!/usr/bin/env bash
# Show the progress of colcon or apt, whose output is read from the standard input: progress.sh colcon PACKAGES | apt.
# One line that is rewritten in a terminal; otherwise a plain line for each package, and one every 30 s in between.
set -euo pipefail
kind=$1
total=${2:-0}
interval=30
terminal=false
if [[ -t 1 && ${CI:-} != true ]]; then terminal=true; fi

number=0 package='' percent=0 shown=''
begin=$SECONDS last=$SECONDS

elapsed() {
  local seconds=$((SECONDS - begin))
  if ((seconds < 60)); then echo "$seconds s"; else echo "$((seconds / 60)) min $((seconds % 60)) s"; fi
}

status() {
  if [[ $kind == apt ]]; then
    echo "  apt: $percent %, $(elapsed)"
  elif [[ -n $package ]]; then
    echo "  $package ($number of $total): $percent %, $(elapsed)"
  fi
}

# show [always]: rewrite the line in a terminal; elsewhere print a line when one is due.
show() {
  local text
  text=$(status)
  if [[ -z $text ]]; then return; fi
  if $terminal; then
    if [[ $text != "$shown" ]]; then printf '\r\033[K%s' "$text"; fi
    shown=$text
  elif [[ ${1:-} == always ]] || ((SECONDS - last >= interval)); then
    echo "$text"
    last=$SECONDS
  fi
}

while true; do
  if IFS= read -r -t 1 line; then
    case $kind-$line in
      colcon-'Starting >>> '*)
        package=${line#Starting >>> } number=$((number + 1)) percent=0
        show always
        ;;
      colcon-'['*'%] '*)
        line=${line#[}
        percent=${line%%\%*}
        percent=${percent// /}
        ;;
      apt-dlstatus:* | apt-pmstatus:*)
        # Half of the way is the download, half the installation.
        IFS=: read -r step _ share _ <<<"$line"
        share=${share%.*}
        if [[ $share =~ ^[0-9]+$ ]]; then
          percent=$((share / 2))
          if [[ $step == pmstatus ]]; then percent=$((50 + share / 2)); fi
        fi
        ;;
    esac
  elif (($? <= 128)); then
    break  # the end of the input, not the time limit of `read`
  fi
  show
done
if $terminal; then printf '\r\033[K'; fi
case $kind in
  colcon) echo "  $number of $total packages in $(elapsed)" ;;
  apt) echo "  apt: done in $(elapsed)" ;;
esac
