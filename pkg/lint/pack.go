package lint

import (
	"fmt"
	"github.com/skillpm/skillpm/pkg/lint/rule"
	"io/fs"
	"path"

	"github.com/skillpm/skillpm/pkg/diag"
)

// samePack compares the skills that belong together: those below one skillpm.yaml, or all that were asked for.
func samePack(units []*unit) {
	packs := map[string]string{}
	type key struct{ pack, text string }
	names, descriptions := map[key]*unit{}, map[key]*unit{}
	for _, u := range units {
		pack := u.pack(packs)
		if k := (key{pack, u.name.text}); k.text != "" {
			if first := names[k]; first != nil {
				u.sameName(first, pack != "")
			} else {
				names[k] = u
			}
		}
		if k := (key{pack, u.description.text}); k.text != "" {
			if first := descriptions[k]; first == nil {
				descriptions[k] = u
			} else if first.name.text != u.name.text {
				u.sameDescription(first)
			}
		}
	}
}

// pack returns the nearest directory at or above a skill that holds a skillpm.yaml, or "".
func (u *unit) pack(known map[string]string) string {
	var passed []string
	found := ""
	for dir := u.dir; ; dir = path.Dir(dir) {
		if at, ok := known[dir]; ok {
			found = at
			break
		}
		passed = append(passed, dir)
		if _, err := fs.Stat(u.l.fsys, path.Join(dir, "skillpm.yaml")); err == nil {
			found = dir
			break
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	for _, dir := range passed {
		known[dir] = found
	}
	return found
}

func (u *unit) sameName(first *unit, pack bool) {
	f := finding{rule: rule.SameName, message: fmt.Sprintf("%s is already called %q", u.l.show(first.file), u.name.text)}
	if !pack {
		f.severity = new(diag.SeverityWarning)
	}
	u.atMention(u.name, f)
}

func (u *unit) sameDescription(first *unit) {
	u.atMention(u.description, finding{
		rule: rule.SameDescribe, message: "the description is the same as that of " + u.l.show(first.file),
	})
}
