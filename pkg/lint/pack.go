package lint

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/lint/internal/similar"
	"github.com/skillpm/skillpm/pkg/pack"
)

// samePack compares the skills that belong together: those below one skillpm.yaml, or all that were asked for.
func samePack(units []*unit) {
	dirs := map[string]string{}
	packs := map[string][]*unit{}
	var order []string
	for _, u := range units {
		u.home = u.pack(dirs)
		pk := u.home
		if packs[pk] == nil {
			order = append(order, pk)
		}
		packs[pk] = append(packs[pk], u)
	}
	for _, pk := range order {
		sameNames(packs[pk], pk != "")
		sameDescriptions(packs[pk])
	}
}

func sameNames(units []*unit, pk bool) {
	names, near := map[string]*unit{}, map[string]*unit{}
	for _, u := range units {
		if u.name.text == "" {
			continue
		}
		squashed := similar.Squash(u.name.text)
		switch first, other := names[u.name.text], near[squashed]; {
		case first != nil && mirrored(first, u):
			continue
		case first != nil:
			u.sameName(first, pk)
		case other != nil:
			u.atMention(u.name, finding{
				rule: rule.NearName, related: []string{other.file},
				message: fmt.Sprintf("%q is nearly the name of %s", u.name.text, u.l.show(other.file)),
			})
		}
		names[u.name.text] = cmp.Or(names[u.name.text], u)
		near[squashed] = cmp.Or(near[squashed], u)
	}
}

// mirrored reports whether two skills are one that is in the directories of two agents, as .claude/skills and
// .agents/skills.
func mirrored(a, b *unit) bool {
	return a.name.text == b.name.text && a.description.text == b.description.text && agentDir(a.dir) != agentDir(b.dir)
}

// agentDir returns the first hidden directory of a path, which agents' are, or "".
func agentDir(dir string) string {
	for part := range strings.SplitSeq(dir, "/") {
		if strings.HasPrefix(part, ".") {
			return part
		}
	}
	return ""
}

func sameDescriptions(units []*unit) {
	first := map[string]*unit{}
	var texts []string
	var of []*unit
	for _, u := range units {
		text := u.description.text
		switch other := first[text]; {
		case text == "":
		case other == nil:
			first[text] = u
			texts, of = append(texts, text), append(of, u)
		case other.name.text != u.name.text:
			u.sameDescription(other)
		}
	}
	for _, m := range similar.Matches(texts, similar.Threshold) {
		u, other := of[m.Text], of[m.Of]
		if u.name.text != other.name.text && !similar.Apart(u.name.text, u.description.text, other.name.text,
			other.description.text) {
			u.atMention(u.description, finding{
				rule: rule.NearDescription, related: []string{other.file},
				message: "the description is nearly that of " + u.l.show(other.file),
			})
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
		has, listed := u.l.listed[dir]
		if !listed {
			_, err := fs.Stat(u.l.fsys, path.Join(dir, pack.ManifestName))
			has = err == nil
		}
		if has {
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

func (u *unit) sameName(first *unit, pk bool) {
	f := finding{
		rule: rule.SameName, related: []string{first.file},
		message: fmt.Sprintf("%s is already called %q", u.l.show(first.file), u.name.text),
	}
	if !pk {
		f.severity = new(diag.SeverityWarning)
	}
	u.atMention(u.name, f)
}

func (u *unit) sameDescription(first *unit) {
	u.atMention(u.description, finding{
		rule: rule.SameDescribe, related: []string{first.file}, message: "the description is the same as that of " +
			u.l.show(first.file),
	})
}
