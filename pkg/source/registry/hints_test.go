package registry_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// TestIndexHints checks what the errors of index servers suggest.
func TestIndexHints(t *testing.T) {
	status := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(status)
		}
	}
	secure, plain := httptest.NewTLSServer(status(http.StatusNotFound)), httptest.NewServer(status(http.StatusNotFound))
	busy, overloaded := httptest.NewServer(status(http.StatusTooManyRequests)), httptest.NewServer(status(http.StatusServiceUnavailable))
	for _, s := range []*httptest.Server{secure, plain, busy, overloaded} {
		s.Config.ErrorLog = nil
		t.Cleanup(s.Close)
	}
	trusting := httpx.NewTransport()
	trusting.TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig
	t.Cleanup(trusting.CloseIdleConnections)
	for name, tt := range map[string]struct {
		url     string
		client  *http.Client
		message string
		hint    string
	}{
		"busy":         {busy.URL, nil, "429", "raise the limit with: skillpm login 127.0.0.1"},
		"overloaded":   {overloaded.URL, nil, "503", "ask the operator of 127.0.0.1"},
		"no TLS":       {strings.Replace(plain.URL, "http:", "https:", 1), nil, "does not support TLS", "skillpm config set plain-http 127.0.0.1"},
		"TLS":          {strings.Replace(secure.URL, "https:", "http:", 1), nil, "400", "use https:// in the address"},
		"authority":    {secure.URL, nil, "cannot verify the TLS certificate of 127.0.0.1", "skillpm config set ca-file FILE"},
		"another host": {strings.Replace(secure.URL, "127.0.0.1", "localhost", 1), &http.Client{Transport: trusting}, "is for another host: example.com", "use a name of the certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t, tt.url, registry.Deps{HTTP: tt.client})
			_, err := r.Versions(t.Context(), parseID(t, "acme/deploy"))
			if diag.CodeOf(err) != diag.Remote || !strings.Contains(err.Error(), tt.message) || !strings.Contains(diag.HintOf(err), tt.hint) {
				t.Errorf("%v (%v), hint %q, want %q and %q", err, diag.CodeOf(err), diag.HintOf(err), tt.message, tt.hint)
			}
		})
	}
}
