package pack_test

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/pack"
)

// An edit keeps what a person wrote.
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

// Two packs have a skill of one name: the one that was installed last has the bare name.
func ExampleNames() {
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
