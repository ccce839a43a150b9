package project_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/source"
)

// TestDescribeSpecialFiles checks that what is not a regular file is refused, and not opened.
func TestDescribeSpecialFiles(t *testing.T) {
	for _, name := range []string{"skillpm.yaml", ".skillpmignore"} {
		for _, mode := range []fs.FileMode{fs.ModeNamedPipe, fs.ModeSymlink, fs.ModeDevice} {
			tree := fstest.MapFS{
				"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: D.\n---\n")},
				name:         {Mode: mode},
			}
			_, err := project.Describe(tree, source.Ref{Kind: source.KindPath, URL: "./x"})
			if diag.CodeOf(err) != diag.Invalid {
				t.Errorf("%s with mode %v: %v, want it to be refused", name, mode, err)
			}
		}
	}
}
