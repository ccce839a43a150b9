package oci_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// TestCheckLogin checks that a login is sent to its registry, to that registry's own token server, and to no other
// server.
func TestCheckLogin(t *testing.T) {
	var seen []string
	note := func(r *http.Request) {
		if user, secret, ok := r.BasicAuth(); ok {
			seen = append(seen, r.Host+" "+user+":"+secret)
		}
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		_, _ = w.Write([]byte(`{"token":"anonymous"}`))
	}))
	defer other.Close()
	elsewhere := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	mode := ""
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		user, secret, _ := r.BasicAuth()
		good := user == "robot" && secret == "s3cret"
		refuse := func(challenge string) {
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(http.StatusUnauthorized)
		}
		switch {
		case r.URL.Path == "/token" && good:
			_, _ = w.Write([]byte(`{"token":"for-robot"}`))
		case r.URL.Path == "/token":
			w.WriteHeader(http.StatusUnauthorized)
		case mode == "open":
		case mode == "none":
			w.WriteHeader(http.StatusNotFound)
		case strings.HasPrefix(mode, "basic") && !good:
			refuse(`Basic realm="registry"`)
		case mode == "basic, none":
			w.WriteHeader(http.StatusNotFound)
		case mode == "bearer" && r.Header.Get("Authorization") != "Bearer for-robot":
			refuse(`Bearer realm="` + server.URL + `/token",service="registry"`)
		case mode == "elsewhere" && r.Header.Get("Authorization") == "":
			refuse(`Bearer realm="` + elsewhere + `/token",service="registry"`)
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	for _, tt := range []struct {
		mode, secret string
		requested    bool
		code         diag.Code
		shown        bool
	}{
		{"basic", "s3cret", true, diag.OK, true},
		{"basic", "wrong-password", true, diag.Denied, true},
		{"bearer", "s3cret", true, diag.OK, true},
		{"bearer", "wrong-password", true, diag.Denied, true},
		{"open", "s3cret", false, diag.OK, false},
		{"none", "s3cret", false, diag.OK, false},
		{"basic, none", "s3cret", true, diag.OK, true},
		{"basic, none", "wrong-password", true, diag.Denied, true},
		{"elsewhere", "s3cret", true, diag.Denied, false},
	} {
		mode, seen = tt.mode, nil
		c := oci.New(oci.Options{Retries: -1})
		requested, err := c.CheckLogin(t.Context(), host, "robot", tt.secret)
		c.Close()
		if requested != tt.requested || diag.CodeOf(err) != tt.code && !(err == nil && tt.code == diag.OK) {
			t.Errorf("%s with %s: asked %v, %v, want %v, %v", tt.mode, tt.secret, requested, err, tt.requested, tt.code)
		}
		if err != nil && strings.Contains(err.Error(), tt.secret) {
			t.Errorf("%s: the error repeats the password: %v", tt.mode, err)
		}
		if want := host + " robot:" + tt.secret; (len(seen) > 0) != tt.shown || tt.shown && seen[0] != want {
			t.Errorf("%s: the login was shown to %q", tt.mode, seen)
		}
	}
	if _, err := oci.New(oci.Options{}).CheckLogin(t.Context(), "no host/at all", "", ""); diag.CodeOf(err) != diag.Usage {
		t.Errorf("no host: %v", err)
	}
}

// TestCheckLoginDistribution checks that a registry of the distribution project accepts its configured login, also over
// TLS.
func TestCheckLoginDistribution(t *testing.T) {
	s := ocitest.DockerRegistry(t, ocitest.Options{TLS: true, User: "robot", Password: "s3cret"})
	c := oci.New(oci.Options{Transport: s.Transport(t), Retries: -1})
	t.Cleanup(c.Close)
	if requested, err := c.CheckLogin(t.Context(), s.Host, "robot", "s3cret"); !requested || err != nil {
		t.Errorf("the right password: asked %v, %v", requested, err)
	}
	if requested, err := c.CheckLogin(t.Context(), s.Host, "robot", "guessed"); !requested || diag.CodeOf(err) != diag.Denied {
		t.Errorf("a wrong password: asked %v, %v", requested, err)
	}
}
