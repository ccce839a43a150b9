package site

import (
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// SkillNames gives each skill a unique name, for tools that do not support packs: its own name if it is unique,
// otherwise one with the owner, with owner and pack, or finally with a digest. Skills without a valid name are left
// out. The names in kept stay as they are.
func (s *Site) SkillNames(kept map[pack.SkillKey]string) map[pack.SkillKey]string {
	count := map[string]int{}
	var keys []pack.SkillKey
	for i := range s.packs {
		for _, sk := range s.packs[i].Skills {
			if legal(sk.Name) {
				count[sk.Name]++
				keys = append(keys, pack.SkillKey{Pack: s.packs[i].ID, Skill: sk.Name})
			}
		}
	}
	names, used := make(map[pack.SkillKey]string, len(keys)), map[string]bool{}
	for k, name := range kept {
		names[k], used[name] = name, true
	}
	for _, k := range keys { // names that do not change first
		if names[k] == "" && count[k.Skill] == 1 && !used[k.Skill] {
			names[k], used[k.Skill] = k.Skill, true
		}
	}
	for _, k := range keys {
		if names[k] != "" {
			continue
		}
		name := free(used, k.Pack.Owner+"-"+k.Skill, k.Pack.Owner+"-"+k.Pack.Name+"-"+k.Skill)
		names[k], used[name] = name, true
	}
	return names
}

// PluginNames gives each pack a unique plugin name: owner and name joined by a hyphen, with a digest if two packs would
// have the same name. The names in kept stay as they are.
func (s *Site) PluginNames(kept map[pack.ID]string) map[pack.ID]string {
	names, used := make(map[pack.ID]string, len(s.packs)), map[string]bool{}
	for id, name := range kept {
		names[id], used[name] = name, true
	}
	for i := range s.packs {
		id := s.packs[i].ID
		if names[id] != "" {
			continue
		}
		name := free(used, id.Owner+"-"+id.Name)
		names[id], used[name] = name, true
	}
	return names
}

// free returns the first legal and unused name, or else the last one with a digest.
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

// legal reports whether all tools accept a name.
func legal(name string) bool { return len(name) <= maxTagLen && plainName().MatchString(name) }
