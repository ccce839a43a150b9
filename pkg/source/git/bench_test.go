package git_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// manySkills returns n skills of a realistic size: a SKILL.md of 4 KB, three references of 8 KB, and a script.
func manySkills(n int) gittest.Files {
	random := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 2000)
	for i := range words {
		words[i] = fmt.Sprintf("%x", random.Uint32())
	}
	text := func(size int) string {
		var b strings.Builder
		for b.Len() < size {
			b.WriteString(words[random.IntN(len(words))])
			b.WriteByte(' ')
		}
		return b.String()
	}
	files := make(gittest.Files)
	for i := range n {
		name := fmt.Sprintf("skill-%d", i)
		dir := "skills/" + name + "/"
		files[dir+"SKILL.md"] = gittest.File{Data: gittest.Skill(name, "One of many.") + text(4000)}
		for _, reference := range []string{"a", "b", "c"} {
			files[dir+"references/"+reference+".md"] = gittest.File{Data: text(8000)}
		}
		files[dir+"scripts/run.sh"] = gittest.File{Data: "#!/bin/sh\necho " + name + "\n", Executable: true}
	}
	return files
}

// BenchmarkFetch opens and fetches packs of n skills over smart HTTP. BenchmarkClone measures git for the same transfer
// with a checkout.
func BenchmarkFetch(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			gittest.New(b, dir, "o/r.git").Commit(manySkills(n))
			url := "git+" + gittest.Serve(b, dir) + "/o/r.git"
			for b.Loop() {
				c := git.New(git.Options{Cache: b.TempDir()})
				p, err := c.Open(b.Context(), parse(b, url))
				if err != nil {
					b.Fatal(err)
				}
				if err := c.Fetch(b.Context(), p, nil, bundle.NewHasher(bundle.DefaultLimits())); err != nil {
					b.Fatal(err)
				}
				if err := c.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkClone runs git clone --depth 1 on the repository of BenchmarkFetch.
func BenchmarkClone(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			gittest.New(b, dir, "o/r.git").Commit(manySkills(n))
			url := gittest.Serve(b, dir) + "/o/r.git"
			for b.Loop() {
				cmd := exec.Command(gittest.Git(b), "clone", "--quiet", "--depth=1", url, filepath.Join(b.TempDir(), "clone"))
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
			}
		})
	}
}
