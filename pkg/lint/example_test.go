package lint_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/lint"
)

// ExampleRun validates the skills of a directory and prints the findings. [os.DirFS] reads a directory on disk in the
// same way.
func ExampleRun() {
	fsys := fstest.MapFS{
		"deploy/SKILL.md": {Data: []byte("---\nname: deploy\ndescription: Deploys the service. Use it for releases.\n---\n" +
			"# Deploy\n\nFollow [the checklist](references/checklist.md).\n")},
	}
	report, err := lint.Run(context.Background(), fsys, []string{"."}, lint.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range report.Findings {
		fmt.Printf("%s:%d:%d: %s (%s)\n", f.Path, f.Line, f.Column, f.Message, f.Rule)
	}
	// Output:
	// deploy/SKILL.md:7:24: references/checklist.md does not exist (REF001)
}
