package oci_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// visitors records which hosts received requests, and their content.
type visitors struct {
	handler http.HandlerFunc

	mu   sync.Mutex
	seen []string // "METHOD host Authorization"
}

func (v *visitors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	v.seen = append(v.seen, strings.TrimSpace(r.Method+" "+r.Host+" "+r.Header.Get("Authorization")))
	v.mu.Unlock()
	v.handler(w, r)
}

// beyond returns the requests to hosts other than registry.example.
func (v *visitors) beyond() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(v.seen), func(s string) bool { return strings.Fields(s)[1] == "registry.example" })
}

// client returns a client that has credentials for registry.example and treats every server as HTTPS.
func (v *visitors) client(t *testing.T) *oci.Client {
	t.Helper()
	dir := t.TempDir()
	data, err := json.Marshal(map[string]any{"auths": map[string]any{
		"registry.example": map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte("ada:s3cret/w0rd"))},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	c := oci.New(oci.Options{Transport: ocitest.Pipe(t, v), Retries: -1, Getenv: func(key string) string {
		return map[string]string{"DOCKER_CONFIG": dir}[key]
	}})
	t.Cleanup(c.Close)
	return c
}

// loggedIn requires a password and reports whether there was one.
func loggedIn(w http.ResponseWriter, r *http.Request) bool {
	if _, _, ok := r.BasicAuth(); !ok && r.Host == "registry.example" {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
		return false
	}
	return true
}

// elsewhere lists targets of a registry's redirects.
var elsewhere = []struct {
	name, place string
	allowed     bool // for downloads; uploads go nowhere else
}{
	{"another host", "https://cdn.example", true},
	{"another port", "https://registry.example:8443", true},
	{"plain HTTP", "http://registry.example", false},
	{"plain HTTP elsewhere", "http://cdn.example", false},
	{"metadata service of a cloud", "https://169.254.169.254", false},
	{"the same, as IPv6", "https://[fe80::a9fe:a9fe]", false},
	{"the same, mapped", "https://[::ffff:169.254.169.254]", false},
	{"this machine", "https://127.0.0.1:5000", false},
	{"this machine by name", "https://localhost", false},
	{"this machine, IPv6", "https://[::1]", false},
	{"any address", "https://0.0.0.0", false},
	{"a file", "file:///etc", false},
	{"a user with a password", "https://ada:s3cret@cdn.example", true},
}

// TestRedirectTargets makes a registry redirect downloads: no credential leaves its host, and no redirect leads away
// from HTTPS or into this machine.
func TestRedirectTargets(t *testing.T) {
	f := newFaulty(t)
	f.path = "none"
	for _, tt := range elsewhere {
		for _, what := range []string{"/blobs/", "/manifests/", "/tags/"} {
			t.Run(tt.name+" "+what, func(t *testing.T) {
				v := &visitors{handler: func(w http.ResponseWriter, r *http.Request) {
					switch {
					case !loggedIn(w, r):
					case r.Host == "registry.example" && strings.Contains(r.URL.Path, what):
						w.Header().Set("Location", tt.place+r.URL.Path)
						w.WriteHeader(http.StatusTemporaryRedirect)
					default:
						f.ServeHTTP(w, r)
					}
				}}
				err := get(t, v.client(t), faultyRef)
				if tt.allowed && err != nil {
					t.Error(err)
				}
				if !tt.allowed {
					wantCode(t, err, diag.Denied, "redirects")
				}
				var want []string
				if tt.allowed {
					_, host, _ := strings.Cut(strings.Replace(tt.place, "ada:s3cret@", "", 1), "//")
					want = []string{"GET " + host}
				}
				if got := v.beyond(); !slices.Equal(got, want) {
					t.Errorf("other hosts got %q, want %q", got, want)
				}
			})
		}
	}
}

// TestUploadTargets makes a registry redirect uploads to another host: nothing is sent there.
func TestUploadTargets(t *testing.T) {
	for _, tt := range elsewhere {
		t.Run(tt.name, func(t *testing.T) {
			v := &visitors{handler: func(w http.ResponseWriter, r *http.Request) {
				switch {
				case !loggedIn(w, r):
				case r.Method == http.MethodPost:
					w.Header().Set("Location", tt.place+"/upload?x=1")
					w.WriteHeader(http.StatusAccepted)
				case r.Method == http.MethodPut:
					w.WriteHeader(http.StatusCreated)
				default:
					http.NotFound(w, r)
				}
			}}
			rel, trees := release("1.0.0", "deploy")
			_, err := v.client(t).Push(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: "oci://registry.example/acme/deploy"}, rel, trees, oci.PushOptions{})
			wantCode(t, err, diag.Remote, "upload Location")
			if got := v.beyond(); len(got) != 0 {
				t.Errorf("other hosts got %q", got)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%q has a password", err)
			}
		})
	}
}

// TestRequestCounts checks that a registry receives only requests for tags, a manifest, and a layer: none for
// referrers, whose pages could be endless, too.
func TestRequestCounts(t *testing.T) {
	s := ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	push(t, s.Client(t, ""), ref, "1.0.0", "deploy")
	c := s.Client(t, "")
	s.Requests()
	if err := get(t, c, ref); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, r := range s.Requests() {
		parts := strings.Split(r, "/")
		kinds = append(kinds, parts[len(parts)-2])
	}
	if want := []string{"tags", "manifests", "blobs"}; !slices.Equal(kinds, want) {
		t.Errorf("asked for %q, want %q", kinds, want)
	}
}
