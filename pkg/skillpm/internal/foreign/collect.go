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

// collector collects the dependencies of a file.
type collector struct {
	file
	out       *Import
	positions map[pack.ID]int // index of each in out.Dependencies
}

// requirement is one entry of a file.
type requirement struct {
	name       string // the name that the other tool has for it
	reference  string // in the form that [pack.Parse] reads
	commit     string // the commit that the reference must stand for, or ""
	constraint string
	skills     []string // empty for all
	alias      string
	dev        bool
	line       int
}

// skip lists an entry that can't be a dependency.
func (c *collector) skip(line int, what, why string) error {
	c.out.Skipped = append(c.out.Skipped, Skipped{
		What: printable(what), Why: secretInText().ReplaceAllString(why, "$1"), Line: line,
	})
	return c.bound(line)
}

// skipError is skip with an error as the reason.
func (c *collector) skipError(e requirement, err error) error {
	why := err.Error()
	if hint := diag.HintOf(err); hint != "" {
		why += "; " + hint
	}
	return c.skip(e.line, e.name, why)
}

func (c *collector) bound(line int) error {
	if len(c.out.Dependencies)+len(c.out.Skipped) > maxEntries {
		return c.errorf(&value{line: line}, "the file has more than %d entries", maxEntries)
	}
	return nil
}

// add adds the dependency of an entry. Entries with the same source become one.
func (c *collector) add(e requirement) error {
	ref, err := pack.Parse(e.reference)
	if err != nil {
		return c.skipError(e, err)
	}
	if e.commit != "" {
		if ref, err = pinCommit(ref, e.commit); err != nil {
			return c.skipError(e, err)
		}
	}
	id, err := ref.DefaultID()
	if err != nil {
		return c.skipError(e, err)
	}
	for _, name := range e.skills {
		if err := skill.CheckName(name); err != nil {
			return c.skip(e.line, e.name, "the dependency requires a skill with an invalid name: "+err.Error())
		}
	}
	i, exists := c.positions[id]
	if !exists {
		c.positions[id] = len(c.out.Dependencies)
		d := pack.Dependency{ID: id, Constraint: e.constraint, Ref: &ref, Skills: slices.Clone(e.skills)}
		c.out.Dependencies = append(c.out.Dependencies, Item{
			Dependency: d, Names: []string{printable(e.name)}, Alias: c.legalAlias(e), Dev: e.dev, Line: e.line,
		})
		return c.bound(e.line)
	}
	return c.merge(&c.out.Dependencies[i], ref, e)
}

// merge adds an entry to the dependency with the same ID.
func (c *collector) merge(item *Item, ref pack.Ref, e requirement) error {
	d := &item.Dependency
	if *d.Ref != ref || d.Constraint != e.constraint {
		return c.skip(e.line, e.name, "the source or version differs from "+d.ID.String()+" on line "+
			strconv.Itoa(item.Line)+": "+strings.TrimSpace(d.Ref.String()+" "+d.Constraint))
	}
	if len(e.skills) == 0 || len(d.Skills) == 0 {
		d.Skills = nil
	} else {
		d.Skills = append(d.Skills, e.skills...)
	}
	item.Names = append(item.Names, printable(e.name))
	item.Dev = item.Dev && e.dev
	if alias := c.legalAlias(e); item.Alias == "" {
		item.Alias = alias
	} else if alias != "" && alias != item.Alias {
		return c.skip(e.line, "alias "+alias,
			d.ID.String()+" already has the alias "+item.Alias+" on line "+strconv.Itoa(item.Line))
	}
	return nil
}

// legalAlias returns the alias of an entry. It skips one that no skill can have.
func (c *collector) legalAlias(e requirement) string {
	if e.alias == "" || skill.LegalName(e.alias) {
		return e.alias
	}
	why := secretInText().ReplaceAllString(skill.CheckName(e.alias).Error(), "$1")
	c.out.Skipped = append(c.out.Skipped, Skipped{What: printable("alias " + e.alias), Why: why, Line: e.line})
	return ""
}

// finish sorts the skills of each dependency, without duplicates.
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

// pinCommit pins a git reference to a commit. A version tag stays, with the commit as its digest; the commit replaces
// any other revision, which may move.
func pinCommit(ref pack.Ref, commit string) (pack.Ref, error) {
	if ref.Kind != pack.KindGit || !fullCommit().MatchString(commit) {
		return ref, diag.Errorf(diag.Invalid, "%s is not a commit of 40 hexadecimal digits", printable(commit))
	}
	if _, release := pack.VersionFromTag(ref.Rev, ""); release {
		ref.Digest = commit
	} else {
		ref.Rev = commit
	}
	return ref, nil
}

// gitReference returns the reference of a directory in a repository, in the form that [pack.Parse] reads.
func gitReference(url, dir, rev string) (string, error) {
	location := strings.TrimPrefix(url[strings.Index(url, ":")+1:], "//")
	secret := strings.HasPrefix(url, ".") && withoutSecret(url) != url // pack.Parse refuses it in other forms
	if secret || strings.Contains(url, "#") || strings.Contains(location, "//") {
		return "", diag.Errorf(diag.Invalid, "invalid repository URL %s", printable(url))
	}
	if strings.Contains(dir, "#") || strings.HasPrefix(dir, "/") {
		return "", diag.Errorf(diag.Invalid, "invalid directory %s in a repository", printable(dir))
	}
	if strings.Contains(url, "://") && !strings.HasPrefix(strings.ToLower(url), "git+") {
		url = "git+" + url
	}
	if dir = path.Clean(dir); dir != "." {
		url += "//" + dir
	}
	// local:acme/ops, for example, is a pack of a registry and not a repository
	if ref, err := pack.Parse(url); err == nil && ref.Kind != pack.KindGit && ref.Kind != pack.KindPath {
		return "", diag.Errorf(diag.Invalid, "invalid repository URL %s", printable(url))
	}
	if rev != "" {
		url += "#" + rev
	}
	return url, nil
}

var driveLetter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]:[\\/]`) })

// dirReference returns the reference of a directory that a file names, relative to base.
func dirReference(base, dir string) (string, error) {
	switch {
	case strings.HasPrefix(dir, "~"):
		return "", diag.Errorf(diag.Invalid, "the path is relative to a home directory").
			WithHint("use an absolute path, or a relative path that starts with ./")
	case strings.HasPrefix(dir, "/"), strings.HasPrefix(dir, `\`), driveLetter().MatchString(dir):
		return "path:" + dir, nil
	case strings.Contains(dir, "://"), withoutSecret(dir) != dir:
		return "", diag.Errorf(diag.Invalid, "%s is not a directory", printable(dir))
	}
	dir = path.Join(base, strings.ReplaceAll(dir, `\`, "/"))
	if dir == "." {
		return "",
			diag.Errorf(diag.Invalid, "the path is the directory of the project, which does not need a dependency")
	}
	if !pathx.Escapes(dir) {
		dir = "./" + dir
	}
	return "path:" + dir, nil
}

// schemelessUser matches a user and a password in a URL without a scheme.
const schemelessUser = `[^\s/:@"'(]+:[^\s/]\S*@`

// userInfo matches what stands before the host in a URL.
var userInfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)(://).*@|` + schemelessUser) })

// secretInText is userInfo within a sentence.
var secretInText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(://)\S*@|` + schemelessUser) })

// withoutSecret removes users and passwords from the URLs in a text.
func withoutSecret(s string) string { return userInfo().ReplaceAllString(s, "$1") }

// printable returns a text without credentials, quoted if it is empty or has unprintable characters, and cut if it is
// long.
func printable(s string) string {
	const limit = 200
	s = withoutSecret(s)
	cut := false
	if len(s) > limit {
		s, cut = strings.ToValidUTF8(s[:limit], ""), true
	}
	unprintable := strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsGraphic(r) ||
			unicode.Is(unicode.Bidi_Control, r)
	})
	if s == "" || unprintable {
		s = strconv.QuoteToASCII(s)
	}
	if cut {
		s += "…"
	}
	return s
}
