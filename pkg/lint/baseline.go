package lint

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
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
		return diag.Errorf(diag.Invalid, "%q is not a rule id such as REF001", s)
	}
	return nil
}

func checkBaselinePath(s string) error {
	if !fs.ValidPath(s) {
		return diag.Errorf(diag.Invalid, "%q is not a relative path without ..", s)
	}
	return nil
}

func checkBaselineDigest(s string) error {
	if !baselineDigest().MatchString(s) {
		return diag.Errorf(diag.Invalid, "%q is not a digest: use sha256: and 64 hexadecimal digits", s)
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

// BaselineChanges counts what [Baseline.Update] did to entries.
type BaselineChanges struct {
	Added, Kept, Dropped int
}

// Update returns a baseline of exactly the given findings. Entries that still match keep their reasons and dates,
// expired ones too: only users change a date. Other entries are dropped, unless covered reports that their file was not
// checked; a nil covered means that every file was. New findings get the reason; it is an error if there is none.
func (b *Baseline) Update(found []BaselineFinding, covered func(path string) bool, reason string) (*Baseline,
	BaselineChanges, error,
) {
	counts := make(map[BaselineFinding]int)
	for _, f := range found {
		if err := cmp.Or(checkBaselineRule(f.Rule), checkBaselinePath(f.Path),
			checkBaselineDigest(f.Digest)); err != nil {
			return nil, BaselineChanges{}, diag.Errorf(diag.Internal,
				"cannot record a finding in the baseline: %w", err)
		}
		counts[f] = min(counts[f]+1, maxBaselineCount)
	}
	next, changes := &Baseline{}, BaselineChanges{}
	for _, e := range b.Entries {
		n, ok := counts[e.BaselineFinding]
		switch {
		case ok:
			e.Count = n
			delete(counts, e.BaselineFinding)
		case covered == nil || covered(e.Path):
			changes.Dropped++
			continue
		}
		changes.Kept++
		next.Entries = append(next.Entries, e)
	}
	reason = textx.OneLine(reason)
	if len(counts) > 0 && reason == "" {
		return nil, BaselineChanges{}, diag.Errorf(diag.Usage,
			"cannot write the baseline: accepted findings require a reason").
			WithHint("add --reason TEXT")
	}
	for f, n := range counts {
		changes.Added++
		next.Entries = append(next.Entries, BaselineEntry{BaselineFinding: f, Reason: reason, Count: n})
	}
	next.sort()
	return next, changes, nil
}

func (b *Baseline) sort() {
	slices.SortFunc(b.Entries, func(x, y BaselineEntry) int { return x.compare(y.BaselineFinding) })
}

// BaselineMatcher matches findings against a baseline, each entry of which accepts as many as it counts. It is not safe
// for concurrent use.
type BaselineMatcher struct {
	entries   []BaselineEntry
	now       time.Time
	positions map[BaselineFinding]int // position in entries
	remaining []int                   // of each entry, how many findings it can still accept
}

// Matcher returns a matcher for the time now.
func (b *Baseline) Matcher(now time.Time) *BaselineMatcher {
	m := &BaselineMatcher{
		entries: b.Entries, now: now, positions: make(map[BaselineFinding]int, len(b.Entries)),
		remaining: make([]int, len(b.Entries)),
	}
	for i, e := range b.Entries {
		m.positions[e.BaselineFinding] = i
		m.remaining[i] = e.Count
	}
	return m
}

// Accept reports whether a finding is accepted, and returns the entry that accepts it. For one that an expired entry is
// about, it returns that entry and false.
func (m *BaselineMatcher) Accept(f BaselineFinding) (BaselineEntry, bool) {
	i, ok := m.positions[f]
	if !ok || m.remaining[i] == 0 {
		return BaselineEntry{}, false
	}
	m.remaining[i]--
	return m.entries[i], !m.entries[i].expired(m.now)
}

// Stale returns the entries that accepted fewer findings than their Count, with Count set to the missing number. Those
// findings are fixed, so their entries can be removed. After a run that did not check every file, the caller leaves out
// the entries of the other files.
func (m *BaselineMatcher) Stale() []BaselineEntry {
	var stale []BaselineEntry
	for i, e := range m.entries {
		if m.remaining[i] > 0 {
			e.Count = m.remaining[i]
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

// baselineKeys are those of an entry, in the order in which they are written.
var baselineKeys = []string{"rule", "path", "digest", "reason", "expires", "count"}

var baselineFormat = yamlx.Format{
	Name: "a baseline", MaxBytes: maxBaseline, NullIsEmpty: true,
	RootMessage:  "expected a mapping with the keys version and findings",
	ConflictHint: "keep the entries of both sides, and remove the lines <<<<<<<, =======, and >>>>>>>",
}

// ParseBaseline reads a baseline; path is how messages call it. Errors have code [diag.Invalid] and name line and
// column.
func ParseBaseline(path string, data []byte) (*Baseline, error) {
	r := yamlx.Read(path, data, baselineFormat)
	root, ok := r.Root()
	if ok && !root.Exists() {
		return nil, diag.Errorf(diag.Invalid, "%s is empty", path).
			WithHint("create the baseline with: skillpm validate --baseline %s --write-baseline --reason TEXT", path)
	}
	b := &Baseline{}
	for key, v := range root.Fields("version", "findings") {
		if key == "findings" {
			b.Entries = baselineEntries(v)
		} else if !v.IsScalar() || v.Node.Value != baselineVersion {
			v.Errorf("use a newer skillpm",
				"unsupported baseline version %q; this skillpm supports version %s",
				v.Node.Value, baselineVersion)
		}
	}
	if root.Exists() && !root.Get("version").Exists() {
		root.Errorf("add the line version: "+baselineVersion,
			"the baseline does not have a format version")
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	b.sort()
	return b, nil
}

func baselineEntries(v yamlx.Value) []BaselineEntry {
	var list []BaselineEntry
	lines := make(map[BaselineFinding]int)
	for item := range v.Items() {
		e := baselineEntry(item.Named("an entry"))
		if line := lines[e.BaselineFinding]; line > 0 {
			item.Errorf("delete one of the entries, and set count in the remaining entry",
				"the baseline accepts %s in %s twice with the same digest, first on line %d", e.Rule, e.Path, line)
		}
		lines[e.BaselineFinding] = e.Line
		list = append(list, e)
	}
	return list
}

func baselineEntry(v yamlx.Value) BaselineEntry {
	e := BaselineEntry{Count: 1, Line: v.Line()}
	if !v.IsMapping() {
		v.Errorf("", "an entry must be a mapping with the keys %s", strings.Join(baselineKeys[:4], ", "))
		return e
	}
	for key, v := range v.Fields(baselineKeys...) {
		switch key {
		case "rule":
			e.Rule = v.Text(checkBaselineRule)
		case "path":
			e.Path = v.Prose() // a path may have a line break
			v.Check(checkBaselinePath(e.Path))
		case "digest":
			e.Digest = v.Text(checkBaselineDigest)
		case "reason":
			if e.Reason = textx.OneLine(v.Prose()); e.Reason == "" {
				v.Errorf("add a reason for accepting the finding", "an entry does not have a reason")
			}
		case "expires":
			e.Expires = v.Text(checkBaselineDay)
		case "count":
			e.Count = yamlx.As(v, parseBaselineCount)
		}
	}
	v.Require("", "rule", "path", "digest")
	v.Require("add a reason for accepting the finding", "reason")
	return e
}

func checkBaselineDay(s string) error {
	if t, err := time.Parse(time.DateOnly, s); err != nil || t.Year() == 0 {
		return diag.Errorf(diag.Invalid, "%q is not a date such as 2027-01-31", s)
	}
	return nil
}

func parseBaselineCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxBaselineCount || s != strconv.Itoa(n) {
		return 0, diag.Errorf(diag.Invalid, "count must be a number from 1 to %d, not %q", maxBaselineCount, s)
	}
	return n, nil
}

const baselineHeader = "# Findings that skillpm validate --baseline accepts, " +
	"each for a reason and until the text changes.\n" +
	"# Written by skillpm validate --write-baseline. You can edit reasons and dates, and delete entries.\n"

// Encode returns the baseline as text: sorted, without a clock, the same for equal baselines.
func (b *Baseline) Encode() []byte {
	sorted := &Baseline{Entries: append([]BaselineEntry(nil), b.Entries...)}
	sorted.sort()
	var buf bytes.Buffer
	buf.WriteString(baselineHeader + "version: " + baselineVersion + "\n")
	if len(sorted.Entries) == 0 {
		buf.WriteString("findings: []\n")
		return buf.Bytes()
	}
	buf.WriteString("findings:\n")
	for _, e := range sorted.Entries {
		buf.WriteString("  - rule: " + e.Rule + "\n")
		buf.WriteString("    path: " + yamlx.Plain(e.Path) + "\n")
		buf.WriteString("    digest: " + strconv.Quote(e.Digest) + "\n")
		buf.WriteString("    reason: " + strconv.Quote(e.Reason) + "\n")
		if e.Expires != "" {
			buf.WriteString("    expires: " + e.Expires + "\n")
		}
		if e.Count > 1 {
			buf.WriteString("    count: " + strconv.Itoa(e.Count) + "\n")
		}
	}
	return buf.Bytes()
}
