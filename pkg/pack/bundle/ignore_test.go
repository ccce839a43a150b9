package bundle_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

func TestIgnoreFile(t *testing.T) { // M3
	const text = "\ufeff# comment\r\n\r\n*.log\r\n!keep.log\r\n/build\r\ntmp/\ndocs/**/*.draft\n\\#hash\n\\!bang\ntrailing\\ \n  \na/**\n**/deep/x\n[a-c][!0-9].txt\nq?\n[[:digit:]]z\n[unclosed\n!\n/\n"
	f := bundle.ParseIgnore([]byte(text))
	tests := []struct {
		path string
		dir  bool
		want bool
	}{
		{"x.log", false, true},
		{"a/b/x.log", false, true},
		{"keep.log", false, false},
		{"sub/keep.log", false, false},
		{"build", true, true},
		{"build/keep.log", false, true}, // its directory is ignored
		{"sub/build", true, false},
		{"tmp", true, true},
		{"tmp", false, false},
		{"x/tmp/y", false, true},
		{"docs/x.draft", false, true},
		{"docs/a/b/x.draft", false, true},
		{"x/docs/x.draft", false, false},
		{"#hash", false, true},
		{"!bang", false, true},
		{"trailing ", false, true},
		{"trailing", false, false},
		{"a", true, false},
		{"a/b", false, true},
		{"deep/x", false, true},
		{"1/2/deep/x", false, true},
		{"bx.txt", false, true},
		{"b1.txt", false, false},
		{"q1", false, true},
		{"q", false, false},
		{"7z", false, true},
		{"[unclosed", false, false},
		{"# comment", false, false},
	}
	for _, tt := range tests {
		if got := f.Match(tt.path, tt.dir); got != tt.want {
			t.Errorf("%q (directory %v): got %v, want %v", tt.path, tt.dir, got, tt.want)
		}
	}
	var none *bundle.IgnoreFile
	if none.Match("x", false) {
		t.Error("no file ignores something")
	}
}

// TestIgnoreFileAsGit compares random patterns and paths with git's result.
func TestIgnoreFileAsGit(t *testing.T) { // M3
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here to be asked")
	}
	random := rand.New(rand.NewPCG(7, 7))
	pick := func(from string) string { words := strings.Fields(from); return words[random.IntN(len(words))] }
	var paths []string
	for range 200 {
		p := pick("a b ab abc a.md b.md x")
		for range random.IntN(4) {
			p += "/" + pick("a b ab abc a.md b.md x")
		}
		paths = append(paths, p)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for round := range 40 {
		var lines []string
		for range 1 + random.IntN(4) {
			line := strings.Trim(pick("! - - -"), "-") + strings.Trim(pick("/ - -"), "-")
			for n := range 1 + random.IntN(3) {
				if n > 0 {
					line += "/"
				}
				line += pick("a b ab ** ** * *** a* *b ?b [ab]b [!a] [^b]* [a-b]* \\a* *.md [[:alpha:]] ?[[:punct:]]md a*b*")
			}
			line += strings.Trim(pick("/ - - -"), "-")
			lines = append(lines, line)
		}
		text := strings.Join(lines, "\n") + "\n"
		f := bundle.ParseIgnore([]byte(text))
		want := gitIgnores(t, text, paths)
		for _, p := range paths {
			if got := f.Match(p, false); got != want[p] {
				t.Errorf("round %d, %q with %q: got %v, git says %v", round, p, lines, got, want[p])
			}
		}
	}
}

// gitIgnores returns the paths that git ignores if they are files.
func gitIgnores(t *testing.T, text string, paths []string) map[string]bool {
	t.Helper()
	dir := t.TempDir()
	git := func(stdin string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() != 1 { // 1: none is ignored
			t.Fatal(fmt.Errorf("git %s: %w", args, err))
		}
		return string(out)
	}
	git("", "init", "-q")
	if err := os.WriteFile(filepath.Join(dir, ".git", "info", "exclude"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	ignored := make(map[string]bool)
	for line := range strings.SplitSeq(git(strings.Join(paths, "\x00")+"\x00", "check-ignore", "--no-index", "-z", "--stdin"), "\x00") {
		ignored[line] = true
	}
	return ignored
}

// FuzzIgnoreFile proves that no pattern causes a panic.
func FuzzIgnoreFile(f *testing.F) {
	f.Add("*.md\n!a/**\n", "a/b.md")
	f.Add("[[:alpha:]-z]\\", "x")
	f.Add(strings.Repeat("*a", 50), strings.Repeat("a", 200))
	f.Fuzz(func(t *testing.T, text, path string) {
		ignore := bundle.ParseIgnore([]byte(text))
		if ignore.Match(path, true) && !ignore.Match(path+"/x", false) {
			t.Errorf("%q ignores %q and not what is in it", text, path)
		}
	})
}
