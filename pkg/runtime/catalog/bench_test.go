package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// manySkills writes n skills in the typical form of a user's directory, and returns options to open them. An index for
// them is settled: the files are old enough that they are not read again.
func manySkills(b testing.TB, n int, index bool) catalog.Options {
	b.Helper()
	p, err := profile.Lookup(profile.Runtime)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	for i := range n {
		name := fmt.Sprintf("skill-%05d", i)
		text := fmt.Sprintf("---\nname: %s\ndescription: Deploys service %d to the staging cluster, checks its health and rolls back where that fails. "+
			"Use when somebody asks to release, ship or roll out a service, or says that a deployment is stuck.\nlicense: Apache-2.0\n"+
			"allowed-tools:\n  - Bash\n  - Read\ntags: [deploy, team-%d]\nmetadata:\n  author: example\n  version: \"1.0\"\n---\n\n# Deploy\n\n", name, i, i%20)
		for range 60 {
			text += "Look at the rollout's status before the next step, and say what is seen.\n"
		}
		at := filepath.Join(dir, ".skillpm", "skills", name)
		if err := os.MkdirAll(at, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "SKILL.md"), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	paths, err := scope.New(scope.Env{Home: dir, Dir: dir, OS: runtime.GOOS})
	if err != nil {
		b.Fatal(err)
	}
	paths.Enterprise = filepath.Join(dir, "enterprise")
	later := func() time.Time { return time.Now().Add(time.Minute) }
	o := catalog.Options{Profile: p, Paths: paths, Recommended: -1, Now: later}
	if index {
		o.Cache = filepath.Join(dir, "cache")
	}
	return o
}

func open(b testing.TB, o catalog.Options, want int) *catalog.Catalog {
	b.Helper()
	c, err := catalog.Open(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	if len(c.Skills()) != want {
		b.Fatalf("%d skills, want %d: %v", len(c.Skills()), want, c.Findings())
	}
	return c
}

// installed moves the skills into packs of ten, with links from two agents' directories to each.
func installed(b *testing.B, o catalog.Options, n int) catalog.Options {
	b.Helper()
	home := o.Paths.Home
	for i := range n {
		name := fmt.Sprintf("skill-%05d", i)
		pack := filepath.Join(home, ".skillpm", "plugins", "acme", fmt.Sprintf("pack-%d", i/10))
		if err := os.MkdirAll(pack, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.Rename(filepath.Join(home, ".skillpm", "skills", name), filepath.Join(pack, name)); err != nil {
			b.Fatal(err)
		}
		for _, agent := range []string{".agents", ".omniforge"} {
			dir := filepath.Join(home, agent, "skills")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
			target, err := filepath.Rel(dir, filepath.Join(pack, name))
			if err != nil {
				b.Fatal(err)
			}
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				b.Skip(err)
			}
		}
	}
	return o
}

// BenchmarkInstalled opens skills of installed packs that two agents have links to, with an index and without.
func BenchmarkInstalled(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("warm/%d", n), func(b *testing.B) {
			o := installed(b, manySkills(b, n, true), n)
			open(b, o, n)
			measure(b, func() {}, func() { open(b, o, n) })
			indexSize(b, o, n)
		})
		b.Run(fmt.Sprintf("cold/%d", n), func(b *testing.B) {
			o := installed(b, manySkills(b, n, true), n)
			measure(b, func() {
				if err := os.RemoveAll(o.Cache); err != nil {
					b.Fatal(err)
				}
			}, func() { open(b, o, n) })
		})
	}
}

// BenchmarkCopies opens skills of installed packs that an agent has copies of.
func BenchmarkCopies(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := installed(b, manySkills(b, n, true), n)
			for i := range n {
				name := fmt.Sprintf("skill-%05d", i)
				pack := filepath.Join(o.Paths.Home, ".skillpm", "plugins", "acme", fmt.Sprintf("pack-%d", i/10), name)
				if err := os.Mkdir(filepath.Join(pack, "references"), 0o755); err != nil {
					b.Fatal(err)
				}
				for _, file := range []string{"a.md", "b.md", "c.md"} {
					if err := os.WriteFile(filepath.Join(pack, "references", file), make([]byte, 8<<10), 0o644); err != nil {
						b.Fatal(err)
					}
				}
				agent := filepath.Join(o.Paths.Home, ".agents", "skills", name)
				if err := os.Remove(agent); err != nil {
					b.Fatal(err)
				}
				if err := os.CopyFS(agent, os.DirFS(pack)); err != nil {
					b.Fatal(err)
				}
			}
			if s := open(b, o, n).Skills()[0]; s.Pack == "" {
				b.Fatalf("got %+v", s)
			}
			measure(b, func() {}, func() { open(b, o, n) })
			indexSize(b, o, n)
		})
	}
}

// BenchmarkCold opens skills without an index, and writes it.
func BenchmarkCold(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := manySkills(b, n, true)
			measure(b, func() {
				if err := os.RemoveAll(o.Cache); err != nil {
					b.Fatal(err)
				}
			}, func() { open(b, o, n) })
			indexSize(b, o, n)
		})
	}
}

// BenchmarkWarm opens skills that the index has.
func BenchmarkWarm(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := manySkills(b, n, true)
			open(b, o, n)
			measure(b, func() {}, func() { open(b, o, n) })
			indexSize(b, o, n)
		})
	}
}

// measure runs a benchmark, and also reports the duration of the fastest run and the processor time of each, on which
// other programs have less influence.
func measure(b *testing.B, before, do func()) {
	b.Helper()
	best, worked := time.Duration(1<<62), time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		before()
		start, busy := time.Now(), processorTime()
		b.StartTimer()
		do()
		best, worked = min(best, time.Since(start)), worked+processorTime()-busy
	}
	b.ReportMetric(float64(best), "best-ns/op")
	b.ReportMetric(float64(worked)/float64(b.N), "cpu-ns/op")
}

func indexSize(b *testing.B, o catalog.Options, n int) {
	b.Helper()
	size := indexBytes(b, o)
	b.ReportMetric(float64(size), "index-bytes")
	b.ReportMetric(float64(size)/float64(n), "index-bytes/skill")
}

// indexBytes returns how large the index is.
func indexBytes(b testing.TB, o catalog.Options) int64 {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(o.Cache, "*.idx"))
	if err != nil {
		b.Fatal(err)
	}
	size := int64(0)
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			b.Fatal(err)
		}
		size += info.Size()
	}
	return size
}

// TestO23Size checks that the index of 1,000 skills takes less than 1 MB of disk, and an open catalog of them, and a search
// in it, less than 10 MB of memory each.
func TestO23Size(t *testing.T) {
	o := manySkills(t, 1000, true)
	open(t, o, 1000)
	before := heap()
	c := open(t, o, 1000) // from the index
	if live := heap() - before; live > 10_000_000 && live < 1<<40 {
		t.Errorf("the catalog holds %d bytes", live)
	}
	if n := len(c.Skills()); n != 1000 {
		t.Errorf("%d skills", n)
	}
	f, err := c.Finder() // writes the search index
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	before = heap()
	if f, err = c.Finder(); err != nil {
		t.Fatal(err)
	}
	found, err := f.Find("release the service to the staging cluster")
	if err != nil || len(found.Matches) != 1000 {
		t.Fatalf("%d skills, %v", len(found.Matches), err)
	}
	if live := heap() - before; live > 10_000_000 && live < 1<<40 {
		t.Errorf("a search holds %d bytes", live)
	}
	runtime.KeepAlive(f)
	f.Close()
	if size := indexBytes(t, o); size == 0 || size > 1_000_000 {
		t.Errorf("the index has %d bytes", size)
	}
}

// BenchmarkMemory reports how much heap an open catalog uses.
func BenchmarkMemory(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := manySkills(b, n, true)
			open(b, o, n)
			live := uint64(0)
			for b.Loop() {
				before := heap()
				c := open(b, o, n)
				live = heap() - before
				runtime.KeepAlive(c)
			}
			b.ReportMetric(float64(live), "heap-bytes")
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
