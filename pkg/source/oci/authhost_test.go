package oci_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// resolveNames makes this process resolve names with a DNS server that has only the given addresses, and loopback for
// all other names below test.
func resolveNames(t *testing.T, addresses map[string]netip.Addr) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	before := net.DefaultResolver
	var dialer net.Dialer
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = before
		conn.Close()
	})
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if answer, err := answerName(buf[:n], addresses); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
}

func answerName(query []byte, addresses map[string]netip.Addr) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil, err
	}
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	q := m.Questions[0]
	name := strings.TrimSuffix(q.Name.String(), ".")
	addr, ok := addresses[name]
	if !ok {
		addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	if strings.HasSuffix(name, ".test") && q.Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
			Body:   &dnsmessage.AResource{A: addr.As4()},
		}}
	}
	return m.Pack()
}

// tokenServer gives a token to everyone, and records the passwords that it received.
type tokenServer struct {
	*httptest.Server
	mu        sync.Mutex
	passwords []string
	redirect  string // where it redirects; "" for nowhere
}

func newTokenServer(t *testing.T) *tokenServer {
	t.Helper()
	s := &tokenServer{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *tokenServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, password, _ := r.BasicAuth()
	s.mu.Lock()
	s.passwords = append(s.passwords, password)
	s.mu.Unlock()
	if s.redirect != "" {
		http.Redirect(w, r, s.redirect, http.StatusTemporaryRedirect)
		return
	}
	token := "anonymous"
	if password != "" {
		token = "ada"
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"token": token})
}

// at returns the server's address under a name.
func (s *tokenServer) at(name string) string {
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	return "http://" + name + ":" + port + "/token"
}

// TestTokenServer installs from a registry without TLS whose token server has another name. The credentials reach it
// if it is in the registry's domain or named in the settings.
func TestTokenServer(t *testing.T) {
	resolveNames(t, nil)
	s, tokens, other := ocitest.New(t), newTokenServer(t), newTokenServer(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	push(t, s.Client(t, ""), ref, "1.0.0", "deploy")
	_, port, _ := strings.Cut(s.Host, ":")
	_, tokenPort, _ := strings.Cut(strings.TrimPrefix(tokens.URL, "http://"), ":")
	host := "registry.corp.test:" + port
	ref.URL = "oci://" + host + "/acme/deploy"
	for _, tt := range []struct {
		name, realm, redirect string
		authHosts             []string
		hint                  string // "" if the installation succeeds
	}{
		{name: "same domain", realm: "auth.corp.test"},
		{name: "parent domain", realm: "corp.test"},
		{
			name: "another domain", realm: "auth.globex.test",
			hint: "skillpm config set auth-hosts." + host + " auth.globex.test:" + tokenPort,
		},
		{name: "named in the settings", realm: "auth.globex.test", authHosts: []string{"auth.globex.test:" + tokenPort}},
		{
			name: "another port in the settings", realm: "auth.globex.test", authHosts: []string{"auth.globex.test:1"},
			hint: "skillpm config set auth-hosts." + host + " auth.globex.test:" + tokenPort,
		},
		{name: "redirected to another domain", realm: "auth.corp.test", redirect: "evil.test", hint: "skillpm login"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			realm := tokens.at(tt.realm)
			tokens.redirect, tokens.passwords, other.passwords = "", nil, nil
			if tt.redirect != "" {
				tokens.redirect = other.at(tt.redirect)
			}
			s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("Authorization") == "Bearer ada" {
					return false
				}
				w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=%q,service=%q", realm, "test"))
				w.WriteHeader(http.StatusUnauthorized)
				return true
			})
			home := homeOf(t, &ocitest.Server{Host: host, User: "ada", Password: "s3cret/w0rd"})
			transport := httpx.NewTransport()
			transport.Proxy = nil
			t.Cleanup(transport.CloseIdleConnections)
			c := oci.New(oci.Options{
				Home: home, Transport: transport, Retries: -1, PlainHTTP: []string{host}, AuthHosts: map[string][]string{host: tt.authHosts},
			})
			t.Cleanup(c.Close)
			err := get(t, c, ref)
			if tt.hint == "" {
				if err != nil {
					t.Error(err, diag.HintOf(err))
				}
				return
			}
			wantCode(t, err, diag.Denied, tt.hint)
			shown := append(other.passwords, tokens.passwords...)
			if tt.redirect != "" {
				shown = other.passwords
			}
			if len(shown) == 0 || strings.Join(shown, "") != "" {
				t.Errorf("the server received %q, want only requests without a password", shown)
			}
		})
	}
}

// onlyRegistry answers requests to a registry on the internet, and sends all others over the network.
type onlyRegistry struct {
	handler http.Handler
	next    http.RoundTripper
}

func (o onlyRegistry) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != "registry.corp.test" {
		return o.next.RoundTrip(req)
	}
	rec := httptest.NewRecorder()
	o.handler.ServeHTTP(rec, req)
	resp := rec.Result()
	resp.Request = req
	return resp, nil
}

// TestNearTokenServer makes a registry on the internet name token servers on the machine of the user, on a private
// network, and in a cloud's link-local network, whose answers it would receive as tokens. None receives a request.
func TestNearTokenServer(t *testing.T) {
	resolveNames(t, map[string]netip.Addr{
		"metadata.test": netip.MustParseAddr("169.254.169.254"), "intranet.test": netip.MustParseAddr("10.255.255.254"),
	})
	tokens := newTokenServer(t)
	port := tokens.Listener.Addr().(*net.TCPAddr).Port
	for _, realm := range []string{
		"http://127.0.0.1:%d/token", "http://localhost:%d/token", "http://[::ffff:127.0.0.1]:%d/token", "http://0.0.0.0:%d/token",
		"http://evil.test:%d/token", "https://auth.corp.test:%d/token", "http://169.254.169.254/latest/meta-data?%d",
		"http://metadata.test/latest/meta-data?%d", "http://[fe80::1]/?%d", "http://10.255.255.254:%d/token",
		"http://intranet.test:%d/token", "http://100.100.100.200/latest/meta-data?%d", "http://[fd00:ec2::254]/?%d",
	} {
		realm := fmt.Sprintf(realm, port)
		t.Run(realm, func(t *testing.T) {
			transport := httpx.NewTransport()
			transport.Proxy = nil
			t.Cleanup(transport.CloseIdleConnections)
			n := onlyRegistry{wantsToken(fmt.Sprintf("Bearer realm=%q", realm)), transport}
			c := oci.New(oci.Options{
				Transport: n, Retries: -1, PlainHTTP: []string{"registry.corp.test"}, Home: homeOf(t, &ocitest.Server{Host: "registry.corp.test", User: "ada", Password: "s3cret"}),
			})
			t.Cleanup(c.Close)
			_, err := c.Versions(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: "oci://registry.corp.test/acme/deploy"})
			u, _ := url.Parse(realm)
			wantCode(t, err, diag.Denied, "registry.corp.test sends requests to "+u.Host, "private network or this machine")
			if len(tokens.passwords) != 0 {
				t.Errorf("the server received %q", tokens.passwords)
			}
		})
	}
}
