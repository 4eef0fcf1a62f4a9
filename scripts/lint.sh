#!/usr/bin/env bash
# Check the sources: lint.sh; format the C++ ones in place: lint.sh --fix.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH=/usr/bin:/bin:/usr/sbin:/sbin

git rev-parse --git-dir >/dev/null  # stop here outside of a repository

# The repository's files of these patterns, new ones included, into the array `files`.
select_files() {
  local file
  files=()
  while IFS= read -r -d '' file; do
    if [[ -f $file ]]; then files+=("$file"); fi
  done < <(git ls-files -z --cached --others --exclude-standard -- "$@")
}

status=0
# check NAME COMMAND: run the command on `files`, all at once.
check() {
  if [[ ${#files[@]} -eq 0 ]]; then return; fi
  if "${@:2}" "${files[@]}"; then
    echo "lint: $1: ${#files[@]} files"
  else
    echo "lint: $1: FAILED" >&2
    status=1
  fi
}

select_files '*.cpp' '*.hpp'
if [[ ${1:-} == --fix ]]; then
  if [[ ${#files[@]} -gt 0 ]]; then clang-format-14 -i --style=file "${files[@]}"; fi
  exit 0
fi
check clang-format clang-format-14 --dry-run -Werror --style=file

select_files '*.sh' .ci/run
check shellcheck shellcheck -x

select_files '*.py' '*/scripts/*' puma_bringup/test/steadily
check flake8 /usr/bin/python3 -m flake8 --max-line-length 100

if scripts/check_includes.py; then
  echo "lint: includes"
else
  echo "lint: includes: FAILED" >&2
  status=1
fi

# Tests and the fuzzer's corpus hold malformed files on purpose.
select_files '*.xml' '*.urdf' '*.xacro' '*.srdf' ':!*/test/*' ':!*/fuzz/*'
check xmllint xmllint --noout --nonet

# shellcheck disable=SC2317
no_trailing_whitespace() { ! grep -nIE '[[:blank:]]+$' -- "$@"; }
select_files . ':!*/fuzz/corpus/*' ':!*.patch'
check whitespace no_trailing_whitespace

select_files . ':!*/fuzz/corpus/*' ':!*.patch' ':!scripts/spelling.*'
check spelling codespell --config scripts/spelling.cfg --dictionary - --dictionary scripts/spelling.txt

# shellcheck disable=SC2317
no_avoided_wording() { ! grep -nIwiE -f <(sed '/^#/d' scripts/wording.txt) -- "$@"; }
select_files '*.cpp' '*.hpp' '*.py' '*.md' '*.yaml' '*.xml' '*.sh' '*/scripts/*'
check wording no_avoided_wording

exit "$status"
