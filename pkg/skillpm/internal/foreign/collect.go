package foreign

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

// collector gathers what a file says.
type collector struct {
	file
	out *Import
	at  map[pack.ID]int // index of each in out.Dependencies
}

// entry is one thing that a file asks for.
type entry struct {
	name       string // as the other tool calls it
	place      string // as [source.Parse] reads it
	commit     string // what the place must stand for, or ""
	constraint string
	skills     []string // empty for all
	alias      string
	dev        bool
	line       int
}

// skip lists what cannot be a dependency.
func (c *collector) skip(line int, what, why string) error {
	c.out.Skipped = append(c.out.Skipped, Skipped{
		What: plain(what), Why: reason().ReplaceAllString(why, "$1"), Line: line,
	})
	return c.bound(line)
}

// skipFor is skip with an error for its reason.
func (c *collector) skipFor(e entry, err error) error {
	why := err.Error()
	if hint := diag.HintOf(err); hint != "" {
		why += "; " + hint
	}
	return c.skip(e.line, e.name, why)
}

func (c *collector) bound(line int) error {
	if len(c.out.Dependencies)+len(c.out.Skipped) > maxEntries {
		return c.errorf(&value{line: line}, "there are more than %d entries", maxEntries)
	}
	return nil
}

// add makes a dependency of an entry, or of several entries of one place.
func (c *collector) add(e entry) error {
	ref, err := pack.Parse(e.place)
	if err != nil {
		return c.skipFor(e, err)
	}
	if e.commit != "" {
		if ref, err = pinned(ref, e.commit); err != nil {
			return c.skipFor(e, err)
		}
	}
	id, err := ref.DefaultID()
	if err != nil {
		return c.skipFor(e, err)
	}
	for _, name := range e.skills {
		if err := skill.CheckName(name); err != nil {
			return c.skip(e.line, e.name, "it wants a skill that no pack can have: "+err.Error())
		}
	}
	i, there := c.at[id]
	if !there {
		c.at[id] = len(c.out.Dependencies)
		d := pack.Dependency{ID: id, Constraint: e.constraint, Ref: &ref, Skills: slices.Clone(e.skills)}
		c.out.Dependencies = append(c.out.Dependencies, Item{
			Dependency: d, Names: []string{plain(e.name)}, Alias: c.legalAlias(e), Dev: e.dev, Line: e.line,
		})
		return c.bound(e.line)
	}
	return c.merge(&c.out.Dependencies[i], ref, e)
}

// merge adds an entry to a dependency that has the entry's identity.
func (c *collector) merge(item *Item, ref pack.Ref, e entry) error {
	d := &item.Dependency
	if *d.Ref != ref || d.Constraint != e.constraint {
		return c.skip(e.line, e.name, "another place or version is taken for "+d.ID.String()+" on line "+strconv.Itoa(
			item.Line)+
			": "+strings.TrimSpace(d.Ref.String()+" "+d.Constraint))
	}
	if len(e.skills) == 0 || len(d.Skills) == 0 {
		d.Skills = nil
	} else {
		d.Skills = append(d.Skills, e.skills...)
	}
	item.Names = append(item.Names, plain(e.name))
	item.Dev = item.Dev && e.dev
	if alias := c.legalAlias(e); item.Alias == "" {
		item.Alias = alias
	} else if alias != "" && alias != item.Alias {
		return c.skip(e.line, "alias "+alias, d.ID.String()+" has the alias "+item.Alias+" on line "+strconv.Itoa(
			item.Line))
	}
	return nil
}

// legalAlias returns the entry's alias, and lists it as skipped where no skill can have it.
func (c *collector) legalAlias(e entry) string {
	if e.alias == "" || skill.LegalName(e.alias) {
		return e.alias
	}
	why := reason().ReplaceAllString(skill.CheckName(e.alias).Error(), "$1")
	c.out.Skipped = append(c.out.Skipped, Skipped{What: plain("alias " + e.alias), Why: why, Line: e.line})
	return ""
}

// finish puts the skills of each dependency in order, each once.
func (c *collector) finish() {
	for i := range c.out.Dependencies {
		item := &c.out.Dependencies[i]
		slices.Sort(item.Dependency.Skills)
		item.Dependency.Skills = slices.Compact(item.Dependency.Skills)
		item.Names = slices.Compact(item.Names)
	}
	slices.SortStableFunc(c.out.Skipped, func(a, b Skipped) int { return a.Line - b.Line })
}

var fullCommit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{40}$`) })

// pinned pins a git place to a commit. A tag that is a version stays, with the commit that it must stand for; any other
// revision may move, so that the commit takes its place.
func pinned(ref pack.Ref, commit string) (pack.Ref, error) {
	if ref.Kind != pack.KindGit || !fullCommit().MatchString(commit) {
		return ref, diag.Errorf(diag.Invalid, "%s is not a commit of 40 hexadecimal digits", plain(commit))
	}
	if _, release := pack.VersionFromTag(ref.Rev, ""); release {
		ref.Digest = commit
	} else {
		ref.Rev = commit
	}
	return ref, nil
}

// gitPlace writes a place in a repository as [source.Parse] reads it.
func gitPlace(url, dir, rev string) (string, error) {
	bare := strings.TrimPrefix(url[strings.Index(url, ":")+1:], "//")
	secret := strings.HasPrefix(url, ".") && withoutSecret(url) != url // elsewhere source.Parse sees it
	if secret || strings.Contains(url, "#") || strings.Contains(bare, "//") {
		return "", diag.Errorf(diag.Invalid, "%s is not the URL of a repository alone", plain(url))
	}
	if strings.Contains(dir, "#") || strings.HasPrefix(dir, "/") {
		return "", diag.Errorf(diag.Invalid, "%s is not a directory in a repository", plain(dir))
	}
	if strings.Contains(url, "://") && !strings.HasPrefix(strings.ToLower(url), "git+") {
		url = "git+" + url
	}
	if dir = path.Clean(dir); dir != "." {
		url += "//" + dir
	}
	if rev != "" {
		url += "#" + rev
	}
	return url, nil
}

var driveLetter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]:[\\/]`) })

// dirPlace writes a directory that is named in a file whose relative directories start at base.
func dirPlace(base, dir string) (string, error) {
	switch {
	case strings.HasPrefix(dir, "~"):
		return "", diag.Errorf(diag.Invalid, "it is relative to a home directory").
			WithHint("write the directory in full, or relative with ./")
	case strings.HasPrefix(dir, "/"), strings.HasPrefix(dir, `\`), driveLetter().MatchString(dir):
		return "path:" + dir, nil
	case strings.Contains(dir, "://"), withoutSecret(dir) != dir:
		return "", diag.Errorf(diag.Invalid, "%s is not a directory", plain(dir))
	}
	dir = path.Join(base, strings.ReplaceAll(dir, `\`, "/"))
	if dir == "." {
		return "", diag.Errorf(diag.Invalid, "it is the project's own directory, whose skills need no dependency")
	}
	if !pathx.Escapes(dir) {
		dir = "./" + dir
	}
	return "path:" + dir, nil
}

// bareUser is a user and a password where there is no scheme.
const bareUser = `[^\s/:@"'(]+:[^\s/]\S*@`

// userInfo is what stands before the host in a place.
var userInfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)(://).*@|` + bareUser) })

// reason is the same in a sentence, which goes on after it.
var reason = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(://)\S*@|` + bareUser) })

// withoutSecret leaves the user and the password out of the places in a text.
func withoutSecret(s string) string { return userInfo().ReplaceAllString(s, "$1") }

// plain returns a text that can be printed: without credentials, quoted where it is empty or has anything odd in it,
// and cut where it is long.
func plain(s string) string {
	const limit = 200
	s = withoutSecret(s)
	cut := false
	if len(s) > limit {
		s, cut = strings.ToValidUTF8(s[:limit], ""), true
	}
	odd := strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsGraphic(r) ||
			unicode.Is(unicode.Bidi_Control, r)
	})
	if s == "" || odd {
		s = strconv.QuoteToASCII(s)
	}
	if cut {
		s += "…"
	}
	return s
}
