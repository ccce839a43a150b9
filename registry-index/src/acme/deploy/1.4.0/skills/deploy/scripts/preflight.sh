#!/bin/sh
# Checks that a deployment can start. Reads from the cluster, changes nothing.
set -eu

if [ "$#" -ne 5 ]; then
	echo "usage: preflight.sh CONTEXT NAMESPACE DEPLOYMENT CONTAINER IMAGE" >&2
	exit 2
fi
context=$1 namespace=$2 deployment=$3 container=$4 image=$5

fail() {
	echo "preflight: $*" >&2
	exit 1
}

kube() {
	kubectl --context "$context" -n "$namespace" "$@"
}

case ${image##*/} in
*@sha256:*) ;;
*:latest) fail "$image moves: name a version or a digest" ;;
*:*) ;;
*) fail "$image has no version: name one, or a digest" ;;
esac

command -v kubectl >/dev/null || fail "kubectl is not installed"
kubectl config get-contexts "$context" >/dev/null 2>&1 || fail "there is no context $context"
kube get deployment "$deployment" >/dev/null || fail "there is no Deployment $deployment in $namespace"
kube auth can-i patch deployments >/dev/null || fail "you may not change Deployments in $namespace"

current=$(kube get deployment "$deployment" \
	-o "jsonpath={.spec.template.spec.containers[?(@.name=='$container')].image}")
[ -n "$current" ] || fail "$deployment has no container $container"
[ "$current" != "$image" ] || fail "$deployment runs $image already"

wanted=$(kube get deployment "$deployment" -o 'jsonpath={.spec.replicas}')
ready=$(kube get deployment "$deployment" -o 'jsonpath={.status.readyReplicas}')
[ "${ready:-0}" = "$wanted" ] || fail "$deployment is not healthy now: ${ready:-0} of $wanted replicas are ready"

echo "context:   $context"
echo "namespace: $namespace"
echo "before:    $current"
echo "after:     $image"
