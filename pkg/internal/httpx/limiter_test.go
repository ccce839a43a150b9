package httpx_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// rationed is a server that answers a number of requests in each second, as olareg does it: a second begins with the
// first request after the end of the last one.
type rationed struct {
	limit  int
	header http.Header
	mu     sync.Mutex
	first  time.Time
	count  int

	refused, active, most int
}

func (s *rationed) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.active++
	s.most = max(s.most, s.active)
	s.mu.Unlock()
	time.Sleep(20 * time.Millisecond) // the clock of the bubble
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	if now := time.Now(); now.Sub(s.first) > time.Second {
		s.first, s.count = now, 0
	}
	s.count++
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("x")), Request: req}
	if s.count > s.limit {
		s.refused++
		resp.StatusCode, resp.Header = http.StatusTooManyRequests, s.header
	}
	return resp, nil
}

// requestAll sends parallel requests, and returns the number of those that failed.
func requestAll(t *testing.T, transport http.RoundTripper, requests, parallel int) (failed int) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	numbers := make(chan int)
	for range parallel {
		wg.Go(func() {
			for range numbers {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://registry.example/v2/", nil)
				if err != nil {
					t.Error(err)
					return
				}
				resp, err := transport.RoundTrip(req)
				if err == nil {
					_ = resp.Body.Close()
				}
				if err != nil || resp.StatusCode != http.StatusOK {
					mu.Lock()
					failed++
					mu.Unlock()
				}
			}
		})
	}
	for i := range requests {
		numbers <- i
	}
	close(numbers)
	wg.Wait()
	return failed
}

// TestLimiter sends 100 requests to a server that answers five in a second. All succeed, in parallel about as fast as
// one by one, and few are refused.
func TestLimiter(t *testing.T) {
	for name, header := range map[string]http.Header{"with Retry-After": {"Retry-After": {"1"}}, "without": {}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				took := map[int]time.Duration{}
				for _, parallel := range []int{1, 12, 40} {
					s := &rationed{limit: 5, header: header}
					began := time.Now()
					failed := requestAll(t, httpx.Patient(s, 3), 100, parallel)
					took[parallel] = time.Since(began)
					if failed > 0 {
						t.Errorf("%d at once: %d requests failed", parallel, failed)
					}
					if most := 3*100/5 + 2*parallel; s.refused > most {
						t.Errorf("%d at once: %d requests were refused, want at most %d", parallel, s.refused, most)
					}
					t.Logf("%d at once: %s, %d refused", parallel, took[parallel], s.refused)
				}
				for parallel, d := range took {
					if d > took[1]*13/10 {
						t.Errorf("%d at once took %s, one by one %s", parallel, d, took[1])
					}
				}
			})
		})
	}
}

// TestLimiterRecovers checks that a server which is no longer overloaded receives parallel requests again, and that
// other hosts never wait.
func TestLimiterRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rationed{limit: 5, header: http.Header{"Retry-After": {"1"}}}
		transport := httpx.Patient(s, 3)
		requestAll(t, transport, 20, 12)
		s.limit, s.most = 1000, 0
		if failed := requestAll(t, transport, 800, 40); failed > 0 || s.most < 40 {
			t.Errorf("%d failed, at most %d in parallel", failed, s.most)
		}
		s.limit = 0
		ctx, cancel := context.WithCancel(t.Context())
		busy, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://registry.example/v2/", nil)
		waiting := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := transport.RoundTrip(busy)
				waiting <- err
			}()
		}
		synctest.Wait()
		time.Sleep(time.Second / 2) // of the bubble's clock: both were refused and wait
		began := time.Now()
		s.limit = 1000
		other, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://other.example/", nil)
		resp, err := transport.RoundTrip(other)
		if err != nil || resp.StatusCode != http.StatusOK || time.Since(began) > 50*time.Millisecond {
			t.Errorf("another host: %v after %s", err, time.Since(began))
		}
		_ = resp.Body.Close()
		cancel()
		for range 2 {
			if err := <-waiting; !errors.Is(err, context.Canceled) {
				t.Errorf("a canceled request: %v", err)
			}
		}
		if failed := requestAll(t, transport, 10, 2); failed > 0 {
			t.Errorf("after canceled requests, %d failed", failed)
		}
	})
}
