#!/usr/bin/env bash
# release.sh VERSION PORT makes a release of this checkout for this machine, and serves it on the loopback address. The
# workflow uses it to run action.yml as it is in a change, before there is a release with that change.
set -euo pipefail

version=$1 port=$2
root=${RUNNER_TEMP//\\//}/release
dir=$root/download/v$version
name=skillpm_${version}_$(go env GOOS)_$(go env GOARCH)
mkdir -p "$dir"
go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$dir/" ./cmd/skillpm

cd "$dir"
python=python3
if [ "$(go env GOOS)" = windows ]; then
  python=python
  powershell -NoProfile -Command "Compress-Archive -Path skillpm.exe -DestinationPath $name.zip"
else
  tar -czf "$name.tar.gz" skillpm
fi
if command -v sha256sum >/dev/null; then
  sha256sum "$name".* >checksums.txt
else
  shasum -a 256 "$name".* >checksums.txt
fi
cat checksums.txt

cd "$root"
nohup "$python" -m http.server "$port" --bind 127.0.0.1 </dev/null >/dev/null 2>&1 &
curl --silent --show-error --fail --retry 20 --retry-delay 1 --retry-connrefused --output /dev/null \
  "http://127.0.0.1:$port/download/v$version/checksums.txt"
