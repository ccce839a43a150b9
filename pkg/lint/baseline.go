package lint

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

// BaselineName is how a baseline's file is usually called.
const BaselineName = "skillpm-baseline.yaml"

// baselineVersion is the version of the format that is read and written.
const baselineVersion = "1"

const (
	maxBaseline      = 64 << 20
	maxBaselineCount = 1_000_000
)

// BaselineFinding names a finding: equal ones are about the same text in the same file.
type BaselineFinding struct {
	Rule   string // id, as REF001
	Path   string // slash-separated, without . and .., relative to where the caller says
	Digest string // what [BaselineDigest] returns
}

func (f BaselineFinding) compare(o BaselineFinding) int {
	return cmp.Or(cmp.Compare(f.Path, o.Path), cmp.Compare(f.Rule, o.Rule), cmp.Compare(f.Digest, o.Digest))
}

var (
	baselineRule   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z]{2,8}[0-9]{3}$`) })
	baselineDigest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })
)

func checkBaselineRule(s string) error {
	if !baselineRule().MatchString(s) {
		return diag.Errorf(diag.Invalid, "%q is not the id of a rule, as REF001", s)
	}
	return nil
}

func checkBaselinePath(s string) error {
	if !fs.ValidPath(s) {
		return diag.Errorf(diag.Invalid, "%q is not a path with slashes, without .. and a slash at its start", s)
	}
	return nil
}

func checkBaselineDigest(s string) error {
	if !baselineDigest().MatchString(s) {
		return diag.Errorf(diag.Invalid, "%q is not a digest: sha256: and 64 hexadecimal digits", s)
	}
	return nil
}

// BaselineEntry is a finding that is accepted.
type BaselineEntry struct {
	BaselineFinding
	Reason  string // why, on one line
	Expires string // the day from which it does not count any more, as 2027-01-31; "" if it has none
	Count   int    // how many equal findings there are, at least 1

	Line int // where the entry starts in the file that it was read from; 0 if it was not read
}

// expired reports whether the entry does not count any more at a time, which is taken in UTC.
func (e BaselineEntry) expired(now time.Time) bool {
	return e.Expires != "" && e.Expires <= now.UTC().Format(time.DateOnly)
}

// Baseline is the findings that are known and accepted: what `skillpm validate --baseline` leaves out, and what
// `--write-baseline` writes. The zero Baseline accepts nothing.
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
type Baseline struct {
	Entries []BaselineEntry // sorted by path, rule and digest, and no two with the same
}

// BaselineDigest returns the digest of the text that a finding is about: usually the lines that it is on. Line ends,
// and spaces at the start and the end of lines, do not count.
func BaselineDigest(text []byte) string {
	h := sha256.New()
	for line := range bytes.Lines(text) {
		h.Write(bytes.TrimSpace(line))
		h.Write([]byte{'\n'})
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// BaselineChanges says what [Baseline.Update] did, in numbers of entries.
type BaselineChanges struct {
	Added, Kept, Dropped int
}

// Update returns a baseline of exactly the findings that there are. Entries that still match keep their reasons and
// dates, also one that has expired: a date is set by people and stays until they change it. The others are dropped,
// unless they are about a file that covered says was not looked at; a nil covered means that all were. What was not
// there before gets the reason, without which it is an error.
func (b *Baseline) Update(found []BaselineFinding, covered func(path string) bool, reason string) (*Baseline,
	BaselineChanges, error,
) {
	counts := make(map[BaselineFinding]int)
	for _, f := range found {
		if err := cmp.Or(checkBaselineRule(f.Rule), checkBaselinePath(f.Path),
			checkBaselineDigest(f.Digest)); err != nil {
			return nil, BaselineChanges{}, diag.Errorf(diag.Internal, "a finding that no baseline can hold: %w", err)
		}
		counts[f] = min(counts[f]+1, maxBaselineCount)
	}
	next, done := &Baseline{}, BaselineChanges{}
	for _, e := range b.Entries {
		n, ok := counts[e.BaselineFinding]
		switch {
		case ok:
			e.Count = n
			delete(counts, e.BaselineFinding)
		case covered == nil || covered(e.Path):
			done.Dropped++
			continue
		}
		done.Kept++
		next.Entries = append(next.Entries, e)
	}
	reason = oneLine(reason)
	if len(counts) > 0 && reason == "" {
		return nil, BaselineChanges{}, diag.Errorf(diag.Usage, "findings are accepted for a reason").
			WithHint("say why they are accepted")
	}
	for f, n := range counts {
		done.Added++
		next.Entries = append(next.Entries, BaselineEntry{BaselineFinding: f, Reason: reason, Count: n})
	}
	next.sort()
	return next, done, nil
}

func (b *Baseline) sort() {
	slices.SortFunc(b.Entries, func(x, y BaselineEntry) int { return x.compare(y.BaselineFinding) })
}

// oneLine returns a text with single spaces and no line break.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
}

// BaselineMatcher holds findings against a baseline, each entry of which accepts as many as it counts. It is for one
// goroutine.
type BaselineMatcher struct {
	entries []BaselineEntry
	now     time.Time
	at      map[BaselineFinding]int // position in entries
	left    []int                   // of each entry, how many findings it can still accept
}

// Matcher returns a matcher for the time now.
func (b *Baseline) Matcher(now time.Time) *BaselineMatcher {
	m := &BaselineMatcher{
		entries: b.Entries, now: now, at: make(map[BaselineFinding]int, len(b.Entries)),
		left: make([]int, len(b.Entries)),
	}
	for i, e := range b.Entries {
		m.at[e.BaselineFinding] = i
		m.left[i] = e.Count
	}
	return m
}

// Accept reports whether a finding is accepted, and returns the entry that accepts it. For one that an expired entry is
// about, it returns that entry and false.
func (m *BaselineMatcher) Accept(f BaselineFinding) (BaselineEntry, bool) {
	i, ok := m.at[f]
	if !ok || m.left[i] == 0 {
		return BaselineEntry{}, false
	}
	m.left[i]--
	return m.entries[i], !m.entries[i].expired(m.now)
}

// Stale returns the entries that have accepted fewer findings than they count, with Count as the number that is
// missing. Those are mended, and their entries can go. Of a run that did not look at every file, the caller leaves out
// entries about the others.
func (m *BaselineMatcher) Stale() []BaselineEntry {
	var stale []BaselineEntry
	for i, e := range m.entries {
		if m.left[i] > 0 {
			e.Count = m.left[i]
			stale = append(stale, e)
		}
	}
	return stale
}

// Expired returns the entries whose day has come, whether or not there are findings that they are about.
func (m *BaselineMatcher) Expired() []BaselineEntry {
	var expired []BaselineEntry
	for _, e := range m.entries {
		if e.expired(m.now) {
			expired = append(expired, e)
		}
	}
	return expired
}
