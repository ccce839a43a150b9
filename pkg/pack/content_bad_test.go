package pack

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// TestBadSkills checks that streaming reports all bad skills with their names, streams the others, and does not blame a
// skill for an error of the sink.
func TestBadSkills(t *testing.T) {
	text := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: X.\n---\n")}
	}
	fsys := fstest.MapFS{
		"Big_One/SKILL.md": {Data: bytes.Repeat([]byte("x"), skill.MaxFile+1)},
		"good/SKILL.md":    text("good"),
		"link/SKILL.md":    text("link"),
		"link/x":           {Mode: fs.ModeSymlink, Data: []byte("/etc/passwd")},
		"module/SKILL.md":  text("module"),
		"module/x":         {Mode: fs.ModeIrregular},
		"plain/SKILL.md":   {Data: []byte("# Plain\n")},
		"pointer/SKILL.md": text("pointer"),
		"pointer/x":        {Data: []byte(lfsPointer + "v1\n")},
	}
	c, err := Describe(fsys, Ref{Kind: KindPath, URL: "/srv/x"})
	if err != nil {
		t.Fatal(err)
	}
	h := bundle.NewHasher(bundle.DefaultLimits())
	err = c.Stream(t.Context(), fsys, nil, h)
	bad, ok := errors.AsType[*BadSkillsError](err)
	if !ok || diag.CodeOf(err) != diag.Invalid {
		t.Fatalf("got %v (%v)", err, diag.CodeOf(err))
	}
	var names []string
	for _, s := range bad.Skills {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "big-one link module plain pointer" {
		t.Errorf("bad skills %s", got)
	}
	for _, want := range []string{"the limit is", "symbolic link", "submodule", "does not have frontmatter", "Git LFS pointer"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not contain %q", err, want)
		}
	}
	if h.Inventories()["good"] == nil {
		t.Error("the good skill was not streamed")
	}
	p := c.Pack(Ref{})
	if !p.LeaveOut(bad.Skills) || len(p.Skills) != 1 || len(p.Warnings) != 5 {
		t.Errorf("left %+v, warnings %q", p.Skills, p.Warnings)
	}
	tiny := bundle.NewHasher(bundle.Limits{TotalBytes: 1, FileBytes: 1})
	err = c.Stream(t.Context(), fsys, []string{"good"}, tiny)
	if _, ok := errors.AsType[*BadSkillsError](err); ok || err == nil {
		t.Errorf("an error of the sink: %v", err)
	}
}
