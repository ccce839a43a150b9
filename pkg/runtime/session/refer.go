package session

import (
	"bytes"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/internal/markdown"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// The limits of the search for references in an active skill's files.
const (
	maxReferring = 200     // files
	maxReferText = 1 << 20 // bytes of one file
)

// target is a skill that another one may refer to.
type target struct {
	names []string // bare names and qualified names
	dirs  []string // its directory, as the catalog has it and resolved
}

// targetOf returns what references to a skill look like.
func targetOf(k *catalog.Skill) target {
	t := target{names: []string{k.Name, k.Declared, filepath.Base(k.Dir)}, dirs: []string{k.Dir}}
	if real, err := pathx.ResolveExisting(k.Dir); err == nil && real != k.Dir {
		t.dirs = append(t.dirs, real)
	}
	if k.Pack != "" {
		name, _, _ := strings.Cut(k.Exact(), "@")
		owner, pack, _ := strings.Cut(k.Pack, "/")
		t.names = append(t.names, name+"@"+k.Pack, name+"@"+pack, owner+"/"+name)
	}
	t.names = slices.DeleteFunc(t.names, func(name string) bool { return name == "" })
	return t
}

// refersTo reports whether an active skill refers to another one in its SKILL.md or in another Markdown or text file: by
// a link, by /name, by name@pack, or by a code span that is the name.
func (a Active) refersTo(k *catalog.Skill) bool {
	t, found, budget := targetOf(k), false, maxReferring
	_ = filepath.WalkDir(a.Real, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // an unreadable file refers to nothing
		case d.IsDir() && path != a.Real && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || !isProse(d.Name()):
			return nil
		case budget == 0:
			return fs.SkipAll
		}
		budget--
		rel, err := filepath.Rel(a.Real, path)
		if err != nil {
			return nil
		}
		text, err := safefile.ReadIn(safefile.Dir(a.Real), filepath.ToSlash(rel), maxReferText)
		if err == nil && t.isNamedIn(text, []string{filepath.Dir(path), filepath.Dir(filepath.Join(a.Dir, rel))}) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// isProse reports whether a file has text for a model.
func isProse(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md", ".mdx", ".markdown", ".txt":
		return true
	}
	return false
}

// isNamedIn reports whether a text, a file in each of the directories, refers to the target.
func (t target) isNamedIn(text []byte, dirs []string) bool {
	if !slices.ContainsFunc(t.names, func(name string) bool { return bytes.Contains(text, []byte(name)) }) {
		return false // a link has the name of its directory
	}
	for _, name := range t.names {
		if strings.ContainsAny(name, "@/") && hasWord(text, name) || hasWord(text, "/"+name) {
			return true
		}
	}
	page := markdown.Read(text, 0)
	for _, s := range page.Spans {
		if slices.Contains(t.names, strings.TrimSpace(s.Text)) {
			return true
		}
	}
	return slices.ContainsFunc(page.Links, func(l markdown.Link) bool { return t.isLinked(l.Target, dirs) })
}

// isLinked reports whether the target of a link is in the skill's directory.
func (t target) isLinked(link string, dirs []string) bool {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" || u.Path == "" || strings.HasPrefix(u.Path, "/") {
		return false
	}
	for _, from := range dirs {
		path := filepath.Join(from, filepath.FromSlash(u.Path))
		if slices.ContainsFunc(t.dirs, func(dir string) bool { return pathx.Contains(dir, path) }) {
			return true
		}
	}
	return false
}

// hasWord reports whether a text has a word that is not part of a longer name, path, or address.
func hasWord(text []byte, word string) bool {
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(word))
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRune(text[:start])
		after, _ := utf8.DecodeRune(text[end:])
		next, _ := utf8.DecodeRune(text[min(end+1, len(text)):])
		ends := !isNameRune(after) && (!strings.ContainsRune("./:", after) || !isNameRune(next))
		if ends && !isNameRune(before) && !strings.ContainsRune("/.:~@}", before) {
			return true
		}
		from = start + 1
	}
}

// isNameRune reports whether a character can be part of a skill's name. utf8.RuneError, which the ends of a text have,
// cannot.
func isNameRune(r rune) bool {
	return r == '-' || r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
