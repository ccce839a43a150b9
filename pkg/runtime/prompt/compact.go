package prompt

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// A compact listing has fewer than maxCompact bytes, and tags of at most maxTag characters.
const (
	maxCompact = 1000
	maxTag     = 32
)

// compact writes the number of skills, their tags, and how to find a skill.
func compact(p *profile.Profile, entries []Entry, o Options) (Listing, error) {
	source := p.Stage1.Compact
	if source.Heading == "" {
		common, err := commonLayouts()
		if err != nil {
			return Listing{}, err
		}
		source = common[compactFormat]
	}
	l, err := compile(source)
	if err != nil {
		return Listing{}, err
	}
	out := Listing{Limit: maxCompact - 1}
	if o.Budget > 0 {
		out.Limit = min(out.Limit, o.Budget)
	}
	if len(entries) == 0 {
		out.Text = budget{limit: out.Limit, size: length}.within(expand(l.empty, l.Escape, frame(p, 0)))
		return out, nil
	}
	around := func(tags string) string {
		field := func(name string) (string, bool) {
			if name == "tags" {
				return tags, true
			}
			return frame(p, len(entries))(name)
		}
		return expand(l.heading, l.Escape, field) + expand(l.closing, l.Escape, field)
	}
	out.Text = around("")
	if size := len(out.Text); size > out.Limit {
		return Listing{}, diag.Errorf(diag.Invalid,
			"the compact listing of profile %s has %d characters; the limit is %d", p.ID, size, out.Limit).
			WithHint("raise the limit with --budget, up to %d", maxCompact-1)
	}
	const one = "-"
	if tags := l.tags(entries, out.Limit-len(around(one))+len(one)); tags != "" {
		out.Text = around(tags)
	}
	return out, nil
}

// tags writes as many tags as fit in size bytes, the most frequent first.
func (l *layout) tags(entries []Entry, size int) string {
	counts := map[string]int{}
	for n := range entries {
		for i, tag := range entries[n].Tags {
			if slices.Contains(entries[n].Tags[:i], tag) {
				continue
			}
			if tag, _ = head(line(tag), maxTag); tag != "" {
				counts[tag]++
			}
		}
	}
	tags := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	var b strings.Builder
	for _, tag := range tags {
		text := expand(l.entry, l.Escape, func(name string) (string, bool) {
			if name == "tag" {
				return tag, false
			}
			return strconv.Itoa(counts[tag]), false
		})
		if b.Len() > 0 {
			text = l.Separator + text
		}
		if b.Len()+len(text) > size {
			break
		}
		b.WriteString(text)
	}
	return b.String()
}
