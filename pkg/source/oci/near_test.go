package oci_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// nearHosts are this machine, its link-local network, and metadata servers of clouds, as URLs may spell them.
var nearHosts = []string{
	"127.0.0.1", "127.1", "127.0.1", "127.0.0.2", "0x7f.1", "0x7f000001", "0177.0.0.1", "2130706433", "127.0.0.1.",
	"①②⑦.0.0.1", "127。0。0。1", "127.0.0.①", "１２７.0.0.1", "localhost", "localhost.", "LOCALHOST", "a.localhost", "ⓛocalhost",
	"[::1]", "[::1%25lo]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]",
	"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "0.0.0.0", "0", "0.0.0.1", "[::]", "[0:0:0:0:0:0:0:1]",
	"169.254.169.254", "2852039166", "0xa9fea9fe", "169.254.43518", "[fe80::1]", "[fe80::1%25lo]", "[::ffff:169.254.169.254]",
	"[fd00:ec2::254]", "[64:ff9b::a9fe:a9fe]", "100.100.100.200", "168.63.129.16", "255.255.255.255", "224.0.0.1",
	"loop.test", "loop6.test", "metadata.test", "LOOP.test.", "a.b.loop.test",
}

// TestNearServers checks that no server makes a client connect to a server on this machine or in its link-local
// network, however that is named, and that users may name such servers themselves.
func TestNearServers(t *testing.T) {
	loop := netip.MustParseAddr("127.0.0.1")
	resolveNames(t, map[string]netip.Addr{
		"loop.test": loop, "LOOP.test": loop, "loop6.test": netip.MustParseAddr("127.9.9.9"), "a.b.loop.test": loop,
		"metadata.test": netip.MustParseAddr("169.254.169.254"), "public.test": netip.MustParseAddr("203.0.113.1"),
	})
	var visits atomic.Int32
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	t.Cleanup(target.Close)
	port := strconv.Itoa(target.Listener.Addr().(*net.TCPAddr).Port)
	direct := func() *http.Transport {
		transport := httpx.NewTransport()
		transport.Proxy = nil
		t.Cleanup(transport.CloseIdleConnections)
		return transport
	}
	get := func(client *http.Client, url string, wrap func(*http.Request) *http.Request) error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			return diag.Errorf(diag.Denied, "%w", err) // no server is named
		}
		resp, err := client.Do(wrap(req))
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	plain := func(req *http.Request) *http.Request { return req }
	redirected := func(base http.RoundTripper) func(string) error {
		return func(to string) error {
			registry := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", to)
				w.WriteHeader(http.StatusTemporaryRedirect)
			})
			client := &http.Client{Transport: httpx.Confine(onlyRegistry{registry, base}, nil)}
			return get(client, "http://registry.corp.test/", plain)
		}
	}
	for name, try := range map[string]func(to string) error{
		"redirect": redirected(direct()),
		"referral": func(to string) error {
			client := &http.Client{Transport: httpx.Confine(direct(), nil)}
			return get(client, to, func(req *http.Request) *http.Request {
				origin := httptest.NewRequest(http.MethodGet, "https://public.test/", nil).URL
				return req.WithContext(httpx.WithReferral(req.Context(), &httpx.Referral{Origin: origin}))
			})
		},
		"named": func(to string) error {
			named := &httpx.Named{}
			if err := named.Add("https://index.test", to); err != nil {
				return err
			}
			return get(&http.Client{Transport: httpx.Confine(direct(), named)}, to, plain)
		},
		"named for a program": func(to string) error {
			named := &httpx.Named{}
			to = strings.Replace(to, "http://", "ssh://git@", 1)
			if err := named.Add("https://index.test", to); err != nil {
				return err
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, nil)
			if err != nil {
				return diag.Errorf(diag.Denied, "%w", err)
			}
			return named.Check(t.Context(), req.URL)
		},
	} {
		for _, host := range nearHosts {
			if err := try("http://" + host + ":" + port + "/"); diag.CodeOf(err) != diag.Denied {
				t.Errorf("%s to %s: %v", name, host, err)
			}
		}
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("the server received %d requests", n)
	}

	// what the user names is not restricted, and neither are servers that a server on this machine names
	named := &httpx.Named{}
	if err := named.Add(target.URL, "http://loop.test:"+port); err != nil {
		t.Error(err)
	}
	client := &http.Client{Transport: httpx.Confine(direct(), named)}
	for _, host := range []string{"127.0.0.1", "localhost", "loop.test"} {
		if err := get(client, "http://"+host+":"+port, plain); err != nil {
			t.Error(err)
		}
	}
	// a connection that the user's request left open is not used for another server's
	if err := named.Add("https://index.test", "http://a.b.loop.test:"+port); err != nil {
		t.Error(err)
	}
	base := direct()
	if err := get(&http.Client{Transport: base}, "http://a.b.loop.test:"+port, plain); err != nil {
		t.Error(err)
	}
	if err := get(&http.Client{Transport: httpx.Confine(base, named)}, "http://a.b.loop.test:"+port, plain); diag.CodeOf(err) != diag.Denied {
		t.Errorf("an idle connection was used: %v", err)
	}
}
