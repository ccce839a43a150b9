package site_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/publish/internal/site"
)

func options() site.Options {
	return site.Options{Title: "Acme skills", BaseURL: "https://skills.example/cat/", Registry: "https://skills.example/index"}
}

// element is a tag of a page.
type element struct {
	name string
	attr map[string]string
	text string // that follows
}

func elements(t testing.TB, page []byte) []element {
	t.Helper()
	var out []element
	tokens := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			if !errors.Is(tokens.Err(), io.EOF) {
				t.Fatal(tokens.Err())
			}
			return out
		case html.TextToken:
			if len(out) > 0 {
				out[len(out)-1].text += string(tokens.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			token := tokens.Token()
			e := element{name: token.Data, attr: map[string]string{}}
			for _, a := range token.Attr {
				e.attr[a.Key] = a.Val
			}
			out = append(out, e)
		}
	}
}

// TestPages checks the invariants of every page: links lead to existing files, ids are unique, there are no inline
// scripts or styles and no external resources, and headings skip no level.
func TestPages(t *testing.T) {
	m := build(t, options(), append(sample(), manyPacks(600)...), details)
	for name, data := range m {
		if path.Ext(name) != ".html" {
			continue
		}
		ids, level := map[string]bool{}, 0
		all := elements(t, data)
		for _, e := range all {
			if id, ok := e.attr["id"]; ok {
				if ids[id] {
					t.Errorf("%s has two elements with the id %s", name, id)
				}
				ids[id] = true
			}
		}
		for _, e := range all {
			if e.name == "style" || e.attr["style"] != "" || e.name == "script" && (e.attr["src"] == "" || strings.TrimSpace(e.text) != "") || e.name == "img" || e.name == "iframe" {
				t.Errorf("%s has a %s: %v", name, e.name, e)
			}
			if len(e.name) == 2 && e.name[0] == 'h' && e.name[1] >= '1' && e.name[1] <= '6' {
				if now := int(e.name[1] - '0'); now > level+1 {
					t.Errorf("%s goes from a heading of level %d to %d", name, level, now)
				}
				level = int(e.name[1] - '0')
			}
			for key := range e.attr {
				if strings.HasPrefix(key, "on") {
					t.Errorf("%s has a handler: %v", name, e)
				}
			}
			for _, key := range []string{"href", "src", "action"} {
				to, ok := e.attr[key]
				if !ok || e.attr["rel"] == "canonical" {
					continue
				}
				checkLink(t, m, name, e, to, ids)
			}
		}
		if !bytes.Contains(data, []byte(`<html lang="en">`)) || !bytes.Contains(data, []byte("default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'")) {
			t.Errorf("%s has no language or no policy", name)
		}
	}
}

func checkLink(t *testing.T, m memoryFiles, page string, e element, to string, ids map[string]bool) {
	t.Helper()
	to, _, _ = strings.Cut(to, "?")
	file, anchor, _ := strings.Cut(to, "#")
	switch {
	case strings.HasPrefix(to, "https://"):
		if e.name != "a" || e.attr["rel"] != "nofollow noopener noreferrer" {
			t.Errorf("%s leads elsewhere: %v", page, e)
		}
		return
	case file == "":
		if !ids[anchor] {
			t.Errorf("%s links to #%s, which it does not have", page, anchor)
		}
		return
	case page == "404.html":
		file = strings.TrimPrefix(file, "/cat/")
	case path.IsAbs(file):
		t.Errorf("%s has an absolute link: %s", page, to)
	}
	if page != "404.html" {
		file = path.Join(path.Dir(page), file)
	}
	if _, ok := m[file]; !ok {
		t.Errorf("%s links to %s, which does not exist", page, file)
	}
}

func TestSameBytes(t *testing.T) {
	packs := append(sample(), manyPacks(40)...)
	first := build(t, options(), packs, details)
	slices.Reverse(packs)
	second := build(t, options(), packs, details)
	if !maps.EqualFunc(first, second, bytes.Equal) {
		t.Error("another order of packs gives another catalogue")
	}
}

func TestPackPage(t *testing.T) {
	m := build(t, options(), sample(), details)
	page := string(m["packs/acme/deploy.html"])
	for _, want := range []string{
		`<a class="skip" href="#main">`, `data-copy="skillpm install acme/deploy --registry https://skills.example/index"`, "Apache-2.0", `<a class="tag" href="../../tags/kubernetes.html">kubernetes</a>`,
		`<h4 id="skill-deploy-deploy-a-service">Deploy a service</h4>`, `<span class="file" title="references/checklist.md">the checklist</span>`,
		`<a rel="nofollow noopener noreferrer" href="https://kubernetes.io/docs/">the manual</a>`, `<a href="#skill-deploy-roll-back">below</a>`,
		`<span class="image">image: the architecture</span>`, "deletes the namespace", `<time datetime="2026-11-20T08:00:00Z">20 November 2026</time>`,
		`<a href="../../packs/acme/kubectl-basics.html">acme/kubectl-basics</a>`, "not in this index", `<svg xmlns="http://www.w3.org/2000/svg" class="skillpm-graph"`,
		`<span class="badge good">verified</span>`, `<span class="badge">not checked</span>`, "identity:https://accounts.example someone@example.com",
		"REF001", "images/architecture.png does not exist", "Read, Bash(kubectl:*)", digest("1"), tree("b"), "scripts/preflight.sh", "1.2 MB",
		`href="https://git.example/acme/deploy"`, `<link rel="canonical" href="https://skills.example/cat/packs/acme/deploy.html">`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of a pack has no %s", want)
		}
	}
	for page, want := range map[string]string{
		"packs/globex/ops.html":          "Use globex/operations instead.",
		"packs/umbrella/broken.html":     "registry.example: connection refused",
		"packs/acme/kubectl-basics.html": `<a href="../../packs/acme/deploy.html">acme/deploy</a>`, // which requires it
		"404.html":                       `href="/cat/index.html"`,
	} {
		if !strings.Contains(string(m[page]), want) {
			t.Errorf("%s has no %s", page, want)
		}
	}
}

// TestHostileValues puts markup into every text of an index or a pack.
func TestHostileValues(t *testing.T) {
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>'` + "\u202e\x1b[31m"
	p := site.Pack{
		ID: id("evil/pack"), Description: evil, License: evil, Tags: []string{evil, "ok"}, Deprecated: evil,
		Versions:     []site.Version{{Version: "1.0.0", Published: evil, Yanked: evil, Source: "https://x.example/" + evil, Digest: evil, Integrity: evil}},
		Skills:       []site.Skill{{Name: evil, Description: evil, Tree: evil}},
		Dependencies: []pack.Dependency{{ID: id("a/b"), Constraint: evil, Skills: []string{evil}}},
	}
	d := details(sample()[0])
	d.Signatures, d.Provenance, d.Signed, d.Profiles = []site.Signature{{Signer: evil}}, []site.Provenance{{Label: evil, Value: evil}, {Label: "x", Value: "javascript:alert(1)"}}, evil, []string{evil}
	d.Skills[0].Name = evil
	d.Skills[0].Files[0].Path = evil
	d.Skills[0].Findings[0].Message = evil
	d.Skills[0].Markdown = []byte("---\nallowed-tools: '" + strings.ReplaceAll(evil, "'", "''") + "'\n---\n" + evil)
	m := build(t, site.Options{Title: evil, Registry: evil}, []site.Pack{p}, func(site.Pack) site.Details { return d })
	for name, data := range m {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, e := range elements(t, data) {
			if e.name == "script" && e.attr["src"] == "" || e.name == "img" || e.attr["onerror"] != "" || strings.HasPrefix(e.attr["href"], "javascript") {
				t.Errorf("%s has %v", name, e)
			}
		}
		if bytes.Contains(data, []byte("\x1b")) {
			t.Errorf("%s has control characters", name)
		}
	}
	for name := range m {
		if strings.ContainsAny(name, "<>\"' ") || strings.Contains(name, "..") {
			t.Errorf("a file is called %q", name)
		}
	}
}

func TestNames(t *testing.T) {
	pk := func(name string, skills ...string) site.Pack {
		p := site.Pack{ID: id(name), Versions: []site.Version{{Version: "1.0.0"}}}
		for _, s := range skills {
			p.Skills = append(p.Skills, site.Skill{Name: s})
		}
		return p
	}
	s, err := site.New(site.Options{}, []site.Pack{
		pk("a/x", "deploy", "only", "Not Legal"), pk("a/y", "deploy"), pk("b/z", "deploy", "a-deploy"), pk("a/b-c"), pk("a-b/c"),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := s.SkillNames(nil)
	want := map[pack.SkillKey]string{
		{Pack: id("a/x"), Skill: "deploy"}: "a-x-deploy", {Pack: id("a/y"), Skill: "deploy"}: "a-y-deploy", {Pack: id("b/z"), Skill: "deploy"}: "b-deploy",
		{Pack: id("a/x"), Skill: "only"}: "only", {Pack: id("b/z"), Skill: "a-deploy"}: "a-deploy",
	}
	if !maps.Equal(got, want) {
		t.Errorf("skills are called %v", got)
	}
	plugins := s.PluginNames(nil)
	if plugins[id("a-b/c")] != "a-b-c" || plugins[id("a/b-c")] == "a-b-c" || !strings.HasPrefix(plugins[id("a/b-c")], "a-b-c-") {
		t.Errorf("plugins are called %v", plugins)
	}
}

func TestDiscovery(t *testing.T) {
	m := memoryFiles{}
	files := []site.File{{Path: "scripts/run.sh", Executable: true, Data: []byte("#!/bin/sh\n")}, {Path: "SKILL.md", Data: []byte("---\nname: x\n---\n")}}
	d, err := site.Discover("x", strings.Repeat("long ", 500), files, m.write)
	if err != nil {
		t.Fatal(err)
	}
	if len([]rune(d.Description)) > 1024 || d.Digest != "sha256:29" && len(d.Digest) != 71 {
		t.Errorf("got %+v", d)
	}
	if err := site.WriteDiscovery([]site.Discovered{d}, m.write); err != nil {
		t.Fatal(err)
	}
	var index struct {
		Schema string `json:"$schema"`
		Skills []site.Discovered
	}
	if err := json.Unmarshal(m[".well-known/agent-skills/index.json"], &index); err != nil || len(index.Skills) != 1 || !strings.HasSuffix(index.Schema, "/0.2.0/schema.json") {
		t.Errorf("%v: %s", err, m[".well-known/agent-skills/index.json"])
	}
	zip, err := gzip.NewReader(bytes.NewReader(m[".well-known/agent-skills/x.tar.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for from := tar.NewReader(zip); ; {
		h, err := from.Next()
		if err != nil {
			break
		}
		got += fmt.Sprintf("%o %s %d\n", h.Mode, h.Name, h.ModTime.Unix())
	}
	if got != "644 SKILL.md 0\n755 scripts/run.sh 0\n" {
		t.Errorf("the archive has\n%s", got)
	}
}

func TestErrors(t *testing.T) {
	if _, err := site.New(site.Options{}, append(sample(), sample()...)); err == nil {
		t.Error("a pack may be there twice")
	}
	if _, err := site.New(site.Options{}, []site.Pack{{ID: id("a/b")}}); err == nil {
		t.Error("a pack may have no version")
	}
	s, err := site.New(site.Options{}, sample())
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	if err := s.Lists(func(string, []byte) error { return full }); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := s.Page(id("a/b"), site.Details{}, memoryFiles{}.write); err == nil {
		t.Error("a pack that is not in the index has a page")
	}
}

func BenchmarkCatalogue(b *testing.B) {
	packs := manyPacks(10_000)
	for b.Loop() {
		s, err := site.New(options(), packs)
		if err != nil {
			b.Fatal(err)
		}
		bytes, files, largest := 0, 0, 0
		count := func(name string, data []byte) error {
			files++
			bytes += len(data)
			if strings.HasPrefix(name, "search/") {
				largest = max(largest, len(data))
			}
			return nil
		}
		if err := s.Lists(count); err != nil {
			b.Fatal(err)
		}
		for _, p := range packs {
			if err := s.Page(p.ID, details(p), count); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(files), "files")
		b.ReportMetric(float64(bytes)/1e6, "MB")
		b.ReportMetric(float64(largest)/1e3, "kB/largest-search-file")
	}
}
