package author

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/publish"
)

func (a *app) printPacked(c *publish.Client, r *publish.PackReport) error {
	if !r.Valid {
		return a.printInvalid(r.ReleaseReport, "write")
	}
	for _, w := range r.Warnings {
		a.Warn("%s: %s", r.Pack, w)
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	fmt.Fprintf(a.Stdout, "%s@%s %s\n", r.Pack, r.Version, r.Digest)
	for _, t := range r.Tests {
		a.Note("Recorded %s.", testText(t))
	}
	a.Note("Wrote %s (%s).", c.DisplayPath(r.Output), textx.Count(len(r.Files), "file"))
	return nil
}
