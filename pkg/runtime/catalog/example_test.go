package catalog_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// exampleProject creates a project with two skills, and returns options to open them.
func exampleProject() (o catalog.Options, clean func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	for name, front := range map[string]string{
		"deploy":  "description: Deploys a service and watches its health.\ntags: [ops]\n",
		"grammar": "description: Corrects English prose.\nuser-invocable: false\n",
	} {
		at := filepath.Join(dir, "app", ".agents", "skills", name)
		if err := os.MkdirAll(at, 0o755); err != nil {
			log.Fatal(err)
		}
		text := "---\nname: " + name + "\n" + front + "---\nHow it is done.\n"
		if err := os.WriteFile(filepath.Join(at, "SKILL.md"), []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	p, err := profile.Lookup(profile.Runtime)
	if err != nil {
		log.Fatal(err)
	}
	o = catalog.Options{
		Profile: p, Paths: scope.Paths{Home: dir, Enterprise: filepath.Join(dir, "machine")}, Project: filepath.Join(dir, "app"),
		Cache: filepath.Join(dir, "cache"), Now: time.Now,
	}
	return o, func() { _ = os.RemoveAll(dir) }
}

// Example finds all skills of all layers at once. Bodies are read on demand.
func Example() {
	o, clean := exampleProject()
	defer clean()
	c, err := catalog.Open(context.Background(), o)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range c.Skills() {
		fmt.Printf("%s (%s): %s\n", s.Name, s.Layer, s.Description)
	}
	s, err := c.Lookup("deploy")
	if err != nil {
		log.Fatal(err)
	}
	loaded, err := s.Load()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(loaded.Body)
	// Output:
	// deploy (project): Deploys a service and watches its health.
	// grammar (project): Corrects English prose.
	// How it is done.
}

// ExampleCatalog_Lookup shows that an unknown name is an error that lists the available skills.
func ExampleCatalog_Lookup() {
	o, clean := exampleProject()
	defer clean()
	c, err := catalog.Open(context.Background(), o)
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Lookup("depoly")
	fmt.Println(err)
	// Output: unknown skill "depoly": available skills are deploy, grammar
}

// ExampleCatalog_UserInvocable lists the skills that a user may activate, for a menu or for completion.
func ExampleCatalog_UserInvocable() {
	o, clean := exampleProject()
	defer clean()
	c, err := catalog.Open(context.Background(), o)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range c.UserInvocable() {
		fmt.Println("/" + s.Name)
	}
	// Output: /deploy
}

// ExampleParseFile reads one file, without a catalog.
func ExampleParseFile() {
	o, clean := exampleProject()
	defer clean()
	s, err := catalog.ParseFile(filepath.Join(o.Project, ".agents/skills/deploy/SKILL.md"), o.Profile)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Name, s.Tags)
	// Output: deploy [ops]
}
