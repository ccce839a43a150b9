package oci_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// TestRateLimit fetches 25 packs at once from a registry that answers 25 requests in a second, a quarter of those
// needed. All arrive, and the refused requests are few: the others wait for the end of the delay.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	const packs, limit = 25, 25
	dir := t.TempDir()
	fill := ocitest.NewIn(t, dir, 0)
	repository := func(s *ocitest.Server, i int) pack.Ref {
		return pack.Ref{Kind: pack.KindOCI, URL: s.URL(fmt.Sprintf("acme/pack-%d", i))}
	}
	for i := range packs {
		push(t, fill.Client(t, ""), repository(fill, i), "1.0.0", "deploy")
	}
	s := ocitest.NewIn(t, dir, limit)
	var refused atomic.Int64
	limited := s.Registry
	s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		limited.ServeHTTP(statusWriter{w, func(status int) {
			if status == http.StatusTooManyRequests {
				refused.Add(1)
			}
		}}, r)
		return true
	})
	c := oci.New(oci.Options{})
	t.Cleanup(c.Close)
	var wg sync.WaitGroup
	for i := range packs {
		wg.Go(func() {
			if err := get(t, c, repository(s, i)); err != nil {
				t.Error(err, diag.HintOf(err))
			}
		})
	}
	wg.Wait()
	requests := int64(len(s.Requests()))
	t.Logf("%d requests, %d refused", requests, refused.Load())
	if n := refused.Load(); n == 0 || n > packs+requests/2 {
		t.Errorf("%d of %d requests were refused", n, requests)
	}
}

// statusWriter reports the status of a response.
type statusWriter struct {
	http.ResponseWriter
	report func(int)
}

func (w statusWriter) WriteHeader(status int) {
	w.report(status)
	w.ResponseWriter.WriteHeader(status)
}

// TestBusyHints checks that the errors of a busy registry say what to do.
func TestBusyHints(t *testing.T) {
	for status, hint := range map[int]string{
		http.StatusTooManyRequests:    "wait and try again, or raise the limit with: skillpm login ",
		http.StatusServiceUnavailable: "wait and try again; if the problem continues, ask the operator of ",
	} {
		for _, after := range []string{"", "3600"} {
			s := ocitest.New(t)
			s.Meddle(func(w http.ResponseWriter, _ *http.Request) bool {
				if after != "" {
					w.Header().Set("Retry-After", after)
				}
				w.WriteHeader(status)
				return true
			})
			c := oci.New(oci.Options{Retries: 1})
			t.Cleanup(c.Close)
			_, err := c.Versions(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")})
			wantCode(t, err, diag.Remote, s.Host, fmt.Sprint(status), hint+s.Host)
		}
	}
}
