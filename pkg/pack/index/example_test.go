package index_test

import (
	"fmt"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// deployFile returns the file of acme/deploy with two versions. The first is yanked.
func deployFile() ([]byte, error) {
	var data []byte
	for _, version := range []string{"1.3.0", "1.4.0"} {
		line := index.Line{
			Name: "acme/deploy", Version: version, Source: "oci://registry.example/acme/deploy",
			Digest:       "sha256:aa0ec9bd59b1df76acdbba3f09d7c114aa94204c3894e1811522c1f619236e73",
			Dependencies: index.Dependencies{"acme/base": {Constraint: "^2.1"}},
			Skills: []index.Skill{{
				Name: "deploy", Description: "Deploys services",
				Tree: "t1:sha256:bb3ed674e9d9c843eb4f6537fcaeacd5f63caafeeab54087e2b905d68863ab27",
			}},
		}
		var err error
		if data, err = index.Append("deploy.ndjson", data, line); err != nil {
			return nil, err
		}
	}
	return index.AppendYank("deploy.ndjson", data, "1.3.0", "deletes volumes")
}

// ExampleParse reads the versions of a pack, their requirements, and their sources from the pack's file.
func ExampleParse() {
	data, err := deployFile()
	if err != nil {
		fmt.Println(err)
		return
	}
	entry, err := index.Parse("deploy.ndjson", data)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range entry.Versions {
		fmt.Printf("%s %s %q\n", entry.ID, line.Version, line.Yanked)
	}
	line, _ := entry.Line("1.4.0")
	p, err := line.Pack(pack.Ref{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Ref.Source(), p.SkillNames(), p.Dependencies[0].ID, p.Dependencies[0].Constraint)
	// Output:
	// acme/deploy 1.4.0 ""
	// acme/deploy 1.3.0 "deletes volumes"
	// oci://registry.example/acme/deploy [deploy] acme/base ^2.1
}

// ExampleCatalog shows that the catalog of an index has one line for each pack.
func ExampleCatalog() {
	data, err := deployFile()
	if err != nil {
		fmt.Println(err)
		return
	}
	id := pack.ID{Owner: "acme", Name: "deploy"}
	fsys := fstest.MapFS{index.Path(id): {Data: data}}
	for entry, err := range index.Catalog(fsys) {
		fmt.Println(entry.Name, entry.Version, entry.Skills[0].Description, err)
	}
	// Output: acme/deploy 1.4.0 Deploys services <nil>
}
