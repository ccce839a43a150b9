package site

import (
	"regexp"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

// installCommand returns a command that installs a pack on a machine without settings. needsRegistry reports that there
// is none, because the website does not know where the index is, and the source alone does not have the dependencies.
func (s *Site) installCommand(p *Pack) (command string, needsRegistry bool) {
	v := p.displayed()
	name := p.ID.String()
	if prerelease(v.Version) || v.Yanked != "" {
		name += "@" + v.Version
	}
	if s.options.Registry != "" {
		return "skillpm install " + shellWord(name) + " --registry " + shellWord(s.options.Registry), false
	}
	ref, err := pack.ParseLocked(v.Source, v.Digest, p.ID)
	isPublic := err == nil && ref.URL != "" && (ref.Kind == pack.KindOCI || ref.Kind == pack.KindGit)
	if isPublic && len(p.Dependencies) == 0 {
		return "skillpm install " + shellWord(ref.String()), false
	}
	return "skillpm install " + shellWord(name), true
}

// registryCommand returns the command that adds the index as a registry, or "".
func (s *Site) registryCommand() string {
	if s.options.Registry == "" {
		return ""
	}
	name := skill.Slug(s.options.Title)
	if !legal(name) {
		name = "packs"
	}
	return "skillpm registry add " + name + " " + shellWord(s.options.Registry)
}

// shellWord returns a text as one word for shells.
func shellWord(text string) string {
	if plainWord().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`) })
