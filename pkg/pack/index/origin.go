package index

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"
)

// Origin says which of several packs with the same content published it first.
type Origin struct {
	Content      string // equal for packs with the same skills, by their tree digests; "" if unknown
	ContentSince string // when the pack first published the content, RFC 3339; "" if unknown
	Since        string // when the pack first published anything
	Deprecated   bool
}

// contentBytes is the length of a content key. A pack cannot take another one's key on purpose: that takes 2^96 tries.
const contentBytes = 12

// Origin returns the origin of a version of the pack.
func (e *Entry) Origin(l Line) Origin {
	o := Origin{Content: l.contentKey(), ContentSince: l.Published, Since: l.Published, Deprecated: e.Deprecated != ""}
	for _, other := range e.Versions {
		if isEarlier(other.Published, o.Since) {
			o.Since = other.Published
		}
		if isEarlier(other.Published, o.ContentSince) && other.contentKey() == o.Content {
			o.ContentSince = other.Published
		}
	}
	return o
}

func (l *Line) contentKey() string {
	trees := make([]string, len(l.Skills))
	for i, s := range l.Skills {
		trees[i] = s.Tree
	}
	slices.Sort(trees)
	sum := sha256.Sum256([]byte(strings.Join(trees, "\n")))
	return base64.RawURLEncoding.EncodeToString(sum[:contentBytes])
}

// Copies reports whether a pack is a copy of another one: it has the same content, published later, and the other pack
// is at least as old. So neither a quick copy of a new version nor an old pack with new content displaces the original.
// A pack with a deprecated original is not its copy, because it may be the successor.
func (o Origin) Copies(original Origin) bool {
	return o.Content != "" && o.Content == original.Content && !original.Deprecated &&
		isEarlier(original.ContentSince, o.ContentSince) && !isEarlier(o.Since, original.Since)
}

// Originals returns, for each of several packs, the number of the one that it copies, or -1.
func Originals(origins []Origin) []int {
	first := map[string]int{} // by content: the pack that published it first
	for i, o := range origins {
		k, ok := first[o.Content]
		if o.ContentSince != "" && (!ok || isEarlier(o.ContentSince, origins[k].ContentSince)) {
			first[o.Content] = i
		}
	}
	of := make([]int, len(origins))
	for i, o := range origins {
		of[i] = -1
		if k, ok := first[o.Content]; ok && o.Copies(origins[k]) {
			of[i] = k
		}
	}
	return of
}

// isEarlier reports whether both times are valid and the first is earlier.
func isEarlier(a, b string) bool {
	at, err := time.Parse(time.RFC3339, a)
	bt, errB := time.Parse(time.RFC3339, b)
	return err == nil && errB == nil && at.Before(bt)
}
