package indexer_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
)

// wellKnownSite returns the URL of a served website, below a path, with a skill that is only SKILL.md and skills of the
// same name in two packs.
func wellKnownSite(t *testing.T) (address string, o *outage) {
	t.Helper()
	simple := registrytest.Pack("acme/simple", "1.0.0", "simple")
	simple.Trees[0] = bundle.MapTree("simple", map[string][]byte{"SKILL.md": []byte("---\nname: simple\ndescription: Does simple.\n---\n")},
		func(string) bool { return false })
	simple.Release.Tags = []string{"plain"}
	o = newOutage(t, append(manyPublished("1.0.0", 2), simple)...)
	server := httptest.NewServer(http.StripPrefix("/site/", http.FileServer(http.Dir(o.out))))
	t.Cleanup(server.Close)
	r, err := client(t, o.dir).Site(t.Context(), indexer.SiteOptions{Out: o.out, BaseURL: server.URL + "/site/", Title: "Skills of Acme"})
	if err != nil || len(r.Warnings) > 0 {
		t.Fatalf("%+v %v", r, err)
	}
	return server.URL + "/site/", o
}

// download returns the content at an address.
func download(t *testing.T, address string) []byte {
	t.Helper()
	resp, err := http.Get(address) //nolint:noctx // the server ends with the test
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", address, resp.Status)
	}
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// conforms requires a document to match a schema of the tests of the website.
func conforms(t *testing.T, schema string, data []byte) {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat = true
	compiled, err := compiler.Compile("file://" + filepath.ToSlash(abs(t, filepath.Join("..", "internal", "site", "testdata", schema))))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(v); err != nil {
		t.Errorf("%s: %#v\n%s", schema, err, data)
	}
}

func abs(t *testing.T, name string) string {
	t.Helper()
	name, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestSiteDiscovery reads the discovery index as its draft tells clients to: from the well-known path, with addresses
// that are relative to the index, and with digests of the exact bytes.
func TestSiteDiscovery(t *testing.T) {
	base, _ := wellKnownSite(t)
	at := base + ".well-known/agent-skills/index.json"
	data := download(t, at)
	conforms(t, "discovery.schema.json", data)
	var index struct {
		Skills []struct{ Name, Type, URL, Digest string }
	}
	if err := json.Unmarshal(data, &index); err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for _, s := range index.Skills {
		types[s.Name] = s.Type
		if got := "sha256:" + textx.SHA256(download(t, resolve(t, at, s.URL))); got != s.Digest {
			t.Errorf("%s has the digest %s, want %s", s.URL, got, s.Digest)
		}
	}
	if len(types) != 5 || types["simple"] != "skill-md" || types["skill-01"] != "archive" || types["acme-pack-01-shared"] != "archive" {
		t.Errorf("got %v", types)
	}
}

func resolve(t *testing.T, base, ref string) string {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	if u, err = u.Parse(ref); err != nil {
		t.Fatal(err)
	}
	return u.String()
}

// TestSiteCatalog reads the AI Catalog from the well-known path and from the link of a page.
func TestSiteCatalog(t *testing.T) {
	base, o := wellKnownSite(t)
	data := download(t, base+".well-known/ai-catalog.json")
	conforms(t, "ai-catalog.schema.json", data)
	var c struct {
		Host    struct{ DisplayName string }
		Entries []struct{ Identifier, Type, URL, Digest, Version, UpdatedAt, DisplayName string }
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range c.Entries {
		page, _, _ := strings.Cut(e.Identifier, "#")
		download(t, page)
		if got := "sha256:" + textx.SHA256(download(t, e.URL)); got != e.Digest || seen[e.Identifier] || e.Version != "1.0.0" ||
			e.UpdatedAt != "2026-11-20T10:00:00Z" || (e.Type == "application/agent-skills+md") != (e.DisplayName == "simple") {
			t.Errorf("%+v", e)
		}
		seen[e.Identifier] = true
	}
	if len(c.Entries) != 5 || c.Host.DisplayName != "Skills of Acme" {
		t.Errorf("got %s", data)
	}
	page := string(download(t, base+"packs/acme/simple.html"))
	if !strings.Contains(page, `<link rel="ai-catalog" href="../../.well-known/ai-catalog.json" type="application/ai-catalog+json">`) {
		t.Error("pages do not link to the catalog")
	}
	for _, options := range []indexer.SiteOptions{{}, {BaseURL: base, NoWellKnown: true}} { // no addresses, and not wanted
		options.Out = o.out
		if _, err := client(t, o.dir).Site(t.Context(), options); err != nil {
			t.Fatal(err)
		}
		files := o.files()
		if files[".well-known/ai-catalog.json"] != "" || strings.Contains(files["index.html"], "ai-catalog") {
			t.Errorf("%+v: there is a catalog", options)
		}
	}
}
