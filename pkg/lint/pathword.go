package lint

import (
	"path"
	"slices"
	"strings"
)

// pathWord is a word of a page that may be the path of a file of the skill.
type pathWord struct {
	name     string // the path, relative to the skill's directory or to the page's
	fragment string // after #
	// sure means that the word names the skill's directory, by a variable or by where the skill is installed, so that it
	// cannot be another project's file.
	sure bool
	// dir is the directory that the skill is installed in, if the word has it.
	dir string
	// home means that this directory is one user's.
	home bool
}

// dirVariables are the names of the skill's directory, in lower case and without hyphens and underscores.
var dirVariables = []string{
	"basedir", "basepath", "claudeskilldir", "pathtoskill", "skillbasedir", "skilldir", "skilldirectory", "skillhome",
	"skillroot",
}

// pathWord parses a word of a page. ok is false if the word cannot be a path of a file of the skill.
func (u *skillCheck) pathWord(word string) (p pathWord, ok bool) {
	word = strings.TrimPrefix(strings.Trim(word, "\"'`,;:()[]"), "@")
	rest, variable := cutDirVariable(word)
	switch {
	case variable:
		p.sure = true
	case strings.Contains(word, "skills/"):
		if rest, p.sure = u.cutInstalled(word); p.sure {
			p.dir = strings.TrimSuffix(word, rest)
			p.home = isHome(p.dir)
		}
	}
	if !p.sure {
		if word == "" || word[0] == '/' || word[0] == '~' {
			return p, false
		}
		rest = strings.TrimPrefix(word, "./")
	}
	if rest == "" || placeholder(rest) || scheme().MatchString(rest) {
		return p, false
	}
	p.name, p.fragment, _ = strings.Cut(rest, "#")
	return p, p.name != ""
}

// cutDirVariable removes a variable for the skill's directory and a slash from the front of a path: {baseDir},
// $SKILL_DIR, ${CLAUDE_SKILL_DIR}, or <skill-dir>.
func cutDirVariable(word string) (rest string, ok bool) {
	if word == "" || !strings.Contains("${<", word[:1]) {
		return word, false
	}
	variable, rest, below := strings.Cut(word, "/")
	name := strings.TrimPrefix(variable, "$")
	if braced := strings.Trim(name, "{}<>"); braced != name {
		name = braced
	}
	if !below || len(name) > 24 {
		return word, false
	}
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	if !slices.Contains(dirVariables, name) || strings.HasPrefix(variable, "$") && strings.HasPrefix(name, "base") &&
		!strings.Contains(variable, "baseDir") { // any script can have a variable of such a name
		return word, false
	}
	return rest, true
}

// cutInstalled removes the directory that the skill is installed in from the front of a path, such as
// ~/.claude/skills/NAME/ or skills/NAME/.
func (u *skillCheck) cutInstalled(word string) (rest string, ok bool) {
	for _, name := range [2]string{path.Base(u.dir), u.doc.Name()} {
		if name == "" || name == "." {
			continue
		}
		before, rest, found := strings.Cut(word, "skills/"+name+"/")
		if found && (before == "" || strings.HasSuffix(before, "/")) && !strings.Contains(before, "://") {
			return rest, true
		}
	}
	return word, false
}

// isHome reports whether a path is below the home directory of a user.
func isHome(p string) bool {
	for _, home := range [...]string{"~/", "$HOME/", "${HOME}/", "/Users/", "/home/"} {
		if strings.HasPrefix(p, home) {
			return true
		}
	}
	return false
}
