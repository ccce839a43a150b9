package scan

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestCorpus counts the findings in real skills in the directory that SKILLPM_CORPUS names. Well-kept skills have
// almost none of the first group of kinds. -v prints the numbers, and each finding of that group.
func TestCorpus(t *testing.T) {
	root := os.Getenv("SKILLPM_CORPUS")
	if root == "" {
		t.Skip("SKILLPM_CORPUS names no directory of skills")
	}
	s := New()
	var count [lastKind + 1]int
	files := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil || Sniff(data) != Text {
			return err
		}
		files++
		for _, h := range s.Text(data, textOptions(p, data)) {
			count[h.Kind]++
			if h.Kind <= BlankPadding || testing.Verbose() && h.Kind == DynamicShell {
				t.Logf("%s: %s %q: %.120q", p, h.Kind, h.Detail, data[h.Start:h.End])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	hostile := 0
	for k := Kind(1); k <= lastKind; k++ {
		t.Logf("%-20s %d", k, count[k])
		if k <= BlankPadding {
			hostile += count[k]
		}
	}
	if hostile*500 > files {
		t.Errorf("%d hits of what only an attacker needs in %d files", hostile, files)
	}
}
