#!/usr/bin/env bash
# Decides which release of skillpm runs, what its archive is called and where it is kept.
source "$(dirname "${BASH_SOURCE[0]}")/fetch.sh"

release='^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$'

# recorded prints the newest release in the changelog of this checkout of the action, so that an action that is pinned by
# a commit runs one release for ever, and `v1` the newest 1.x, without asking anybody.
recorded() {
  local line heading='^## \[?v?([0-9]+\.[0-9]+\.[0-9]+[^] ]*)'
  while IFS= read -r line || [ -n "$line" ]; do
    if [[ $line =~ $heading ]]; then
      printf '%s' "${BASH_REMATCH[1]%$'\r'}"
      return
    fi
  done <"$(dirname "${BASH_SOURCE[0]}")/../../CHANGELOG.md"
}

# latest prints the release that the mirror's `latest` leads to.
latest() {
  local to
  to=$(fetch "$INPUT_MIRROR/latest" --head --output /dev/null --write-out '%{redirect_url}') ||
    fail 8 "the latest release cannot be found at $INPUT_MIRROR/latest; say which one with the input 'version'" >&2
  to=${to##*/}
  printf '%s' "${to#v}"
}

version=${INPUT_VERSION#v}
if [ -z "$version" ] && [[ ${ACTION_REF#v} =~ $release ]]; then
  version=${ACTION_REF#v}
fi
if [ -z "$version" ]; then
  version=$(recorded)
fi
if [ -z "$version" ] || [ "$version" = latest ]; then
  version=$(latest)
fi
[[ $version =~ $release ]] || fail 2 "'$version' is not a release: give one as 1.2.3, or 'latest'"

suffix=tar.gz
case $RUNNER_OS in
  Linux) os=linux ;;
  macOS) os=darwin ;;
  Windows)
    os=windows
    suffix=zip
    ;;
  *) fail 2 "there is no release for $RUNNER_OS" ;;
esac
case $RUNNER_ARCH in
  X64) arch=amd64 ;;
  ARM64) arch=arm64 ;;
  *) fail 2 "there is no release for $RUNNER_OS on $RUNNER_ARCH" ;;
esac

program=skillpm
if [ "${INPUT_KEYLESS:-false}" = true ]; then
  program=skillpm-keyless
fi
archive=${program}_${version}_${os}_$arch.$suffix
keep=${RUNNER_TOOL_CACHE:-$RUNNER_TEMP}
if ! mkdir -p "$keep" 2>/dev/null || [ ! -w "$keep" ]; then
  keep=$RUNNER_TEMP
fi
output version "$version"
output archive "$archive"
output directory "${keep//\\//}/skillpm-action/$archive"
