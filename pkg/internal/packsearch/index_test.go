package packsearch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bm25"
)

// TestPacksComeBack checks that every pack is returned unchanged, by its number and by its name.
func TestPacksComeBack(t *testing.T) {
	docs := readPacks(t)
	x := opened(t, docs)
	if x.Len() != len(docs) {
		t.Fatalf("%d packs", x.Len())
	}
	for i, want := range docs {
		got, err := x.pack(i)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("pack %d is %+v, want %+v (%v)", i, got, want, err)
		}
		if n, err := x.Find(want.Name); n != i || err != nil {
			t.Fatalf("%s is number %d, want %d (%v)", want.Name, n, i, err)
		}
	}
	if n, err := x.Find("nobody/nothing"); n != -1 || err != nil {
		t.Errorf("number %d (%v), want -1", n, err)
	}
}

// TestDamageReported checks that damage to any byte of an index is reported or has no effect, and that nothing panics.
func TestDamageReported(t *testing.T) {
	docs := readPacks(t)[:40]
	whole := built(t, docs)
	queries := []string{"deploy kubernetes", "kubrenetes", "when", "acme/deploy", "changelog release"}
	answers := func(data []byte) (list []string, err error) {
		x, err := read(data)
		if err != nil {
			return nil, err
		}
		for _, q := range queries {
			a, err := find(x, q, 5)
			if err != nil {
				return nil, err
			}
			list = append(list, fmt.Sprintf("%+v %d %v %v", a.Hits, a.Total, a.Missing, a.Typos))
		}
		return list, nil
	}
	want, err := answers(whole)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for at := 0; at < len(whole); at += 7 {
		data := bytes.Clone(whole)
		data[at] ^= 0x21
		got, err := answers(data)
		if err == nil && !slices.Equal(got, want) {
			t.Fatalf("byte %d changes an answer and nothing is told", at)
		}
		if err != nil {
			calls++
			if diag.CodeOf(err) != diag.Invalid {
				t.Fatalf("byte %d: %v", at, err)
			}
		}
	}
	for _, size := range []int{0, 1, 36, 37, len(whole) / 2, len(whole) - 1} {
		if _, err := answers(whole[len(whole)-size:]); size < len(whole)/2 && err == nil {
			t.Errorf("the last %d bytes are an index", size)
		}
		if _, err := answers(whole[:size]); err == nil {
			t.Errorf("the first %d bytes are an index", size)
		}
	}
	if calls == 0 {
		t.Error("no damage was told")
	}
}

// TestHostilePacks checks that excessive parts of a pack are truncated, and that the rest is found.
func TestHostilePacks(t *testing.T) {
	long := strings.Repeat("verylongword", 1000)
	d := Pack{Name: "acme/hostile", Version: "1.0.0", Description: "needle \x1b[2J " + strings.Repeat("spam ", 1<<20) + "lost"}
	for i := range 100_000 {
		d.Tags = append(d.Tags, fmt.Sprint("tag", i))
		d.Skills = append(d.Skills, Skill{fmt.Sprint("skill-", i), long})
	}
	x := opened(t, []Pack{d, {Name: "acme/plain", Version: "1.0.0", Description: "A needle."}})
	a, err := find(x, "needle", 5)
	if err != nil || len(a.Hits) != 2 || a.Hits[0].Name != "acme/plain" {
		t.Fatalf("%+v, %v", a, err)
	}
	got := a.Hits[1].Pack
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Description) > maxText || len(got.Tags) > maxTags || len(got.Skills) > maxSkills || len(data) > 2*maxPack {
		t.Errorf("%d bytes, %d tags, %d skills are kept", len(got.Description), len(got.Tags), len(got.Skills))
	}
	if a, err := find(x, strings.Repeat("needle haystack ", 100_000), 5); err != nil || len(a.Hits) != 2 {
		t.Errorf("a long query: %+v, %v", a, err)
	}
	if a, err := find(x, "lost", 5); err != nil || len(a.Hits) != 0 {
		t.Errorf("what is beyond the bounds is found: %+v, %v", a, err)
	}
}

func TestPacksAreInOrder(t *testing.T) {
	for _, docs := range [][]Pack{{{Name: "b/b"}, {Name: "a/a"}}, {{Name: "a/a"}, {Name: "a/a"}}} {
		if err := build(io.Discard, all(docs)); diag.CodeOf(err) != diag.Internal {
			t.Errorf("%v: %v", docs, err)
		}
	}
	wrong := errors.New("the line is cut")
	err := build(io.Discard, func(yield func(Pack, error) bool) { yield(Pack{}, wrong) })
	if !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}

func TestCache(t *testing.T) {
	s := Cache{Dir: filepath.Join(t.TempDir(), "new")}
	if _, err := s.Open("r", "1"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("an empty shelf: %v", err)
	}
	docs := readPacks(t)
	for _, tag := range []string{"1", "2"} {
		x, err := s.Build("r", tag, all(docs))
		if err != nil {
			t.Fatal(err)
		}
		x.Close()
	}
	if _, err := s.Open("r", "1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the index of an earlier catalogue: %v", err)
	}
	if _, err := s.Open("another", "2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the index of another registry: %v", err)
	}
	x, err := s.Open("r", "2")
	if err != nil || x.Len() != len(docs) {
		t.Fatal(x, err)
	}
	x.Close()
	left, _ := os.ReadDir(s.Dir)
	if len(left) != 1 {
		t.Errorf("%d files on the shelf, want 1: %v", len(left), left)
	}
	path := filepath.Join(s.Dir, left[0].Name())
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open("r", "2"); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("a damaged index: %v", err)
	}
	failing := errors.New("no more")
	if _, err := s.Build("r", "3", func(yield func(Pack, error) bool) { _ = yield(docs[0], nil) && yield(Pack{}, failing) }); !errors.Is(err, failing) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(s.Dir); len(left) != 1 {
		t.Errorf("a failed build leaves %v", left)
	}
}

// TestSeveralIndexes checks that several indexes answer like one with the packs of all.
func TestSeveralIndexes(t *testing.T) {
	docs := readPacks(t)
	whole := opened(t, docs)
	parts := []*Index{opened(t, docs[:100]), opened(t, docs[100:]), opened(t, nil)}
	for _, line := range lines(t, "testdata/queries.txt") {
		query, _, _ := strings.Cut(line, " | ")
		want, err := find(whole, query, 10)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Find(parts, query, 10)
		if err != nil {
			t.Fatal(err)
		}
		if names(got) != names(want) || got.Total != want.Total {
			t.Errorf("%q: %s of %d, want %s of %d", query, names(got), got.Total, names(want), want.Total)
		}
	}
}

func names(a *Answer) string {
	var list []string
	for _, h := range a.Hits {
		list = append(list, h.Name)
	}
	return strings.Join(list, " ")
}

func TestWhy(t *testing.T) {
	x := opened(t, readPacks(t))
	for _, tt := range []struct {
		query  string
		want   []Reason
		skills string
	}{
		{"rollbacks", []Reason{{"rollbacks", bm25.MatchExact, "skill", "rollback", "rollback"}}, "rollback"},
		{"terraf", []Reason{{"terraf", bm25.MatchPrefix, "name", "terraform", ""}}, ""},
		{"kubectl pods", []Reason{{"kubectl", bm25.MatchExact, "name", "kubectl", ""}, {"pods", bm25.MatchExact, "skill", "pods", "inspect-pods"}}, "inspect-pods"},
		{"acessibility", []Reason{{"acessibility", bm25.MatchTypo, "name", "accessibility", ""}}, ""},
		{"post mortem", []Reason{{"postmortem", bm25.MatchJoined, "skill", "postmortem", "postmortem"}}, "postmortem"},
	} {
		a, err := find(x, tt.query, 1)
		if err != nil || len(a.Hits) != 1 {
			t.Fatalf("%q: %v, %v", tt.query, a, err)
		}
		if h := a.Hits[0]; !slices.Equal(h.Why, tt.want) || strings.Join(h.Skills, " ") != tt.skills {
			t.Errorf("%q: %s because of %+v in %v, want %+v in %s", tt.query, h.Name, h.Why, h.Skills, tt.want, tt.skills)
		}
	}
}

func TestMissingAndNear(t *testing.T) {
	x := opened(t, readPacks(t))
	a, err := find(x, "trefarmor zzzzqqqq", 5)
	if err != nil || len(a.Hits) != 0 || !slices.Equal(a.Missing, []string{"trefarmor", "zzzzqqqq"}) {
		t.Fatalf("%+v, %v", a, err)
	}
	for word, want := range map[string]string{"trefarmor": "", "terafomr": "terraform", "zzzzqqqq": "", "tz": ""} {
		if got := Near([]*Index{x}, word); got != want {
			t.Errorf("near %s is %q, want %q", word, got, want)
		}
	}
}

func TestDeprecatedComesLater(t *testing.T) {
	x := opened(t, []Pack{
		{Name: "a/deploy", Version: "1.0.0", Deprecated: "use b/deploy"},
		{Name: "b/deploy", Version: "1.0.0"},
	})
	if a, err := find(x, "deploy", 2); err != nil || names(a) != "b/deploy a/deploy" {
		t.Errorf("%+v, %v", a, err)
	}
}
