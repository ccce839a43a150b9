package oci_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// TestTwoPublishers checks that if two publish different content for one version concurrently, one gets an error that
// its tag was replaced. This includes the case that both found the version free, and the second sets its tag after the
// first has checked its own.
func TestTwoPublishers(t *testing.T) {
	s := ocitest.New(t)
	var mu sync.Mutex
	var both sync.WaitGroup // have found the version free
	both.Add(2)
	seen, saw := make(chan struct{}), false // the first has seen its tag
	sets := 0
	s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/manifests/1.0.0") {
			return false
		}
		if r.Method == http.MethodPut {
			both.Done()
			both.Wait()
			mu.Lock()
			sets++
			second := sets == 2
			mu.Unlock()
			if second {
				<-seen
			}
			return false
		}
		s.Registry.ServeHTTP(w, r)
		mu.Lock()
		defer mu.Unlock()
		if sets > 0 && !saw && w.Header().Get("Docker-Content-Digest") != "" {
			saw = true
			close(seen)
		}
		return true
	})
	errs := make([]error, 2)
	var group sync.WaitGroup
	for i, skill := range []string{"deploy", "rollback"} {
		rel, trees := release("1.0.0", skill)
		c := s.Client(t, "")
		group.Go(func() {
			_, errs[i] = c.Push(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}, rel, trees, oci.PushOptions{})
		})
	}
	group.Wait()
	calls := 0
	for _, err := range errs {
		if conflict, ok := errors.AsType[*oci.ConflictError](err); ok && conflict.Version == "1.0.0" {
			calls++
		} else if err != nil {
			t.Error(err)
		}
	}
	if calls != 1 {
		t.Errorf("%d were told: %v", calls, errs)
	}
}

// TestLatePublisher checks that a publisher replaces nothing if it finds, just before it sets the tag, that another one
// has set it.
func TestLatePublisher(t *testing.T) {
	s := ocitest.New(t)
	at := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	var once sync.Once
	rel, trees := release("1.0.0", "deploy")
	_, err := s.Client(t, "").Push(t.Context(), at, rel, trees, oci.PushOptions{
		Attach: func(_ context.Context, _ oci.Pushed, _ []byte) ([]oci.Artifact, error) {
			once.Do(func() { push(t, s.Client(t, ""), at, "1.0.0", "rollback") })
			return nil, nil
		},
	})
	if _, ok := errors.AsType[*oci.ConflictError](err); !ok {
		t.Errorf("%v", err)
	}
	at.Rev = "1.0.0"
	p, err := s.Client(t, "").Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := p.Skill("rollback"); !ok {
		t.Errorf("the tag leads to %v", p.Skills)
	}
}

// TestOtherSpelling checks that a version whose tag has a leading v cannot be published with other content.
func TestOtherSpelling(t *testing.T) {
	s := ocitest.New(t)
	c := s.Client(t, "")
	at := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	push(t, c, at, "1.0.0", "deploy")
	there := at
	there.Rev = "1.0.0"
	if err := oci.CopyVersion(t.Context(), c, there, c, pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/other")}, "1.0.0"); err != nil {
		t.Fatal(err)
	}
	raw, mediaType, err := c.Manifest(t.Context(), there)
	if err != nil {
		t.Fatal(err)
	}
	registry{t, s}.manifest("acme/other", "v2.0.0", mediaType, raw)
	at.URL = s.URL("acme/other")
	rel, trees := release("2.0.0", "rollback")
	_, err = c.Push(t.Context(), at, rel, trees, oci.PushOptions{})
	if _, ok := errors.AsType[*oci.ConflictError](err); !ok {
		t.Errorf("%v", err)
	}
}

// TestConcurrentTagMoves checks that latest ends at the highest release, even if a lower one moves it after the higher
// one.
func TestConcurrentTagMoves(t *testing.T) {
	s := ocitest.New(t)
	at := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	var once sync.Once
	s.Meddle(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/manifests/1.0") { // it has looked at the tags
			once.Do(func() {
				rel, trees := release("1.1.0", "rollback")
				if _, err := s.Client(t, "").Push(t.Context(), at, rel, trees, oci.PushOptions{Moving: true}); err != nil {
					t.Error(err)
				}
			})
		}
		return false
	})
	rel, trees := release("1.0.0", "deploy")
	pushed, err := s.Client(t, "").Push(t.Context(), at, rel, trees, oci.PushOptions{Moving: true})
	if err != nil || strings.Join(pushed.Tags, " ") != "1.0.0 1.0" {
		t.Errorf("%v %v", pushed.Tags, err)
	}
	for tag, want := range map[string]string{"latest": "1.1.0", "1": "1.1.0", "1.1": "1.1.0", "1.0": "1.0.0"} {
		at.Rev = tag
		if p, err := s.Client(t, "").Open(t.Context(), at); err != nil || p.Version != want {
			t.Errorf("%s leads to %+v, %v", tag, p, err)
		}
	}
}
