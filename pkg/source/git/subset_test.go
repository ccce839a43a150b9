package git_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// traffic counts the bytes that a server sends.
type traffic struct{ packs, bytes atomic.Int64 }

// count returns a handler that counts.
func (c *traffic) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			c.packs.Add(1)
		}
		next.ServeHTTP(countingWriter{w, c}, r)
	})
}

type countingWriter struct {
	http.ResponseWriter
	traffic *traffic
}

func (w countingWriter) Write(p []byte) (int, error) {
	w.traffic.bytes.Add(int64(len(p)))
	return w.ResponseWriter.Write(p)
}

// take returns the bytes counted since its last call.
func (c *traffic) take() (packs, bytes int64) { return c.packs.Swap(0), c.bytes.Swap(0) }

// noise returns text that compresses to more than half its size.
func noise(random *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%016x\n", random.Uint64())
	}
	return b.String()[:size]
}

// largeRepository creates o/r.git with 60 skills of 64 KB each, 4 MB in all, below packs/big/skills, and a small pack
// in packs/small.
func largeRepository(t *testing.T, dir string) *gittest.Repo {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	files := gittest.Text(map[string]string{
		"packs/small/skillpm.yaml": "name: acme/small\nversion: \"1.0.0\"\ndependencies:\n  acme/base: \"^2.1\"\n",
		"packs/small/one/SKILL.md": gittest.Skill("one", "The first."),
		"packs/small/one/a.txt":    noise(random, 1000),
	})
	for i := range 60 {
		name := fmt.Sprintf("skill-%d", i)
		base := "packs/big/skills/" + name
		files[base+"/SKILL.md"] = gittest.File{Data: gittest.Skill(name, "One of many.") + noise(random, 4000)}
		files[base+"/data.txt"] = gittest.File{Data: noise(random, 64<<10)}
	}
	r := gittest.New(t, dir, "o/r.git")
	r.Tag("small@1.0.0", r.Commit(files))
	return r
}

// TestSubsetCosts checks that fetching a subset of a large repository transfers only the subset if the server supports
// filters: listing versions transfers no pack, describing a pack its trees and descriptions, and one skill only its
// files. Without filters, it transfers the whole commit once.
func TestSubsetCosts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	largeRepository(t, dir)
	var c traffic
	for _, program := range []string{"", gittest.Git(t)} {
		url := "git+" + gittest.Serve(t, dir, gittest.WithFilter(), gittest.WithHandler(c.count)) + "/o/r.git"
		client := newClient(t, git.Options{Program: program})
		c.take()
		versions, err := client.Versions(t.Context(), parse(t, url+"//packs/small"))
		if packs, bytes := c.take(); err != nil || !slices.Equal(versions, []string{"1.0.0"}) || bytes > 2000 || program == "" && packs > 0 {
			t.Errorf("%q: Versions = %v, %v: %d bytes in %d packs", program, versions, err, bytes, packs)
		}
		p, err := client.Open(t.Context(), parse(t, url+"//packs/small"))
		if _, bytes := c.take(); err != nil || len(p.Dependencies) != 1 || bytes > 20_000 {
			t.Errorf("%q: a small pack is %v, %v: %d bytes", program, p, err, bytes)
		}
		digests := hashes(t, client, p)
		if _, bytes := c.take(); len(digests) != 1 || bytes > 10_000 {
			t.Errorf("%q: fetching it: %v, %d bytes", program, digests, bytes)
		}
		whole := newClient(t, git.Options{Program: program})
		p, digests = fetch(t, whole, parse(t, url+"//packs/big"), "skill-7")
		if _, bytes := c.take(); len(p.Skills) != 60 || len(digests) != 1 || bytes > 1<<18 {
			t.Errorf("%q: one skill of %d: %v, %d bytes", program, len(p.Skills), digests, bytes)
		}
		all := hashes(t, whole, p)
		if _, bytes := c.take(); len(all) != 60 || all["skill-7"] != digests["skill-7"] || bytes < 15<<17 || bytes > 30<<17 {
			t.Errorf("%q: all skills: %d, %d bytes", program, len(all), bytes)
		}
	}
	url := "git+" + gittest.Serve(t, dir, gittest.WithHandler(c.count)) + "/o/r.git//packs/big"
	client := newClient(t, git.Options{})
	c.take()
	p, _ := fetch(t, client, parse(t, url), "skill-7")
	hashes(t, client, p)
	if packs, bytes := c.take(); packs != 1 || bytes < 15<<17 {
		t.Errorf("without filters: %d bytes in %d packs", bytes, packs)
	}
}

// hashes fetches skills of a pack and returns their tree digests.
func hashes(t *testing.T, c *git.Client, p *pack.Pack, names ...string) map[string]string {
	t.Helper()
	hasher := bundle.NewHasher(bundle.DefaultLimits())
	if err := c.Fetch(t.Context(), p, names, hasher); err != nil {
		t.Fatal(err)
	}
	digests := make(map[string]string)
	for name, inventory := range hasher.Inventories() {
		digests[name] = inventory.Digest()
	}
	return digests
}

// TestWholeCosts checks that a commit of which everything is wanted is fetched in one pack.
func TestWholeCosts(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(skills())
	var c traffic
	ref := parse(t, "git+"+gittest.Serve(t, dir, gittest.WithFilter(), gittest.WithHandler(c.count))+"/o/r.git")
	client := newClient(t, git.Options{})
	p, err := client.Open(pack.WithSkills(t.Context(), nil), ref)
	if err != nil {
		t.Fatal(err)
	}
	hashes(t, client, p)
	if packs, _ := c.take(); packs != 1 {
		t.Errorf("%d packs were sent, want 1", packs)
	}
	tree, _, err := newClient(t, git.Options{}).Tree(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := tree.Open("skills/deploy/SKILL.md"); err != nil || f.Close() != nil {
		t.Error(err)
	}
	if packs, _ := c.take(); packs != 1 {
		t.Errorf("%d packs were sent for a tree, want 1", packs)
	}
}

// TestPartsInTheCache checks that parts of a commit accumulate in the cache and are not fetched again.
func TestPartsInTheCache(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(skills())
	var c traffic
	ref := parse(t, "git+"+gittest.Serve(t, dir, gittest.WithFilter(), gittest.WithHandler(c.count))+"/o/r.git")
	p, first := fetch(t, newClient(t, git.Options{Cache: cache}), ref, "deploy")
	if packs, _ := c.take(); packs != 3 {
		t.Errorf("%d packs for one skill, want 3: trees, descriptions, files", packs)
	}
	if _, again := fetch(t, newClient(t, git.Options{Cache: cache}), p.Ref, "deploy"); !maps.Equal(first, again) {
		t.Errorf("fetched %v and then %v", first, again)
	}
	if packs, _ := c.take(); packs != 0 {
		t.Errorf("%d packs for what was there", packs)
	}
	damage(t, cache)
	if _, again := fetch(t, newClient(t, git.Options{Cache: cache}), p.Ref, "deploy"); !maps.Equal(first, again) {
		t.Errorf("fetched %v and after damage %v", first, again)
	}
}

// TestCacheEmptiedBetweenParts checks that if another process empties the cache between two parts of a commit, all of
// it is fetched again.
func TestCacheEmptiedBetweenParts(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(skills())
	ref := parse(t, "git+"+gittest.Serve(t, dir, gittest.WithFilter())+"/o/r.git")
	_, want := fetch(t, newClient(t, git.Options{}), ref)
	for _, pattern := range []string{"*/*", "*", "."} { // the entry, all of the repository, the whole cache
		cache := t.TempDir()
		c := newClient(t, git.Options{Cache: cache})
		p, err := c.Open(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Glob(filepath.Join(cache, pattern))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: the cache has %v, %v", pattern, found, err)
		}
		if err := os.RemoveAll(found[0]); err != nil {
			t.Fatal(err)
		}
		if got := hashes(t, c, p); !maps.Equal(got, want) {
			t.Errorf("%s: fetched %v, want %v", pattern, got, want)
		}
		if _, got := fetch(t, newClient(t, git.Options{Cache: cache}), p.Ref); !maps.Equal(got, want) {
			t.Errorf("%s: the cache gives %v, want %v", pattern, got, want)
		}
	}
}

// TestFilterWithoutObjects checks that if a server filters objects and then does not send them, the whole commit is
// fetched.
func TestFilterWithoutObjects(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(skills())
	var posts atomic.Int32
	refuse := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && posts.Add(1) == 2 {
				w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
				_, _ = w.Write([]byte("0045ERR upload-pack: not our ref 1111111111111111111111111111111111111111"[:0x45]))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	url := gittest.Serve(t, dir, gittest.WithFilter(), gittest.WithHandler(refuse))
	if _, digests := fetch(t, newClient(t, git.Options{}), parse(t, "git+"+url+"/o/r.git")); len(digests) != 2 || posts.Load() != 3 {
		t.Errorf("fetched %v with %d requests", digests, posts.Load())
	}
}

// TestMeter checks that the meter counts all packs of a commit together.
func TestMeter(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(skills())
	for _, program := range []string{"", gittest.Git(t)} {
		var mu sync.Mutex
		var last, reported int64
		ctx := pack.WithProgress(t.Context(), func(done, total int64) {
			mu.Lock()
			defer mu.Unlock()
			if done < last || total != 0 {
				t.Errorf("%q: the meter is told %d of %d after %d", program, done, total, last)
			}
			last, reported = done, reported+1
		})
		c := newClient(t, git.Options{Program: program})
		p, err := c.Open(ctx, parse(t, "git+"+gittest.Serve(t, dir, gittest.WithFilter())+"/o/r.git"))
		if err == nil {
			err = c.Fetch(ctx, p, nil, bundle.NewHasher(bundle.DefaultLimits()))
		}
		if mu.Lock(); err != nil || last == 0 || reported == 0 {
			t.Errorf("%q: the meter says %d, %v", program, last, err)
		}
		mu.Unlock()
	}
}

// TestConcurrentParts checks that several goroutines fetch different parts at once.
func TestConcurrentParts(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(manySkills(20))
	c := newClient(t, git.Options{})
	p, err := c.Open(t.Context(), parse(t, "git+"+gittest.Serve(t, dir, gittest.WithFilter())+"/o/r.git"))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, s := range p.Skills[:8] {
		wg.Go(func() {
			if err := c.Fetch(context.WithoutCancel(t.Context()), p, []string{s.Name}, bundle.NewHasher(bundle.DefaultLimits())); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
