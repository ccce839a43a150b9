package baseline

import (
	"strconv"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// keys are those of an entry, in the order in which they are written.
var keys = []string{"rule", "path", "digest", "reason", "expires", "count"}

var format = yamlx.Format{
	Name: "a baseline", MaxBytes: maxBytes, NullIsEmpty: true,
	RootMessage:  "a mapping with the keys version and findings is wanted here",
	ConflictHint: "keep the entries of both sides and remove the lines <<<<<<<, ======= and >>>>>>>",
}

// Parse reads a baseline; path is how messages call it. Errors have code [diag.Invalid] and name line and column.
func Parse(path string, data []byte) (*Baseline, error) {
	r := yamlx.Read(path, data, format)
	root, ok := r.Root()
	if ok && !root.Exists() {
		return nil, diag.Errorf(diag.Invalid, "%s is empty", path).
			WithHint("write it with skillpm validate --baseline %s --write-baseline", path)
	}
	b := &Baseline{}
	for key, v := range root.Fields("version", "findings") {
		if key == "findings" {
			b.Entries = entries(v)
		} else if !v.IsScalar() || v.Node.Value != Version {
			v.Errorf("use a newer skillpm", "version %q of the baseline's format is not known to this skillpm, which writes version %s",
				v.Node.Value, Version)
		}
	}
	if root.Exists() && !root.Get("version").Exists() {
		root.Errorf("add the line version: "+Version, "the baseline does not say which version of the format it has")
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	b.sort()
	return b, nil
}

func entries(v yamlx.Value) []Entry {
	var list []Entry
	lines := make(map[Finding]int)
	for item := range v.Items() {
		e := entry(item.Named("an entry"))
		if line := lines[e.Finding]; line > 0 {
			item.Errorf("keep one entry, and give it a count",
				"%s in %s is accepted twice with one digest, first on line %d", e.Rule, e.Path, line)
		}
		lines[e.Finding] = e.Line
		list = append(list, e)
	}
	return list
}

func entry(v yamlx.Value) Entry {
	e := Entry{Count: 1, Line: v.Line()}
	if !v.IsMapping() {
		v.Errorf("", "an entry must be a mapping with the keys %s", strings.Join(keys[:4], ", "))
		return e
	}
	for key, v := range v.Fields(keys...) {
		switch key {
		case "rule":
			e.Rule = v.Text(checkRule)
		case "path":
			e.Path = v.Prose() // a path may have a line break
			v.Check(checkPath(e.Path))
		case "digest":
			e.Digest = v.Text(checkDigest)
		case "reason":
			if e.Reason = oneLine(v.Prose()); e.Reason == "" {
				v.Errorf("say why the finding is accepted", "an entry has no reason")
			}
		case "expires":
			e.Expires = v.Text(checkDay)
		case "count":
			e.Count = yamlx.As(v, parseCount)
		}
	}
	v.Require("", "rule", "path", "digest")
	v.Require("say why the finding is accepted", "reason")
	return e
}

func checkDay(s string) error {
	if t, err := time.Parse(time.DateOnly, s); err != nil || t.Year() == 0 {
		return diag.Errorf(diag.Invalid, "%q is not a day, as 2027-01-31", s)
	}
	return nil
}

func parseCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxCount || s != strconv.Itoa(n) {
		return 0, diag.Errorf(diag.Invalid, "count is %q, and must be a number from 1 to %d", s, maxCount)
	}
	return n, nil
}
