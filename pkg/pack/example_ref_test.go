package pack_test

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

func ExampleParse() {
	for _, s := range []string{
		"acme/deploy@^1.2",
		"github.com/acme/skills//packs/tools#v1.2.0",
		"git@git.example:acme/skills.git",
		"oci://registry.example/acme/deploy:1.4.0",
		"./packs/tools",
	} {
		ref, err := pack.Parse(s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(ref.Kind, ref)
	}
	// Output:
	// name acme/deploy@^1.2
	// git git+https://github.com/acme/skills.git//packs/tools#v1.2.0
	// git git+ssh://git@git.example/acme/skills.git
	// oci oci://registry.example/acme/deploy:1.4.0
	// path ./packs/tools
}

func ExampleParse_refused() {
	_, err := pack.Parse("https://github.com/acme/skills/tree/main/packs/tools")
	fmt.Println(err)
	fmt.Println(diag.HintOf(err))
	// Output:
	// github.com/acme/skills/tree/main/packs/tools is a page, not a repository
	// write github.com/acme/skills//packs/tools#main
}

func ExampleRef_Source() {
	ref, err := pack.Parse("git@git.example:acme/skills.git//packs/tools#v1.2.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := ref.DefaultID()
	fmt.Println(ref.Source(), id, err)
	// Output: git+ssh://git.example/acme/skills.git//packs/tools acme/tools <nil>
}

func ExampleVersionFromTag() {
	for _, tag := range []string{"v1.2.0", "tools@1.2.0", "tools/v1.2.0", "v1", "latest"} {
		version, ok := pack.VersionFromTag(tag, "tools")
		fmt.Println(tag, version, ok)
	}
	// Output:
	// v1.2.0 1.2.0 true
	// tools@1.2.0 1.2.0 true
	// tools/v1.2.0 1.2.0 true
	// v1  false
	// latest  false
}
