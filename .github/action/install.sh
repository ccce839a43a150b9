#!/usr/bin/env bash
# Downloads the release unless it is there, holds it to its checksum either way, unpacks it and puts it on the PATH.
source "$(dirname "${BASH_SOURCE[0]}")/fetch.sh"

digest() {
  if command -v sha256sum >/dev/null; then
    sha256sum <"$1"
  else
    shasum -a 256 <"$1"
  fi | cut -d ' ' -f 1
}

# promised prints the checksum of the archive, and nothing that makes sense unless exactly one line names it.
promised() {
  local sum name
  while read -r sum name; do
    name=${name%$'\r'}
    if [ "${name#\*}" = "$ARCHIVE" ]; then
      printf '%s' "$sum"
    fi
  done <"$1"
}

# intact says whether the archive in a directory is what the checksums beside it promise.
intact() {
  local want
  [ -f "$1/$ARCHIVE" ] && [ -f "$1/checksums.txt" ] || return 1
  want=$(promised "$1/checksums.txt")
  [[ $want =~ ^[0-9a-f]{64}$ ]] && [ "$(digest "$1/$ARCHIVE")" = "$want" ]
}

work=${RUNNER_TEMP//\\//}/skillpm-action
mkdir -p "$work"

if intact "$DIRECTORY"; then
  echo "skillpm $VERSION is cached"
else
  if [ -d "$DIRECTORY" ]; then
    echo "::warning title=skillpm::the cached release is damaged, so it is downloaded again"
  fi
  new=$(mktemp -d "$work/download.XXXXXX")
  for file in checksums.txt "$ARCHIVE"; do
    echo "downloading $INPUT_MIRROR/download/v$VERSION/$file"
    fetch "$INPUT_MIRROR/download/v$VERSION/$file" --location --output "$new/$file" ||
      fail 8 "cannot download $file of release $VERSION from $INPUT_MIRROR"
  done
  if ! intact "$new"; then
    rm -rf "$new" "$DIRECTORY"
    fail 6 "the digest of $ARCHIVE differs from checksums.txt of the release; nothing was run"
  fi
  rm -rf "$DIRECTORY"
  mkdir -p "$(dirname "$DIRECTORY")"
  mv "$new" "$DIRECTORY"
fi

packed=${ARCHIVE%%_*} # skillpm, or skillpm-keyless, which is installed as skillpm
bin=$(mktemp -d "$work/bin.XXXXXX")
case $ARCHIVE in
  *.zip)
    program=$bin/skillpm.exe
    unzip -q "$DIRECTORY/$ARCHIVE" "$packed.exe" -d "$bin"
    [ "$packed" = skillpm ] || mv "$bin/$packed.exe" "$program"
    ;;
  *)
    program=$bin/skillpm
    tar -xzf "$DIRECTORY/$ARCHIVE" -C "$bin" "$packed"
    [ "$packed" = skillpm ] || mv "$bin/$packed" "$program"
    ;;
esac
chmod +x "$program"
"$program" version
printf '%s\n' "$bin" >>"$GITHUB_PATH"
output program "$program"
