#!/bin/sh
# Waits until every replica of a Deployment runs the newest revision and is ready.
set -eu

if [ "$#" -ne 4 ]; then
	echo "usage: wait-healthy.sh CONTEXT NAMESPACE DEPLOYMENT SECONDS" >&2
	exit 2
fi
context=$1 namespace=$2 deployment=$3 seconds=$4

kube() {
	kubectl --context "$context" -n "$namespace" "$@"
}

if kube rollout status "deployment/$deployment" --timeout="${seconds}s"; then
	exit 0
fi

echo "wait-healthy: $deployment did not become healthy in $seconds seconds" >&2
selector=$(kube get deployment "$deployment" \
	-o 'go-template={{range $k, $v := .spec.selector.matchLabels}}{{$k}}={{$v}},{{end}}')
kube get pods -l "${selector%,}" -o wide >&2
kube get events --field-selector type=Warning --sort-by=.lastTimestamp >&2
exit 1
