package prompt

import (
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// layout is a profile's layout with parsed templates.
type layout struct {
	profile.Layout
	heading, entry, closing, cut, empty, more profile.Template
}

// compile parses the templates of a layout.
func compile(l profile.Layout) (*layout, error) {
	out := &layout{Layout: l}
	for _, t := range []struct {
		target *profile.Template
		text   string
	}{
		{&out.heading, l.Heading},
		{&out.entry, l.Entry},
		{&out.closing, l.Closing},
		{&out.cut, l.Cut},
		{&out.empty, l.Empty},
		{&out.more, l.More},
	} {
		var err error
		if *t.target, err = template(t.text); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// template parses a template. It only fails for a profile that was not read from a file.
func template(text string) (profile.Template, error) {
	t, err := profile.ParseTemplate(text)
	if err != nil {
		return t, diag.Errorf(diag.Invalid, "invalid template %q: %w", text, err)
	}
	return t, nil
}

// values returns the value of a placeholder. A raw value is inserted unchanged; others are put on one line and escaped.
type values func(name string) (text string, raw bool)

// expand replaces the placeholders of a template.
func expand(t profile.Template, how string, v values) string {
	var b strings.Builder
	t.Expand(&b, func(value profile.Value) string {
		text, raw := v(value.Name)
		if value.Filter == "trimmed" {
			text = strings.TrimRight(text, "\r\n")
		}
		switch {
		case value.Filter == "quoted":
			return escape(how, jsonx.Quote(text))
		case raw:
			return text
		default:
			return escape(how, text)
		}
	})
	return b.String()
}

// frame returns the values for headings and closings of a complete list.
func frame(p *profile.Profile, count int) values { return counts{listed: count}.frame(p) }

// counts are the numbers of entries of a list.
type counts struct{ listed, left, shortened int }

// frame returns the values for headings and closings.
func (c counts) frame(p *profile.Profile) values {
	number := func(n int) (string, bool) {
		if n == 0 {
			return "", false
		}
		return strconv.Itoa(n), false
	}
	return func(name string) (string, bool) {
		switch name {
		case "tool":
			return p.Trigger.Skill.Name, false
		case "file_tool":
			return p.Trigger.File.Name, false
		case "find_tool":
			return p.Trigger.Find.Name, false
		case "find":
			return find(p), false
		case "count":
			return strconv.Itoa(c.listed), false
		case "all":
			if c.left > 0 {
				return "", false
			}
			return number(c.listed)
		case "left":
			return number(c.left)
		case "shortened":
			return number(c.shortened)
		default:
			return "", false
		}
	}
}

// find returns how a model finds a skill: with the agent's tool, or else with a command.
func find(p *profile.Profile) string {
	if tool := p.Trigger.Find.Name; tool != "" {
		return "call `" + tool + "` with the task"
	}
	return "run `skillpm find TASK`"
}
