package catalog_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

const three = `
-- home/.skillpm/skills/a/SKILL.md --
first
-- home/.skillpm/skills/b/SKILL.md --
second
-- home/.skillpm/plugins/acme/ops/c/SKILL.md --
third
-- home/.skillpm/skills/empty/README --
`

// indexFiles returns the files of the index with their content.
func (w *fixture) indexFiles() map[string]string {
	w.Helper()
	names, err := filepath.Glob(filepath.Join(w.options.Cache, "*"))
	if err != nil {
		w.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			w.Fatal(err)
		}
		files[name] = string(data)
	}
	return files
}

// TestO20Index checks that changed, new, and removed skills are detected one by one, and that an up-to-date index is
// not written again.
func TestO20Index(t *testing.T) {
	w := newFixture(t, "omniforge", three)
	w.options.Cache = w.path("cache")
	w.expect("a=first b=second c=third")
	kept := w.indexFiles()
	if len(kept) != 2 {
		t.Fatalf("the index has %d files, want one for each root", len(kept))
	}
	w.expect("a=first b=second c=third")
	if now := w.indexFiles(); fmt.Sprint(now) != fmt.Sprint(kept) {
		t.Error("an index that is right was changed")
	}
	for _, step := range []struct {
		what string
		do   func() error
		want string
	}{
		{"changed", func() error { w.write("home/.skillpm/skills/a/SKILL.md", "third!"); return nil }, "a=third! b=second c=third"},
		{"changed, of one size", func() error { w.write("home/.skillpm/skills/a/SKILL.md", "fourth"); return nil }, "a=fourth b=second c=third"},
		{"changed, of one size and with the old time", func() error {
			at := w.path("home/.skillpm/skills/a/SKILL.md")
			info, err := os.Stat(at)
			if err != nil {
				return err
			}
			w.write("home/.skillpm/skills/a/SKILL.md", "fifth!")
			return os.Chtimes(at, info.ModTime(), info.ModTime())
		}, "a=fifth! b=second c=third"},
		{"new", func() error { w.write("home/.skillpm/skills/d/SKILL.md", "fourth"); return nil }, "a=fifth! b=second c=third d=fourth"},
		{"new in a directory that was there", func() error { w.write("home/.skillpm/skills/empty/SKILL.md", "e"); return nil }, "a=fifth! b=second c=third d=fourth empty=e"},
		{"gone", func() error { return os.RemoveAll(w.path("home/.skillpm/skills/b")) }, "a=fifth! c=third d=fourth empty=e"},
		{"only its SKILL.md gone", func() error { return os.Remove(w.path("home/.skillpm/skills/d/SKILL.md")) }, "a=fifth! c=third empty=e"},
		{"renamed", func() error {
			return os.Rename(w.path("home/.skillpm/skills/a"), w.path("home/.skillpm/skills/z"))
		}, "a=fifth! c=third empty=e"},
		{"a pack more", func() error { w.write("home/.skillpm/plugins/acme/more/f/SKILL.md", "f"); return nil }, "a=fifth! c=third empty=e f=f"},
		{"a skill of a pack more", func() error { w.write("home/.skillpm/plugins/acme/more/g/SKILL.md", "g"); return nil }, "a=fifth! c=third empty=e f=f g=g"},
		{"an owner less", func() error { return os.RemoveAll(w.path("home/.skillpm/plugins/acme")) }, "a=fifth! empty=e"},
		{"all gone", func() error { return os.RemoveAll(w.path("home/.skillpm")) }, ""},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		t.Log(step.what)
		w.expect(step.want)
	}
}

// TestIndexServesAllProfiles checks that the index does not depend on the profile.
func TestIndexServesAllProfiles(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- home/.agents/skills/a/SKILL.md --
raw
Without frontmatter.
-- home/.agents/skills/b/SKILL.md --
second
`)
	w.options.Cache = w.path("cache")
	w.expect("b=second")
	kept := w.indexFiles()
	p := *w.options.Profile
	p.Require, p.Defaults = nil, map[string]string{"description": "first-paragraph"}
	w.options.Profile = &p
	w.expect("a=Without frontmatter. b=second")
	if now := w.indexFiles(); fmt.Sprint(now) != fmt.Sprint(kept) {
		t.Error("the index was changed for another profile")
	}
}

// TestIndexDamaged checks that skills are found with any damaged index, and that the index is rebuilt.
func TestIndexDamaged(t *testing.T) {
	w := newFixture(t, "omniforge", three)
	w.options.Cache = w.path("cache")
	const want = "a=first b=second c=third"
	w.expect(want)
	kept := w.indexFiles()
	for name, good := range kept {
		for what, bad := range map[string]string{
			"empty": "", "cut": good[:len(good)/2], "short": good[:10], "another version": strings.Replace(good, "catalog 3", "catalog 2", 1),
			"a bit": good[:40] + string(good[40]^1) + good[41:], "longer": good + "x", "zeroes": strings.Repeat("\x00", len(good)),
			"another file": other(kept, name),
		} {
			if err := os.WriteFile(name, []byte(bad), 0o600); err != nil {
				t.Fatal(err)
			}
			w.expect(want)
			if data, err := os.ReadFile(name); err != nil || string(data) != good {
				t.Errorf("%s: the index was not made anew: %v", what, err)
			}
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		w.expect(want)
	}
}

func other(files map[string]string, not string) string {
	for name, data := range files {
		if name != not {
			return data
		}
	}
	return ""
}

// TestIndexPlaces checks that skills are found without a path for the index, or with one that is not writable or
// readable.
func TestIndexPlaces(t *testing.T) {
	w := newFixture(t, "omniforge", three+"-- file --\n")
	const want = "a=first b=second c=third"
	for _, dir := range []string{"", w.path("file"), w.path("file/below"), w.path("new/deep/cache"), "/proc/skillpm"} {
		w.options.Cache = dir
		w.expect(want)
		w.expect(want)
	}
	dir := w.path("readonly")
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	w.options.Cache = dir
	w.expect(want)
}

// TestIndexRacy checks that a file that changes right after it was read, with the same size and times, is read again:
// entries as new as the index are not trusted.
func TestIndexRacy(t *testing.T) {
	w := newFixture(t, "omniforge", three)
	w.options.Cache = w.path("cache")
	w.options.Now = time.Now // no hour later: everything is new
	w.expect("a=first b=second c=third")
	reads := w.indexFiles()
	if len(reads) != 2 {
		t.Fatalf("%d files", len(reads))
	}
	// the worst case: a change that stat cannot detect, simulated by an index with different content
	for name, data := range reads {
		if !strings.Contains(data, "first") {
			continue
		}
		if err := os.WriteFile(name, forged([]byte(data), "first", "other"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.expect("a=first b=second c=third")
	w.options.Now = func() time.Time { return time.Now().Add(time.Hour) }
	w.expect("a=first b=second c=third") // read once more, and settled
	for name, data := range w.indexFiles() {
		if strings.Contains(data, "first") {
			if err := os.WriteFile(name, forged([]byte(data), "first", "other"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.expect("a=other b=second c=third") // the index is relied on
}

// forged replaces a text in an index and corrects its checksum.
func forged(data []byte, text, with string) []byte {
	data = bytes.Replace(data, []byte(text), []byte(with), 1)
	catalog.Seal(data)
	return data
}

// TestHelperOpen is a process of TestIndexConcurrent.
func TestHelperOpen(t *testing.T) {
	dir := os.Getenv("SKILLPM_TEST_CATALOG")
	if dir == "" {
		t.Skip("a process of TestIndexConcurrent")
	}
	w := newFixture(t, "omniforge", "")
	w.dir = dir
	w.options.Paths.Home, w.options.Project, w.options.Cache = filepath.Join(dir, "home"), "", filepath.Join(dir, "cache")
	w.options.Now = time.Now
	for range 20 {
		c := w.open()
		if n := len(c.Skills()); n < 40 || n > 41 || len(c.Findings()) > 0 {
			t.Fatalf("%d skills, %q", n, messages(c))
		}
		for _, s := range c.Skills() {
			if s.Description != "first" && s.Description != "other" {
				t.Fatalf("%s is %q", s.Name, s.Description)
			}
		}
	}
}

// TestIndexConcurrent checks that twenty processes can open the same skills while these change: none sees partial data,
// and the final index is correct.
func TestIndexConcurrent(t *testing.T) {
	w := newFixture(t, "omniforge", "")
	for i := range 40 {
		w.write(fmt.Sprintf("home/.skillpm/skills/s%d/SKILL.md", i), "first")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestHelperOpen$", "-test.count=1")
			cmd.Env = append(os.Environ(), "SKILLPM_TEST_CATALOG="+w.dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	changes := 0
	for running := true; running; changes++ {
		name := fmt.Sprintf("home/.skillpm/skills/s%d/SKILL.md", changes%40)
		text := []string{"first", "other"}[changes/40%2]
		if err := os.WriteFile(w.path(name)+".new", []byte(short(fmt.Sprintf("s%d", changes%40), text)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(w.path(name)+".new", w.path(name)); err != nil {
			t.Fatal(err)
		}
		select {
		case <-done:
			running = false
		default:
		}
	}
	w.options.Project, w.options.Cache = "", w.path("cache")
	fromIndex := inForce(w.open())
	w.options.Cache = ""
	if fresh := inForce(w.open()); fromIndex != fresh {
		t.Errorf("after %d changes the index says\n%s\nand the files\n%s", changes, fromIndex, fresh)
	}
	left, err := filepath.Glob(w.path("cache/.tmp-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over are %v, %v", left, err)
	}
}

// TestOpenConcurrent opens catalogs in several goroutines, for the race detector.
func TestOpenConcurrent(t *testing.T) {
	w := newFixture(t, "omniforge", three)
	w.options.Cache = w.path("cache")
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			c, err := catalog.Open(t.Context(), w.options)
			if err != nil || inForce(c) != "a=first b=second c=third" {
				t.Errorf("%v, %v", c, err)
			}
		})
	}
	group.Wait()
}

// TestIndexThinned checks that the index does not keep entries of all past projects.
func TestIndexThinned(t *testing.T) {
	w := newFixture(t, "omniforge", three)
	w.options.Cache = w.path("cache")
	for i := range 600 {
		w.write(fmt.Sprintf("cache/%024x.idx", i), "raw\nold")
	}
	if err := os.Chtimes(w.path("cache/000000000000000000000007.idx"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	w.open()
	files := w.indexFiles()
	if _, ok := files[w.path("cache/000000000000000000000007.idx")]; ok || len(files) != 600 {
		t.Errorf("%d files are left, the oldest among them: %v", len(files), ok)
	}
}

// TestFindingsInOrder checks that findings have the same order every time, whatever is read first.
func TestFindingsInOrder(t *testing.T) {
	w := newFixture(t, "omniforge", "")
	for i := range 100 {
		w.write(fmt.Sprintf("home/.skillpm/skills/s%d/SKILL.md", i), "raw\nnothing")
	}
	want := messages(w.open())
	for range 5 {
		if got := messages(w.open()); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}
