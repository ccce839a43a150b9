package indexer_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// outage is an index of packs in a registry that can go down, or answer for some repositories only.
type outage struct {
	t      *testing.T
	dir    string // of the index
	out    string
	market string
	server *httptest.Server
	down   atomic.Value // part of the paths that the registry does not answer
}

func newOutage(t *testing.T, packs ...registrytest.Published) *outage {
	t.Helper()
	top := t.TempDir()
	o := &outage{t: t, dir: t.TempDir(), out: filepath.Join(top, "out"), market: filepath.Join(top, "market")}
	registry := ocitest.New(t).Registry
	o.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if part, _ := o.down.Load().(string); part != "" && strings.Contains(r.URL.Path, part) {
			w.WriteHeader(http.StatusForbidden) // what the client does not try again
			return
		}
		registry.ServeHTTP(w, r)
	}))
	t.Cleanup(o.server.Close)
	o.publish(packs...)
	return o
}

// publish pushes packs, and adds them to the index.
func (o *outage) publish(packs ...registrytest.Published) {
	o.t.Helper()
	c := oci.New(oci.Options{Base: o.dir})
	o.t.Cleanup(c.Close)
	at := func(id pack.ID) string {
		return "oci://" + strings.TrimPrefix(o.server.URL, "http://") + "/" + id.String()
	}
	registrytest.WriteIndex(o.t, o.dir, c, func(id pack.ID) pack.Ref { return pack.Ref{Kind: pack.KindOCI, URL: at(id)} }, at, packs)
}

// build generates the website on a new machine, without a cache.
func (o *outage) build(keepGoing bool) *indexer.SiteReport {
	o.t.Helper()
	r, err := client(o.t, o.dir).Site(o.t.Context(), indexer.SiteOptions{
		Out: o.out, Marketplace: o.market, BaseURL: "https://skills.example", KeepGoing: keepGoing,
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return r
}

// files returns the files of the website and of the marketplace, with their content.
func (o *outage) files() map[string]string {
	o.t.Helper()
	all := map[string]string{}
	for _, dir := range []string{o.out, o.market} {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			name, _ := filepath.Rel(dir, path)
			all[filepath.ToSlash(name)] = string(data)
			return err
		})
		if err != nil {
			o.t.Fatal(err)
		}
	}
	return all
}

func manyPublished(version string, n int) (packs []registrytest.Published) {
	for i := range n {
		packs = append(packs, registrytest.Pack(fmt.Sprintf("acme/pack-%02d", i), version, fmt.Sprintf("skill-%02d", i), "shared"))
	}
	return packs
}

// TestSiteOutage generates a website while the registry does not answer: nothing changes.
func TestSiteOutage(t *testing.T) {
	o := newOutage(t, manyPublished("1.0.0", 12)...)
	if r := o.build(false); r.Code() != diag.OK || r.Partial || r.Written == 0 {
		t.Fatalf("%+v", r)
	}
	before := o.files()
	o.down.Store("/pack-07/")
	r := o.build(false)
	o.server.Close()
	for want, r := range map[int]*indexer.SiteReport{1: r, 12: o.build(false)} {
		if r.Code() != diag.Remote || r.Partial || len(r.Unfetched) != want || r.Written+r.Removed != 0 {
			t.Errorf("%d packs cannot be read: code %v, %+v", want, r.Code(), r)
		}
		if u := r.Unfetched[0]; !strings.HasPrefix(u.Pack, "acme/pack-0") || u.Version != "1.0.0" || u.Problem == "" {
			t.Errorf("%d packs cannot be read: %+v", want, u)
		}
	}
	sameFiles(t, o.files(), before)

	// Nothing is lost with --keep-going, either.
	if r := o.build(true); r.Code() != diag.Remote || !r.Partial || r.Removed != 0 || r.Unfetched[11].Kept != "1.0.0" {
		t.Errorf("code %v, %+v", r.Code(), r)
	}
	sameFiles(t, o.files(), before)
}

// TestSiteMachineError checks that a failure of this machine is an error, and not a pack that could not be read.
func TestSiteMachineError(t *testing.T) {
	o := newOutage(t, manyPublished("1.0.0", 2)...)
	home := t.TempDir()
	cache := filepath.Join(home, ".cache")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cache, "skillpm"), nil, 0o644); err != nil { // where a directory should be
		t.Fatal(err)
	}
	r, err := clientOf(t, home, o.dir).Site(t.Context(), indexer.SiteOptions{
		Out: o.out, BaseURL: "https://skills.example", KeepGoing: true,
	})
	if diag.CodeOf(err) != diag.Internal || !strings.Contains(err.Error(), "skillpm") {
		t.Errorf("%+v, %v; want an error about the directory of the store", r, err)
	}
}

func sameFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if strings.HasPrefix(name, ".skillpm-site") {
			continue
		}
		if got[name] != text {
			t.Errorf("%s is gone or different", name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is new", name)
		}
	}
}

// TestSiteKeepGoing generates a website while some packs cannot be read: their last pages stay.
func TestSiteKeepGoing(t *testing.T) {
	o := newOutage(t, manyPublished("1.0.0", 6)...)
	o.build(false)
	before := o.files()
	o.publish(append(manyPublished("1.0.0", 6), append(manyPublished("1.1.0", 6), registrytest.Pack("globex/new", "1.0.0", "shared"))...)...)
	o.down.Store("/pack-03/")
	r := o.build(true)
	if r.Code() != diag.Remote || !r.Partial || len(r.Unfetched) != 1 || r.Removed != 0 || r.Unfetched[0].Kept != "1.0.0" ||
		r.Unfetched[0].Pack != "acme/pack-03" || r.Unfetched[0].Version != "1.1.0" {
		t.Fatalf("code %v, %+v", r.Code(), r)
	}
	after := o.files()
	for name, text := range before {
		if strings.Contains(name, "pack-03") && after[name] != text {
			t.Errorf("%s changed", name)
		}
	}
	for name, want := range map[string]string{
		"packs/acme/pack-02.html":                  "1.1.0",
		".well-known/agent-skills/index.json":      `"name":"skill-03"`,
		".claude-plugin/marketplace.json":          `"name":"acme-pack-03","source":"./plugins/acme-pack-03","version":"1.0.0"`,
		"packs/globex/new.html":                    "1.0.0",
		"plugins/acme-pack-02/skills/x":            "",
		"packs/acme/pack-03.html":                  "1.0.0",
		".well-known/agent-skills/skill-03.tar.gz": before[".well-known/agent-skills/skill-03.tar.gz"],
	} {
		if !strings.Contains(after[name], want) {
			t.Errorf("%s does not contain %q: %s", name, want, after[name])
		}
	}
	names := strings.Count(after[".well-known/agent-skills/index.json"], `"name"`)
	if names != 13 {
		t.Errorf("%d skills are discoverable, want 13", names)
	}

	// The registry comes back, and the website is as if it had never been away.
	o.down.Store("")
	if r := o.build(false); r.Code() != diag.OK || r.Partial {
		t.Fatalf("%+v", r)
	}
	fresh := *o
	fresh.out, fresh.market = filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "market")
	fresh.build(false)
	sameFiles(t, o.files(), fresh.files())
}

// TestSiteKeepsNoYanked: pages of a version that was yanked meanwhile do not stay.
func TestSiteKeepsNoYanked(t *testing.T) {
	o := newOutage(t, manyPublished("1.0.0", 2)...)
	o.build(false)
	yanked := manyPublished("1.0.0", 2)
	yanked[1].Yanked = "it deletes too much"
	o.publish(append(yanked, registrytest.Pack("acme/pack-01", "1.1.0", "skill-01"))...)
	o.down.Store("/pack-01/")
	r := o.build(true)
	if r.Code() != diag.Remote || r.Unfetched[0].Kept != "" {
		t.Fatalf("%+v", r)
	}
	after := o.files()
	if page := after["packs/acme/pack-01.html"]; !strings.Contains(page, "could not fetch") || strings.Contains(page, "skillpm install acme/pack-01@1.0.0") {
		t.Error("the page of a yanked version stays")
	}
	if after[".well-known/agent-skills/skill-01.tar.gz"] != "" || strings.Contains(after[".claude-plugin/marketplace.json"], "pack-01") {
		t.Error("files of a yanked version stay")
	}
	if r := o.build(true); slices.ContainsFunc(r.Unfetched, func(u indexer.Unfetched) bool { return u.Kept != "" }) {
		t.Errorf("a page without content counts as the last good one: %+v", r)
	}
}

// TestSiteChangedContent: a source with other content than the index records is an integrity error.
func TestSiteChangedContent(t *testing.T) {
	o := newOutage(t, manyPublished("1.0.0", 2)...)
	o.build(false)
	file := filepath.Join(o.dir, "packs")
	if err := filepath.WalkDir(file, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, "pack-00") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := string(data)
		i := strings.Index(text, `"integrity":"t1:sha256:`) + len(`"integrity":"t1:sha256:`)
		return os.WriteFile(path, []byte(text[:i]+strings.Repeat("0", 64)+text[i+64:]), 0o644)
	}); err != nil {
		t.Fatal(err)
	}
	if r := o.build(false); r.Code() != diag.Integrity || len(r.Unfetched) != 1 || r.Unfetched[0].Code != diag.Integrity {
		t.Errorf("code %v, %+v", r.Code(), r)
	}
}
