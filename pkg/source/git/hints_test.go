package git_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// TestHints checks what the errors of servers suggest.
func TestHints(t *testing.T) {
	dir, ca := t.TempDir(), filepath.Join(t.TempDir(), "ca.pem")
	gittest.New(t, dir, "o/r.git").Commit(skills())
	busy := func(status int) string {
		return gittest.Serve(t, dir, gittest.WithHandler(func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "3600")
				w.WriteHeader(status)
			})
		}))
	}
	secure := gittest.Serve(t, dir, gittest.WithTLS(ca))
	plain := gittest.Serve(t, dir)
	trusted := func(name string) string { return map[string]string{"GIT_SSL_CAINFO": ca}[name] }
	for name, tt := range map[string]struct {
		source        string
		getenv        func(string) string
		program       string
		message, hint string
	}{
		"busy":           {busy(http.StatusTooManyRequests), nil, "", "429", "wait and try again; for a higher limit, configure"},
		"overloaded":     {busy(http.StatusServiceUnavailable), nil, "", "503", "ask the operator of 127.0.0.1"},
		"no TLS":         {strings.Replace(plain, "http:", "https:", 1), nil, "", "", "the server does not support TLS"},
		"TLS":            {strings.Replace(secure, "https:", "http:", 1), nil, "", "400", "use git+https:// in the source"},
		"authority":      {secure, nil, "", "cannot verify the TLS certificate of 127.0.0.1", "skillpm config set ca-file FILE"},
		"another host":   {strings.Replace(secure, "127.0.0.1", "localhost", 1), trusted, "", "is for another host: ", "use a name of the certificate"},
		"authority, git": {secure, nil, gittest.Git(t), "ertificate", "set GIT_SSL_CAINFO"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, git.Options{Getenv: tt.getenv, Program: tt.program})
			_, err := c.Open(t.Context(), parse(t, "git+"+tt.source+"/o/r.git"))
			checkError(t, err, diag.Remote, tt.message, tt.hint)
		})
	}
}
