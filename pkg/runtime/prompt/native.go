package prompt

import (
	"slices"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/internal/tokens"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// Cost is what a list of skills costs a model. Token counts are estimates.
type Cost struct {
	Tokens     int
	Uncut      int // tokens if the agent had no limit
	Characters int
	Limit      int      // in characters, without those of the agent's own skills; 0 for none
	Left       []string // skills that the model does not see, sorted
	Shortened  []string // skills whose description is cut or left out, sorted
}

// Native returns the cost of the list that an agent writes of the skills that it reads itself. Of the options, the
// context window counts, and the budget replaces the agent's limit if it has a variable for it.
func Native(n *profile.Native, entries []Entry, o Options) (Cost, error) {
	var c Cost
	rest := entries
	for i := range n.Parts {
		part, of := &n.Parts[i], entries
		if part.Left {
			of = rest
		}
		limit := nativeLimit(part, o)
		l, err := nativePart(part, of, limit)
		if err != nil {
			return Cost{}, err
		}
		switch {
		case part.Left: // it has names only
			c.Shortened, c.Left = append(c.Shortened, l.Names...), l.Left
		case i == 0:
			c.Limit, c.Left, c.Shortened = limit, l.Left, l.Shortened
		}
		if !part.Left {
			whole, err := nativePart(part, of, 0)
			if err != nil {
				return Cost{}, err
			}
			c.Uncut += tokens.Estimate(whole.Text)
		}
		c.Tokens += tokens.Estimate(l.Text)
		c.Characters += utf8.RuneCountInString(l.Text)
		rest = slices.DeleteFunc(slices.Clone(of), func(e Entry) bool { return !slices.Contains(l.Left, e.Name) })
	}
	slices.Sort(c.Shortened)
	c.Shortened = slices.Compact(c.Shortened)
	return c, nil
}

// nativePart writes one part of an agent's list, with at most so many characters; 0 for any number.
func nativePart(part *profile.NativePart, entries []Entry, limit int) (Listing, error) {
	if len(entries) == 0 {
		return Listing{}, nil
	}
	p := &profile.Profile{Serving: profile.Serving{Stage1: part.Stage1}}
	p.Stage1.Budget = profile.Budget{Over: part.Budget.Over}
	if p.Stage1.Cut == "" {
		p.Stage1.Cut = "[[]]" // the agent does not report that its list is cut
	}
	return List(p, entries, Options{Budget: limit})
}

// nativeLimit returns the maximum length of a part in characters, 0 for none.
func nativeLimit(part *profile.NativePart, o Options) int {
	b := part.Budget
	limit := b.Fallback
	if share := shareOf(b, o.ContextWindow); share > 0 {
		limit = share
	}
	if b.Variable != "" && o.Budget > 0 {
		limit = o.Budget
	}
	if limit == 0 {
		return 0
	}
	return max(1, limit-part.Reserved)
}

// CostOf returns the cost of texts that contain a listing.
func CostOf(l Listing, texts ...string) Cost {
	c := Cost{Limit: l.Limit, Left: l.Left, Shortened: l.Shortened}
	for _, text := range texts {
		c.Tokens += tokens.Estimate(text)
		c.Characters += utf8.RuneCountInString(text)
	}
	return c
}
