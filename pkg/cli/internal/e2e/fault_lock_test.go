//go:build slow

package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lockCase is a lockfile, or a file near it, that skillpm must not trust.
type lockCase struct {
	name  string
	edit  func(m *machine, lock string) string // what the lock becomes, "" to leave it alone; it may change other files
	code  int
	words []string
}

// replaced replaces a pattern once and requires a match.
func replaced(pattern, text string) func(*machine, string) string {
	return func(m *machine, lock string) string {
		at := regexp.MustCompile(pattern).FindStringIndex(lock)
		if at == nil {
			m.tb.Fatalf("the lock has no %s:\n%s", pattern, lock)
		}
		return lock[:at[0]] + text + lock[at[1]:]
	}
}

// instead replaces an entry of the project with a link to another location, to which it moves the entry.
func instead(name string) func(*machine, string) string {
	return func(m *machine, _ string) string {
		path, elsewhere := filepath.Join(m.project, name), filepath.Join(m.home, "elsewhere")
		if err := errors.Join(os.Rename(path, elsewhere), os.Symlink(elsewhere, path)); err != nil {
			m.tb.Fatal(err)
		}
		return ""
	}
}

// unreadable lists lockfiles that every command rejects.
func unreadable() []lockCase {
	const invalid = 3
	bomb := "version: 1\na: &a [x, x, x, x, x, x, x, x, x]\n"
	for i := range 8 {
		bomb += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", 'b'+i, 'b'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i)
	}
	fixed := func(text string) func(*machine, string) string { return func(*machine, string) string { return text } }
	const restore = "hint: restore skillpm.lock from version control"
	return []lockCase{
		{"a link", instead("skillpm.lock"), invalid, []string{"skillpm.lock is not a regular file", "hint: "}},
		{"a link to nothing", func(m *machine, _ string) string {
			path := filepath.Join(m.project, "skillpm.lock")
			if err := errors.Join(os.Remove(path), os.Symlink("nowhere", path)); err != nil {
				m.tb.Fatal(err)
			}
			return ""
		}, invalid, []string{"skillpm.lock is not a regular file"}},
		{"a directory", func(m *machine, _ string) string {
			path := filepath.Join(m.project, "skillpm.lock")
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o755)); err != nil {
				m.tb.Fatal(err)
			}
			return ""
		}, invalid, []string{"skillpm.lock is not a regular file"}},
		{"the manifest is a link", instead("skillpm.yaml"), invalid, []string{"skillpm.yaml is not a regular file"}},
		{"empty", fixed("\n"), invalid, []string{"skillpm.lock is empty", restore + ", or delete it"}},
		{"cut off", func(_ *machine, lock string) string { return lock[:len(lock)*2/3] }, invalid, []string{"skillpm.lock:"}},
		{"binary", fixed("\x00\x01\x02"), invalid, []string{"skillpm.lock"}},
		{"merge markers", replaced(`(?m)^packs:$`, "<<<<<<< ours\npacks:\n=======\n>>>>>>> theirs"), invalid, []string{"merge conflict"}},
		{"unknown version", replaced(`version: 1\n`, "version: 99\n"), invalid, []string{`version "99"`, "hint: use a newer skillpm"}},
		{"no version", replaced(`version: 1\n`, ""), invalid, []string{"does not have a format version"}},
		{"a pack twice", replaced(`  acme/web:`, "  acme/base:"), invalid, []string{`"acme/base" is duplicated`}},
		{"a key twice", replaced(`    version: "1.0.0"\n`, "    version: \"1.0.0\"\n    version: \"1.0.0\"\n"), invalid, []string{`"version" is duplicated`}},
		{"no integrity", replaced(`    integrity: .*\n`, ""), invalid, []string{"does not have the required key integrity", restore}},
		{"aliases", fixed(bomb), invalid, []string{"anchor"}},
		{"huge", func(_ *machine, lock string) string { return lock + strings.Repeat("# nothing\n", 10<<20) }, invalid, []string{"skillpm.lock has ", " bytes; the limit is "}},
		{"deep", fixed("version: 1\npacks: " + strings.Repeat("[", 100_000)), invalid, []string{"skillpm.lock"}},
		{
			"a digest of a skill",
			replaced(`(lint: "t1:sha256:)[0-9a-f]{64}`, `lint: "t1:sha256:`+strings.Repeat("0", 64)), 6,
			[]string{"the integrity of acme/", restore + ", and do not edit or merge the file"},
		},
		{"an integrity", replaced(`integrity: "t1:sha256:[0-9a-f]{64}`, `integrity: "t1:sha256:`+strings.Repeat("0", 64)), 6, []string{"the integrity of acme/base"}},
		{"a skill too many", replaced(`    skills:\n`, "    skills:\n      more: \"t1:sha256:"+strings.Repeat("0", 64)+"\"\n"), 6, []string{"the integrity of acme/"}},
		{
			"a weak digest",
			replaced(`integrity: "t1:sha256:[0-9a-f]{64}`, `integrity: "t1:md5:`+strings.Repeat("0", 32)), invalid,
			[]string{`invalid digest "t1:md5:`, "use t1:sha256: and 64 hexadecimal digits"},
		},
		{
			"a path of a machine", replaced(`source: "oci://[^"]*"`, `source: "path:/etc"`), invalid,
			[]string{`invalid source "path:/etc" of acme/base: use a relative directory`},
		},
	}
}

// TestFaultLock edits the lockfile, and the files near it, in every invalid way: each command reports the problem and
// changes nothing.
func TestFaultLock(t *testing.T) { // M2
	t.Parallel()
	w := newServers(t)
	for _, tt := range unreadable() {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, w)
			lock := filepath.Join(m.project, "skillpm.lock")
			_, text, _ := strings.Cut(m.firstVersions()["skillpm.lock"], " ")
			if text = tt.edit(m, text); text != "" {
				m.write(lock, text)
			}
			before := m.tree()
			for _, args := range [][]string{{"install"}, {"install", "--frozen"}, w.update(), {"verify"}, {"list"}, {"remove", "acme/web"}} {
				m.fails(tt.code, tt.words, args...)
			}
			same(t, "refused", m.tree(), before)
		})
	}
}

// TestFaultLinkedDirectory links a directory of skillpm or of an agent to another location, which a malicious
// repository could do: skillpm writes and removes nothing there.
func TestFaultLinkedDirectory(t *testing.T) { // M2
	t.Parallel()
	w := newServers(t)
	for _, tt := range []struct {
		name  string
		code  int
		words []string
	}{
		{".skillpm", 7, []string{".skillpm"}},
		{".skillpm/plugins", 7, []string{".skillpm/plugins"}},
		{".skillpm/plugins/acme", 7, []string{".skillpm/plugins/acme"}},
		{".skillpm/plugins/acme/web", 7, []string{".skillpm/plugins/acme/web"}},
		{".skillpm/plugins/acme/web/deploy", 5, []string{".skillpm/plugins/acme/web/deploy"}},
		{".skillpm/links", 7, []string{".skillpm/links"}},
		{".claude", 7, []string{".claude"}},
		{".claude/skills", 7, []string{".claude/skills"}},
	} {
		t.Run(strings.ReplaceAll(tt.name, "/", ":"), func(t *testing.T) {
			m := newMachine(t, w)
			m.firstVersions()
			elsewhere := filepath.Join(m.home, "elsewhere")
			instead(tt.name)(m, "")
			before, there := m.tree(), treeOf(t, elsewhere)
			m.fails(tt.code, tt.words, w.update()...)
			same(t, "refused", m.tree(), before)
			same(t, "elsewhere", treeOf(t, elsewhere), there)
		})
	}
}

// TestFaultForgedLock makes the lockfile consistent but wrong, for an empty machine: skillpm installs nothing
// except what was locked.
func TestFaultForgedLock(t *testing.T) { // M2
	t.Parallel()
	w := newServers(t)
	good := newMachine(t, w)
	before := good.firstVersions()
	_, lock, _ := strings.Cut(before["skillpm.lock"], " ")
	good.ok(w.update()...)
	_, second, _ := strings.Cut(good.tree()["skillpm.lock"], " ")
	field := func(lock, pack, name string) string {
		t.Helper()
		_, entry, _ := strings.Cut(lock, "  "+pack+":\n")
		match := regexp.MustCompile(`(?s)^(?:    [^\n]*\n)*?    ` + name + `: "([^"]*)"`).FindStringSubmatch(entry)
		if match == nil {
			t.Fatalf("no %s of %s in\n%s", name, pack, lock)
		}
		return match[1]
	}
	swap := func(old, new string) func(*machine, string) string {
		return func(m *machine, lock string) string {
			if !strings.Contains(lock, old) {
				m.tb.Fatalf("the lock has no %s", old)
			}
			return strings.Replace(lock, old, new, 1)
		}
	}
	web := func(name string) string { return field(lock, "acme/web", name) }
	for _, tt := range []lockCase{
		{"content that does not exist", func(_ *machine, lock string) string {
			return swapAll(lock, treeDigests(lock, "acme/web"), treeDigests(second, "acme/web"))
		}, 6, []string{"acme/web"}},
		{"another artifact", swap(web("resolved"), field(second, "acme/web", "resolved")), 6, []string{"acme/web"}},
		{"an artifact that there is not", swap(web("resolved"), "sha256:"+strings.Repeat("0", 64)), 4, []string{"acme/web"}},
		{"another repository", swap(web("source"), w.registry.URL("acme/other")), 4, []string{"acme/web"}},
		{"another host", swap(web("source"), "oci://registry.invalid/acme/web"), 8, []string{"acme/web", "registry.invalid"}},
		{"another commit", swap(field(lock, "acme/tools", "resolved"), field(second, "acme/tools", "resolved")), 6, []string{"acme/tools"}},
		{"a commit that there is not", swap(field(lock, "acme/tools", "resolved"), strings.Repeat("0", 40)), 4, []string{"acme/tools"}},
		{"older content as a newer version", func(m *machine, lock string) string {
			m.write(filepath.Join(m.project, "skillpm.yaml"), strings.Replace(w.before(), `acme/web: "1.0.0"`, `acme/web: "2.0.0"`, 1))
			return strings.Replace(lock, "  acme/web:\n    version: \"1.0.0\"", "  acme/web:\n    version: \"2.0.0\"", 1)
		}, 6, []string{"records acme/web at version 2.0.0", "the locked content is version 1.0.0"}},
		{"another pack", func(m *machine, lock string) string {
			rename := strings.NewReplacer("/acme/web\"", "/acme/web\"", "acme/web", "acme/wet")
			m.write(filepath.Join(m.project, "skillpm.yaml"), rename.Replace(w.before()))
			return rename.Replace(lock)
		}, 6, []string{"records acme/wet at", "the source contains acme/web"}},
	} {
		for _, args := range [][]string{{"install", "--frozen"}, {"install"}} {
			t.Run(tt.name+" "+strings.Join(args, " "), func(t *testing.T) {
				m := newMachine(t, w)
				m.write(filepath.Join(m.project, "skillpm.yaml"), w.before())
				edited := tt.edit(m, lock)
				if edited == lock {
					t.Fatal("nothing was edited")
				}
				m.write(filepath.Join(m.project, "skillpm.lock"), edited)
				untouched := m.tree()
				m.fails(tt.code, tt.words, args...)
				same(t, "refused", m.tree(), untouched)
			})
		}
	}
}

// treeDigests returns the digests of a pack's lockfile entry: of the pack and of its skills.
func treeDigests(lock, pack string) []string {
	_, entry, _ := strings.Cut(lock, "  "+pack+":\n")
	entry, _, _ = strings.Cut(entry, "\n  a")
	return regexp.MustCompile(`t1:sha256:[0-9a-f]{64}`).FindAllString(entry, -1)
}

func swapAll(text string, old, new []string) string {
	for i := range old {
		text = strings.ReplaceAll(text, old[i], new[i])
	}
	return text
}

// TestFaultMovedTag makes a registry serve an older artifact for a newer version, and a different one for the locked
// version: locked content stays, and skillpm never installs an artifact as a version that it does not declare.
func TestFaultMovedTag(t *testing.T) { // M2
	t.Parallel()
	w := newServers(t)
	m := newMachine(t, w)
	before := m.firstVersions()
	move := func(from, to string) {
		t.Helper()
		url := "http://" + w.registry.Host + "/v2/acme/web/manifests/"
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+from, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "application/vnd.oci.image.manifest.v1+json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status, err)
		}
		put, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url+to, strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		put.Header.Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		resp, err = http.DefaultClient.Do(put)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusCreated {
			t.Fatal(resp.Status)
		}
	}
	move("1.0.0", "3.0.0") // older content as a version that there was not
	for _, pack := range []string{"acme/web@3.0.0", "acme/web@^3", w.registry.URL("acme/web") + ":3.0.0"} {
		m.fails(3, []string{"tag 3.0.0", "contains version 1.0.0 of acme/web"}, "install", pack)
	}
	same(t, "refused", m.tree(), before)
	move("2.0.0", "1.0.0") // other content as the version that is locked
	m.ok("install", "--frozen")
	same(t, "frozen", m.tree(), before)
	next := newMachine(t, w)
	for _, file := range []string{"skillpm.yaml", "skillpm.lock"} {
		_, text, _ := strings.Cut(before[file], " ")
		next.write(filepath.Join(next.project, file), text)
	}
	next.ok("install")
	same(t, "on another machine", next.tree(), before)
}
