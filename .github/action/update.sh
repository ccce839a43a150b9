#!/usr/bin/env bash
# Updates the locked packs on a branch, and opens or refreshes a pull request that shows the changes to the skills: first
# the capabilities that the update adds, with which the output of update begins. The text of packs is not trusted: it only
# gets into a code block of the pull request.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# limit is the number of bytes of a text in the body of a pull request, which GitHub limits to 65,536 characters.
limit=28000

# fenced prints a file as a code block that the file cannot end, and cuts it at a line.
fenced() {
  local fence='```' longest
  longest=$(LC_ALL=C grep -a -o '`*' "$1" | LC_ALL=C sort -u | tail -n 1 || true)
  while [ "${#fence}" -le "${#longest}" ]; do fence="$fence\`"; done
  printf '%s%s\n' "$fence" "$2"
  LC_ALL=C awk -v limit="$limit" '
    { size += length($0) + 1; if (size > limit) { print "(cut)"; exit } print }' "$1"
  printf '%s\n' "$fence"
}

case $INPUT_LATEST in
  true | false) ;;
  *) fail 2 "latest must be true or false" ;;
esac
[ -n "$GH_TOKEN" ] || fail 2 "github-token is empty"
git check-ref-format --branch "$INPUT_BRANCH" >/dev/null || fail 2 "branch is not the name of a branch"
base=$INPUT_BASE
[ -n "$base" ] || base=$(git symbolic-ref --quiet --short HEAD) || fail 2 "set base, because no branch is checked out"
[ "$base" != "$INPUT_BRANCH" ] || fail 2 "branch and base must differ"
[ -z "$(git status --porcelain --untracked-files=no)" ] || fail 5 "the checkout has changes"

args=()
[ "$INPUT_LATEST" = false ] || args+=(--latest)
args+=(--)
while IFS= read -r pack; do
  pack=${pack%$'\r'}
  [ -z "$pack" ] || args+=("$pack")
done <<<"$INPUT_PACKS"

changes=$RUNNER_TEMP/skillpm-changes updated=$RUNNER_TEMP/skillpm-updated body=$RUNNER_TEMP/skillpm-body
"$PROGRAM" install --frozen
"$PROGRAM" diff "${args[@]}" >"$changes"
"$PROGRAM" update "${args[@]}" | tee "$updated"
git add --update -- skillpm.yaml skillpm.lock
if git diff --cached --quiet; then
  output changed false
  exit
fi
git -c user.name='github-actions[bot]' -c user.email='41898282+github-actions[bot]@users.noreply.github.com' \
  -c commit.gpgSign=false commit --quiet --no-verify --message "$INPUT_TITLE"
git push --quiet --force origin "HEAD:refs/heads/$INPUT_BRANCH"

{
  IFS= read -r first <"$updated" || true
  if [[ $first = *' adds capabilities:' ]]; then
    printf '**This update adds capabilities.** Review the first lines below before the rest.\n\n'
  fi
  fenced "$updated" ""
  printf '\nThese are the changes to the text that agents follow. Review them like code.\n\n'
  fenced "$changes" diff
} >"$body"
url=$(gh pr list --head "$INPUT_BRANCH" --base "$base" --state open --json url --jq '.[0].url // ""')
if [ -n "$url" ]; then
  gh pr edit "$url" --title "$INPUT_TITLE" --body-file "$body" >/dev/null
else
  url=$(gh pr create --head "$INPUT_BRANCH" --base "$base" --title "$INPUT_TITLE" --body-file "$body")
fi
output changed true
output pull-request "$url"
