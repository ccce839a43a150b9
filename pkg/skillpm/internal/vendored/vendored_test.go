package vendored_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/vendored"
	"github.com/skillpm/skillpm/pkg/store"
)

// fixture is a project with a lockfile, and a store that has the locked packs.
type fixture struct {
	t     testing.TB
	root  string
	store *store.Store
	lock  *pack.Lock
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t: t, root: t.TempDir(), store: s, lock: pack.NewLock()}
}

// add locks a pack with skills of one file each, and a script.
func (f *fixture) add(pk, version string, skills ...string) {
	f.t.Helper()
	id, err := pack.ParseID(pk)
	if err != nil {
		f.t.Fatal(err)
	}
	w, err := f.store.Writer(bundle.DefaultLimits())
	if err != nil {
		f.t.Fatal(err)
	}
	for _, name := range skills {
		text := fmt.Sprintf("---\nname: %s\ndescription: Of %s %s.\n---\n", name, pk, version)
		for path, executable := range map[string]bool{"SKILL.md": false, "scripts/run.sh": true} {
			if err := w.WriteFile(name, path, executable, int64(len(text)), strings.NewReader(text)); err != nil {
				f.t.Fatal(err)
			}
		}
	}
	digests, err := w.Commit(nil)
	if err != nil {
		f.t.Fatal(err)
	}
	f.lock.Packs[id] = &pack.LockedPack{
		Version: version, Source: "oci://registry.example/" + pk, Resolved: "sha256:" + strings.Repeat("a", 64),
		Integrity: bundle.Integrity(digests), Skills: digests,
	}
}

func (f *fixture) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

func (f *fixture) write(name, text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.path(name), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) remove(name string) {
	f.t.Helper()
	if err := os.RemoveAll(f.path(name)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) compare() *vendored.Plan {
	f.t.Helper()
	p, err := vendored.Open(f.root, "linux").Compare(f.t.Context(), f.lock)
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

func (f *fixture) options(fail func(string) error) txn.Options {
	return txn.Options{Root: f.root, Dir: f.path(".skillpm/journal"), Key: []byte(strings.Repeat("k", 32)), Fail: fail}
}

// vendor applies the plan.
func (f *fixture) vendor(fail func(string) error) error {
	f.t.Helper()
	tx, err := txn.Begin(f.options(fail))
	if err != nil {
		return err
	}
	defer tx.Abort()
	p := f.compare()
	if err := p.Stage(f.t.Context(), tx, f.store); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	p.Prune()
	return nil
}

// states returns a plan's problems, one line for each skill.
func states(p *vendored.Plan) []string {
	var list []string
	for _, it := range p.Items {
		if it.State != vendored.Current {
			list = append(list, strings.TrimPrefix(it.Path, p.Dir+"/")+" "+string(it.State))
		}
	}
	return list
}

func TestCompare(t *testing.T) {
	const base = "vendor/skills/acme/deploy/"
	for _, tt := range []struct {
		name    string
		change  func(f *fixture)
		want    []string
		what    string   // in what is said of the first
		files   int      // notes and records to be written
		foreign []string // what stays
	}{
		{name: "nothing", change: func(*fixture) {}},
		{name: "a skill is gone", change: func(f *fixture) { f.remove(base + "deploy") }, want: []string{"acme/deploy/deploy missing"}},
		{
			name: "a file is gone", change: func(f *fixture) { f.remove(base + "deploy/SKILL.md") },
			want: []string{"acme/deploy/deploy outdated"}, what: base + "deploy/SKILL.md is missing",
		},
		{
			name: "a file has local edits", change: func(f *fixture) { f.write(base+"deploy/SKILL.md", "mine") },
			want: []string{"acme/deploy/deploy edited"}, what: base + "deploy/SKILL.md was changed",
		},
		{
			name: "a file was added", change: func(f *fixture) { f.write(base+"deploy/x.md", "mine") },
			want: []string{"acme/deploy/deploy edited"}, what: base + "deploy/x.md is not part of the skill",
		},
		{name: "litter", change: func(f *fixture) { f.write(base+"deploy/.DS_Store", "x"); f.write("vendor/skills/Thumbs.db", "x") }},
		{
			name: "another version", change: func(f *fixture) { f.add("acme/deploy", "2.0.0", "deploy", "rollback") },
			want: []string{"acme/deploy/deploy outdated", "acme/deploy/rollback outdated"}, files: 1,
		},
		{
			name: "a skill less", change: func(f *fixture) { f.add("acme/deploy", "1.0.0", "deploy") },
			want: []string{"acme/deploy/rollback stale"}, files: 1,
		},
		{
			name: "a skill less, and that was edited",
			change: func(f *fixture) {
				f.add("acme/deploy", "1.0.0", "deploy")
				f.write(base+"rollback/SKILL.md", "mine")
			},
			want: []string{"acme/deploy/rollback edited"}, files: 1,
		},
		{
			name: "a pack less", change: func(f *fixture) { delete(f.lock.Packs, pack.ID{Owner: "globex", Name: "ops"}) },
			want: []string{"globex/ops/watch stale"}, files: 1,
		},
		{
			name: "a skill more, and a directory of that name", change: func(f *fixture) {
				f.add("acme/deploy", "1.0.0", "deploy", "rollback", "notes")
				f.write(base+"notes/SKILL.md", "mine")
			},
			want: []string{"acme/deploy/notes edited"}, what: "skillpm vendor did not create", files: 1,
		},
		{
			name: "no record", change: func(f *fixture) { f.remove(base + ".skillpm-vendor.json") }, files: 1,
		},
		{
			name: "no record, and another version", change: func(f *fixture) {
				f.remove(base + ".skillpm-vendor.json")
				f.add("acme/deploy", "2.0.0", "deploy", "rollback")
			},
			want: []string{"acme/deploy/deploy edited", "acme/deploy/rollback edited"}, files: 1,
		},
		{
			name: "a record that lies", change: func(f *fixture) {
				data, err := os.ReadFile(f.path(base + ".skillpm-vendor.json"))
				if err != nil {
					f.t.Fatal(err)
				}
				f.write(base+".skillpm-vendor.json", strings.Replace(string(data), `"644 `, `"755 `, 1))
				f.write(base+"deploy/SKILL.md", "mine")
			},
			want: []string{"acme/deploy/deploy edited"}, files: 1,
		},
		{
			name: "hand-written things", change: func(f *fixture) {
				f.write(base+"mine/SKILL.md", "mine")
				f.write("vendor/skills/acme/own/one/SKILL.md", "mine")
				f.write("vendor/skills/Not A Pack/x", "mine")
				f.write("vendor/skills/notes.md", "mine")
			},
			foreign: []string{
				"vendor/skills/Not A Pack/x", "vendor/skills/acme/deploy/mine", "vendor/skills/acme/own/one", "vendor/skills/notes.md",
			},
		},
		{name: "notes are gone", change: func(f *fixture) { f.remove("vendor/skills/README.md") }, files: 1},
		{
			name: "notes of somebody else", change: func(f *fixture) {
				f.write("vendor/skills/README.md", "# Mine\n")
				f.write("vendor/skills/.gitattributes", "*.md text\n")
			},
			foreign: []string{"vendor/skills/.gitattributes"},
		},
		{
			name: "a pack of the project itself", change: func(f *fixture) {
				f.lock.Packs[pack.ID{Owner: "local", Name: "own"}] = &pack.LockedPack{
					Version: "0.0.0", Source: "path:own", Skills: map[string]string{"own": "t1:sha256:" + strings.Repeat("b", 64)},
				}
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.add("acme/deploy", "1.0.0", "deploy", "rollback")
			f.add("globex/ops", "3.1.0", "watch")
			if err := f.vendor(nil); err != nil {
				t.Fatal(err)
			}
			tt.change(f)
			p := f.compare()
			if got := states(p); !slices.Equal(got, tt.want) {
				t.Errorf("states %q, want %q", got, tt.want)
			}
			if tt.what != "" && !strings.Contains(p.Items[slices.IndexFunc(p.Items, func(it vendored.Item) bool { return it.State != vendored.Current })].What, tt.what) {
				t.Errorf("%+v does not say %q", p.Items, tt.what)
			}
			if len(p.Files) != tt.files || !slices.Equal(p.Foreign, tt.foreign) {
				t.Errorf("files %q, foreign %q; want %d and %q", p.Files, p.Foreign, tt.files, tt.foreign)
			}
			if p.Clean() != (len(tt.want) == 0 && tt.files == 0) {
				t.Errorf("clean: %v", p.Clean())
			}
			if err := f.vendor(nil); err != nil {
				t.Fatal(err)
			}
			after := f.compare()
			if !after.Clean() {
				t.Errorf("after writing: %q, files %q", states(after), after.Files)
			}
			for _, stays := range tt.foreign {
				if _, err := os.Stat(f.path(stays)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestPut checks that a copy is accepted by its digest, completely or not at all.
func TestPut(t *testing.T) {
	f := newFixture(t)
	f.add("acme/deploy", "1.0.0", "deploy", "rollback")
	if err := f.vendor(nil); err != nil {
		t.Fatal(err)
	}
	id := pack.ID{Owner: "acme", Name: "deploy"}
	digests := f.lock.Packs[id].Skills
	put := func() (*store.Store, error) {
		s, err := store.Open(filepath.Join(t.TempDir(), "store"))
		if err != nil {
			t.Fatal(err)
		}
		c := vendored.Open(f.root, "linux")
		if !c.Has(id) || c.Has(pack.ID{Owner: "acme", Name: "other"}) {
			t.Error("Has does not know which packs there are")
		}
		return s, c.AddToStore(s, id, digests)
	}
	s, err := put()
	if err != nil || !s.Has(digests["deploy"]) || !s.Has(digests["rollback"]) {
		t.Fatalf("whole: %v", err)
	}
	f.write("vendor/skills/acme/deploy/rollback/scripts/run.sh", "evil")
	s, err = put()
	damage := (*vendored.DamagedError)(nil)
	if !errors.As(err, &damage) || damage.Path != "vendor/skills/acme/deploy/rollback/scripts/run.sh" {
		t.Errorf("damaged: %v", err)
	}
	if s.Has(digests["deploy"]) || s.Has(digests["rollback"]) {
		t.Error("the store has skills of a pack whose copy is damaged")
	}
	f.remove("vendor/skills/acme/deploy/rollback")
	if _, err = put(); !errors.As(err, &damage) || damage.Path != "vendor/skills/acme/deploy/rollback" {
		t.Errorf("missing: %v", err)
	}
}

// TestInterrupted checks that the copy is the old one or the new one, whichever step fails.
func TestInterrupted(t *testing.T) {
	old := newFixture(t)
	old.add("acme/deploy", "1.0.0", "deploy", "rollback")
	old.add("globex/ops", "3.1.0", "watch")
	steps := 1 << 30
	for step := -1; step < steps; step++ { // the first time nothing fails, and steps are counted
		f := &fixture{t: t, root: t.TempDir(), store: old.store, lock: old.lock.Clone()}
		if err := f.vendor(nil); err != nil {
			t.Fatal(err)
		}
		f.add("acme/deploy", "2.0.0", "deploy")
		delete(f.lock.Packs, pack.ID{Owner: "globex", Name: "ops"})
		n := 0
		err := f.vendor(func(string) error {
			if n++; n-1 == step {
				return context.DeadlineExceeded
			}
			return nil
		})
		if step < 0 {
			steps = n
		}
		if step < 0 && err != nil {
			t.Fatal(err)
		}
		if _, err := txn.Recover(f.options(nil)); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		before := &fixture{t: t, root: f.root, store: f.store, lock: old.lock}
		if wasOld, isNew := before.compare().Clean(), f.compare().Clean(); wasOld == isNew || err == nil && !isNew {
			t.Errorf("step %d: %v: old %v, new %v: %q", step, err, wasOld, isNew, states(f.compare()))
		}
	}
	if steps < 10 {
		t.Errorf("only %d steps were tried", steps)
	}
}

// BenchmarkCompare compares and writes a thousand skills.
func BenchmarkCompare(b *testing.B) {
	f := newFixture(b)
	for i := range 100 {
		skills := make([]string, 10)
		for k := range skills {
			skills[k] = fmt.Sprintf("skill-%d-%d", i, k)
		}
		f.add(fmt.Sprintf("acme/pack-%d", i), "1.0.0", skills...)
	}
	tx, err := txn.Begin(f.options(nil))
	if err != nil {
		b.Fatal(err)
	}
	if err := f.compare().Stage(b.Context(), tx, f.store); err != nil {
		b.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if !f.compare().Clean() {
			b.Fatal("not clean")
		}
	}
}
