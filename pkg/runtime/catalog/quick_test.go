package catalog

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/skillpm/skillpm/pkg/skill"
)

func slow(head []byte) *record {
	r := &record{}
	doc, problems := skill.Parse(head)
	if r.check(doc, problems); r.fatal == "" {
		r.fields(doc)
	}
	return r
}

// agree checks that the quick reader returns the same as package skill, if it returns a result.
func agree(t *testing.T, head []byte) bool {
	t.Helper()
	got := &record{}
	if !readSimple(got, head) {
		return false
	}
	if want := slow(head); !reflect.DeepEqual(got, want) {
		t.Errorf("quick reads %+v\nwhere package skill reads %+v\nin %q", got, want, head[:min(len(head), 2000)])
	}
	return true
}

// TestQuickOnStories reads the skills of the tests' stories and of this repository's registry.
func TestQuickOnStories(t *testing.T) {
	stories, err := filepath.Glob("../../../testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, story := range stories {
		a, err := txtar.ParseFile(story)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if filepath.Base(f.Name) == skill.File && agree(t, f.Data) {
				n++
			}
		}
	}
	_ = filepath.WalkDir("../../../registry-index/src", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == skill.File {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !agree(t, data) {
				t.Logf("%s is not for the quick reader", path)
			}
		}
		return nil
	})
	if n < 100 {
		t.Errorf("the quick reader read %d", n)
	}
}

// TestQuickOnCorpus reads any other skills below a directory.
func TestQuickOnCorpus(t *testing.T) {
	root := os.Getenv("SKILLPM_CORPUS")
	if root == "" {
		t.Skip("SKILLPM_CORPUS is not set")
	}
	n, fast := 0, 0
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == skill.File && d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			n++
			if agree(t, data) {
				fast++
			}
		}
		return nil
	})
	t.Logf("%d of %d", fast, n)
	if n == 0 || fast*10 < n*8 {
		t.Errorf("the quick reader read %d of %d", fast, n)
	}
}
