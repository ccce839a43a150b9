package sourcetest

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// testFetch: the same files have the same digests from every source, with executable bits.
func testFetch(t *testing.T, newSource Make) {
	s, ref := newSource(t, testPack())
	p := open(t, s, ref)
	want := digests(t, testPack())
	if !slices.Equal(p.SkillNames(), sorted(want)) {
		t.Errorf("the pack has %v, want %v", p.SkillNames(), sorted(want))
	}
	if d, ok := p.Skill("deploy"); !ok || d.Description != "Deploys the thing." {
		t.Errorf("the description of deploy is %q", d.Description)
	}
	if _, err := pack.ParseID(p.ID.String()); err != nil {
		t.Error(err)
	}
	if _, err := semver.StrictNewVersion(p.Version); err != nil {
		t.Errorf("version %q: %v", p.Version, err)
	}
	for _, s := range p.Skills {
		if s.Tree != "" && s.Tree != want[s.Name] {
			t.Errorf("the place says %s for %s, want %s", s.Tree, s.Name, want[s.Name])
		}
	}
	if got := fetched(t, s, p, nil); !maps.Equal(got, want) {
		t.Errorf("fetched %v, want %v", got, want)
	}
	versions, err := s.Versions(t.Context(), ref)
	if err != nil {
		t.Error(err)
	}
	if len(versions) > 0 && !slices.Contains(versions, p.Version) {
		t.Errorf("versions %v do not have %s, which was opened", versions, p.Version)
	}
}

func testSubset(t *testing.T, newSource Make) {
	s, ref := newSource(t, testPack())
	want := digests(t, testPack())
	delete(want, "deploy")
	if got := fetched(t, s, open(t, s, ref), []string{"rollback"}); !maps.Equal(got, want) {
		t.Errorf("fetched %v, want %v", got, want)
	}
}

// testPinned: what is opened is pinned, and a pin opens the same again.
func testPinned(t *testing.T, newSource Make) {
	s, ref := newSource(t, testPack())
	p := open(t, s, ref)
	if p.Ref.Kind != ref.Kind || p.Ref.Source() != ref.Source() {
		t.Errorf("%v was opened as %v", ref, p.Ref)
	}
	if (p.Ref.Digest == "") != (ref.Kind == pack.KindPath) {
		t.Errorf("the digest of %v is %q", p.Ref, p.Ref.Digest)
	}
	locked, err := pack.ParseLocked(p.Ref.Source(), p.Ref.Digest, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	if locked.URL == "" || locked.Kind == pack.KindLayout || locked.Kind == pack.KindPath {
		locked.URL = ref.URL // which a lock may leave out
	}
	if got, want := fetched(t, s, open(t, s, locked), nil), digests(t, testPack()); !maps.Equal(got, want) {
		t.Errorf("fetched %v, want %v", got, want)
	}
	unopened := &pack.Pack{ID: p.ID, Version: p.Version, Ref: locked, Skills: p.Skills}
	if got, want := fetched(t, s, unopened, nil), digests(t, testPack()); !maps.Equal(got, want) {
		t.Errorf("fetched %v without opening, want %v", got, want)
	}
}

func testUnknownSkill(t *testing.T, newSource Make) {
	s, ref := newSource(t, testPack())
	err := s.Fetch(t.Context(), open(t, s, ref), []string{"deploy", "deplyo"}, bundle.NewHasher(bundle.DefaultLimits()))
	if err == nil || diag.CodeOf(err) != diag.NotFound || !strings.Contains(err.Error(), "deplyo") {
		t.Fatalf("error %v (%v), want one that does not find deplyo", err, diag.CodeOf(err))
	}
	if text := err.Error() + diag.HintOf(err); !strings.Contains(text, "rollback") {
		t.Errorf("%q does not say which skills there are", text)
	}
}

// testInterrupted: what an interruption cuts off looks like damage, and is reported as the interruption.
func testInterrupted(t *testing.T, newSource Make) {
	s, ref := newSource(t, testPack())
	p := open(t, s, ref)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := s.Fetch(ctx, p, nil, cutOff{cancel})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v (%v), want that of the context", err, diag.CodeOf(err))
	}
}

// cutOff is a sink that is interrupted at the first file and takes what it got of it for all.
type cutOff struct{ interrupt func() }

func (s cutOff) WriteFile(_, path string, _ bool, size int64, _ io.Reader) error {
	s.interrupt()
	return &bundle.MismatchError{What: "size of " + path, Want: strconv.FormatInt(size, 10), Got: "0"}
}

func testMissing(t *testing.T, newSource Make) {
	s, ref := newSource(t, testPack())
	if p, err := s.Open(t.Context(), missing(ref)); err == nil || diag.CodeOf(err) != diag.NotFound {
		t.Errorf("Open = %v, %v (%v); want not found", p, err, diag.CodeOf(err))
	}
}

// testLitter: what is never part of a skill is left out everywhere.
func testLitter(t *testing.T, newSource Make) {
	s, ref := newSource(t, with(testPack(), map[string]File{
		"skills/deploy/.DS_Store":            {Data: "x"},
		"skills/deploy/scripts/a.pyc":        {Data: "x"},
		"skills/deploy/node_modules/x/y.js":  {Data: "x"},
		"skills/deploy/scripts/.run.sh.swp":  {Data: "x"},
		"skills/deploy/__pycache__/run.2.py": {Data: "x"},
	}))
	if got, want := fetched(t, s, open(t, s, ref), nil), digests(t, testPack()); !maps.Equal(got, want) {
		t.Errorf("fetched %v, want %v", got, want)
	}
}

// hostileFiles returns files whose names and links are safe on no system.
func hostileFiles() map[string]map[string]File {
	return map[string]map[string]File{
		"link":            {"skills/deploy/passwd": {Link: "/etc/passwd"}},
		"link inside":     {"skills/deploy/other.md": {Link: "SKILL.md"}},
		"linked":          {"skills/deploy/dir": {Link: "../rollback"}},
		"option":          {"skills/deploy/-rf": {Data: "x"}},
		"device":          {"skills/deploy/NUL.md": {Data: "x"}},
		"trailing dot":    {"skills/deploy/a.": {Data: "x"}},
		"stream":          {"skills/deploy/a:b": {Data: "x"}},
		"backslash":       {`skills/deploy/a\b`: {Data: "x"}},
		"control":         {"skills/deploy/a\x07b": {Data: "x"}},
		"right to left":   {"skills/deploy/a\u202eb": {Data: "x"}},
		"zero width":      {"skills/deploy/a\u200bb": {Data: "x"}},
		"short name":      {"skills/deploy/GIT~1": {Data: "x"}},
		"case":            {"skills/deploy/A.md": {Data: "x"}, "skills/deploy/a.md": {Data: "x"}},
		"case of a dir":   {"skills/deploy/Docs/a.md": {Data: "x"}, "skills/deploy/docs/b.md": {Data: "x"}},
		"Unicode form":    {"skills/deploy/\u00e9": {Data: "x"}, "skills/deploy/e\u0301": {Data: "x"}},
		"skillpm's lock":  {"skills/deploy/SKILLPM.LOCK/x": {Data: "x"}, "skills/deploy/a/.skillpm./x": {Data: "x"}},
		"too deep":        {"skills/deploy/" + strings.Repeat("d/", 40) + "x": {Data: "x"}},
		"too long a path": {"skills/deploy/" + strings.Repeat(strings.Repeat("d", 100)+"/", 3) + "x": {Data: "x"}},
	}
}

// testHostile: names and links that are safe on no system are refused, whatever the source makes of them.
func testHostile(t *testing.T, newSource Make, cases map[string]map[string]File) {
	for name, files := range cases {
		t.Run(name, func(t *testing.T) {
			s, ref := newSource(t, with(map[string]File{
				"skills/deploy/SKILL.md":   {Data: Skill("deploy", "Deploys the thing.")},
				"skills/rollback/SKILL.md": {Data: Skill("rollback", "Takes it back.")},
			}, files))
			p, err := s.Open(t.Context(), ref)
			if err == nil {
				err = s.Fetch(t.Context(), p, nil, bundle.NewHasher(bundle.DefaultLimits()))
			}
			if err == nil || diag.CodeOf(err) != diag.Invalid ||
				strings.ContainsAny(err.Error(), "\x07\n\u202e\u200b") {
				t.Errorf("error %q (%v), want an invalid one of one clean line", err, diag.CodeOf(err))
			}
		})
	}
}

// stopper is a sink that cancels when the first file comes.
type stopper struct{ cancel context.CancelFunc }

func (s stopper) WriteFile(_, _ string, _ bool, _ int64, r io.Reader) error {
	s.cancel()
	_, err := io.Copy(io.Discard, r)
	return err
}

func testCancel(t *testing.T, newSource Make) {
	s, ref := newSource(t, testPack())
	p := open(t, s, ref)
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Fetch(ctx, p, nil, stopper{cancel})
	if !errors.Is(err, context.Canceled) || diag.CodeOf(err) != diag.Interrupted {
		t.Errorf("error of a cancelled fetch is %v (%v)", err, diag.CodeOf(err))
	}
	if _, err := s.Open(ctx, missing(ref)); err == nil {
		t.Error("a cancelled open succeeds")
	}
}
