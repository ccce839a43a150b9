package pack_test

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/pack"
)

// ExampleManifest_SetDependency shows that an edit keeps comments, quotes, and order.
func ExampleManifest_SetDependency() {
	m, err := pack.ParseManifest("skillpm.yaml", []byte(`# what we deploy with
dependencies:
  acme/deploy: '~1.3'   # until the migration is over

agents: [claude-code]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := m.SetDependency(pack.Dependency{ID: pack.ID{Owner: "acme", Name: "deploy"}, Constraint: "^1.4"}); err != nil {
		fmt.Println(err)
		return
	}
	ref, err := pack.Parse("git+https://git.example/acme/tools.git//packs/tools#v1.2.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := m.SetDependency(pack.Dependency{ID: pack.ID{Owner: "acme", Name: "tools"}, Ref: &ref}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", m.Bytes())
	// Output:
	// # what we deploy with
	// dependencies:
	//   acme/deploy: '^1.4'   # until the migration is over
	//   acme/tools: {git: "https://git.example/acme/tools.git", path: "packs/tools", tag: "v1.2.0"}
	//
	// agents: [claude-code]
}

// ExampleResolveNames shows two packs that have a skill with the same name: the last direct dependency gets the bare
// name.
func ExampleResolveNames() {
	named, _, conflicts, err := pack.ResolveNames([]pack.Claim{
		{Pack: pack.ID{Owner: "acme", Name: "deploy"}, Skills: []string{"deploy", "rollback"}, Direct: true},
		{Pack: pack.ID{Owner: "globex", Name: "ops"}, Skills: []string{"deploy"}, Direct: true},
	}, nil, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range named {
		fmt.Printf("%s is %s@%s\n", n.Link, n.Skill, n.Pack)
	}
	fmt.Println("contested:", conflicts[0].Name)
	// Output:
	// acme-deploy is deploy@acme/deploy
	// deploy is deploy@globex/ops
	// rollback is rollback@acme/deploy
	// contested: deploy
}

func ExampleParseManifest() {
	m, err := pack.ParseManifest("skillpm.yaml", []byte(`
name: acme/deploy
version: "1.4.0"
dependencies:
  acme/base: "^2.1"
  globex/ops: {version: "~1.3", skills: [rollback]}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Name, m.Version)
	for _, d := range m.Dependencies {
		fmt.Printf("%s: %s\n", d.ID, pack.FormatRequirement(d))
	}

	_, err = pack.ParseManifest("skillpm.yaml", []byte("dependencys: {}\n"))
	fmt.Println(err)
	// Output:
	// acme/deploy 1.4.0
	// acme/base: ^2.1
	// globex/ops: ~1.3 [rollback]
	// skillpm.yaml:1:1: unknown key "dependencys" in skillpm.yaml
}

// ExampleParseLock shows that a lockfile has the exact source of every pack, and that Compare finds packs that the
// manifest no longer requires.
func ExampleParseLock() {
	l, err := pack.ParseLock("skillpm.lock", []byte(`version: "1"
packs:
  acme/deploy:
    version: "1.4.0"
    source: "oci://registry.example/acme/deploy"
    resolved: "sha256:0000000000000000000000000000000000000000000000000000000000000000"
    integrity: "t1:sha256:9f0d99ba3fe05914662f83aff62f838b0cc09faf77280c3b277a8671bfe308c1"
    dependencies:
      acme/base: "^2.1"
    skills:
      deploy: "t1:sha256:bb3ed674e9d9c843eb4f6537fcaeacd5f63caafeeab54087e2b905d68863ab27"
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range l.IDs() {
		p := l.Packs[id]
		ref, err := p.Ref(id)
		fmt.Println(id, p.Version, ref, err)
		requires, err := p.Requires()
		fmt.Println("requires", requires[0].ID, requires[0].Constraint, err)
	}

	m := pack.NewManifest("skillpm.yaml")
	for _, d := range pack.Compare(m, l) {
		fmt.Println(d.Kind+":", d.Message)
	}
	// Output:
	// acme/deploy 1.4.0 oci://registry.example/acme/deploy@sha256:0000000000000000000000000000000000000000000000000000000000000000 <nil>
	// requires acme/base ^2.1 <nil>
	// surplus: acme/deploy is locked, but nothing requires it
}
