package oci_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/sourcetest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// TestManyAtOnce fetches many packs concurrently with one client, from a registry that requires tokens: each
// repository's token is requested once, and the number of connections stays within the limit.
func TestManyAtOnce(t *testing.T) {
	s := ocitest.New(t)
	const packs, most = 24, 12
	rel, trees := release("1.0.0", "deploy", "rollback")
	for i := range packs {
		rel.ID = pack.ID{Owner: "acme", Name: fmt.Sprintf("pack-%d", i)}
		if _, err := s.Client(t, "").Push(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: s.URL(rel.ID.String())}, rel, trees, oci.PushOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	var tokens sync.Map // scope -> *atomic.Int32
	var now, peak atomic.Int32
	s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		for n := now.Add(1); ; {
			if old := peak.Load(); n <= old || peak.CompareAndSwap(old, n) {
				break
			}
		}
		defer now.Add(-1)
		scope := r.URL.Query().Get("scope")
		if r.URL.Path == "/token" {
			count, _ := tokens.LoadOrStore(scope, new(atomic.Int32))
			count.(*atomic.Int32).Add(1)
			fmt.Fprintf(w, `{"token":"for %s"}`, scope)
			return true
		}
		repo := strings.Join(strings.Split(r.URL.Path, "/")[2:4], "/")
		want := "repository:" + repo + ":pull"
		if r.Header.Get("Authorization") != "Bearer for "+want {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="x",scope=%q`, r.Host, want))
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		return false
	})
	c := s.Client(t, "")
	var group sync.WaitGroup
	for i := range packs * 3 {
		group.Go(func() {
			ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL(fmt.Sprintf("acme/pack-%d", i%packs)), Rev: "1.0.0"}
			if err := get(t, c, ref); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if peak.Load() > most {
		t.Errorf("%d requests at once, more than %d", peak.Load(), most)
	}
	n := 0
	tokens.Range(func(scope, count any) bool {
		n++
		if got := count.(*atomic.Int32).Load(); got != 1 {
			t.Errorf("%s: %d tokens", scope, got)
		}
		return true
	})
	if n != packs {
		t.Errorf("tokens for %d repositories, want %d", n, packs)
	}
}

// TestTokenExpires checks that an expired token is replaced by one new one.
func TestTokenExpires(t *testing.T) {
	s := ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy"), Rev: "1.0.0"}
	push(t, s.Client(t, ""), ref, "1.0.0", "deploy")
	var issued, valid atomic.Int32
	valid.Store(1)
	s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			fmt.Fprintf(w, `{"token":"number %d"}`, issued.Add(1))
			return true
		}
		if r.Header.Get("Authorization") == fmt.Sprintf("Bearer number %d", valid.Load()) {
			return false
		}
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",scope="repository:acme/deploy:pull"`, r.Host))
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	c := s.Client(t, "")
	for want := range int32(3) {
		valid.Store(want + 1)
		var group sync.WaitGroup
		for range 6 {
			group.Go(func() {
				if err := get(t, c, ref); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got := issued.Load(); got != want+1 {
			t.Errorf("%d tokens were given, want %d", got, want+1)
		}
	}
}

// foreignPack stores a pack without skillpm's annotation and returns its location.
func foreignPack(t *testing.T, s *ocitest.Server) pack.Ref {
	t.Helper()
	r := registry{t, s}
	r.blob("tools/greet", ocispec.MediaTypeEmptyJSON, []byte("{}"))
	l := r.blob("tools/greet", fluxType, archive(t, map[string]sourcetest.File{
		"greet/" + skillMD: file(sourcetest.Skill("greet", "Greets.")), "wave/" + skillMD: file(sourcetest.Skill("wave", "Waves.")),
		"wave/references/much.md": file(strings.Repeat("wave and wave again\n", 10_000)),
	}))
	r.manifest("tools/greet", "1.0.0", ocispec.MediaTypeImageManifest, manifestOf("", l))
	return pack.Ref{Kind: pack.KindOCI, URL: s.URL("tools/greet"), Rev: "1.0.0"}
}

// TestForeignOnce checks that a layer that must be inspected is downloaded once, for any number of opens and fetches,
// and that nothing of it is left behind.
func TestForeignOnce(t *testing.T) {
	for name, use := range map[string]func(c *oci.Client, ref pack.Ref, locked *pack.Pack) error{
		"open and fetch": func(c *oci.Client, ref pack.Ref, _ *pack.Pack) error { return get(t, c, ref) },
		"fetch what is locked": func(c *oci.Client, _ pack.Ref, locked *pack.Pack) error {
			return c.Fetch(t.Context(), locked, nil, bundle.NewHasher(bundle.DefaultLimits()))
		},
		"many at once": func(c *oci.Client, ref pack.Ref, _ *pack.Pack) error {
			var group sync.WaitGroup
			errs := make([]error, 8)
			for i := range errs {
				group.Go(func() { errs[i] = get(t, c, ref) })
			}
			group.Wait()
			return errors.Join(errs...)
		},
		"one skill after the other": func(c *oci.Client, ref pack.Ref, _ *pack.Pack) error {
			p, err := c.Open(t.Context(), ref)
			for _, skill := range []string{"greet", "wave"} {
				if err == nil {
					err = c.Fetch(t.Context(), p, []string{skill}, bundle.NewHasher(bundle.DefaultLimits()))
				}
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := ocitest.New(t)
			ref := foreignPack(t, s)
			locked, err := s.Client(t, "").Open(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			temp := t.TempDir()
			c := oci.New(oci.Options{Transport: s.Transport(t), Temp: temp, Retries: -1})
			s.Requests()
			if err := use(c, ref, locked); err != nil {
				t.Error(err)
			}
			if blobs := blobsOf(s.Requests()); len(blobs) != 1 {
				t.Errorf("asked for %q", blobs)
			}
			c.Close()
			if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

func blobsOf(requests []string) []string {
	return slices.DeleteFunc(requests, func(r string) bool { return !strings.Contains(r, "/blobs/") })
}

// TestForeignDamaged checks that a kept layer is verified when it is read again, and replaced if it is damaged.
func TestForeignDamaged(t *testing.T) {
	s := ocitest.New(t)
	ref := foreignPack(t, s)
	c := s.Client(t, "")
	p, err := c.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	c.DamageKept(t)
	s.Requests()
	sink := &devNull{}
	wantCode(t, c.Fetch(t.Context(), p, nil, sink), diag.Integrity, "does not match")
	if err := c.Fetch(t.Context(), p, nil, sink); err != nil {
		t.Errorf("after the damage: %v", err)
	}
	if blobs := blobsOf(s.Requests()); len(blobs) != 1 {
		t.Errorf("asked for %q", blobs)
	}
}

// TestForeignTransfer interrupts the download of a layer that must be inspected: nothing of it is kept.
func TestForeignTransfer(t *testing.T) {
	s := ocitest.New(t)
	ref := foreignPack(t, s)
	temp := t.TempDir()
	c := oci.New(oci.Options{Transport: s.Transport(t), Temp: temp, Retries: -1})
	defer c.Close()
	for name, answer := range map[string]func(w http.ResponseWriter){
		"break": func(w http.ResponseWriter) { part(w, []byte{0x1f, 0x8b}); hangUp() },
		"other": func(w http.ResponseWriter) { part(w, []byte("other bytes")) },
	} {
		s.Meddle(func(w http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, "/blobs/") {
				answer(w)
				return true
			}
			return false
		})
		if _, err := c.Open(t.Context(), ref); err == nil {
			t.Errorf("%s: no error", name)
		}
		if n := c.Kept(); n != 0 {
			t.Errorf("%s: %d layers are kept", name, n)
		}
	}
	s.Meddle(nil)
	if err := get(t, c, ref); err != nil {
		t.Error(err)
	}
}

// TestMeter checks that a transfer reports its progress, from its first byte to its last.
func TestMeter(t *testing.T) {
	s := ocitest.New(t)
	ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/deploy")}
	push(t, s.Client(t, ""), ref, "1.0.0", "deploy", "rollback")
	collection, trees := release("2.0.0", "deploy", "rollback")
	if _, err := s.Client(t, "").Push(t.Context(), ref, collection, trees, oci.PushOptions{Format: oci.FormatAgentSkills}); err != nil {
		t.Fatal(err)
	}
	layouts := oci.New(oci.Options{Base: t.TempDir()})
	layout := pack.Ref{Kind: pack.KindLayout, URL: "out", ID: deployID}
	push(t, layouts, layout, "1.0.0", "deploy")
	tagged := func(tag string) pack.Ref { r := ref; r.Rev = tag; return r }
	for _, tt := range []struct {
		name string
		c    *oci.Client
		ref  pack.Ref
	}{
		{"a pack", s.Client(t, ""), tagged("1.0.0")},
		{"a collection", s.Client(t, ""), tagged("2.0.0")},
		{"another tool's", s.Client(t, ""), foreignPack(t, s)},
		{"a layout", layouts, layout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := tt.c.Open(t.Context(), tt.ref)
			if err != nil {
				t.Fatal(err)
			}
			var last, size int64
			ctx := pack.WithProgress(t.Context(), func(done, total int64) {
				if done < last || done > total || size != 0 && size != total {
					t.Errorf("%d of %d after %d of %d", done, total, last, size)
				}
				last, size = done, total
			})
			if err := tt.c.Fetch(ctx, p, nil, &devNull{}); err != nil || last == 0 || last != size {
				t.Errorf("it ended at %d of %d: %v", last, size, err)
			}
		})
	}
}
