package pack_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/skillpm/skillpm/pkg/pack"
)

func TestRequired(t *testing.T) {
	for _, text := range []string{
		`"^1.2"`, `"*"`, `">=1.2 <2 || 3.x"`, `{version: "^1", skills: [a, b]}`, `{oci: "oci://registry.example/acme/x", tag: "1"}`,
		`{oci: "oci://registry.example/acme/x", version: "~1.3", skills: [a]}`, `{git: "https://git.example/x.git", tag: v1.2.0, path: a/b}`,
		`{path: ../near}`, `{path: /srv/near, skills: [a]}`, `{path: near}`, `{path: near, version: "~1.2"}`, `{layout: ../packs, version: "^1"}`,
	} {
		want := parseDependency(t, "acme/x", text)
		required := pack.FormatRequirement(want)
		got, err := pack.ParseRequirement(want.ID, required)
		if err != nil || showDependency(got) != showDependency(want) {
			t.Errorf("%s is written %q, and read as %s: %v", text, required, showDependency(got), err)
		}
	}
	if _, err := pack.ParseRequirement(pack.ID{Owner: "a", Name: "b"}, "https://me:secret@h/r.git ^1"); err == nil {
		t.Error("a place with a password is read")
	}
	p := &pack.LockedPack{Dependencies: map[string]string{"b/c": "^1 [x]", "a/b": "./near"}}
	deps, err := p.Requires()
	if err != nil || len(deps) != 2 || deps[0].Ref == nil || deps[1].Constraint != "^1" || deps[1].Skills[0] != "x" {
		t.Errorf("%+v %v", deps, err)
	}
	for _, deps := range []map[string]string{{"a": "1"}, {"a/b": "https://"}} {
		if _, err := (&pack.LockedPack{Dependencies: deps}).Requires(); err == nil {
			t.Errorf("%v is read", deps)
		}
	}
}

func TestAllows(t *testing.T) {
	place := &pack.Ref{Kind: pack.KindPath, URL: "../x"}
	for _, tt := range []struct {
		constraint, version string
		ref                 *pack.Ref
		want                bool
	}{
		{"^1.2", "1.4.0", nil, true},
		{"^1.2", "2.0.0", nil, false},
		{"", "1.0.0", nil, true},
		{"", "1.0.0-rc.1", nil, false},
		{"", "0.0.0-g0123456789ab", place, true},
		{"latest", "3.0.0", nil, true},
		{"*", "3.0.0", nil, true},
		{"^1", "0.0.0", place, false},
	} {
		got, err := pack.Allows(pack.Dependency{Constraint: tt.constraint, Ref: tt.ref}, tt.version)
		if err != nil || got != tt.want {
			t.Errorf("%q of %s: %t, want %t (%v)", tt.constraint, tt.version, got, tt.want, err)
		}
	}
	for _, tt := range [][2]string{{"newest", "1.0.0"}, {"^1", "v1"}} {
		if _, err := pack.Allows(pack.Dependency{Constraint: tt[0]}, tt[1]); err == nil {
			t.Errorf("%v is no error", tt)
		}
	}
}

// TestRequiredRoundTrip checks for any lockfile that reading it does not panic, and that the result is read as the same
// after writing.
func TestRequiredRoundTrip(t *testing.T) {
	id := pack.ID{Owner: "a", Name: "b"}
	rapid.Check(t, func(t *rapid.T) {
		d, err := pack.ParseRequirement(id, rapid.StringMatching(`(path:|\./|oci://|[>^~]|)[ -Z^-~é]{0,12}( \[[a-z]{1,3}\])?`).Draw(t, "text"))
		if err != nil {
			return
		}
		again, err := pack.ParseRequirement(id, pack.FormatRequirement(d))
		if err != nil || pack.FormatRequirement(again) != pack.FormatRequirement(d) {
			t.Fatalf("%+v is read again as %+v: %v", d, again, err)
		}
	})
}

func TestPlace(t *testing.T) {
	m, _ := pack.CheckManifest("skillpm.yaml", []byte(full))
	l, _ := pack.CheckLock("skillpm.lock", sampleLock(t).Encode())
	parsed, err := pack.ParseManifest("skillpm.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		place        func(...string) (int, int)
		keys         []string
		line, column int
	}{
		{m.Position, []string{"dependencies", "globex/ops"}, 10, 3},
		{m.Position, []string{"dependencies", "globex/ops", "skills", "rollout"}, 10, 84},
		{m.Position, []string{"skills", "skills/*"}, 6, 10},
		{m.Position, []string{"name"}, 2, 1},
		{m.Position, []string{"dependencies", "a/b"}, 0, 0},
		{m.Position, []string{"name", "x", "y"}, 0, 0},
		{m.Position, nil, 0, 0},
		{l.Position, []string{"packs", "globex/ops", "version"}, 22, 5},
		{parsed.Position, []string{"name"}, 0, 0},
	} {
		if line, column := tt.place(tt.keys...); line != tt.line || column != tt.column {
			t.Errorf("%v is at %d:%d, want %d:%d", tt.keys, line, column, tt.line, tt.column)
		}
	}
}

func TestMatchSkills(t *testing.T) {
	page := &fstest.MapFile{Data: []byte("---\nname: x\ndescription: D.\n---\n")}
	tree := fstest.MapFS{
		"skills/a/SKILL.md": page, "skills/b/SKILL.md": page, "skills/c/README.md": page, "old/d/SKILL.md": page,
		".skillpmignore": {Data: []byte("old\n")},
	}
	found, err := pack.MatchSkills(tree, []string{"skills/*", "skills/c", "skill/*", "**", "old/*", "./skills/a/"})
	want := [][]string{{"skills/a", "skills/b"}, nil, nil, {"skills/a", "skills/b"}, nil, {"skills/a"}}
	if err != nil || !slices.EqualFunc(found, want, slices.Equal) {
		t.Errorf("%q %v", found, err)
	}
	delete(tree, ".skillpmignore")
	tree[".skillpmignore/x"] = &fstest.MapFile{}
	if _, err := pack.MatchSkills(tree, nil); err == nil {
		t.Error("a .skillpmignore that is no file is no error")
	}
}
