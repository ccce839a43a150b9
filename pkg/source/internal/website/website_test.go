package website_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/internal/website"
)

const skillText = "---\nname: deploy\ndescription: Deploys.\n---\n\nDeploy.\n"

// schema identifies an index of version 0.2 of the draft.
const schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

// item is a skill of an index of version 0.2.
type item struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Digest      string `json:"digest"`
}

func digestOf(data []byte) string { return "sha256:" + textx.SHA256(data) }

func tarGzip(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, data := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipArchive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// serve serves files by path, and returns the reference of the website.
func serve(t *testing.T, files map[string][]byte) pack.Ref {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(data)
	}))
	t.Cleanup(s.Close)
	return pack.Ref{Kind: pack.KindWebsite, URL: s.URL}
}

func indexOf(t *testing.T, items ...item) []byte {
	t.Helper()
	data, err := json.Marshal(map[string]any{"$schema": schema, "skills": items, "unknown": true})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const indexPath = "/.well-known/agent-skills/index.json"

// fetch opens and fetches a website with a new client.
func fetch(t *testing.T, ref pack.Ref, skills ...string) (*pack.Pack, map[string]bundle.Inventory, error) {
	t.Helper()
	c := website.New(website.Options{})
	p, err := c.Open(pack.WithSkills(t.Context(), skills), ref)
	if err != nil {
		return nil, nil, err
	}
	h := bundle.NewHasher(bundle.DefaultLimits())
	err = c.Fetch(t.Context(), p, skills, h)
	return p, h.Inventories(), err
}

// TestArtifacts checks each type of artifact of version 0.2, and that one skill in different forms has one digest.
func TestArtifacts(t *testing.T) {
	files := map[string]string{"SKILL.md": skillText, "scripts/run.sh": "#!/bin/sh\n"}
	archive, zipped := tarGzip(t, files), zipArchive(t, map[string]string{"SKILL.md": skillText})
	ref := serve(t, map[string][]byte{
		indexPath: indexOf(t,
			item{"zipped", "archive", "Z.", "/elsewhere/zipped.zip", digestOf(zipped)},
			item{"deploy", "skill-md", "D.", "deploy/SKILL.md", digestOf([]byte(skillText))},
			item{"packed", "archive", "P.", "packed.tar.gz", digestOf(archive)}),
		"/.well-known/agent-skills/deploy/SKILL.md": []byte(skillText),
		"/.well-known/agent-skills/packed.tar.gz":   archive,
		"/elsewhere/zipped.zip":                     zipped,
	})
	p, trees, err := fetch(t, ref)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.SkillNames(), " "); got != "deploy packed zipped" || p.Skills[0].Description != "D." {
		t.Errorf("skills %s, %+v", got, p.Skills)
	}
	if p.ID.String() != "127-0-0-1/skills" || p.Version != "0.0.0-g"+p.Ref.Digest[7:19] {
		t.Errorf("%s %s at %s", p.ID, p.Version, p.Ref.Digest)
	}
	if len(trees) != 3 || len(trees["packed"]) != 2 || trees["deploy"].Digest() != trees["zipped"].Digest() {
		t.Errorf("inventories %+v", trees)
	}
	one, _, err := fetch(t, ref, "deploy")
	if err != nil || one.Ref.Digest == p.Ref.Digest {
		t.Errorf("one skill: %v, %v", one, err)
	}
}

// TestFiles checks an index of version 0.1, whose digest depends on the content of the files.
func TestFiles(t *testing.T) {
	files := map[string][]byte{
		"/.well-known/skills/index.json":      []byte(`{"skills":[{"name":"deploy","description":"D.","files":["SKILL.md","a/b.md"]},{"name":"bad","description":"B.","files":["SKILL.md","../x"]}]}`),
		"/.well-known/skills/deploy/SKILL.md": []byte(skillText),
		"/.well-known/skills/deploy/a/b.md":   []byte("b\n"),
	}
	ref := serve(t, files)
	first, _, err := fetch(t, ref)
	if err != nil || len(first.Skills) != 1 || len(first.Warnings) != 1 || !strings.Contains(first.Warnings[0], `"bad"`) {
		t.Fatalf("%+v, %v", first, err)
	}
	files["/.well-known/skills/deploy/a/b.md"] = []byte("c\n")
	second, _, err := fetch(t, ref)
	if err != nil || second.Ref.Digest == first.Ref.Digest {
		t.Errorf("a changed file has the same digest: %v", err)
	}
	_, _, err = fetch(t, first.Ref)
	if diag.CodeOf(err) != diag.Integrity || !strings.Contains(diag.HintOf(err), "does not keep earlier versions") {
		t.Errorf("changed content under a pinned digest: %v", err)
	}
}

// TestFilesTooLarge checks that the files of a skill are limited together: an index may list thousands of them.
func TestFilesTooLarge(t *testing.T) {
	ref := serve(t, map[string][]byte{
		"/.well-known/skills/index.json":      []byte(`{"skills":[{"name":"deploy","description":"D.","files":["SKILL.md","a","b"]}]}`),
		"/.well-known/skills/deploy/SKILL.md": []byte(skillText),
		"/.well-known/skills/deploy/a":        bytes.Repeat([]byte("a"), 90),
		"/.well-known/skills/deploy/b":        bytes.Repeat([]byte("b"), 90),
	})
	_, err := website.New(website.Options{Limits: bundle.Limits{FileBytes: 100}}).Open(t.Context(), ref)
	if diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), "/deploy are larger than 100 bytes") {
		t.Errorf("got %v", err)
	}
}

// TestRefused checks what a website may not do.
func TestRefused(t *testing.T) {
	text := []byte(skillText)
	outside := tarGzip(t, map[string]string{"SKILL.md": skillText, "../x": "x"})
	one := func(kind, url, digest string) []byte { return indexOf(t, item{"deploy", kind, "D.", url, digest}) }
	for name, tt := range map[string]struct {
		files   map[string][]byte
		code    diag.Code
		message string
	}{
		"no index":       {nil, diag.NotFound, "does not publish skills"},
		"not JSON":       {map[string][]byte{indexPath: []byte("<html>")}, diag.Invalid, "index.json"},
		"unknown schema": {map[string][]byte{indexPath: []byte(`{"$schema":"x","skills":[]}`)}, diag.Invalid, `unknown schema "x"`},
		"no skills":      {map[string][]byte{indexPath: []byte(`{"skills":[]}`)}, diag.NotFound, "no skills found"},
		"no digest":      {map[string][]byte{indexPath: one("skill-md", "a", "")}, diag.NotFound, "no skills found"},
		"other content": {
			map[string][]byte{indexPath: one("skill-md", "/a", digestOf([]byte("x"))), "/a": text},
			diag.Integrity,
			"does not match",
		},
		"missing file":   {map[string][]byte{indexPath: one("skill-md", "/a", digestOf(text))}, diag.NotFound, "/a"},
		"not encrypted":  {map[string][]byte{indexPath: one("skill-md", "http://cdn.example/a", digestOf(text))}, diag.Denied, "HTTPS"},
		"no URL of HTTP": {map[string][]byte{indexPath: one("skill-md", "file:///etc/passwd", digestOf(text))}, diag.NotFound, "no skills found"},
		"archive": {
			map[string][]byte{indexPath: one("archive", "/a.tgz", digestOf(outside)), "/a.tgz": outside},
			diag.Invalid,
			"../x",
		},
	} {
		_, _, err := fetch(t, serve(t, tt.files))
		if diag.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%s: %v (%v), want %q (%v)", name, err, diag.CodeOf(err), tt.message, tt.code)
		}
	}
}
