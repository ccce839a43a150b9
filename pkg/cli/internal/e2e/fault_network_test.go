//go:build slow

package e2e

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func status(code int, after string) meddle {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(code)
		return true
	}
}

func text(contentType, body string) meddle {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body))
		return true
	}
}

func hangUp(http.ResponseWriter, *http.Request, http.Handler) bool { panic(http.ErrAbortHandler) }

// cutOff sends half of an answer and closes the connection.
func cutOff(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
	answer := recorded(r, next)
	head(w, answer)
	_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// flipped changes a byte in the middle of an answer.
func flipped(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
	answer := recorded(r, next)
	data := answer.Body.Bytes()
	if len(data) > 0 {
		data[len(data)/2] ^= 0x40
	}
	head(w, answer)
	_, _ = w.Write(data)
	return true
}

// drip sends an answer in small pieces, with pauses that clients must tolerate.
func drip(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
	answer := recorded(r, next)
	head(w, answer)
	data := answer.Body.Bytes()
	for piece := range 8 {
		_, _ = w.Write(data[piece*len(data)/8 : (piece+1)*len(data)/8])
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
	return true
}

// requestCount counts the requests that a fault affects, by method and path.
type requestCount struct {
	mu    sync.Mutex
	count map[string]int
}

// faulty answers the first requests of each matching method and path with a fault.
func (a *requestCount) faulty(wanted func(*http.Request) bool, times int, fault meddle) meddle {
	a.count = map[string]int{}
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
		if !wanted(r) {
			return false
		}
		a.mu.Lock()
		key := r.Method + " " + r.URL.Path
		a.count[key]++
		n := a.count[key]
		a.mu.Unlock()
		return n <= times && fault(w, r, next)
	}
}

func isLayer(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/")
}

func isManifest(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/manifests/")
}
func isTags(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/tags/list") }
func isRefs(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/info/refs") }
func isPack(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/git-upload-pack")
}

// TestFaultNetwork makes a registry and a git server fail, temporarily or permanently, in every part of an update.
// Temporary faults go unnoticed. Permanent ones are an error after a few attempts, and the old state stays byte for
// byte.
func TestFaultNetwork(t *testing.T) { // M2
	t.Parallel()
	const remote, integrity = 8, 6
	parts := map[string]func(*http.Request) bool{"layer": isLayer, "manifest": isManifest, "tags": isTags, "refs": isRefs, "pack": isPack}
	all := []string{"layer", "manifest", "tags", "refs", "pack"}
	for _, tt := range []struct {
		name  string
		fault meddle
		parts []string
		code  int  // when it lasts; 0: it does no harm
		again bool // when it passes it is not noticed
	}{
		{"hangs up", hangUp, all, remote, true},
		{"is cut off", cutOff, []string{"layer", "tags", "pack"}, remote, true},
		{"500", status(500, ""), []string{"manifest", "refs", "pack"}, remote, true},
		{"429", status(429, ""), []string{"layer", "refs"}, remote, true},
		{"429 at once", status(429, "0"), []string{"tags", "pack"}, remote, true},
		{"429 in the past", status(429, "-5"), []string{"layer"}, remote, true},
		{"429 nonsense", status(429, "soon, or not"), []string{"manifest"}, remote, true},
		{"429 always", status(429, "99999999999999999999"), all, remote, false},
		{"429 in 2099", status(429, "Wed, 21 Oct 2099 07:28:00 GMT"), all, remote, false},
		{"web page", text("text/html; charset=utf-8", "<!doctype html><title>Log in</title>"), all, remote, false},
		{"nothing", text("application/octet-stream", ""), []string{"refs", "pack"}, remote, false},
		{"other bytes", flipped, []string{"layer"}, integrity, false},
		{"drips", drip, all, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newServers(t)
			done := newMachine(t, w).fresh()
			for _, part := range tt.parts {
				var a requestCount
				if tt.again {
					m := newMachine(t, w)
					m.firstVersions()
					w.setMeddle(a.faulty(parts[part], 1, tt.fault))
					if e := m.run(w.update()...); e.code != 0 {
						t.Errorf("%s, for a while: %v", part, e)
					}
					w.setMeddle(nil)
					same(t, part+", for a while", m.tree(), done)
				}
				m := newMachine(t, w)
				before := m.firstVersions()
				w.setMeddle(a.faulty(parts[part], 1000, tt.fault))
				e := m.run(w.update()...)
				w.setMeddle(nil)
				if len(a.count) == 0 {
					t.Errorf("%s: nobody asked", part)
				}
				for what, n := range a.count {
					if n > 10 {
						t.Errorf("%s: %s %d times", part, what, n)
					}
				}
				if tt.code != 0 {
					m.check(e, tt.code, []string{"127.0.0.1"})
					same(t, part+", for good", m.tree(), before)
					m.leftNothing()
				} else if e.code != 0 {
					t.Error(e)
				}
				m.updated(part, done)
			}
		})
	}
}
