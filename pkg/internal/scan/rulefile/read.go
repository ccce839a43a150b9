// Package rulefile reads rules of the scanner from YAML. The format is documented in docs/reference/formats.md, and
// has the schema schema/rules.schema.json.
//
// The rules it keeps:
//
//   - Patterns are texts or regular expressions of RE2, so that matching takes linear time.
//   - Each pattern that starts a search has a text of at least four bytes that every match contains. A rule without a
//     hit of such a text costs nothing.
//   - A problem names the file, the line, and the rule. Reading continues after it.
//   - Every shape has examples that it must find, and may have examples that it must not find.
//
// It performs no I/O and may change at any time.
package rulefile

import (
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/internal/scan/atom"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Rule is a rule as a file has it.
type Rule struct {
	scan.Rule
	Examples []Examples // of each shape
	Line     int
}

// Examples are texts for one shape.
type Examples struct {
	Match, Pass []string
	File        string // the name of the file whose content they are, such as SKILL.md or run.sh
}

// maxFile is the size in bytes of the largest file.
const maxFile = 1 << 20

var format = yamlx.Format{
	Name: "a rule file", MaxBytes: maxFile,
	RootMessage: "expected a mapping with the key rules",
}

// Options configures reading.
type Options struct {
	// Builtin allows the ids of skillpm's own rules, and shapes that are matchers in Go.
	Builtin bool
	// Reserved reports whether skillpm has rules whose ids start with these letters.
	Reserved func(family string) bool
}

// Read reads one file. The path is used in messages. The error is the first of the problems, and names the rule.
func Read(path string, data []byte, o Options) ([]Rule, error) {
	r := yamlx.Read(path, data, format)
	root, _ := r.Root()
	var rules []Rule
	for _, v := range root.Fields("rules") {
		for item := range v.Items() {
			rules = append(rules, o.rule(item))
		}
	}
	return rules, r.Err()
}

var ruleKeys = []string{"id", "title", "severity", "signal", "points", "intent", "why", "fix", "shapes"}

func (o Options) rule(v yamlx.Value) Rule {
	r := Rule{Line: v.Line()}
	id := v.Get("id")
	r.ID = id.Text(o.checkID)
	named := "rule " + r.ID
	if r.ID == "" {
		named = "a rule"
	}
	v = v.Named(named)
	for key, f := range v.Fields(ruleKeys...) {
		f = f.Named(key + " of " + named)
		switch key {
		case "title":
			r.Title = f.Text()
		case "severity":
			f.Check(r.Severity.UnmarshalText([]byte(f.Text())))
		case "signal":
			r.Signal = scan.Signal(f.OneOf(signals()...))
		case "intent":
			r.Intent = f.Bool()
		case "points":
			r.Points = int(f.Int(scan.Attack))
		case "why":
			r.Why = oneLine(f.Prose())
		case "fix":
			r.Fix = oneLine(f.Prose())
		case "shapes":
			o.shapes(&r, named, f)
		}
	}
	v.Require("", "id", "title", "severity", "shapes")
	if r.Points > 0 && r.Signal == "" {
		v.Errorf("add signal, such as signal: exfiltration", "%s has points but no signal", named)
	}
	return r
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func signals() []string {
	var list []string
	for _, s := range scan.Signals {
		list = append(list, string(s))
	}
	return list
}

// checkID accepts two to eight capital letters and three digits: ACME001. The letters of skillpm's own rules are
// reserved.
func (o Options) checkID(id string) error {
	letters := strings.TrimRight(id, "0123456789")
	if n := len(letters); n < 2 || n > 8 || len(id) != n+3 || strings.Trim(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return diag.Errorf(diag.Invalid, "invalid rule id %q", id).
			WithHint("use two to eight capital letters and three digits, such as ACME001")
	}
	if !o.Builtin && o.Reserved != nil && o.Reserved(letters) {
		return diag.Errorf(diag.Invalid, "rule id %s: %s is reserved for rules of skillpm", id, letters).
			WithHint("use other letters, such as ACME%s", id[len(letters):])
	}
	return nil
}

func (o Options) shapes(r *Rule, named string, v yamlx.Value) {
	for item := range v.Items() {
		sh, examples := o.shape(named, item)
		r.Shapes = append(r.Shapes, sh)
		r.Examples = append(r.Examples, examples)
	}
	if len(r.Shapes) == 0 && v.IsList() {
		v.Errorf("", "%s does not have a shape", named)
	}
}

var shapeKeys = []string{
	"about", "in", "quoted", "any", "all", "unless", "lines", "points", "intent", "severity", "matcher", "file", "match", "pass",
}

func (o Options) shape(rule string, v yamlx.Value) (sh scan.Shape, e Examples) {
	v = v.Named("a shape of " + rule)
	for key, f := range v.Fields(shapeKeys...) {
		f = f.Named(key + " of " + rule)
		switch key {
		case "about":
			sh.About = f.Text()
		case "in":
			sh.In = surfaces(f)
		case "quoted":
			sh.Quoted = f.Bool()
		case "intent":
			sh.Intent = f.Bool()
		case "any":
			sh.Any = o.patterns(f)
		case "all":
			sh.All = o.patterns(f)
		case "unless":
			sh.Unless = o.patterns(f)
		case "lines":
			sh.Lines = int(f.Int(scan.MaxLines))
		case "points":
			sh.Points = int(f.Int(scan.Attack))
		case "severity":
			sh.Severity = new(diag.Severity)
			f.Check(sh.Severity.UnmarshalText([]byte(f.Text())))
		case "matcher":
			sh.Kind = o.matcher(f)
		case "file":
			e.File = f.Text()
		case "match":
			e.Match = texts(f)
		case "pass":
			e.Pass = texts(f)
		}
	}
	if sh.In == 0 {
		sh.In = scan.InScript | scan.InShell | scan.InProse | scan.InComment | scan.InData
	}
	checkShape(v, rule, &sh)
	return sh, e
}

// checkShape checks that the search for a shape can start, and computes the texts that start it.
func checkShape(v yamlx.Value, rule string, sh *scan.Shape) {
	starts, key := sh.Any, "any"
	if len(starts) == 0 && len(sh.All) > 0 {
		starts, key = sh.All[:1], "all"
	}
	switch {
	case sh.Kind != 0 && len(starts) > 0:
		v.Errorf("", "a shape of %s has both a matcher and patterns", rule)
	case sh.Kind == 0 && len(starts) == 0:
		v.Errorf("add the patterns to find under any or all", "a shape of %s does not have a pattern", rule)
	case sh.Kind == 0:
		v.Require("add a few words for the message", "about")
		v.Require("add a text that the shape must find", "match")
	}
	for _, list := range [][]scan.Pattern{sh.Any, sh.All, sh.Unless} {
		for i := range list {
			list[i].Atoms = startTexts(list[i])
		}
	}
	start, fixed := []string(nil), true
	for _, p := range starts {
		if p.Text != "" && p.Atoms == nil {
			fixed = false
			if len(sh.All) == 0 || len(sh.Any) == 0 {
				v.Get(key).Errorf("start with a text of four characters that every match contains",
					"the pattern %q of %s does not contain a fixed text of %d bytes", p.Text, rule, atom.Min)
			}
		}
		start = append(start, p.Atoms...)
	}
	if !fixed {
		start = nil
	}
	for _, p := range sh.All {
		start = atom.Better(start, p.Atoms)
	}
	if slices.Sort(start); start == nil && sh.Kind == 0 && len(starts) > 0 && v.Count() == 0 {
		v.Errorf("start with a text of four characters that every match contains",
			"no pattern of a shape of %s contains a fixed text of %d bytes", rule, atom.Min)
	}
	sh.Start = slices.Compact(start)
}

func startTexts(p scan.Pattern) []string {
	re, err := syntax.Parse(p.Text, syntax.Perl|syntax.FoldCase)
	if !p.Regexp {
		re, err = syntax.Parse(p.Text, syntax.Literal|syntax.FoldCase)
	}
	if err != nil {
		return nil
	}
	return atom.Of(re)
}

func (o Options) matcher(v yamlx.Value) scan.Kind {
	name := v.Text()
	k, ok := scan.KindNamed(name)
	if name != "" && (!ok || !o.Builtin) {
		v.Errorf("use any or all with patterns", "unknown matcher %q", name)
	}
	return k
}

func surfaces(v yamlx.Value) (in scan.Surface) {
	for _, name := range v.Texts() {
		s, ok := scan.Surfaces[name]
		if !ok {
			v.Errorf("use script, remark, shell, code, prose, comment, or data", "unknown context %q", name)
		}
		in |= s
	}
	return in
}

// patterns reads a list of texts, and of regular expressions between slashes.
func (o Options) patterns(v yamlx.Value) (list []scan.Pattern) {
	for item := range v.Items() {
		text := item.Named(v.Name).Prose()
		p := scan.Pattern{Text: text}
		if len(text) > 2 && text[0] == '/' && text[len(text)-1] == '/' {
			p = scan.Pattern{Text: strings.TrimSpace(text[1 : len(text)-1]), Regexp: true}
			if _, err := syntax.Parse(p.Text, syntax.Perl|syntax.FoldCase); err != nil {
				item.Errorf("regular expressions have the syntax of RE2", "%s: %s", v.Name, err)
				p.Text = ""
			}
		}
		list = append(list, p)
	}
	return list
}

func texts(v yamlx.Value) (list []string) {
	for item := range v.Items() {
		list = append(list, item.Named(v.Name).Prose())
	}
	return list
}
