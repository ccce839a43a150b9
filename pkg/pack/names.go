package pack

import (
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Claim is an installed pack with the names of its skills.
type Claim struct {
	Pack   ID
	Skills []string
	Direct bool // the manifest requires the pack, not only another pack
}

// Claims returns the locked packs in the order for [ResolveNames]: those that the manifest requires in its order, then
// the others by name.
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

func countSkills(claims []Claim) (n int) {
	for _, c := range claims {
		n += len(c.Skills)
	}
	return n
}

// NamedSkill is a skill and the name that agents know it under.
type NamedSkill struct {
	Skill string
	Pack  ID
	Link  string // the name of its directory for agents
	Bare  bool   // Link is the skill's own name
	Alias bool   // Link is another name, which its frontmatter must have
}

// Conflict reports that several packs have a skill of one name. Skills with an alias in the manifest don't count.
type Conflict struct {
	Name   string
	Winner ID
	Losers map[ID]string // each with its alias
}

// ResolveNames decides the name under which each skill of a scope is available.
//
// A skill with an alias in the manifest has only that name. Of several other skills with one name, that of a direct
// dependency wins before that of a transitive one; among direct ones the last, among transitive ones the first by the
// name of the pack. The losers get an alias: the one in previous, otherwise the first that is legal and free of
// owner-skill, owner-pack-skill, and that shortened and with eight hexadecimal digits. reserved reports the names that
// something other than a pack uses.
//
// The results are in order of names. The second one is what the lockfile records: the names that several packs claim or
// that have an alias.
func ResolveNames(claims []Claim, aliases []Alias, previous map[string]LockedName,
	reserved func(string) bool,
) ([]NamedSkill, map[string]LockedName, []Conflict, error) {
	n := &nameResolver{
		previous: previous, reserved: reserved,
		aliases: make(map[SkillKey]string), bare: make(map[string]bool), used: make(map[string]bool),
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
	return n.namedSkills(claims), n.lockedNames(claims, contests), conflicts, nil
}

// SkillKey identifies a skill of a pack.
type SkillKey struct {
	Pack  ID
	Skill string
}

// contest is a bare name and the packs that claim it.
type contest struct {
	name   string
	winner ID
	losers []ID // sorted
}

// nameResolver is the state of [ResolveNames].
type nameResolver struct {
	previous map[string]LockedName
	reserved func(string) bool
	aliases  map[SkillKey]string
	bare     map[string]bool // bare names of skills
	used     map[string]bool // aliases in use
}

// readAliases adds the aliases of the manifest. One for a skill that doesn't exist is an error.
func (n *nameResolver) readAliases(claims []Claim, aliases []Alias) error {
	skillsOf := make(map[ID][]string, len(claims))
	for _, c := range claims {
		skillsOf[c.Pack] = c.Skills
	}
	for _, a := range aliases {
		skills, ok := skillsOf[a.Pack]
		if !ok {
			return diag.Errorf(diag.NotFound, "alias %s refers to %s, but pack %s is not installed", a.Alias,
				a.Target(), a.Pack).
				WithHint("add the pack to dependencies, or remove the alias")
		}
		if !slices.Contains(skills, a.Skill) {
			err := diag.Errorf(diag.NotFound, "alias %s refers to %s, but %s does not contain a skill %s", a.Alias,
				a.Target(),
				a.Pack, a.Skill)
			if near := diag.Nearest(a.Skill, skills); near != "" {
				return err.WithHint("did you mean %s@%s?", near, a.Pack)
			}
			return err.WithHint("available skills: %s", strings.Join(skills, ", "))
		}
		n.aliases[SkillKey{a.Pack, a.Skill}] = a.Alias
		n.used[a.Alias] = true
	}
	return nil
}

// contests returns the winner and the losers of each bare name, in order of names.
func (n *nameResolver) contests(claims []Claim) []contest {
	claimants := make(map[string][]*Claim, countSkills(claims))
	for i := range claims {
		c := &claims[i]
		for _, s := range c.Skills {
			if _, hasAlias := n.aliases[SkillKey{c.Pack, s}]; !hasAlias {
				claimants[s] = append(claimants[s], c)
			}
		}
	}
	list := make([]contest, 0, len(claimants))
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

// winner returns the last direct claimant, otherwise the first by name.
func winner(claimants []*Claim) ID {
	for _, c := range slices.Backward(claimants) {
		if c.Direct {
			return c.Pack
		}
	}
	first := slices.MinFunc(claimants, func(a, b *Claim) int { return a.Pack.Compare(b.Pack) })
	return first.Pack
}

// checkAliases rejects an alias that is the bare name of another skill.
func (n *nameResolver) checkAliases(contests []contest, aliases []Alias) error {
	byName := make(map[string]Alias, len(aliases))
	for _, a := range aliases {
		byName[a.Alias] = a
	}
	for _, c := range contests {
		if a, ok := byName[c.name]; ok {
			return diag.Errorf(diag.Conflict, "the alias %s of %s is already the name of a skill in %s", c.name,
				a.Target(),
				c.winner).
				WithHint("choose another alias, or add an alias for %s@%s", c.name, c.winner)
		}
	}
	return nil
}

// keepAliases gives losers the aliases that the lockfile has, before others get new ones.
func (n *nameResolver) keepAliases(contests []contest) {
	for _, c := range contests {
		for _, loser := range c.losers {
			alias := n.previous[c.name].Shadowed[loser]
			if skill.LegalName(alias) && !n.bare[alias] && !n.used[alias] {
				n.aliases[SkillKey{loser, c.name}] = alias
				n.used[alias] = true
			}
		}
	}
}

// resolveContest gives new aliases to the losers of a contest that have none.
func (n *nameResolver) resolveContest(c contest) Conflict {
	out := Conflict{Name: c.name, Winner: c.winner, Losers: make(map[ID]string)}
	for _, loser := range c.losers {
		key := SkillKey{loser, c.name}
		if n.aliases[key] == "" {
			n.aliases[key] = n.newAlias(key)
			n.used[n.aliases[key]] = true
		}
		out.Losers[loser] = n.aliases[key]
	}
	return out
}

// newAlias returns a free alias.
func (n *nameResolver) newAlias(key SkillKey) string {
	full := key.Pack.Owner + "-" + key.Pack.Name + "-" + key.Skill
	for _, alias := range []string{key.Pack.Owner + "-" + key.Skill, full} {
		if n.available(alias) {
			return alias
		}
	}
	for i := 0; ; i++ {
		tail := "-" + textx.SHA256(key.Skill + "@" + key.Pack.String() + strings.Repeat("'", i))[:8]
		head := full[:min(len(full), skill.MaxName-len(tail))]
		if alias := strings.TrimRight(head, "-") + tail; n.available(alias) {
			return alias
		}
	}
}

func (n *nameResolver) available(alias string) bool {
	return skill.LegalName(alias) && !n.bare[alias] && !n.used[alias] && (n.reserved == nil || !n.reserved(alias))
}

// namedSkills returns every skill with its name, in order of names.
func (n *nameResolver) namedSkills(claims []Claim) []NamedSkill {
	list := make([]NamedSkill, 0, countSkills(claims))
	for _, c := range claims {
		for _, s := range c.Skills {
			named := NamedSkill{Skill: s, Pack: c.Pack, Link: s, Bare: true}
			if alias := n.aliases[SkillKey{c.Pack, s}]; alias != "" {
				named.Link, named.Bare, named.Alias = alias, false, true
			}
			list = append(list, named)
		}
	}
	slices.SortFunc(list, func(a, b NamedSkill) int { return strings.Compare(a.Link, b.Link) })
	return list
}

// lockedNames returns the names with a skill that has an alias.
func (n *nameResolver) lockedNames(claims []Claim, contests []contest) map[string]LockedName {
	names := make(map[string]LockedName)
	for _, c := range claims {
		for _, s := range c.Skills {
			alias := n.aliases[SkillKey{c.Pack, s}]
			if alias == "" {
				continue
			}
			if _, ok := names[s]; !ok {
				names[s] = LockedName{Shadowed: make(map[ID]string)}
			}
			names[s].Shadowed[c.Pack] = alias
		}
	}
	for _, c := range contests {
		if name, ok := names[c.name]; ok {
			name.Winner = c.winner
			names[c.name] = name
		}
	}
	return names
}
