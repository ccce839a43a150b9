package lint

import (
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/skill"
)

// A skill's name is public: users and other skills call the skill by it. So an edit that changes a name is always a
// suggestion, which `validate --fix=names` applies. There is no suggestion if the directory should be renamed instead.

// IsRename reports whether the edits of a finding change the name of a skill.
func IsRename(f diag.Finding) bool {
	return len(f.Edits) > 0 && (f.Rule == rule.Name || f.Rule == rule.NameDirectory)
}

// rename returns edits that give the skill a name.
func (u *skillCheck) rename(name string) func() []diag.Edit {
	data, err := skill.SpliceName(u.src.data, name)
	return u.src.rewriting(data, err == nil)
}

// genericDirs are directory names that do not tell skills apart.
var genericDirs = []string{
	"agent", "example", "main", "master", "package", "skill", "skills", "src", "template", "templates", "test",
}

// keepsName reports whether the directory of a skill with a valid name should be renamed rather than the skill: the
// directory has a generic name, or only some of the name's words.
func keepsName(name, dir string) bool {
	words := strings.Split(name, "-")
	return slices.Contains(genericDirs, dir) || !slices.ContainsFunc(strings.Split(dir, "-"), func(word string) bool {
		return !slices.Contains(words, word)
	})
}

// refuseRenames removes suggested names that another skill has or would get, and those of skills that another skill
// refers to: the reference would break.
func refuseRenames(units []*skillCheck) {
	names, referenced := map[string]int{}, map[string]bool{}
	for _, u := range units {
		names[u.name.text]++
		if dir := path.Base(u.dir); dir != u.name.text {
			names[dir]++
		}
		for _, r := range u.refs {
			referenced[r.name] = referenced[r.name] || r.name != u.name.text
		}
	}
	for _, u := range units {
		if names[path.Base(u.dir)] == 1 && !referenced[u.name.text] {
			continue
		}
		for i, f := range u.findings {
			if IsRename(f) {
				u.findings[i].Edits = nil
			}
		}
	}
}
