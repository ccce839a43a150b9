package oci_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

var deployID = pack.ID{Owner: "acme", Name: "deploy"}

// skillTree is a skill with a reference and a script.
func skillTree(name string) bundle.Tree {
	return bundle.MapTree(name, map[string][]byte{
		"SKILL.md":          []byte("---\nname: " + name + "\ndescription: Does " + name + ".\n---\n\n# " + name + "\n"),
		"references/how.md": []byte(strings.Repeat("how to "+name+"\n", 100)),
		"scripts/run.sh":    []byte("#!/bin/sh\necho " + name + "\n"),
		"scripts/sub/a-b":   {},
	}, func(p string) bool { return p == "scripts/run.sh" })
}

func release(version string, skills ...string) (oci.Release, []bundle.Tree) {
	rel := oci.Release{
		ID: deployID, Version: version, Description: "Rolls out & back <carefully>", License: "Apache-2.0",
		Dependencies: []pack.Dependency{{ID: pack.ID{Owner: "acme", Name: "base"}, Constraint: ">=1.2 <3"}},
	}
	var trees []bundle.Tree
	for _, name := range skills {
		rel.Skills = append(rel.Skills, oci.SkillMeta{Name: name, Description: "Does " + name + "."})
		trees = append(trees, skillTree(name))
	}
	return rel, trees
}

func push(t testing.TB, c *oci.Client, ref pack.Ref, version string, skills ...string) oci.Pushed {
	t.Helper()
	rel, trees := release(version, skills...)
	pushed, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pushed
}

// fetch returns the inventories of the fetched skills.
func fetch(t testing.TB, c *oci.Client, p *pack.Pack, skills ...string) map[string]bundle.Inventory {
	t.Helper()
	h := bundle.NewHasher(bundle.DefaultLimits())
	if err := c.Fetch(t.Context(), p, skills, h); err != nil {
		t.Fatal(err)
	}
	return h.Inventories()
}

// wantCode fails unless err has the code and its text and hint contain each of the words.
func wantCode(t testing.TB, err error, code diag.Code, words ...string) {
	t.Helper()
	if got := diag.CodeOf(err); got != code {
		t.Fatalf("got %v (code %v), want code %v", err, got, code)
	}
	text := err.Error() + "\n" + diag.HintOf(err)
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q does not say %q", text, w)
		}
	}
	if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
		t.Errorf("%q is not one printable line", err.Error())
	}
}

// target is a location to publish to, and a client for it.
type target struct {
	name string
	open func(t *testing.T) (*oci.Client, pack.Ref)
}

func targets() []target {
	registry := func(s *ocitest.Server, t *testing.T) (*oci.Client, pack.Ref) {
		return s.Client(t, ""), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	}
	return []target{
		{"olareg", func(t *testing.T) (*oci.Client, pack.Ref) { return registry(ocitest.New(t), t) }},
		{"olareg-tls", func(t *testing.T) (*oci.Client, pack.Ref) { return registry(ocitest.NewTLS(t), t) }},
		{"docker-registry", func(t *testing.T) (*oci.Client, pack.Ref) {
			return registry(ocitest.DockerRegistry(t, ocitest.Options{}), t)
		}},
		{"docker-registry-tls-htpasswd", func(t *testing.T) (*oci.Client, pack.Ref) {
			return registry(ocitest.DockerRegistry(t, ocitest.Options{TLS: true, User: "ada", Password: "correct horse"}), t)
		}},
		{"layout", func(t *testing.T) (*oci.Client, pack.Ref) {
			return oci.New(oci.Options{Base: t.TempDir()}), pack.Ref{Kind: pack.KindLayout, URL: "out/packs", ID: deployID}
		}},
		{"local", func(t *testing.T) (*oci.Client, pack.Ref) {
			return oci.New(oci.Options{Local: filepath.Join(t.TempDir(), "a", "b")}), pack.Ref{Kind: pack.KindLocal, ID: deployID}
		}},
	}
}

// TestRoundTrip publishes, opens, and fetches at every kind of location (M2, M3).
func TestRoundTrip(t *testing.T) {
	for _, tt := range targets() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, ref := tt.open(t)
			rel, trees := release("1.4.0", "rollback", "deploy")
			pushed, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{})
			if err != nil {
				t.Fatal(err)
			}
			p, err := c.Open(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			if p.ID != deployID || p.Version != "1.4.0" || p.Ref.Digest != pushed.Digest || p.Ref.Rev != "1.4.0" {
				t.Errorf("opened %+v, pushed %s", p, pushed.Digest)
			}
			if p.Description != rel.Description || p.License != rel.License {
				t.Errorf("description %q, licence %q", p.Description, p.License)
			}
			if len(p.Dependencies) != 1 || p.Dependencies[0].Constraint != ">=1.2 <3" {
				t.Errorf("dependencies %+v", p.Dependencies)
			}
			checkFetched(t, c, p, trees)
			checkSubset(t, c, p)
		})
	}
}

func checkFetched(t *testing.T, c *oci.Client, p *pack.Pack, trees []bundle.Tree) {
	t.Helper()
	got := fetch(t, c, p)
	digests := make(map[string]string)
	for _, tree := range trees {
		digests[tree.Name] = tree.Inventory.Digest()
		if !slices.Equal(got[tree.Name], tree.Inventory) {
			t.Errorf("%s: got %s want %s", tree.Name, got[tree.Name].Encode(), tree.Inventory.Encode())
		}
		if s, ok := p.Skill(tree.Name); !ok || s.Tree != tree.Inventory.Digest() {
			t.Errorf("%s is described as %+v", tree.Name, s)
		}
	}
	if len(got) != len(trees) || p.Integrity != bundle.Integrity(digests) {
		t.Errorf("got %d skills, integrity %s", len(got), p.Integrity)
	}
}

func checkSubset(t *testing.T, c *oci.Client, p *pack.Pack) {
	t.Helper()
	if got := fetch(t, c, p, "deploy"); len(got) != 1 || got["deploy"] == nil {
		t.Errorf("a subset gave %d skills", len(got))
	}
	err := c.Fetch(t.Context(), p, []string{"deplyo"}, bundle.NewHasher(bundle.DefaultLimits()))
	wantCode(t, err, diag.NotFound, "deplyo", "deploy, rollback")
}

// TestPushAgain checks that a published version never changes (M3).
func TestPushAgain(t *testing.T) {
	for _, tt := range targets() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, ref := tt.open(t)
			first := push(t, c, ref, "1.0.0", "deploy")
			rel, trees := release("1.0.0", "deploy")
			rel.Description = "Other words about the same content"
			again, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{})
			if err != nil || !again.Existed || again.Digest != first.Digest {
				t.Errorf("again: %+v, %v; first %+v", again, err, first)
			}
			rel, trees = release("1.0.0", "deploy", "rollback")
			_, err = c.Push(t.Context(), ref, rel, trees, oci.PushOptions{})
			var conflict *oci.ConflictError
			if !errors.As(err, &conflict) || conflict.Digest != first.Digest {
				t.Errorf("got %v, want a conflict with %s", err, first.Digest)
			}
			wantCode(t, err, diag.Conflict, "acme/deploy@1.0.0", "increase version")
			p, err := c.Open(t.Context(), ref)
			if err != nil || p.Ref.Digest != first.Digest {
				t.Errorf("after the conflict: %+v, %v", p, err)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	for _, tt := range targets() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, ref := tt.open(t)
			for _, v := range []string{"1.2.0", "1.10.0", "2.0.0-rc.1", "0.9.0"} {
				push(t, c, ref, v, "deploy")
			}
			got, err := c.Versions(t.Context(), ref)
			if want := []string{"2.0.0-rc.1", "1.10.0", "1.2.0", "0.9.0"}; err != nil || !slices.Equal(got, want) {
				t.Errorf("got %q %v, want %q", got, err, want)
			}
			p, err := c.Open(t.Context(), ref)
			if err != nil || p.Version != "1.10.0" {
				t.Errorf("without a version: %+v %v, want 1.10.0", p, err)
			}
			ref.Rev = "3.0.0"
			_, err = c.Open(t.Context(), ref)
			wantCode(t, err, diag.NotFound, "3.0.0")
		})
	}
}

func TestNothingThere(t *testing.T) {
	for _, tt := range targets() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, ref := tt.open(t)
			_, err := c.Versions(t.Context(), ref)
			wantCode(t, err, diag.NotFound, "acme/deploy")
			_, err = c.Open(t.Context(), ref)
			wantCode(t, err, diag.NotFound, "acme/deploy")
			ref.Digest = "sha256:" + strings.Repeat("0", 64)
			_, err = c.Open(t.Context(), ref)
			wantCode(t, err, diag.NotFound)
		})
	}
}

// TestRequests checks the number of requests: one GET to resolve a version, and one more to fetch it.
func TestRequests(t *testing.T) {
	s := ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	push(t, s.Client(t, ""), ref, "1.0.0", "deploy", "rollback")

	c := s.Client(t, "")
	if _, err := c.Versions(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	s.Requests()
	ref.Rev = "1.0.0"
	p, err := c.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Requests(), []string{"GET /v2/acme/deploy/manifests/1.0.0"}; !slices.Equal(got, want) {
		t.Errorf("Open asked %q, want %q", got, want)
	}
	fetch(t, c, p)
	if got := s.Requests(); len(got) != 1 || !strings.HasPrefix(got[0], "GET /v2/acme/deploy/blobs/") {
		t.Errorf("Fetch asked %q, want one blob", got)
	}
}

// TestGoldenDigest checks that published content never depends on the machine, the clock, or the Go version. A change
// of these digests would change the digest of every published pack.
func TestGoldenDigest(t *testing.T) {
	for _, tt := range []struct {
		name   string
		skills []string
		format string
		want   string
	}{
		{"skill", []string{"deploy"}, oci.FormatPack, "sha256:43c7342cfac64b95ceb89fe28d7f646dd3388967e5195af9d73735199e72b663"},
		{"pack", []string{"deploy", "rollback"}, oci.FormatPack, "sha256:a6e3b50e6dbc13a35436db84d0c70033cf904f02b4701b23e6febd59e9d3a0eb"},
		{"collection", []string{"deploy", "rollback"}, oci.FormatAgentSkills, "sha256:370df7ce297ecff29af504d57fbc89483a59163737194906c52225048f0210f7"},
		{"flux", []string{"deploy", "rollback"}, oci.FormatFlux, "sha256:505c163e0c2a0aed504bf6a4b59ef52b6cf5f637e99c6de1652b2a2822594e29"},
		{"toolhive", []string{"deploy"}, oci.FormatToolHive, "sha256:75d1c953e8c151c62ca20474dad041f0046e76aa1ab4485c20d45cb01254bf71"},
		{"image", []string{"deploy", "rollback"}, oci.FormatImage, "sha256:094d50280627e08ae634214b65eb26b57ce306eae8db2d747c94c4fb421f46b7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := oci.New(oci.Options{Base: t.TempDir()})
			rel, trees := release("1.0.0", tt.skills...)
			got, err := c.Push(t.Context(), pack.Ref{Kind: pack.KindLayout, URL: "out", ID: deployID}, rel, trees, oci.PushOptions{Format: tt.format})
			if err != nil || got.Digest != tt.want {
				t.Errorf("got %s %v, want %s", got.Digest, err, tt.want)
			}
		})
	}
}

// TestMirror checks that a digest does not depend on the location of a pack.
func TestMirror(t *testing.T) {
	var digests []string
	for _, tt := range targets()[:1] {
		c, ref := tt.open(t)
		digests = append(digests, push(t, c, ref, "1.0.0", "deploy").Digest)
	}
	c := oci.New(oci.Options{Base: t.TempDir()})
	digests = append(digests, push(t, c, pack.Ref{Kind: pack.KindLayout, URL: "x", ID: deployID}, "1.0.0", "deploy").Digest)
	if digests[0] != digests[1] {
		t.Errorf("digests differ: %q", digests)
	}
}

func TestCollection(t *testing.T) {
	for _, tt := range targets() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, ref := tt.open(t)
			rel, trees := release("1.0.0", "deploy", "rollback")
			if _, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{Format: oci.FormatAgentSkills}); err != nil {
				t.Fatal(err)
			}
			p, err := c.Open(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			checkFetched(t, c, p, trees)
			checkSubset(t, c, p)
		})
	}
}

func TestPushRefuses(t *testing.T) {
	c := oci.New(oci.Options{Base: t.TempDir()})
	ref := pack.Ref{Kind: pack.KindLayout, URL: "out", ID: deployID}
	for _, tt := range []struct {
		name  string
		set   func(*oci.Release, *[]bundle.Tree)
		words string
	}{
		{"build metadata", func(r *oci.Release, _ *[]bundle.Tree) { r.Version = "1.0.0+5" }, "build metadata"},
		{"loose version", func(r *oci.Release, _ *[]bundle.Tree) { r.Version = "v1.0" }, "semantic version"},
		{"dependency with a place", func(r *oci.Release, _ *[]bundle.Tree) {
			r.Dependencies = []pack.Dependency{{ID: deployID, Ref: &pack.Ref{Kind: pack.KindPath, URL: "../x"}}}
		}, "a published pack cannot depend on"},
		{"no skills", func(r *oci.Release, trees *[]bundle.Tree) { r.Skills, *trees = nil, nil }, "acme/deploy does not contain skills"},
		{"a name twice", func(_ *oci.Release, trees *[]bundle.Tree) { *trees = append(*trees, (*trees)[0]) }, "two skills named deploy"},
		{"a name that is not one", func(_ *oci.Release, trees *[]bundle.Tree) { (*trees)[0].Name = "../x" }, "invalid skill name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rel, trees := release("1.0.0", "deploy")
			tt.set(&rel, &trees)
			_, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{})
			wantCode(t, err, diag.Invalid, tt.words)
		})
	}
}

func TestCancel(t *testing.T) {
	s := ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	c := s.Client(t, "")
	push(t, c, ref, "1.0.0", "deploy")
	p, err := c.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			cancel()
			<-r.Context().Done()
			return true
		}
		return false
	})
	err = c.Fetch(ctx, p, nil, bundle.NewHasher(bundle.DefaultLimits()))
	wantCode(t, err, diag.Interrupted)
}

// TestLayoutKeepsOthers checks that publishing a pack to a layout does not change the others, and repairs damage of the
// pack itself.
func TestLayoutKeepsOthers(t *testing.T) {
	dir := t.TempDir()
	c := oci.New(oci.Options{Base: dir})
	ref := pack.Ref{Kind: pack.KindLayout, URL: "out", ID: deployID}
	push(t, c, ref, "1.0.0", "deploy")
	other := ref
	other.ID = pack.ID{Owner: "acme", Name: "deploy-two"}
	rel, trees := release("1.0.0", "deploy")
	rel.ID = other.ID
	if _, err := c.Push(t.Context(), other, rel, trees, oci.PushOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range []pack.Ref{ref, other} {
		p, err := c.Open(t.Context(), r)
		if err != nil || p.ID != r.ID {
			t.Fatalf("%s: %+v %v", r.ID, p, err)
		}
	}
	damage(t, filepath.Join(dir, "out", "blobs", "sha256"))
	p, err := oci.New(oci.Options{Base: dir}).Open(t.Context(), ref)
	if err == nil {
		err = c.Fetch(t.Context(), p, nil, bundle.NewHasher(bundle.DefaultLimits()))
	}
	wantCode(t, err, diag.Integrity)
}

func damage(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, bytes.Replace(data, data[:1], []byte{data[0] ^ 1}, 1), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLayoutIsSomethingElse(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "precious.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := oci.New(oci.Options{})
	rel, trees := release("1.0.0", "deploy")
	_, err := c.Push(t.Context(), pack.Ref{Kind: pack.KindLayout, URL: dir, ID: deployID}, rel, trees, oci.PushOptions{})
	wantCode(t, err, diag.Invalid, "not an OCI layout")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("publishing left %v, %v", entries, err)
	}
}

// TestConcurrentPush publishes different versions to one layout concurrently: all of them must exist afterwards.
func TestConcurrentPush(t *testing.T) {
	dir := t.TempDir()
	ref := pack.Ref{Kind: pack.KindLayout, URL: dir, ID: deployID}
	versions := []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0"}
	errs := make(chan error)
	for _, v := range versions {
		go func() {
			rel, trees := release(v, "deploy")
			_, err := oci.New(oci.Options{}).Push(context.Background(), ref, rel, trees, oci.PushOptions{})
			errs <- err
		}()
	}
	for range versions {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	got, err := oci.New(oci.Options{}).Versions(t.Context(), ref)
	if err != nil || len(got) != len(versions) {
		t.Errorf("got %q %v", got, err)
	}
}

// devNull counts the bytes and discards them.
type devNull struct{ n int64 }

func (d *devNull) WriteFile(_, _ string, _ bool, _ int64, r io.Reader) error {
	n, err := io.Copy(io.Discard, r)
	d.n += n
	return err
}

// TestFetchAgainstIndex checks that an artifact is compared with its index entry, and that no more is fetched than the
// index lists.
func TestFetchAgainstIndex(t *testing.T) {
	c := oci.New(oci.Options{Base: t.TempDir()})
	ref := pack.Ref{Kind: pack.KindLayout, URL: "out", ID: deployID}
	push(t, c, ref, "1.0.0", "deploy", "rollback")
	p, err := c.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	p.Skills = p.Skills[:1]
	if got := fetch(t, c, p); len(got) != 1 || got["deploy"] == nil {
		t.Errorf("fetched %d skills, want the one that is listed", len(got))
	}
	p.Skills[0].Tree = "t1:sha256:" + strings.Repeat("0", 64)
	sink := &devNull{}
	wantCode(t, c.Fetch(t.Context(), p, nil, sink), diag.Integrity, "skill deploy")
	if sink.n != 0 {
		t.Errorf("%d bytes were delivered of a pack that is another one", sink.n)
	}
	p.Skills[0].Name, p.Skills[0].Tree = "other", ""
	wantCode(t, c.Fetch(t.Context(), p, nil, sink), diag.Integrity, "lists the skill other")
}

// TestRacingPublishers makes another publisher's version arrive between the check and the tag.
func TestRacingPublishers(t *testing.T) {
	s := ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	c := s.Client(t, "")
	var once sync.Once
	s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/manifests/1.0.0") {
			return false
		}
		s.Registry.ServeHTTP(w, r)
		once.Do(func() {
			s.Meddle(nil)
			rel, trees := release("1.0.0", "deploy", "rollback")
			rel.Skills[0].Description = "Other"
			forcePush(t, s, rel, trees)
		})
		return true
	})
	rel, trees := release("1.0.0", "deploy")
	_, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{})
	wantCode(t, err, diag.Conflict, "1.0.0")
}

// forcePush stores the manifest of a release under its tag, and replaces an existing one.
func forcePush(t *testing.T, s *ocitest.Server, rel oci.Release, trees []bundle.Tree) {
	t.Helper()
	registry{t, s}.blob("acme/deploy", ocispec.MediaTypeEmptyJSON, []byte("{}"))
	l := registry{t, s}.blob("acme/deploy", oci.MediaTypeContent, []byte("x"))
	m := manifestOf(oci.MediaTypePack, l)
	m.Annotations = oci.Annotations(t, rel, trees)
	registry{t, s}.manifest("acme/deploy", "1.0.0", m.MediaType, m)
}
