package skillpm_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/skillpm/skillpm/pkg/skillpm"
)

// Example installs a pack into a project, and lists the project's packs.
func Example() {
	dir, remove := exampleProject()
	defer remove()
	client, err := skillpm.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ctx := context.Background()
	if _, err := client.Install(ctx, skillpm.InstallOptions{Packs: []string{"acme/kubectl-basics"}}); err != nil {
		log.Fatal(err)
	}
	list, err := client.List(ctx, "project")
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range list.Packs {
		fmt.Println(p.Pack, p.Version)
		for _, s := range p.Skills {
			fmt.Println("-", s.Name)
		}
	}
	// Output:
	// acme/kubectl-basics 2.1.0
	// - kubectl-basics
}

// exampleProject creates an empty project, and a home directory for this process.
func exampleProject() (dir string, remove func()) {
	home, err := os.MkdirTemp("", "skillpm-example-")
	if err != nil {
		log.Fatal(err)
	}
	before := map[string]string{}
	for _, name := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		before[name] = os.Getenv(name)
		_ = os.Setenv(name, home) // it fails for names that are not valid only
	}
	if dir, err = os.MkdirTemp(home, "project-"); err != nil {
		log.Fatal(err)
	}
	return dir, func() {
		for name, value := range before {
			_ = os.Setenv(name, value) // as above
		}
		_ = os.RemoveAll(home) // temporary files
	}
}
