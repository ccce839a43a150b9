package pack_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// TestDescribeSpecialFiles checks that special files are rejected without opening them.
func TestDescribeSpecialFiles(t *testing.T) {
	for _, name := range []string{"skillpm.yaml", ".skillpmignore"} {
		for _, mode := range []fs.FileMode{fs.ModeNamedPipe, fs.ModeSymlink, fs.ModeDevice} {
			tree := fstest.MapFS{
				"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: D.\n---\n")},
				name:         {Mode: mode},
			}
			_, err := pack.Describe(tree, pack.Ref{Kind: pack.KindPath, URL: "./x"})
			if diag.CodeOf(err) != diag.Invalid {
				t.Errorf("%s with mode %v: %v, want it to be refused", name, mode, err)
			}
		}
	}
}

// unopened fails if a file of that name is opened.
type unopened struct {
	fstest.MapFS
	t    *testing.T
	name string
}

func (u unopened) Open(name string) (fs.File, error) {
	if name == u.name {
		u.t.Errorf("%s is opened", name)
	}
	return u.MapFS.Open(name)
}

// Stat and Lstat do not open.
func (u unopened) Stat(name string) (fs.FileInfo, error)  { return u.MapFS.Stat(name) }
func (u unopened) Lstat(name string) (fs.FileInfo, error) { return u.MapFS.Lstat(name) }

// TestDescribeLargeFiles checks that a file that is too large is not read into memory first.
func TestDescribeLargeFiles(t *testing.T) {
	for _, name := range []string{"skillpm.yaml", ".skillpmignore"} {
		tree := unopened{fstest.MapFS{
			"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: D.\n---\n")},
			name:         {Data: make([]byte, 1<<20+1)},
		}, t, name}
		_, err := pack.Describe(tree, pack.Ref{Kind: pack.KindPath, URL: "./x"})
		if diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%s: %v, want it to be refused", name, err)
		}
	}
}
