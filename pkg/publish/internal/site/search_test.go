package site_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/bm25"
	"github.com/skillpm/skillpm/pkg/internal/packsearch"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/publish/internal/site"
)

// shared reads a file of the tests of the search: the packs and the queries that both implementations are tested with.
func shared(t *testing.T, name string) (lines []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "internal", "packsearch", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// searchedPacks returns the packs of packs.txt among two thousand others.
func searchedPacks(t *testing.T) []site.Pack {
	t.Helper()
	packs := manyPacks(2000)
	for i, line := range shared(t, "packs.txt") {
		parts := strings.Split(line, " | ")
		p := site.Pack{
			ID: id(parts[0]), Description: parts[1], Tags: strings.Split(parts[2], ", "),
			Versions: []site.Version{{Version: "1.0.0", Published: fmt.Sprintf("2026-01-%02dT00:00:00Z", i%28+1)}},
		}
		for _, s := range parts[3:] {
			name, description, _ := strings.Cut(s, ": ")
			p.Skills = append(p.Skills, site.Skill{Name: name, Description: description, Tree: tree("a")})
		}
		if i%9 == 0 {
			p.Deprecated = "use another one"
		}
		packs = append(packs, p)
	}
	return append(packs, site.Pack{
		ID: id("acme/nihongo"), Description: "日本語の文章を書く。C++, C# and Ünïcode; the team's way", Tags: []string{"日本語"},
		Versions: []site.Version{{Version: "1.0.0"}}, Skills: []site.Skill{{Name: "constructor", Description: "__proto__ toString 2024"}},
	})
}

// document returns a pack as the catalog of an index has it.
func document(p *site.Pack) packsearch.Pack {
	d := packsearch.Pack{Name: p.ID.String(), Version: "1.0.0", Description: p.Description, Deprecated: p.Deprecated, Tags: p.Tags}
	for _, s := range p.Skills {
		d.Skills = append(d.Skills, packsearch.Skill{Name: s.Name, Description: s.Description})
	}
	return d
}

type browserAnswer struct {
	Packs, Copies []string
	Total         int
}

// inBrowser returns what the script of a website finds for queries, and how it stems words.
func inBrowser(t *testing.T, m memoryFiles, queries, words []string) (answers []browserAnswer, stems []string) {
	t.Helper()
	node := os.Getenv("SKILLPM_NODE")
	if node == "" {
		var err error
		if node, err = exec.LookPath("node"); err != nil {
			if os.Getenv("SKILLPM_REQUIRE_NPM") == "1" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	m.save(t, dir)
	questions, err := json.Marshal(map[string][]string{"queries": append([]string{}, queries...), "words": append([]string{}, words...)})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "search.cjs"), dir)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(questions), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Answers []browserAnswer
		Stems   []string
	}
	if err := json.Unmarshal(out, &read); err != nil {
		t.Fatal(err)
	}
	return read.Answers, read.Stems
}

// TestSearchRanksAlike compares the search of a website with that of the command line: the best ten packs of each query
// are the same, in the same order.
func TestSearchRanksAlike(t *testing.T) {
	packs := searchedPacks(t)
	slices.SortFunc(packs, func(a, b site.Pack) int { return a.ID.Compare(b.ID) })
	x, err := packsearch.New(func(yield func(packsearch.Pack, error) bool) {
		for i := range packs {
			if !yield(document(&packs[i]), nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var queries []string
	for _, line := range shared(t, "queries.txt") {
		if query, _, ok := strings.Cut(line, " | "); ok {
			queries = append(queries, query)
		}
	}
	if len(queries) != 50 {
		t.Fatalf("%d queries, want 50", len(queries))
	}
	queries = append(queries, "acme/nihongo", "日本", "語", "c++", "C#", "ünicode teams", "constructor", "proto", "2024", "toString",
		"deplyo gatway", "the", "with the of", "re", "change log", "team7", "reviw a databse", "zzzz", "a", "!!!", "team1/review-database-1", "TEAM1/nothing", "deploy ",
		"make a powerpoint", "please help", "optimise databases", "verification of tickets", "k8s", "make docs")
	s, err := site.New(site.Options{}, packs)
	if err != nil {
		t.Fatal(err)
	}
	m := memoryFiles{}
	if err := s.Lists(m.write); err != nil {
		t.Fatal(err)
	}
	answers, _ := inBrowser(t, m, queries, nil)
	empty := 0
	for i, query := range queries {
		want, err := packsearch.Find([]*packsearch.Index{x}, query, 10)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, h := range want.Hits {
			names = append(names, h.Name)
		}
		if len(names) == 0 {
			empty++
		}
		if got := answers[i]; !slices.Equal(got.Packs, names) || got.Total != want.Total {
			t.Errorf("%q: the website finds\n%q of %d, skillpm search\n%q of %d", query, got.Packs, got.Total, names, want.Total)
		}
	}
	if empty > 4 {
		t.Errorf("%d queries find nothing", empty)
	}
}

// TestStemsAlike compares the stems of the script with those of the command line.
func TestStemsAlike(t *testing.T) {
	set := map[string]bool{}
	for _, file := range []string{"packs.txt", "queries.txt"} {
		for _, line := range shared(t, file) {
			for _, w := range strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return r < 'a' || r > 'z' }) {
				set[w] = true
			}
		}
	}
	endings := strings.Fields("s es ed ing eed eedly edly ingly y ies ied sses us ness ful fulness ational tional ation ator izer ization alize icate iciti ical " +
		"ative iveness ousness biliti bli abli alli entli ousli fulli lessli li ogi logi ement ance ence able ible ment ent ant ism ate iti ous ive ize ion sion tion al er ic e ll le")
	for base := range strings.FieldsSeq("hop hopp rat controll gener commun arsen beauti yell say boy day enjoy skate bat fizz fall sky die try dying abil x be gas kiwi cr ap off id luxuri tann") {
		for _, end := range endings {
			set[base+end] = true
			for _, more := range []string{"s", "ed", "ing", "ly"} {
				set[base+end+more] = true
			}
		}
	}
	for w := range strings.FieldsSeq("skis skies dying lying tying idly gently ugly early only singly sky news howe atlas cosmos bias andes innings outings cannings herrings earrings proceeds exceeding succeeded optimise optimising organisation colours verify verification analyse analysis analyze raise revised promise") {
		set[w] = true
	}
	words := slices.Sorted(maps.Keys(set))
	_, stems := inBrowser(t, build(t, site.Options{}, sample(), details), nil, words)
	for i, word := range words {
		if want := bm25.Stem(word); stems[i] != want {
			t.Errorf("the stem of %s is %s, want %s", word, stems[i], want)
		}
	}
}

// TestCopiesAreFolded: packs with the skills of another one are listed with it, in lists and in the search.
func TestCopiesAreFolded(t *testing.T) {
	packs := manyPacks(4)
	pk := func(name, content, contentSince, since string) site.Pack {
		return site.Pack{
			ID: id(name), Description: "Bakes bread", Tags: []string{"bread"}, Versions: []site.Version{{Version: "1.0.0", Published: contentSince}},
			Skills: []site.Skill{{Name: "bake", Description: "Bakes bread.", Tree: tree("b")}},
			Origin: index.Origin{Content: content, ContentSince: contentSince, Since: since},
		}
	}
	const may, june, july = "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"
	packs = append(packs, pk("zeta/bread", "b", may, may), pk("acme/bread", "b", june, june), pk("beta/bread", "b", july, june), pk("gamma/bread", "c", july, july))
	m := build(t, site.Options{}, packs, details)
	home := string(m["index.html"])
	if strings.Contains(home, `href="packs/acme/bread.html"`) || !strings.Contains(home, `<a href="packs/zeta/bread.html#copies">2 copies</a>`) ||
		!strings.Contains(home, "packs/gamma/bread.html") {
		t.Errorf("copies are listed: %s", home)
	}
	if page := string(m["packs/acme/bread.html"]); !strings.Contains(page, `the same skills as <a href="../../packs/zeta/bread.html">zeta/bread</a>`) {
		t.Error("the page of a copy does not name the original")
	}
	if page := string(m["packs/zeta/bread.html"]); !strings.Contains(page, `<a href="../../packs/beta/bread.html">beta/bread</a>`) {
		t.Error("the page of the original does not list the copies")
	}
	if !strings.Contains(string(m["owners/acme.html"]), "packs/acme/bread.html") {
		t.Error("the page of an owner does not list the owner's copy")
	}
	answers, _ := inBrowser(t, m, []string{"bread", "acme/bread"}, nil)
	if got := answers[0]; !slices.Equal(got.Packs, []string{"zeta/bread", "gamma/bread"}) && !slices.Equal(got.Packs, []string{"gamma/bread", "zeta/bread"}) ||
		!slices.Equal(got.Copies, []string{"acme/bread", "beta/bread"}) {
		t.Errorf("found %+v", got)
	}
	if answers[1].Packs[0] != "acme/bread" {
		t.Errorf("a copy is not found by its name: %+v", answers[1])
	}
}
