package site_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/publish/internal/site"
)

func id(s string) pack.ID {
	id, err := pack.ParseID(s)
	if err != nil {
		panic(err)
	}
	return id
}

func digest(c string) string { return "sha256:" + strings.Repeat(c, 64) }
func tree(c string) string   { return "t1:" + digest(c) }

const longText = `---
name: deploy
description: Deploys a service
allowed-tools: [Read, "Bash(kubectl:*)"]
compatibility: Needs kubectl 1.30 or newer
---
# Deploy a service

Read [the checklist](references/checklist.md) first, then [the manual](https://kubernetes.io/docs/), and see [below](#roll-back).

## Before

1. Find the **current** image:
   ` + "```sh" + `
   kubectl -n "$NAMESPACE" get deployment "$NAME" -o jsonpath='{.spec.template.spec.containers[0].image}' --request-timeout=30s
   ` + "```" + `
2. Check the quota with ` + "`scripts/preflight.sh`" + `.

- [x] nothing else is being deployed
- [ ] the error budget allows it

> Never deploy on a Friday without somebody to watch it.

## Strategies

| Strategy | When | Downtime | Cost |
|---|---|:---:|---:|
| Rolling | by default | none | 1× |
| Blue/green | schema changes | none | 2× |
| Recreate | single writer | short | 1× |

![the architecture](images/architecture.png)

### Roll back

Undo it with ` + "`kubectl rollout undo`" + `, then tell the owners.
`

func sample() []site.Pack {
	versions := func(list ...string) []site.Version {
		var out []site.Version
		for i, v := range list {
			out = append(out, site.Version{
				Version: v, Published: fmt.Sprintf("2026-1%d-20T08:00:00Z", 1-i%2), Source: "oci://registry.example/acme/deploy", Digest: digest(fmt.Sprint(i + 1)), Integrity: tree("a"),
			})
		}
		return out
	}
	dep := func(pk, constraint string) pack.Dependency {
		return pack.Dependency{ID: id(pk), Constraint: constraint}
	}
	packs := []site.Pack{
		{
			ID: id("acme/deploy"), License: "Apache-2.0", Tags: []string{"kubernetes", "deployment", "sre"}, Versions: versions("1.4.0", "1.4.0-rc.1", "1.3.0", "1.2.0"),
			Description: "Deploys services to Kubernetes, waits until they are healthy, and takes them back when they are not.",
			Skills: []site.Skill{
				{Name: "deploy", Description: "Deploys a new image of a service to Kubernetes and waits until it is healthy. Use it when asked to deploy, ship or release a service.", Tree: tree("b")},
				{Name: "rollback", Description: "Takes a Kubernetes Deployment back to an earlier revision.", Tree: tree("c")},
			},
			Dependencies: []pack.Dependency{dep("acme/kubectl-basics", "^2.1"), dep("globex/ops", ">=1.2 <2"), dep("initech/absent", "~3")},
		},
		{ID: id("acme/kubectl-basics"), Tags: []string{"kubernetes"}, Versions: versions("2.1.0"), Skills: []site.Skill{{Name: "kubectl-basics", Description: "Finds the way in a Kubernetes cluster.", Tree: tree("d")}}},
		{
			ID: id("globex/ops"), Tags: []string{"linux", "deployment"}, Versions: versions("1.3.0"), Deprecated: "Use globex/operations instead.",
			Skills: []site.Skill{{Name: "rollout", Description: "Rolls a release out to the whole fleet in growing steps.", Tree: tree("e")}}, Dependencies: []pack.Dependency{dep("acme/kubectl-basics", "^1")},
		},
		{ID: id("umbrella/broken"), Versions: versions("0.1.0"), Skills: []site.Skill{{Name: "broken", Description: "Cannot be fetched.", Tree: tree("f")}}},
	}
	packs[0].Versions[3].Yanked = "deletes the namespace"
	return packs
}

func details(p site.Pack) site.Details {
	if p.ID.Owner == "umbrella" {
		return site.Details{Problem: "registry.example: connection refused"}
	}
	d := site.Details{
		Profiles:   []string{"agentskills"},
		Signatures: []site.Signature{{Signer: "ecdsa-p256:MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE", Verified: true}, {Signer: "identity:https://accounts.example someone@example.com"}},
		Provenance: []site.Provenance{{Label: "Repository", Value: "https://git.example/acme/deploy"}, {Label: "Commit", Value: "0123456789abcdef0123456789abcdef01234567"}},
	}
	for i, s := range p.Skills {
		c := site.Content{
			Name: s.Name, Markdown: []byte(longText),
			Files: bundle.Inventory{{Path: "SKILL.md", Size: 1834}, {Path: "references/checklist.md", Size: 912}, {Path: "scripts/preflight.sh", Size: 1_204_000, Executable: true}},
		}
		if i == 0 {
			c.Findings = []diag.Finding{
				{Rule: "REF001", Severity: diag.SeverityWarning, Path: "SKILL.md", Line: 36, Message: "images/architecture.png does not exist"},
				{Rule: "STY004", Severity: diag.SeverityNote, Path: "SKILL.md", Line: 12, Message: "a code block without a language"},
			}
		}
		d.Skills = append(d.Skills, c)
	}
	return d
}

// memoryFiles is an in-memory catalog.
type memoryFiles map[string][]byte

func (m memoryFiles) write(path string, data []byte) error {
	if _, twice := m[path]; twice {
		return fmt.Errorf("%s is written twice", path)
	}
	m[path] = data
	return nil
}

func build(t testing.TB, o site.Options, packs []site.Pack, details func(site.Pack) site.Details) memoryFiles {
	t.Helper()
	s, err := site.New(o, packs)
	if err != nil {
		t.Fatal(err)
	}
	m := memoryFiles{}
	if err := s.Lists(m.write); err != nil {
		t.Fatal(err)
	}
	for _, p := range packs {
		if err := s.Page(p.ID, details(p), m.write); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// save writes a catalog to a directory.
func (m memoryFiles) save(t testing.TB, dir string) {
	t.Helper()
	for name, data := range m {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// manyPacks returns n packs, each of which requires the one before the last.
func manyPacks(n int) []site.Pack {
	words := strings.Fields("deploy review migrate observe document test profile refactor translate summarise schedule monitor encrypt parse render compile")
	things := strings.Fields("database cluster frontend report invoice pipeline gateway parser dataset notebook incident ticket container certificate queue index")
	packs := make([]site.Pack, n)
	for i := range packs {
		word, thing := words[i%len(words)], things[i/len(words)%len(things)]
		packs[i] = site.Pack{
			ID: pack.ID{Owner: fmt.Sprintf("team%d", i%97), Name: fmt.Sprintf("%s-%s-%d", word, thing, i)}, License: "MIT", Tags: []string{word, thing},
			Description: fmt.Sprintf("Skills that %s a %s, number %d of those that were made for measuring.", word, thing, i),
			Versions:    []site.Version{{Version: "1.0.0", Published: "2026-11-20T00:00:00Z", Source: "oci://registry.example/x/y", Digest: digest("1")}},
			Skills:      []site.Skill{{Name: word, Description: "Use it when asked to " + word + " a " + thing + " and to say what was done.", Tree: tree("a")}},
		}
		if i > 1 {
			packs[i].Dependencies = []pack.Dependency{{ID: packs[i-2].ID, Constraint: "^1"}}
		}
	}
	return packs
}
