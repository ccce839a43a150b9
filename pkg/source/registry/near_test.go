package registry_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// TestNearSources checks that the lines of an index name no source on this machine or its link-local network, unless
// the index is on this machine, too.
func TestNearSources(t *testing.T) {
	dir := t.TempDir()
	indexOfServer(t, dir, []registrytest.Published{registrytest.Pack("acme/deploy", "1.0.0", "deploy")})
	file := filepath.Join(dir, "packs/a5/0a/acme/deploy.ndjson")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	source := regexp.MustCompile(`"source":"[^"@]*`)
	if !source.Match(data) {
		t.Fatalf("the line does not have a source: %s", data)
	}
	s := &web{dirs: map[string]http.Handler{
		"a.example": http.FileServer(http.Dir(dir)), "127.0.0.1:1": http.FileServer(http.Dir(dir)),
	}}
	id := parseID(t, "acme/deploy")
	tried := 0
	for _, host := range []string{
		"127.0.0.1", "127.1", "0x7f.1", "2130706433", "localhost", "LOCALHOST", "a.localhost", "localhost.", "[::1]",
		"[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254", "[fe80::1]", "[64:ff9b::7f00:1]", "100.100.100.200",
	} {
		for _, form := range []string{"oci://HOST:5000/acme/deploy", "oci://HOST/acme/deploy"} {
			line := source.ReplaceAllString(string(data), `"source":"`+strings.Replace(form, "HOST", host, 1))
			if err := os.WriteFile(file, []byte(line), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := open(t, "https://a.example", registry.Deps{HTTP: s.client(t), Named: &httpx.Named{}}).Pack(t.Context(), id, "1.0.0")
			if err == nil || diag.CodeOf(err) != diag.Denied && diag.CodeOf(err) != diag.Invalid {
				t.Errorf("%s on %s: %v", form, host, err)
			}
			if diag.CodeOf(err) == diag.Denied {
				tried++
			}
			_, err = open(t, "http://127.0.0.1:1", registry.Deps{HTTP: s.client(t), Named: &httpx.Named{}}).Pack(t.Context(), id, "1.0.0")
			if host == "127.0.0.1" && err != nil {
				t.Errorf("an index on this machine cannot name %s: %v", form, err)
			}
		}
	}
	if tried < 16 {
		t.Errorf("only %d sources were denied", tried)
	}
}
