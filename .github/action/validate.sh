#!/usr/bin/env bash
# Runs skillpm validate with the action's inputs, each of which is one word of the command whatever is in it. Then runs
# skillpm audit, if the inputs ask for it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# each PREFIX LINES adds one word for each line that is not empty.
each() {
  local line
  while IFS= read -r line; do
    if [ -n "$line" ]; then
      command+=("$1$line")
    fi
  done <<<"$2"
}

case $INPUT_STRICT in
  true) strict=--strict ;;
  false | "") strict='' ;;
  *) fail 2 "the input 'strict' is true or false, not '$INPUT_STRICT'" ;;
esac
case $INPUT_AUDIT in
  true | false | "") ;;
  *) fail 2 "the input 'audit' is true or false, not '$INPUT_AUDIT'" ;;
esac
report=$(mktemp "${RUNNER_TEMP//\\//}/skillpm-action/report.XXXXXX")
command=("$PROGRAM" validate "--output=${INPUT_FORMAT:-github}=-" "--output=json=$report")
each '' "$strict"
each --profile= "$INPUT_PROFILE"
each --baseline= "$INPUT_BASELINE"
each --output=sarif= "$INPUT_SARIF_FILE"
each --output= "$INPUT_OUTPUT"
each '' "$INPUT_ARGS"
command+=(--)
each '' "$INPUT_PATHS"

# Git for Windows would rewrite arguments that look like paths of its own.
code=0
MSYS_NO_PATHCONV=1 "${command[@]}" || code=$?

if [ "$INPUT_AUDIT" = true ]; then
  audit=0 format=text
  if [ "${INPUT_FORMAT:-github}" = github ]; then
    format=github
  fi
  "$PROGRAM" audit "--format=$format" || audit=$?
  if [ -n "$INPUT_AUDIT_SARIF_FILE" ] && { [ "$audit" = 0 ] || [ "$audit" = 3 ]; }; then
    # Offline, because the report is about the feeds that the first run fetched.
    "$PROGRAM" audit --offline --format=sarif >"$INPUT_AUDIT_SARIF_FILE" || [ $? = 3 ]
  fi
  if [ "$code" = 0 ]; then
    code=$audit
  fi
fi
output exit-code "$code"

# The summary is near the top of the report, one count on a line.
errors='' warnings='' notes='' count='^    "(errors|warnings|notes)": ([0-9]+),?$'
while [ -z "$notes" ] && IFS= read -r line; do
  if [[ $line =~ $count ]]; then
    printf -v "${BASH_REMATCH[1]}" %s "${BASH_REMATCH[2]}"
  fi
done <"$report"
output errors "$errors"
output warnings "$warnings"
output notes "$notes"
if [ -n "$errors" ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ "${INPUT_FORMAT:-github}" != github ]; then
  echo "skillpm validate: errors $errors, warnings $warnings, notes $notes" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"
