package lint

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// baselineKeys are those of an entry, in the order in which they are written.
var baselineKeys = []string{"rule", "path", "digest", "reason", "expires", "count"}

var baselineFormat = yamlx.Format{
	Name: "a baseline", MaxBytes: maxBaseline, NullIsEmpty: true,
	RootMessage:  "a mapping with the keys version and findings is wanted here",
	ConflictHint: "keep the entries of both sides and remove the lines <<<<<<<, ======= and >>>>>>>",
}

// ParseBaseline reads a baseline; path is how messages call it. Errors have code [diag.Invalid] and name line and
// column.
func ParseBaseline(path string, data []byte) (*Baseline, error) {
	r := yamlx.Read(path, data, baselineFormat)
	root, ok := r.Root()
	if ok && !root.Exists() {
		return nil, diag.Errorf(diag.Invalid, "%s is empty", path).
			WithHint("write it with skillpm validate --baseline %s --write-baseline", path)
	}
	b := &Baseline{}
	for key, v := range root.Fields("version", "findings") {
		if key == "findings" {
			b.Entries = baselineEntries(v)
		} else if !v.IsScalar() || v.Node.Value != baselineVersion {
			v.Errorf("use a newer skillpm",
				"version %q of the baseline's format is not known to this skillpm, which writes version %s",
				v.Node.Value, baselineVersion)
		}
	}
	if root.Exists() && !root.Get("version").Exists() {
		root.Errorf("add the line version: "+baselineVersion,
			"the baseline does not say which version of the format it has")
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
			item.Errorf("keep one entry, and give it a count",
				"%s in %s is accepted twice with one digest, first on line %d", e.Rule, e.Path, line)
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
			if e.Reason = oneLine(v.Prose()); e.Reason == "" {
				v.Errorf("say why the finding is accepted", "an entry has no reason")
			}
		case "expires":
			e.Expires = v.Text(checkBaselineDay)
		case "count":
			e.Count = yamlx.As(v, parseBaselineCount)
		}
	}
	v.Require("", "rule", "path", "digest")
	v.Require("say why the finding is accepted", "reason")
	return e
}

func checkBaselineDay(s string) error {
	if t, err := time.Parse(time.DateOnly, s); err != nil || t.Year() == 0 {
		return diag.Errorf(diag.Invalid, "%q is not a day, as 2027-01-31", s)
	}
	return nil
}

func parseBaselineCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxBaselineCount || s != strconv.Itoa(n) {
		return 0, diag.Errorf(diag.Invalid, "count is %q, and must be a number from 1 to %d", s, maxBaselineCount)
	}
	return n, nil
}

const baselineHeader = `# Findings that skillpm validate --baseline accepts, each for a reason and as long as the text that it is about stays.
# Written by skillpm validate --write-baseline, which keeps reasons and dates: edit those, and delete entries.
`

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
