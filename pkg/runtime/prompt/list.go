package prompt

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// charactersPerToken converts budgets in tokens into characters.
const charactersPerToken = 4

// List returns the list of skills for a system prompt. It stays within its limit, unless the profile keeps every name
// and the names alone exceed it. The error has code Usage for an unknown format.
func List(p *profile.Profile, entries []Entry, o Options) (Listing, error) {
	if o.Compact {
		return compact(p, entries, o)
	}
	l, err := layoutOf(p, o.Format)
	if err != nil {
		return Listing{}, err
	}
	out := Listing{Limit: limit(p, o)}
	if len(entries) == 0 {
		out.Text = within(expand(l.empty, l.Escape, frame(p, 0)), out.Limit)
		return out, nil
	}
	items := write(p, l, entries)
	listed := l.keep(p, items, &out)
	out.Left = names(items[len(listed):])
	for _, i := range listed {
		if i.short {
			out.Shortened = append(out.Shortened, i.entry.Name)
		}
	}
	slices.Sort(out.Shortened)
	if len(listed) == 0 {
		return out, nil
	}
	slices.SortFunc(listed, order(p.Stage1.Sort))
	for _, i := range listed {
		out.Names = append(out.Names, i.entry.Name)
	}
	out.Text = l.join(p, listed)
	return out, nil
}

// keep sorts the items by precedence, shortens or drops them to fit the limit, and returns those that stay.
func (l *layout) keep(p *profile.Profile, items []*item, out *Listing) []*item {
	if out.Limit == 0 {
		return items
	}
	around := length(expand(l.heading, l.Escape, frame(p, len(items)))) +
		length(expand(l.closing, l.Escape, frame(p, len(items))))
	slices.SortFunc(items, byStrength)
	if p.Stage1.Budget.Over == "shorten" {
		out.Over = shorten(items, around, length(l.Separator), out.Limit)
		return items
	}
	return fitting(items, around, length(l.Separator), out.Limit)
}

// limit returns the maximum number of characters of a listing, 0 for no limit.
func limit(p *profile.Profile, o Options) int {
	b := p.Stage1.Budget
	switch {
	case o.Budget > 0:
		return o.Budget
	case o.ContextWindow > 0 && b.Share > 0:
		return max(1, int(float64(o.ContextWindow)*b.Share/100*charactersPerToken))
	default:
		return b.Fallback
	}
}

func within(text string, limit int) string {
	if limit > 0 && length(text) > limit {
		return ""
	}
	return text
}

func length(s string) int { return utf8.RuneCountInString(s) }

// item is an entry in its listed form.
type item struct {
	entry *Entry
	text  string
	title string // text without the description
	size  int    // length of text in characters
	short bool   // the description is cut
}

// write makes the items of all entries, each with its description.
func write(p *profile.Profile, l *layout, entries []Entry) []*item {
	shorten := p.Stage1.Budget.Over == "shorten"
	items, block := make([]*item, len(entries)), make([]item, len(entries))
	for n := range entries {
		i, e := &block[n], &entries[n]
		i.entry = e
		description, cut := describe(p, e)
		i.short = cut
		i.text = expand(l.entry, l.Escape, e.values(description))
		i.size = length(i.text)
		if shorten {
			i.title = expand(l.entry, l.Escape, e.values(""))
		}
		items[n] = i
	}
	return items
}

// describe returns a description on one line, with when to use the skill, cut as the agent does.
func describe(p *profile.Profile, e *Entry) (text string, cut bool) {
	text = line(e.Description)
	if when := line(e.WhenToUse); when != "" && p.Stage1.When != "" {
		if text == "" {
			text = when
		} else {
			text += p.Stage1.When + when
		}
	}
	return head(text, p.Stage1.Cap)
}

// values returns the placeholder values of an entry.
func (e *Entry) values(description string) values {
	return func(name string) (string, bool) {
		switch name {
		case "name":
			return line(e.Name), false
		case "description":
			return description, false
		case "directory":
			return path(e.Dir), false
		case "location":
			return path(e.Location), false
		case "layer":
			return line(e.Layer), false
		case "pack":
			return line(e.Pack), false
		default:
			return line(strings.Join(e.Tags, ", ")), false
		}
	}
}

// byStrength orders items by layer, the highest precedence first, then by name. The last are dropped first.
func byStrength(a, b *item) int {
	return cmp.Or(cmp.Compare(a.entry.Rank, b.entry.Rank), byName(a, b))
}

func byName(a, b *item) int {
	return cmp.Or(strings.Compare(a.entry.Name, b.entry.Name), strings.Compare(a.entry.Location, b.entry.Location),
		strings.Compare(a.entry.Dir, b.entry.Dir))
}

func order(criterion string) func(a, b *item) int {
	if criterion == "layer" {
		return byStrength
	}
	return byName
}

// fitting moves the items that fit to the front, in order, and returns them. It first drops items that exceed the limit
// alone, so that one skill cannot displace all others, then those of the lowest precedence.
func fitting(items []*item, around, separator, limit int) []*item {
	rest, fit := []*item(nil), items[:0]
	for _, i := range items {
		if around+i.size > limit {
			rest = append(rest, i)
		} else {
			fit = append(fit, i)
		}
	}
	copy(items[len(fit):], rest)
	size := around - separator
	for n, i := range fit {
		if size += i.size + separator; size > limit {
			return fit[:n]
		}
	}
	return fit
}

// shorten removes descriptions, those of the lowest precedence first, until the limit is kept. It reports whether the
// listing is still too long.
func shorten(items []*item, around, separator, limit int) (over bool) {
	size := around + separator*(len(items)-1)
	for _, i := range items {
		size += i.size
	}
	for n := len(items) - 1; n >= 0 && size > limit; n-- {
		i := items[n]
		if title := length(i.title); title < i.size {
			size -= i.size - title
			i.text, i.size, i.short = i.title, title, true
		}
	}
	return size > limit
}

func (l *layout) join(p *profile.Profile, items []*item) string {
	var b strings.Builder
	b.WriteString(expand(l.heading, l.Escape, frame(p, len(items))))
	for n, i := range items {
		if n > 0 {
			b.WriteString(l.Separator)
		}
		b.WriteString(i.text)
	}
	b.WriteString(expand(l.closing, l.Escape, frame(p, len(items))))
	return b.String()
}

// names returns the sorted names of items.
func names(items []*item) []string {
	var out []string
	for _, i := range items {
		out = append(out, i.entry.Name)
	}
	slices.Sort(out)
	return out
}

// layoutOf returns the layout of a format, "" for the profile's own.
func layoutOf(p *profile.Profile, format string) (*layout, error) {
	if format == "" {
		return compile(p.Stage1.Layout)
	}
	if l, ok := p.Stage1.Formats[format]; ok {
		return compile(l)
	}
	common, err := commonLayouts()
	if err != nil {
		return nil, err
	}
	if l, ok := common[format]; ok && format != compactFormat {
		return compile(l)
	}
	known := Formats(p)
	e := diag.Errorf(diag.Usage, "unknown format %q", format)
	if near := diag.Nearest(format, known); near != "" {
		return nil, e.WithHint("did you mean %s?", near)
	}
	return nil, e.WithHint("use %s", textx.OneOf(known))
}
