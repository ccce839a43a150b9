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

// defaultCut is the text of an incomplete listing for profiles that do not have their own.
const defaultCut = "\n\n[[Skills that are not listed: {left}. ]][[Shortened descriptions: {shortened}. ]]" +
	"To find a skill, {find}."

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
	b := budgetOf(p, o)
	out := Listing{Limit: b.limit}
	if len(entries) == 0 {
		out.Text = b.within(expand(l.empty, l.Escape, frame(p, 0)))
		return out, nil
	}
	f := &fitter{p: p, l: l, budget: b, items: l.write(p, entries)}
	listed, left := f.fit()
	out.Over, out.Left = f.over, names(left)
	c := counts{listed: len(listed), left: len(left)}
	for _, i := range listed {
		if i.short {
			c.shortened++
		}
		if i.short || i.capped {
			out.Shortened = append(out.Shortened, i.entry.Name)
		}
	}
	slices.Sort(out.Shortened)
	slices.SortFunc(listed, order(p.Stage1.Sort))
	for _, i := range listed {
		out.Names = append(out.Names, i.entry.Name)
	}
	out.Text = l.join(p, listed, c)
	if len(listed) == 0 {
		out.Text = ""
	}
	return out, nil
}

// budget is the limit of a listing.
type budget struct {
	limit int              // 0 for none
	size  func(string) int // of a text, in the unit of the limit
	over  string           // as in [profile.Budget]
}

// within returns a text, "" if it exceeds the limit.
func (b budget) within(text string) string {
	if b.limit > 0 && b.size(text) > b.limit {
		return ""
	}
	return text
}

// budgetOf returns the limit of a listing: that of the caller or the profile, but not more than the agent reads.
func budgetOf(p *profile.Profile, o Options) budget {
	b := budget{size: length, over: p.Stage1.Budget.Over, limit: o.Budget}
	if b.limit > 0 {
		return b
	}
	switch s := p.Stage1.Budget; {
	case s.Over == "keep":
		return b
	case s.Bytes > 0:
		b.limit, b.size = s.Bytes, func(text string) int { return len(text) }
	case o.ContextWindow > 0 && s.Share > 0:
		b.limit = max(1, shareOf(s, o.ContextWindow))
	default:
		b.limit = s.Fallback
	}
	if o.Most > 0 && (b.limit == 0 || o.Most < b.limit) {
		b.limit = o.Most
		if b.over == "omit" {
			b.over = "cut"
		}
	}
	return b
}

// shareOf returns the characters of a budget's share of a context window of so many tokens.
func shareOf(b profile.Budget, window int) int {
	return int(float64(window) * b.Share / 100 * charactersPerToken)
}

func length(s string) int { return utf8.RuneCountInString(s) }

// item is an entry in its listed form.
type item struct {
	entry       *Entry
	description string // on one line
	text        string
	capped      bool // the agent always cuts the description
	short       bool // the description is cut or left out for the budget
}

// write makes the items of all entries, each with its description.
func (l *layout) write(p *profile.Profile, entries []Entry) []*item {
	items, block := make([]*item, len(entries)), make([]item, len(entries))
	for n := range entries {
		i := &block[n]
		i.entry = &entries[n]
		i.description, i.capped = describe(p, i.entry)
		i.text = expand(l.entry, l.Escape, i.entry.values(i.description))
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

// byUse orders items by use, then by their relevance to the project, then by name.
func byUse(a, b *item) int {
	relevance := 0
	switch {
	case a.entry.Project && !b.entry.Project:
		relevance = -1
	case b.entry.Project && !a.entry.Project:
		relevance = 1
	}
	return cmp.Or(cmp.Compare(b.entry.Used, a.entry.Used), relevance, byName(a, b))
}

func order(criterion string) func(a, b *item) int {
	switch criterion {
	case "layer":
		return byStrength
	case "use":
		return byUse
	default:
		return byName
	}
}

// join writes a listing.
func (l *layout) join(p *profile.Profile, items []*item, c counts) string {
	var b strings.Builder
	b.WriteString(expand(l.heading, l.Escape, c.frame(p)))
	for n, i := range items {
		if n > 0 {
			b.WriteString(l.Separator)
		}
		b.WriteString(i.text)
	}
	b.WriteString(l.cutText(p, c))
	b.WriteString(expand(l.closing, l.Escape, c.frame(p)))
	return b.String()
}

// cutText returns the text which says that a listing is not complete, "" if it is.
func (l *layout) cutText(p *profile.Profile, c counts) string {
	if c.left == 0 && c.shortened == 0 {
		return ""
	}
	return expand(l.cut, l.Escape, c.frame(p))
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
		own := p.Stage1.Layout
		if own.Cut == "" {
			own.Cut = defaultCut
		}
		return compile(own)
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
