package prompt

import (
	"slices"
	"sort"

	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// minDescription is the minimum length of shortened descriptions, in characters. If not all of them can have it, only
// those of the first skills are listed.
const minDescription = 40

// fitter selects what a listing shows within its budget.
type fitter struct {
	p *profile.Profile
	l *layout
	budget
	items []*item

	over bool // the names alone exceed the limit
}

// fit returns the items to list and the others.
func (f *fitter) fit() (listed, left []*item) {
	all := len(f.items)
	switch {
	case f.limit == 0 || f.around(counts{listed: all})+f.total(f.items) <= f.limit:
		return f.items, nil
	case f.budget.over == "cut" || f.budget.over == "keep" || f.budget.over == "omit":
		return f.cut()
	default:
		slices.SortFunc(f.items, byStrength)
		return f.first(f.around(counts{listed: all, left: all}))
	}
}

// around returns the size of a listing without its items.
func (f *fitter) around(c counts) int {
	return f.size(expand(f.l.heading, f.l.Escape, c.frame(f.p))) + f.size(f.l.cutText(f.p, c)) +
		f.size(expand(f.l.closing, f.l.Escape, c.frame(f.p)))
}

// total returns the size of items with their separators.
func (f *fitter) total(items []*item) int {
	size := f.size(f.l.Separator) * max(0, len(items)-1)
	for _, i := range items {
		size += f.size(i.text)
	}
	return size
}

// first returns the first items that fit, and the others. It leaves out items that exceed the limit alone, so that one
// skill cannot displace all others.
func (f *fitter) first(around int) (listed, left []*item) {
	separator := f.size(f.l.Separator)
	size, full := around-separator, false
	for _, i := range f.items {
		n := f.size(i.text)
		if around+n > f.limit {
			left = append(left, i)
			continue
		}
		if full = full || size+n+separator > f.limit; full {
			left = append(left, i)
			continue
		}
		size += n + separator
		listed = append(listed, i)
	}
	return listed, left
}

// cut lists the names first, and then as much of the descriptions as fits.
func (f *fitter) cut() (listed, left []*item) {
	slices.SortFunc(f.items, byUse)
	for _, i := range f.items {
		i.text, i.short = f.title(i), i.description != ""
	}
	all := len(f.items)
	around := f.around(counts{listed: all, shortened: all})
	listed = f.items
	if around+f.total(f.items) > f.limit {
		if f.budget.over == "omit" {
			f.over = true
			return listed, nil
		}
		around = f.around(counts{listed: all, left: all, shortened: all})
		listed, left = f.first(around)
	}
	space := f.limit - around - f.total(listed)
	if f.budget.over == "omit" {
		f.describeWhole(listed, space)
	} else {
		f.describe(listed, space)
	}
	return listed, left
}

// title returns an item without its description.
func (f *fitter) title(i *item) string { return expand(f.l.entry, f.l.Escape, i.entry.values("")) }

// describe adds descriptions to items: all with the same maximum length or, if there is not enough space, only those of
// the first items.
func (f *fitter) describe(items []*item, space int) {
	longest := 0
	for _, i := range items {
		longest = max(longest, length(i.description))
	}
	most := sort.Search(longest, func(n int) bool { return f.growth(items, n+1) > space })
	most = max(most, min(longest, minDescription))
	for _, i := range items {
		text, cut := head(i.description, most)
		described := expand(f.l.entry, f.l.Escape, i.entry.values(text))
		growth := f.size(described) - f.size(i.text)
		if growth > space {
			continue
		}
		i.text, i.short = described, cut
		space -= growth
	}
}

// describeWhole adds the whole descriptions that fit to items, those of the first ones first.
func (f *fitter) describeWhole(items []*item, space int) {
	for _, i := range items {
		described := expand(f.l.entry, f.l.Escape, i.entry.values(i.description))
		if growth := f.size(described) - f.size(i.text); growth <= space {
			i.text, i.short = described, false
			space -= growth
		}
	}
}

// growth estimates by how much descriptions of at most n characters make the items larger. It is exact for templates
// that insert the description once.
func (f *fitter) growth(items []*item, n int) int {
	size, around := 0, -1
	for _, i := range items {
		if i.description == "" {
			continue
		}
		if around < 0 {
			around = f.size(expand(f.l.entry, f.l.Escape, i.entry.values("x"))) - f.size(i.text) - len("x")
		}
		text, _ := head(i.description, n)
		size += around + f.size(escape(f.l.Escape, text))
	}
	return size
}
