#!/bin/sh
# Runs on the server: unpacks an archive as a new release of a service and switches to it.
set -eu

if [ "$#" -ne 3 ]; then
	echo "usage: switch-release.sh SERVICE ARCHIVE SHA256" >&2
	exit 2
fi
service=$1 archive=$2 want=$3
root=/srv/$service

case $service in
'' | *[!a-z0-9-]*)
	echo "switch-release: $service is not the name of a service" >&2
	exit 2
	;;
esac

got=$(sha256sum "$archive" | cut -d ' ' -f 1)
if [ "$got" != "$want" ]; then
	echo "switch-release: $archive has the digest $got, not $want" >&2
	exit 1
fi

release=$(date -u +%Y-%m-%dT%H-%M-%S)
mkdir -p "$root/releases/$release"
tar -xzf "$archive" -C "$root/releases/$release"

# Renaming a link over the old one leaves no moment without a release.
ln -sfn "releases/$release" "$root/current.new"
mv -T "$root/current.new" "$root/current"
sudo systemctl restart "$service"

running=$(basename "$(readlink "$root/current")")
ls -1 "$root/releases" | sort -r | tail -n +6 | while IFS= read -r old; do
	if [ "$old" != "$running" ]; then
		rm -rf "${root:?}/releases/$old"
	fi
done
echo "$service runs $release"
