package site

import (
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// SkillKey tells a skill from all others: its pack and its name there.
type SkillKey struct {
	Pack pack.ID
	Name string
}

// SkillNames gives each skill of the catalogue a name of its own, for tools that know no packs: its own where only one
// pack has a skill of that name, else one that begins with the owner, with owner and pack, or as a last resort ends in
// a digest. Skills whose names no tool takes have none.
func (s *Site) SkillNames() map[SkillKey]string {
	count := map[string]int{}
	var keys []SkillKey
	for i := range s.packs {
		for _, sk := range s.packs[i].Skills {
			if legal(sk.Name) {
				count[sk.Name]++
				keys = append(keys, SkillKey{s.packs[i].ID, sk.Name})
			}
		}
	}
	names, used := make(map[SkillKey]string, len(keys)), map[string]bool{}
	for _, k := range keys { // first those that keep theirs
		if count[k.Name] == 1 {
			names[k], used[k.Name] = k.Name, true
		}
	}
	for _, k := range keys {
		if count[k.Name] == 1 {
			continue
		}
		name := free(used, k.Pack.Owner+"-"+k.Name, k.Pack.Owner+"-"+k.Pack.Name+"-"+k.Name)
		names[k], used[name] = name, true
	}
	return names
}

// PluginNames gives each pack a name of its own as a plugin: owner and name with a hyphen between them, and a digest
// where two packs would be called the same.
func (s *Site) PluginNames() map[pack.ID]string {
	names, used := make(map[pack.ID]string, len(s.packs)), map[string]bool{}
	for i := range s.packs {
		id := s.packs[i].ID
		name := free(used, id.Owner+"-"+id.Name)
		names[id], used[name] = name, true
	}
	return names
}

// free returns the first name that is legal and not taken, else the last one with a digest of it.
func free(used map[string]bool, names ...string) string {
	for _, name := range names {
		if legal(name) && !used[name] {
			return name
		}
	}
	last := names[len(names)-1]
	for salt := last; ; salt += "+" {
		name := strings.TrimRight(last[:min(len(last), 52)], "-") + "-" + textx.SHA256(salt)[:8]
		if !used[name] {
			return name
		}
	}
}

// legal reports whether every tool takes a name.
func legal(name string) bool { return len(name) <= maxTagLen && plainName().MatchString(name) }
