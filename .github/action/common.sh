# shellcheck shell=bash
# What the steps of action.yml share. They run with the bash that each runner has, which on macOS is 3.2.
set -euo pipefail

# fail CODE MESSAGE ends the step with an annotation. The codes are those of skillpm.
fail() {
  local text=$2
  text=${text//\%/%25}
  text=${text//$'\r'/%0D}
  text=${text//$'\n'/%0A}
  printf '::error title=skillpm::%s\n' "$text"
  exit "$1"
}

# output NAME VALUE sets an output of the step. No value here may have more than one line.
output() {
  case $2 in
    *$'\n'* | *$'\r'*) fail 2 "the value of $1 has more than one line" ;;
  esac
  printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}
