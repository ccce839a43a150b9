package pack

import (
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Claim is an installed pack and the names that its skills lay claim to.
type Claim struct {
	Pack   ID
	Skills []string
	Direct bool // the manifest asks for the pack, not only another pack
}

// Claims lists the locked packs in the order in which their skills win bare names: the manifest's own in its order,
// then the others by name.
func Claims(m *Manifest, l *Lock) []Claim {
	var list []Claim
	direct := make(map[ID]bool)
	add := func(id ID, isDirect bool) {
		if p, ok := l.Packs[id]; ok {
			list = append(list, Claim{Pack: id, Skills: slices.Sorted(maps.Keys(p.Skills)), Direct: isDirect})
		}
	}
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		if !direct[d.ID] {
			direct[d.ID] = true
			add(d.ID, true)
		}
	}
	for _, id := range l.IDs() {
		if !direct[id] {
			add(id, false)
		}
	}
	return list
}

// NamedSkill is a skill and the name that agents know it under.
type NamedSkill struct {
	Skill string
	Pack  ID
	Link  string // the name of its directory for agents
	Bare  bool   // Link is the skill's own name
	Alias bool   // Link is another name, so that its frontmatter has to say that
}

// Conflict says that several packs have a skill of one name. It is not about skills that the manifest gives an alias.
type Conflict struct {
	Name   string
	Winner ID
	Losers map[ID]string // with the alias that each is known under
}

// ResolveNames decides under which name each skill of a scope is in force. Claims are the direct ones in the manifest's
// order and then the others.
//
// A skill with an alias in the manifest has that and no other name. Of the others with one name a direct dependency's
// wins before a transitive one's, among direct ones the later, among transitive ones the first by the pack's name. The
// losers get an alias: the one they had, else owner-skill, else owner-pack-skill, else that cut and with eight
// hexadecimal digits, the first that is legal and used by nobody; reserved says which names are used by what is not a
// pack. What was contested or has an alias is returned as the lock records it. All results are in order of their names.
func ResolveNames(claims []Claim, aliases []Alias, previous map[string]LockedName,
	reserved func(string) bool,
) ([]NamedSkill, map[string]LockedName, []Conflict, error) {
	n := &nameResolver{
		previous: previous, reserved: reserved,
		chosen: make(map[skillKey]string), bare: make(map[string]bool), used: make(map[string]bool),
	}
	if err := n.readAliases(claims, aliases); err != nil {
		return nil, nil, nil, err
	}
	contests := n.contests(claims)
	for _, c := range contests {
		n.bare[c.name] = true
	}
	if err := n.checkAliases(contests, aliases); err != nil {
		return nil, nil, nil, err
	}
	n.keepAliases(contests)
	var conflicts []Conflict
	for _, c := range contests {
		if len(c.losers) > 0 {
			conflicts = append(conflicts, n.resolveContest(c))
		}
	}
	return n.named(claims), n.locked(claims, contests), conflicts, nil
}

// skillKey names one skill exactly.
type skillKey struct {
	pack  ID
	skill string
}

// contest is about one bare name.
type contest struct {
	name   string
	winner ID
	losers []ID // in order
}

// naming is the state of one run of [Names].
type nameResolver struct {
	previous map[string]LockedName
	reserved func(string) bool
	chosen   map[skillKey]string // aliases
	bare     map[string]bool     // names that are some skill's own
	used     map[string]bool     // aliases that are taken
}

// readAliases takes over the manifest's aliases. One of a skill that is not there is an error.
func (n *nameResolver) readAliases(claims []Claim, aliases []Alias) error {
	skillsOf := make(map[ID][]string, len(claims))
	exists := make(map[skillKey]bool)
	for _, c := range claims {
		skillsOf[c.Pack] = c.Skills
		if len(aliases) == 0 {
			continue
		}
		for _, s := range c.Skills {
			exists[skillKey{c.Pack, s}] = true
		}
	}
	for _, a := range aliases {
		skills, ok := skillsOf[a.Pack]
		if !ok {
			return diag.Errorf(diag.NotFound, "alias %s stands for %s, and no pack %s is installed", a.Alias,
				a.Target(), a.Pack).
				WithHint("add the pack to dependencies, or remove the alias")
		}
		if !exists[skillKey{a.Pack, a.Skill}] {
			err := diag.Errorf(diag.NotFound, "alias %s stands for %s, and %s has no skill %s", a.Alias, a.Target(),
				a.Pack, a.Skill)
			if near := diag.Nearest(a.Skill, skills); near != "" {
				return err.WithHint("did you mean %s@%s?", near, a.Pack)
			}
			return err.WithHint("it has %s", strings.Join(skills, ", "))
		}
		n.chosen[skillKey{a.Pack, a.Skill}] = a.Alias
		n.used[a.Alias] = true
	}
	return nil
}

// contests returns who wins and who loses each bare name that somebody claims, in order of the names.
func (n *nameResolver) contests(claims []Claim) []contest {
	claimants := make(map[string][]Claim)
	for _, c := range claims {
		for _, s := range c.Skills {
			if _, aliased := n.chosen[skillKey{c.Pack, s}]; !aliased {
				claimants[s] = append(claimants[s], c)
			}
		}
	}
	var list []contest
	for _, name := range slices.Sorted(maps.Keys(claimants)) {
		c := contest{name: name, winner: winner(claimants[name])}
		for _, loser := range claimants[name] {
			if loser.Pack != c.winner {
				c.losers = append(c.losers, loser.Pack)
			}
		}
		slices.SortFunc(c.losers, ID.Compare)
		list = append(list, c)
	}
	return list
}

// winner returns the last direct claimant, else the first by name.
func winner(claimants []Claim) ID {
	for _, c := range slices.Backward(claimants) {
		if c.Direct {
			return c.Pack
		}
	}
	first := slices.MinFunc(claimants, func(a, b Claim) int { return a.Pack.Compare(b.Pack) })
	return first.Pack
}

// checkAliases refuses an alias that is the own name of a skill that keeps it.
func (n *nameResolver) checkAliases(contests []contest, aliases []Alias) error {
	given := make(map[string]Alias, len(aliases))
	for _, a := range aliases {
		given[a.Alias] = a
	}
	for _, c := range contests {
		if a, ok := given[c.name]; ok {
			return diag.Errorf(diag.Conflict, "alias %s of %s is the name of a skill of %s", c.name, a.Target(),
				c.winner).
				WithHint("choose another alias, or give %s@%s an alias too", c.name, c.winner)
		}
	}
	return nil
}

// keepAliases gives losers the aliases that they are locked under, before new ones are made.
func (n *nameResolver) keepAliases(contests []contest) {
	for _, c := range contests {
		for _, loser := range c.losers {
			alias := n.previous[c.name].Shadowed[loser]
			if skill.LegalName(alias) && !n.bare[alias] && !n.used[alias] {
				n.chosen[skillKey{loser, c.name}] = alias
				n.used[alias] = true
			}
		}
	}
}

// resolveContest gives the losers of a contest that have no alias yet a new one.
func (n *nameResolver) resolveContest(c contest) Conflict {
	out := Conflict{Name: c.name, Winner: c.winner, Losers: make(map[ID]string)}
	for _, loser := range c.losers {
		key := skillKey{loser, c.name}
		if n.chosen[key] == "" {
			n.chosen[key] = n.newAlias(key)
			n.used[n.chosen[key]] = true
		}
		out.Losers[loser] = n.chosen[key]
	}
	return out
}

// newAlias returns a free alias.
func (n *nameResolver) newAlias(key skillKey) string {
	full := key.pack.Owner + "-" + key.pack.Name + "-" + key.skill
	for _, alias := range []string{key.pack.Owner + "-" + key.skill, full} {
		if n.free(alias) {
			return alias
		}
	}
	for i := 0; ; i++ {
		tail := "-" + textx.SHA256(key.skill + "@" + key.pack.String() + strings.Repeat("'", i))[:8]
		head := full[:min(len(full), skill.MaxName-len(tail))]
		if alias := strings.TrimRight(head, "-") + tail; n.free(alias) {
			return alias
		}
	}
}

func (n *nameResolver) free(alias string) bool {
	return skill.LegalName(alias) && !n.bare[alias] && !n.used[alias] && (n.reserved == nil || !n.reserved(alias))
}

// named lists every skill with its name, in order of the names.
func (n *nameResolver) named(claims []Claim) []NamedSkill {
	var list []NamedSkill
	for _, c := range claims {
		for _, s := range c.Skills {
			one := NamedSkill{Skill: s, Pack: c.Pack, Link: s, Bare: true}
			if alias := n.chosen[skillKey{c.Pack, s}]; alias != "" {
				one.Link, one.Bare, one.Alias = alias, false, true
			}
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b NamedSkill) int { return strings.Compare(a.Link, b.Link) })
	return list
}

// locked returns the names that are recorded: those that have a skill with an alias.
func (n *nameResolver) locked(claims []Claim, contests []contest) map[string]LockedName {
	names := make(map[string]LockedName)
	for _, c := range claims {
		for _, s := range c.Skills {
			alias := n.chosen[skillKey{c.Pack, s}]
			if alias == "" {
				continue
			}
			entry, ok := names[s]
			if !ok {
				entry.Shadowed = make(map[ID]string)
			}
			entry.Shadowed[c.Pack] = alias
			names[s] = entry
		}
	}
	for _, c := range contests {
		if entry, ok := names[c.name]; ok {
			entry.Winner = c.winner
			names[c.name] = entry
		}
	}
	return names
}
