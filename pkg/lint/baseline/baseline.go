// Package baseline reads and writes the file of findings that are known and accepted: what `skillpm validate
// --baseline` leaves out, and what `--write-baseline` writes.
//
// An accepted finding is named by its rule, the file, and a digest of the text that it is about. It stays accepted when
// lines move, and is reported again as soon as the text changes. Every entry has a reason; one with a date counts until
// the day before it. A file is one document:
//
//	version: 1
//	findings:
//	  - rule: REF001
//	    path: skills/deploy/SKILL.md
//	    digest: "sha256:…"
//	    reason: "the file is generated at release"
//	    expires: 2027-01-31 # optional
//	    count: 2 # optional: how many equal findings, 1 if it is not there
//
// What cannot be read whole is an error with line and column, and never a baseline that accepts less or more: unknown
// and duplicate keys, duplicate entries, entries without a reason, merge markers, another version of the format.
package baseline

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Name is how a baseline's file is usually called.
const Name = "skillpm-baseline.yaml"

// Version is the version of the format that is read and written.
const Version = "1"

const (
	maxBytes = 64 << 20
	maxCount = 1_000_000
)

// Finding names a finding: equal ones are about the same text in the same file.
type Finding struct {
	Rule   string // id, as REF001
	Path   string // slash-separated, without . and .., relative to where the caller says
	Digest string // what [Sum] returns
}

func (f Finding) compare(o Finding) int {
	return cmp.Or(cmp.Compare(f.Path, o.Path), cmp.Compare(f.Rule, o.Rule), cmp.Compare(f.Digest, o.Digest))
}

var (
	ruleText   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z]{2,8}[0-9]{3}$`) })
	digestText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })
)

func checkRule(s string) error {
	if !ruleText().MatchString(s) {
		return diag.Errorf(diag.Invalid, "%q is not the id of a rule, as REF001", s)
	}
	return nil
}

func checkPath(s string) error {
	if !fs.ValidPath(s) {
		return diag.Errorf(diag.Invalid, "%q is not a path with slashes, without .. and a slash at its start", s)
	}
	return nil
}

func checkDigest(s string) error {
	if !digestText().MatchString(s) {
		return diag.Errorf(diag.Invalid, "%q is not a digest: sha256: and 64 hexadecimal digits", s)
	}
	return nil
}

// Entry is a finding that is accepted.
type Entry struct {
	Finding
	Reason  string // why, on one line
	Expires string // the day from which it does not count any more, as 2027-01-31; "" if it has none
	Count   int    // how many equal findings there are, at least 1

	Line int // where the entry starts in the file that it was read from; 0 if it was not read
}

// expired reports whether the entry does not count any more at a time, which is taken in UTC.
func (e Entry) expired(now time.Time) bool {
	return e.Expires != "" && e.Expires <= now.UTC().Format(time.DateOnly)
}

// Baseline is what is accepted. The zero Baseline accepts nothing.
type Baseline struct {
	Entries []Entry // sorted by path, rule and digest, and no two with the same
}

// Sum returns the digest of the text that a finding is about: usually the lines that it is on. Line ends, and spaces at
// the start and the end of lines, do not count.
func Sum(text []byte) string {
	h := sha256.New()
	for line := range bytes.Lines(text) {
		h.Write(bytes.TrimSpace(line))
		h.Write([]byte{'\n'})
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Changes says what [Baseline.Update] did, in numbers of entries.
type Changes struct {
	Added, Kept, Dropped int
}

// Update returns a baseline of exactly the findings that there are. Entries that still match keep their reasons and
// dates, also one that has expired: a date is set by people and stays until they change it. The others are dropped,
// unless they are about a file that covered says was not looked at; a nil covered means that all were. What was not
// there before gets the reason, without which it is an error.
func (b *Baseline) Update(found []Finding, covered func(path string) bool, reason string) (*Baseline, Changes, error) {
	counts := make(map[Finding]int)
	for _, f := range found {
		if err := cmp.Or(checkRule(f.Rule), checkPath(f.Path), checkDigest(f.Digest)); err != nil {
			return nil, Changes{}, diag.Errorf(diag.Internal, "a finding that no baseline can hold: %w", err)
		}
		counts[f] = min(counts[f]+1, maxCount)
	}
	next, done := &Baseline{}, Changes{}
	for _, e := range b.Entries {
		n, ok := counts[e.Finding]
		switch {
		case ok:
			e.Count = n
			delete(counts, e.Finding)
		case covered == nil || covered(e.Path):
			done.Dropped++
			continue
		}
		done.Kept++
		next.Entries = append(next.Entries, e)
	}
	reason = oneLine(reason)
	if len(counts) > 0 && reason == "" {
		return nil, Changes{}, diag.Errorf(diag.Usage, "findings are accepted for a reason").WithHint("say why they are accepted")
	}
	for f, n := range counts {
		done.Added++
		next.Entries = append(next.Entries, Entry{Finding: f, Reason: reason, Count: n})
	}
	next.sort()
	return next, done, nil
}

func (b *Baseline) sort() {
	slices.SortFunc(b.Entries, func(x, y Entry) int { return x.compare(y.Finding) })
}

// oneLine returns a text with single spaces and no line break.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
}
