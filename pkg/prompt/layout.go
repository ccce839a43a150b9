package prompt

import (
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/profile"
)

// layout is a profile's layout with its templates read.
type layout struct {
	profile.Layout
	escape                               string
	heading, entry, closing, empty, more profile.Template
}

// compile reads the templates of a layout. Those of a profile that was read are right.
func compile(l profile.Layout, escape string) (*layout, error) {
	out := &layout{Layout: l, escape: escape}
	for _, t := range []struct {
		to   *profile.Template
		text string
	}{{&out.heading, l.Heading}, {&out.entry, l.Entry}, {&out.closing, l.Closing}, {&out.empty, l.Empty}, {&out.more, l.More}} {
		parsed, err := profile.ParseTemplate(t.text)
		if err != nil {
			return nil, diag.Errorf(diag.Invalid, "the template %q: %w", t.text, err)
		}
		*t.to = parsed
	}
	return out, nil
}

// values are what the places of a template stand for.
type values map[string]string

// expand fills a template in. Values are on one line and escaped, but for those that raw names.
func expand(t profile.Template, how string, v values, raw ...string) string {
	var b strings.Builder
	t.Expand(&b, func(at profile.Value) string {
		text := v[at.Name]
		for _, name := range raw {
			if name == at.Name && at.Filter == "" {
				return text
			}
		}
		if !contains(raw, at.Name) {
			text = line(text)
		}
		if at.Filter == "quoted" {
			text = quoted(text)
		}
		return escape(how, text)
	})
	return b.String()
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// frame are the values of headings and closings.
func frame(p *profile.Profile, count int) values {
	return values{
		"tool": p.Trigger.Skill.Name, "file_tool": p.Trigger.File.Name, "find_tool": p.Trigger.Find.Name, "count": strconv.Itoa(count),
	}
}
