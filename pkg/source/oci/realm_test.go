package oci_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// network is a network of servers by name that records which of them received which Authorization header and form.
type network struct {
	servers map[string]http.HandlerFunc // by host

	mu    sync.Mutex
	shown []string // "host Authorization form"
}

func (n *network) RoundTrip(req *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	in := req.Clone(req.Context())
	if in.Body == nil {
		in.Body = http.NoBody
	}
	_ = in.ParseForm()
	n.mu.Lock()
	n.shown = append(n.shown, req.URL.Host+" "+req.Header.Get("Authorization")+" "+in.PostForm.Encode())
	n.mu.Unlock()
	serve, ok := n.servers[req.URL.Host]
	if !ok {
		return nil, fmt.Errorf("no server %s", req.URL.Host)
	}
	serve(rec, in)
	resp := rec.Result()
	resp.Request = req
	return resp, nil
}

// client returns a client of the network that has credentials for one host.
func (n *network) client(t *testing.T, host string, stored map[string]string) *oci.Client {
	t.Helper()
	dir := t.TempDir()
	data, err := json.Marshal(map[string]any{"auths": map[string]any{host: stored}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	c := oci.New(oci.Options{Transport: n, Retries: -1, Getenv: func(key string) string {
		return map[string]string{"DOCKER_CONFIG": dir}[key]
	}})
	t.Cleanup(c.Close)
	return c
}

// wantsToken answers like a registry that requires tokens from a realm.
func wantsToken(realm string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Authorization"), "Bearer") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("WWW-Authenticate", realm)
		w.WriteHeader(http.StatusUnauthorized)
	}
}

func givesToken(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte(`{"token":"t0ken-of-the-realm","access_token":"t0ken-of-the-realm"}`))
}

var (
	password = map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte("ada:s3cret/w0rd"))}
	identity = map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte("<token>:")), "identitytoken": "r3fresh-token"}
)

// TestRealm checks that a registry's credentials go only to its own token server. Others are asked anonymously.
func TestRealm(t *testing.T) {
	for _, tt := range []struct {
		registry, realm string
		shown           bool
	}{
		{"registry.invalid", `Bearer realm="https://registry.invalid/token",service="x"`, true},
		{"registry.invalid", `Bearer realm="https://registry.invalid:8443/token"`, true},
		{"registry.forge.invalid", `Bearer realm="https://forge.invalid/jwt/auth",service="x"`, true},
		{"registry.forge.invalid", `bearer realm="https://auth.forge.invalid/token"`, true},
		{"registry.invalid", `Bearer realm="https://evil.invalid/token",service="x"`, false},
		{"registry.forge.invalid", `Bearer realm="https://evilforge.invalid/token"`, false},
		{"registry.forge.invalid", `Bearer realm="https://registry.forge.invalid.evil.invalid/token"`, false},
		{"registry.forge.invalid", `Bearer realm="http://registry.forge.invalid/token"`, false},
		{"registry.forge.invalid", `Bearer realm="ftp://registry.forge.invalid/token"`, false},
		{"registry.forge.invalid", `Bearer service="x"`, false},
		{"registry.forge.invalid", `Bearer x="realm=",realm="https://evil.invalid/token"`, false},
		{"registry.forge.invalid", `Bearer realm="https://registry.forge.invalid/token",realm="https://evil.invalid/token"`, false},
		{"registry.forge.invalid", `Bearer x="realm=https://registry.forge.invalid/",realm ="https://evil.invalid/token"`, false},
		{"registry.forge.invalid", `Bearer realm="https://registry.forge.invalid@evil.invalid/token"`, false},
	} {
		for name, stored := range map[string]map[string]string{"password": password, "identity": identity} {
			t.Run(tt.registry+" "+tt.realm+" "+name, func(t *testing.T) {
				host := tt.registry
				n := &network{servers: map[string]http.HandlerFunc{host: wantsToken(tt.realm)}}
				for _, server := range []string{
					"registry.invalid:8443", "forge.invalid", "auth.forge.invalid", "evil.invalid", "evilforge.invalid",
					"registry.forge.invalid.evil.invalid",
				} {
					n.servers[server] = givesToken
				}
				if strings.Contains(tt.realm, "//"+host+"/token\",service") {
					registry := n.servers[host]
					n.servers[host] = func(w http.ResponseWriter, r *http.Request) {
						if r.URL.Path == "/token" {
							givesToken(w, r)
							return
						}
						registry(w, r)
					}
				}
				_, err := n.client(t, host, stored).Open(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: "oci://" + host + "/acme/deploy", Rev: "1.0.0"})
				wantCode(t, err, diag.Denied)
				leaked := slices.ContainsFunc(n.shown, func(s string) bool {
					return strings.Contains(s, password["auth"]) || strings.Contains(s, "r3fresh-token")
				})
				if leaked != tt.shown {
					t.Errorf("credentials shown: %t, want %t: %q", leaked, tt.shown, n.shown)
				}
				if !tt.shown && !strings.Contains(diag.HintOf(err), "does not send the credentials") {
					t.Errorf("hint %q", diag.HintOf(err))
				}
			})
		}
	}
}

// TestTrustedRealms checks which servers may receive the credentials for which registries.
func TestTrustedRealms(t *testing.T) {
	c := oci.New(oci.Options{AuthHosts: map[string][]string{
		"registry.corp.example:5000": {"sso.globex.example", "sso.globex.example:8443"},
		"10.0.0.1":                   {"10.0.0.2:5001"},
		"registry.corp":              {"auth.corp"},
	}})
	t.Cleanup(c.Close)
	for _, tt := range []struct {
		registry, realm string
		want            bool
	}{
		{"https://registry.corp.test", "https://auth.corp.test/token", true},
		{"https://registry.corp.test", "https://corp.test/token", true},
		{"https://registry.corp.test", "https://auth.corp.test:8443/token", true},
		{"https://registry.eu.corp.test", "https://auth.corp.test/token", true},
		{"https://registry.gitlab.corp", "https://gitlab.corp/jwt/auth", true},
		{"https://registry.corp.test", "https://auth.evilcorp.test/token", false},
		{"https://registry.corp.test", "https://auth.corp.test.evil.test/token", false},
		{"https://registry.corp.test", "https://test/token", false},

		// over plain HTTP only if the registry uses it
		{"http://registry.corp.test:5000", "http://auth.corp.test:5001/token", true},
		{"https://registry.corp.test", "http://auth.corp.test/token", false},
		{"https://registry.example.org", "http://registry.example.org/token", false},
		{"https://registry.corp.example:5000", "http://sso.globex.example/token", false},
		{"https://ghcr.io", "ftp://ghcr.io/token", false},
		{"https://ghcr.io", "//ghcr.io/token", false},

		// public suffixes, below which anyone can register a name
		{"https://registry.co.uk", "https://evil.co.uk/token", false},
		{"https://evil.co.uk", "https://auth.co.uk/token", false},
		{"https://evil.co.uk", "https://co.uk/token", false},
		{"https://registry.acme.co.uk", "https://auth.acme.co.uk/token", true},
		{"https://acme.github.io", "https://evil.github.io/token", false},
		{"https://acme.github.io", "https://github.io/token", false},
		{"https://registry.acme.github.io", "https://auth.acme.github.io/token", true},
		{"https://acme.azurecr.io", "https://evil.azurecr.io/token", true}, // not in the list; the next are
		{"https://acme.blogspot.com", "https://evil.blogspot.com/token", false},
		{"https://acme.s3.amazonaws.com", "https://evil.s3.amazonaws.com/token", false},
		{"https://quay.example.com.au", "https://example.com.au/token", true},
		{"https://example.com.au", "https://com.au/token", false},
		{"https://a.kawasaki.jp", "https://b.kawasaki.jp/token", false},
		{"https://registry.example.org", "https://org/token", false},
		{"https://example.org", "https://other.org/token", false},
		{"https://registry.公司.cn", "https://evil.公司.cn/token", false},
		{"https://registry.corp.test.", "https://auth.corp.test./token", false},

		// names with one label, and addresses
		{"https://registry", "https://auth/token", false},
		{"https://registry.corp", "https://evil.corp/token", false},
		{"https://registry.corp", "https://auth.corp/token", true},
		{"https://registry.example.org", "https://127.0.0.1/token", false},
		{"https://registry.example.org", "https://10.0.0.1/token", false},
		{"https://registry.example.org", "https://169.254.169.254/token", false},
		{"https://registry.example.org", "https://[::1]/token", false},
		{"https://registry.example.org", "https://localhost/token", false},
		{"https://localhost:5000", "https://localhost:5001/token", true},
		{"https://a.localhost", "https://b.localhost/token", false},
		{"http://127.0.0.1:5000", "http://127.0.0.1:5001/token", true},
		{"http://127.0.0.1:5000", "http://127.0.0.2:5001/token", false},
		{"http://127.0.0.1:5000", "https://evil.example/token", false},
		{"https://10.0.0.1", "https://9.0.0.1/token", false},
		{"https://1.2.3.4", "https://9.2.3.4/token", false},
		{"https://[fd00::1]", "https://[fd00::2]/token", false},

		// the settings
		{"https://registry.corp.example:5000", "https://sso.globex.example/token", true},
		{"https://Registry.Corp.example:5000", "https://SSO.globex.example:443/token", true},
		{"https://registry.corp.example:5000", "https://sso.globex.example:8443/token", true},
		{"https://registry.corp.example:5000", "https://sso.globex.example:9443/token", false},
		{"https://registry.corp.example:5000", "https://evil.globex.example/token", false},
		{"https://registry.corp.example", "https://sso.globex.example/token", false},
		{"https://registry.other.example", "https://sso.globex.example/token", false},
		{"https://10.0.0.1", "https://10.0.0.2:5001/token", true},
		{"https://10.0.0.1", "https://10.0.0.3:5001/token", false},

		{"https://ghcr.io", "https://ghcr.io/token", true},
		{"https://GHCR.io", "https://ghcr.IO/token", true},
		{"https://registry-1.docker.io", "https://auth.docker.io/token", true},
		{"https://registry-1.docker.io", "https://auth.docker.io.evil.example/token", false},
	} {
		registry, err := url.Parse(tt.registry)
		if err != nil {
			t.Fatal(err)
		}
		realm, err := url.Parse(tt.realm)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.MayReceiveCredentials(registry, realm); got != tt.want {
			t.Errorf("%s with %s: %t", tt.registry, tt.realm, got)
		}
	}
}

// TestSecretsInErrors makes servers repeat the secrets that they received.
func TestSecretsInErrors(t *testing.T) {
	const host = "registry.invalid"
	basic := password["auth"]
	long := strings.Repeat("x", 180) // so that messages are cut inside the secret
	token := "eyJhbGciOiJSUzI1NiJ9." + strings.Repeat("abc123", 60)
	echo := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/token" {
				fmt.Fprintf(w, `{"token":%q}`, token)
				return
			}
			if r.Header.Get("Authorization") == "" {
				w.Header().Set("WWW-Authenticate", map[bool]string{true: `Bearer realm="https://registry.invalid/token"`, false: `Basic realm="x"`}[strings.Contains(text, token)])
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"errors":[{"code":"X","message":%q},{"code":%q}]}`, text, text)
		}
	}
	for name, text := range map[string]string{
		"password": "you sent s3cret/w0rd", "escaped": "you sent s3cret%2Fw0rd", "basic": "you sent " + basic, "token": "you sent " + token,
		"cut": long + basic, "cut token": long[:150] + token,
	} {
		for _, status := range []int{400, 401, 403, 404, 500} {
			t.Run(fmt.Sprint(name, status), func(t *testing.T) {
				n := &network{servers: map[string]http.HandlerFunc{host: echo(status, text)}}
				_, err := n.client(t, host, password).Open(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: "oci://" + host + "/acme/deploy", Rev: "1.0.0"})
				said := fmt.Sprint(err) + diag.HintOf(err)
				for _, secret := range []string{"s3cret", basic[:16], token[:30]} {
					if err == nil || strings.Contains(said, secret) {
						t.Errorf("%q holds %s", said, secret)
					}
				}
				if status != 404 && !strings.Contains(said, "***") {
					t.Errorf("%q does not show that something is missing", said)
				}
			})
		}
	}
}

// TestErrorNamesServer checks that the error names the server that denied access, if it is not the registry.
func TestErrorNamesServer(t *testing.T) {
	refuses := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	n := &network{servers: map[string]http.HandlerFunc{
		"registry.invalid": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://cdn.invalid"+r.URL.Path, http.StatusTemporaryRedirect)
		},
		"cdn.invalid":     refuses,
		"tokens.invalid":  wantsToken(`Bearer realm="https://tokens.invalid/token"`),
		"private.invalid": wantsToken(`Bearer realm="https://evil.invalid/token"`),
		"evil.invalid":    refuses,
	}}
	c := n.client(t, "registry.invalid", password)
	for host, want := range map[string][]string{
		"registry.invalid": {"cdn.invalid (to which registry.invalid redirects) denied access", "about cdn.invalid: skillpm does not send"},
		"tokens.invalid":   {"tokens.invalid denied access", "skillpm login tokens.invalid"},
		"private.invalid":  {"evil.invalid (the token server of private.invalid) denied access", "config set auth-hosts.private.invalid evil.invalid"},
	} {
		ref := pack.Ref{Kind: pack.KindOCI, URL: "oci://" + host + "/acme/deploy", Rev: "1.0.0"}
		_, err := c.Open(t.Context(), ref)
		wantCode(t, err, diag.Denied, want...)
		if host == "registry.invalid" && strings.Contains(diag.HintOf(err), "skillpm login") {
			t.Errorf("hint %q does not help", diag.HintOf(err))
		}
		_, err = c.Versions(t.Context(), ref)
		wantCode(t, err, diag.Denied, want[1])
	}
}

// TestPlainPage makes a server without TLS answer a TLS handshake with a page that does not begin like HTTP.
func TestPlainPage(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			first := make([]byte, 1)
			_, _ = conn.Read(first)
			if first[0] == 0x16 { // a TLS greeting
				_, _ = conn.Write([]byte("<!DOCTYPE HTML>\n<html><body>Bad request syntax</body></html>\n"))
			} else {
				_, _ = conn.Write([]byte("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
			}
			_ = conn.Close()
		}
	}()
	c := oci.New(oci.Options{Retries: -1})
	defer c.Close()
	_, err = c.Versions(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: "oci://" + listener.Addr().String() + "/acme/deploy"})
	wantCode(t, err, diag.NotFound, "does not exist")
}
