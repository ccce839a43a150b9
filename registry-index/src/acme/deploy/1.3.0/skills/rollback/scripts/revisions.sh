#!/bin/sh
# Lists the revisions of a Deployment, newest last: revision, image, change cause. Changes nothing.
set -eu

if [ "$#" -ne 3 ]; then
	echo "usage: revisions.sh CONTEXT NAMESPACE DEPLOYMENT" >&2
	exit 2
fi
context=$1 namespace=$2 deployment=$3

kube() {
	kubectl --context "$context" -n "$namespace" "$@"
}

current=$(kube get deployment "$deployment" \
	-o 'jsonpath={.metadata.annotations.deployment\.kubernetes\.io/revision}')

# One line for each ReplicaSet that belongs to the Deployment.
kube get replicasets -o 'go-template={{range .items}}{{$rs := .}}{{range .metadata.ownerReferences}}{{if eq .kind "Deployment"}}{{.name}} {{index $rs.metadata.annotations "deployment.kubernetes.io/revision"}} {{(index $rs.spec.template.spec.containers 0).image}} {{with index $rs.metadata.annotations "kubernetes.io/change-cause"}}{{.}}{{else}}-{{end}}
{{end}}{{end}}{{end}}' |
	awk -v name="$deployment" '$1 == name { sub(/^[^ ]+ /, ""); print }' |
	sort -n |
	while IFS= read -r line; do
		if [ "${line%% *}" = "$current" ]; then
			echo "* $line"
		else
			echo "  $line"
		fi
	done
