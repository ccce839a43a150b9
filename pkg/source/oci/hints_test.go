package oci_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// TestTLSHints connects to a registry without TLS, to one whose certificate is for another host or from an unknown
// authority, and without TLS to one that uses it. The hint names the setting to change.
func TestTLSHints(t *testing.T) {
	resolveNames(t, nil)
	plain, secure := ocitest.New(t), ocitest.NewTLS(t)
	named := func(s *ocitest.Server) string {
		_, port, _ := strings.Cut(s.Host, ":")
		return "registry.corp.test:" + port
	}
	for _, tt := range []struct {
		name, host string
		trusted    bool
		plainHTTP  []string
		want       []string
	}{
		{"no TLS", named(plain), true, nil, []string{
			"does not support TLS", "skillpm config set plain-http " + named(plain),
		}},
		{"no TLS, another exception", named(plain), true, []string{"other.test:5000"}, []string{
			"skillpm config set plain-http other.test:5000," + named(plain),
		}},
		{"another host", named(secure), true, nil, []string{
			"the TLS certificate of " + named(secure) + " is for another host: localhost, 127.0.0.1", "use a name of the certificate",
		}},
		{"unknown authority", secure.Host, false, nil, []string{
			"cannot verify the TLS certificate", "skillpm config set ca-file FILE",
		}},
		{"TLS", named(secure), true, []string{named(secure)}, []string{
			"400 Bad Request", "if the registry uses TLS", "skillpm config set plain-http --undo",
		}},
		{"TLS, another exception", named(secure), true, []string{"other.test:5000", named(secure)}, []string{
			"skillpm config set plain-http other.test:5000",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			transport := httpx.NewTransport()
			if tt.trusted {
				transport = secure.Transport(t)
			}
			transport.Proxy = nil
			t.Cleanup(transport.CloseIdleConnections)
			c := oci.New(oci.Options{Transport: transport, Retries: -1, PlainHTTP: tt.plainHTTP})
			t.Cleanup(c.Close)
			_, err := c.Versions(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: "oci://" + tt.host + "/acme/deploy"})
			wantCode(t, err, diag.Remote, tt.want...)
			if hint := diag.HintOf(err); strings.Contains(hint, "insecure") || strings.Contains(hint, "skip") {
				t.Errorf("hint %q", hint)
			}
		})
	}
	var statuses []string // a 400 with an error document is not about TLS
	plain.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		statuses = append(statuses, r.URL.Path)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"errors":[{"code":"NAME_INVALID","message":"no"}]}`))
		return true
	})
	c := oci.New(oci.Options{Retries: -1})
	t.Cleanup(c.Close)
	_, err := c.Versions(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: plain.URL("acme/deploy")})
	wantCode(t, err, diag.Remote, "NAME_INVALID")
	if len(statuses) == 0 || diag.HintOf(err) != "" {
		t.Errorf("%q, hint %q", statuses, diag.HintOf(err))
	}
}
