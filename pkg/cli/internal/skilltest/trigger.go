package skilltest

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/evalfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// maxMissing is how many words of a prompt a message lists.
const maxMissing = 8

// maxQueryName is the length of a query in the name of its case, in bytes.
const maxQueryName = 72

// listing is what trigger queries search: the tested skill, which comes first, and the other skills of its project. The
// search does not read instructions, because agents choose skills without them.
type listing struct {
	candidates []catalog.Candidate
	self       *catalog.Skill
	finder     *catalog.Finder // nil until the first search
}

// newListing reads the tested skill, and the other skills that a model may activate.
func newListing(dir string, o Options) (*listing, error) {
	id := o.Profile
	if id == "" {
		id = profile.Runtime
	}
	p, err := profile.Resolve(id, safefile.Dir(filepath.Join(o.Config, "profiles")))
	if err != nil {
		return nil, err
	}
	l := &listing{}
	if l.self, err = catalog.ParseFile(filepath.Join(dir, skill.File), p); err != nil {
		return nil, err
	}
	l.add(l.self)
	known := map[string]bool{l.self.Name: true}
	for _, s := range o.Others {
		if !known[s.Name] && s.ModelInvocable {
			known[s.Name] = true
			l.add(s)
		}
	}
	return l, nil
}

func (l *listing) add(s *catalog.Skill) {
	l.candidates = append(l.candidates,
		catalog.Candidate{Name: s.Name, Description: s.Description, WhenToUse: s.WhenToUse, Tags: s.Tags})
}

// queryName returns the name of a query's case.
func queryName(q evalfile.Query) string {
	text := strings.Join(strings.Fields(q.Prompt), " ")
	if len(text) > maxQueryName {
		text = textx.Truncate(text, maxQueryName) + "…"
	}
	return text
}

// check searches the listing for a query. The query triggers the skill if the skill is the best one that fits.
func (l *listing) check(q evalfile.Query, r *Result) error {
	r.Query, r.ShouldTrigger = q.Prompt, &q.ShouldTrigger
	if !l.self.ModelInvocable && q.ShouldTrigger {
		r.Outcome = Failed
		r.wrongf("only users may activate the skill, because it has disable-model-invocation: true")
		return nil
	}
	if l.finder == nil {
		var err error
		if l.finder, err = catalog.NewFinder(l.candidates); err != nil {
			return err
		}
	}
	found, err := l.finder.Find(q.Prompt)
	if err != nil {
		return err
	}
	var own, first *catalog.Match // first is the best one that fits
	for i := range found.Matches {
		m := &found.Matches[i]
		if m.Index == 0 {
			own = m
		}
		if m.Score < catalog.MatchThreshold {
			continue
		}
		if r.Found = append(r.Found, m.Name); first == nil {
			first = m
		}
	}
	triggered := first != nil && first == own && l.self.ModelInvocable
	if r.Outcome = Passed; triggered == q.ShouldTrigger {
		return nil
	}
	r.Outcome = Failed
	for _, m := range slices.Compact([]*catalog.Match{own, first}) {
		if m != nil {
			if err := found.Explain(m); err != nil {
				return err
			}
		}
	}
	switch {
	case triggered:
		r.wrongf("the prompt leads to this skill, which it should not: %s", describeMatch(first))
		r.wrongf("state in the description more precisely what the skill is for")
		return nil
	case first != nil:
		r.wrongf("the prompt leads to the skill %s instead: %s", first.Name, describeMatch(first))
	default:
		r.wrongf("the prompt leads to no skill: none contains enough of its words")
	}
	if missing := missingWords(found, own); len(missing) > 0 {
		r.wrongf("name and description do not contain these words of the prompt: %s",
			textx.FirstAndMore(missing, maxMissing))
	}
	r.wrongf("describe in the description the tasks and the terms of such prompts")
	return nil
}

// missingWords returns the words of a prompt that were searched for and that a skill does not have.
func missingWords(found *catalog.FindResult, own *catalog.Match) (missing []string) {
	for _, w := range found.Words {
		has := own != nil && slices.ContainsFunc(own.Words, func(m catalog.WordMatch) bool { return m.Word == w.Word })
		if !has && w.Source == "" {
			missing = append(missing, w.Word)
		}
	}
	return missing
}

func describeMatch(m *catalog.Match) string {
	return fmt.Sprintf("%.0f%% match; %s", math.Round(100*m.Score), strings.Join(m.Why, "; "))
}
