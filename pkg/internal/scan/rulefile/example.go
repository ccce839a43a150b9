package rulefile

import (
	"fmt"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/markdown"
	"github.com/skillpm/skillpm/pkg/internal/scan"
)

// CheckExamples returns an error for the first example that a shape of the rule gets wrong.
func (r *Rule) CheckExamples() error {
	one := r.Rule
	for i, sh := range r.Shapes {
		if sh.Kind != 0 {
			continue // package scan tests what matchers find
		}
		one.Shapes = r.Shapes[i : i+1]
		s := scan.New(&one)
		for _, text := range r.Examples[i].Match {
			if !finds(s, &one, r.Examples[i].File, text) {
				return fmt.Errorf("rule %s does not find its example %q (%s)", r.ID, text, sh.About)
			}
		}
		for _, text := range r.Examples[i].Pass {
			if finds(s, &one, r.Examples[i].File, text) {
				return fmt.Errorf("rule %s finds %q, which it must not find (%s)", r.ID, text, sh.About)
			}
		}
	}
	return nil
}

// finds reports whether a rule finds something in a file; without a name, it is a SKILL.md.
func finds(s *scan.Scanner, r *scan.Rule, file, text string) bool {
	if file == "" {
		file = "SKILL.md"
	}
	l := scan.Locator{Path: file, Data: []byte(text), Script: scan.ScriptName(file)}
	page := strings.EqualFold(path.Ext(file), ".md")
	if page {
		l.Page = markdown.Read(l.Data, 0)
	}
	for _, h := range s.Text(l.Data, scan.Options{Markdown: page, Script: l.Script, Skill: file == "SKILL.md"}) {
		if m, ok := s.Match(h, l.At(h.Start, h.End)); ok && m.Rule == r {
			return true
		}
	}
	return false
}
