// Package sourcetest is the contract that every kind of source for packs keeps, as tests.
//
// To test a kind of source, create a source from given files, and call [Run]. The tests do not depend on how a source
// is written or on its transport, but on what installing relies on: the same files have the same digests in all
// sources, only what was requested is fetched, and nothing hostile passes.
package sourcetest

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Source is a kind of source.
type Source interface {
	Versions(ctx context.Context, ref pack.Ref) ([]string, error)
	Open(ctx context.Context, ref pack.Ref) (*pack.Pack, error)
	Fetch(ctx context.Context, p *pack.Pack, skills []string, sink bundle.Sink) error
}

// File is a file of a pack.
type File struct {
	Data       string
	Executable bool
	Link       string // the target of a symbolic link; Data is not used
}

// Make creates a source with a pack of these files, by path, each skill in a directory skills/<name>, and returns it
// with its client. It skips the test if the kind of source cannot hold such files.
type Make func(t *testing.T, files map[string]File) (Source, pack.Ref)

// Run runs the contract.
func Run(t *testing.T, newSource Make) { run(t, newSource, hostileFiles()) }

// RunSample runs the contract with a sample of its hostile files. It is for a source that only transfers packs in
// another way than one that [Run] tests.
func RunSample(t *testing.T, newSource Make) {
	cases := hostileFiles()
	run(t, newSource, map[string]map[string]File{
		"link": cases["link"], "control": cases["control"], "case": cases["case"],
	})
}

func run(t *testing.T, newSource Make, hostile map[string]map[string]File) {
	t.Run("fetch", func(t *testing.T) { testFetch(t, newSource) })
	t.Run("subset", func(t *testing.T) { testSubset(t, newSource) })
	t.Run("pinned", func(t *testing.T) { testPinned(t, newSource) })
	t.Run("unknown skill", func(t *testing.T) { testUnknownSkill(t, newSource) })
	t.Run("missing", func(t *testing.T) { testMissing(t, newSource) })
	t.Run("interrupted", func(t *testing.T) { testInterrupted(t, newSource) })
	t.Run("litter", func(t *testing.T) { testLitter(t, newSource) })
	t.Run("hostile", func(t *testing.T) { testHostile(t, newSource, hostile) })
	t.Run("cancel", func(t *testing.T) { testCancel(t, newSource) })
}

// Skill returns the text of a SKILL.md.
func Skill(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n\n# " + name + "\n\nDo it.\n"
}

// testPack returns the files that most tests use: two skills with everything that a skill may have.
func testPack() map[string]File {
	return map[string]File{
		"README.md":                        {Data: "# A pack\n"},
		"skills/deploy/SKILL.md":           {Data: Skill("deploy", "Deploys the thing.")},
		"skills/deploy/scripts/run.sh":     {Data: "#!/bin/sh\necho run\n", Executable: true},
		"skills/deploy/scripts/lib.sh":     {Data: "echo lib\n"},
		"skills/deploy/references/a b.md":  {Data: "a b\r\nwith CRLF\r\n"},
		"skills/deploy/references/e\u0301": {Data: "a decomposed name\n"},
		"skills/deploy/assets/empty":       {},
		"skills/deploy/assets/binary":      {Data: "\x00\xff\r\n" + strings.Repeat("\x01binary\x00", 200_000)},
		"skills/rollback/SKILL.md":         {Data: Skill("rollback", "Takes it back.")},
	}
}

// with returns the files and some more.
func with(files map[string]File, more map[string]File) map[string]File {
	maps.Copy(files, more)
	return files
}

// digests returns the tree digests that the skills of a pack's files have.
func digests(t *testing.T, files map[string]File) map[string]string {
	t.Helper()
	fsys := make(fstest.MapFS)
	names := make(map[string]bool)
	for path, f := range files {
		mode := fs.FileMode(0o644)
		if f.Executable {
			mode = 0o755
		}
		fsys[path] = &fstest.MapFile{Data: []byte(f.Data), Mode: mode}
		if rest, ok := strings.CutPrefix(path, "skills/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			names[name] = true
		}
	}
	found := make(map[string]string)
	for name := range names {
		inventory, err := bundle.Sum(fsys, "skills/"+name)
		if err != nil {
			t.Fatal(err)
		}
		found[name] = inventory.Digest()
	}
	return found
}

// fetched fetches skills of a pack and returns what came, by skill.
func fetched(t *testing.T, s Source, p *pack.Pack, names []string) map[string]string {
	t.Helper()
	hasher := bundle.NewHasher(bundle.DefaultLimits())
	if err := s.Fetch(t.Context(), p, names, hasher); err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for name, inventory := range hasher.Inventories() {
		found[name] = inventory.Digest()
	}
	return found
}

func open(t *testing.T, s Source, ref pack.Ref) *pack.Pack {
	t.Helper()
	p, err := s.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// missing returns a source like ref that does not exist.
func missing(ref pack.Ref) pack.Ref {
	switch ref.Kind {
	case pack.KindOCI, pack.KindPath:
		ref.URL += "-missing"
	case pack.KindGit:
		ref.URL = strings.TrimSuffix(ref.URL, ".git") + "-missing.git"
	default:
		ref.ID.Name += "-missing"
	}
	ref.Digest = ""
	return ref
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
