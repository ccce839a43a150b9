package project_test

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/project"
)

const full = `# a pack of two skills
name: acme/deploy
version: "1.4.0"
description: Deploys.
license: Apache-2.0
skills: ["skills/*"]
skillpm: ">=0.3"
dependencies:
  acme/kubectl-basics: "^2.1"
  globex/ops: {oci: "oci://registry.example/globex/ops", version: "~1.3", skills: [rollout]}
  acme/tools: {git: "https://git.example/tools.git", tag: v1.2.0, path: packs/tools}
dev-dependencies:
  acme/near: {path: ../near}
aliases: {k8s-deploy: deploy@globex/ops}
agents: [claude-code, agents]
link-mode: copy
registries: ["https://packs.example", {name: acme, url: "oci://registry.example/acme"}]
namespaces: {acme: "oci://registry.example/acme"}
validate: {profile: claude-code}
`

func TestParseManifest(t *testing.T) {
	m, err := project.ParseManifest("skillpm.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", m)
}
