package bundle_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// The compressor's output for a megabyte of text. Its other tests are too small to detect another version of it.
const (
	goldenLargeTar     = "sha256:30fb5ddfd13600649c12c8be20de12619e3efcebe8e118f05c974db1fb777e6e"
	goldenLargeArchive = "sha256:b1651548cf129cc4fabd153d7a08908317b4861dcd1fa545f83a58f4e77d93d3"
)

// prose returns deterministic text that resembles natural prose: words of uneven frequency, in lines and paragraphs.
func prose(size int) []byte {
	words := []string{
		"the", "a", "to", "of", "and", "in", "is", "for", "with", "service", "deploy", "rollback", "cluster", "release", "image", "namespace",
		"before", "after", "watch", "until", "healthy", "traffic", "percent", "`kubectl rollout status`", "error", "budget", "revision", "config",
	}
	var b bytes.Buffer
	state := uint32(1) // of a linear congruential generator, so that no library's can change it
	next := func(n uint32) uint32 { state = state*1664525 + 1013904223; return state >> 8 % n }
	for line := 0; b.Len() < size; line++ {
		if line%17 == 0 {
			fmt.Fprintf(&b, "\n## Step %d\n\n", line/17)
		}
		for range 6 + next(9) {
			b.WriteString(words[next(next(uint32(len(words)))+1)])
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d.\n", next(1000))
	}
	return b.Bytes()[:size]
}

// TestGoldenLarge checks that a large skill is published as the same bytes as ever. If it fails after a change of only
// a dependency, then the compressor produces different bytes: publishing a version again gives another digest, packed
// and published content differ, and signatures, which cover the digest, no longer match a rebuild. Keep the version of
// github.com/klauspost/compress that go.mod has, or treat the change as a new format of published layers, which
// docs/adr and CHANGELOG.md must announce.
func TestGoldenLarge(t *testing.T) {
	text := prose(1 << 20)
	file := bundle.Entry{Path: "SKILL.md", Size: int64(len(text)), SHA256: sha256.Sum256(text)}
	tree := bundle.Tree{Name: "deploy", Inventory: bundle.Inventory{file}, Open: func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(text)), nil
	}}
	sum := sha256.New()
	tarDigest, err := bundle.WriteArchive(sum, []bundle.Tree{tree})
	if err != nil {
		t.Fatal(err)
	}
	if tarDigest != goldenLargeTar {
		t.Fatalf("the tar is %s, want %s: the format, or this test's text, changed", tarDigest, goldenLargeTar)
	}
	if got := "sha256:" + hex.EncodeToString(sum.Sum(nil)); got != goldenLargeArchive {
		t.Errorf("the compressed archive is %s, want %s: the compressor makes other bytes of the same tar, so digests of what is published "+
			"again change, and signatures of them no longer match; see the comment of this test before you change what it wants", got, goldenLargeArchive)
	}
}
