package lint

import (
	"fmt"
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
		if u.doc == nil {
			continue
		}
		pack := u.pack(packs)
		if name := u.doc.Name(); name != "" {
			first, ok := names[key{pack, name}]
			if !ok {
				names[key{pack, name}] = u
			} else {
				u.sameName(first, name, pack != "")
			}
		}
		if text := u.doc.Description(); text != "" {
			first, ok := descriptions[key{pack, text}]
			switch {
			case !ok:
				descriptions[key{pack, text}] = u
			case first.doc.Name() != u.doc.Name():
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

func (u *unit) sameName(first *unit, name string, pack bool) {
	_, node := u.doc.Lookup("name")
	f := finding{rule: ruleSameName, message: fmt.Sprintf("%s is already called %q", u.l.show(first.file), name)}
	if !pack {
		f.severity = severity(diag.SeverityWarning)
	}
	u.atNode(node, f)
}

func (u *unit) sameDescription(first *unit) {
	_, node := u.doc.Lookup("description")
	u.atNode(node, finding{rule: ruleSameDescribe, message: "the description is the same as that of " + u.l.show(first.file)})
}
