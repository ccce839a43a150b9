package hook

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// skillUse is a skill that an agent is about to load.
type skillUse struct {
	name, arguments string
	file            bool // the name is the path of its SKILL.md
	served          bool // skillpm's server loads it
	deep            bool // the agent also searches directories below the project

	ran    bool   // skillpm's own tool runs a script of it
	script string // "" for its command
}

// skillUses returns the skills that a call loads: with the agent's tool for skills or, if it has none, by reading
// SKILL.md.
func (w *handler) skillUses() []skillUse {
	t := w.event
	part, ofServer := tool.OfSkills(t.tool)
	switch {
	case part == tool.Activate:
		if g, ok := skillUseOf(t.input); ok {
			g.served = ofServer
			return []skillUse{g}
		}
	case part == tool.Run:
		if g, ok := skillUseOf(t.input); ok {
			g.ran, g.served = true, true
			g.script, _ = text(t.input, "script path file")
			return []skillUse{g}
		}
	case part == "" && w.dialect.reads:
		var out []skillUse
		for _, p := range w.readSkills() {
			out = append(out, skillUse{name: p, file: true})
		}
		return out
	}
	return nil
}

// skillUseOf returns the skill in the input of a tool for skills.
func skillUseOf(input map[string]any) (skillUse, bool) {
	name, ok := text(input, "skill name skill_name skillName command")
	arguments, _ := text(input, "args arguments")
	return skillUse{name: normalizeName(name), arguments: arguments, deep: true}, ok
}

// normalizeName returns the name as agents look it up: without surrounding white space, in any agent's definition, and
// without one leading slash.
func normalizeName(name string) string {
	space := func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }
	return strings.TrimFunc(strings.TrimPrefix(strings.TrimFunc(name, space), "/"), space)
}

// promptedSkills returns the skills that a user's prompt starts.
func (w *handler) promptedSkills() []skillUse {
	t := w.event
	if t.typ.kind == expansion {
		if t.command == "" {
			return nil
		}
		return []skillUse{{name: normalizeName(t.command), arguments: t.arguments, deep: true}}
	}
	if w.dialect.mention == "" {
		return nil
	}
	if !w.dialect.anywhere {
		rest, ok := strings.CutPrefix(strings.TrimSpace(t.prompt), w.dialect.mention)
		if !ok {
			return nil
		}
		name, arguments := rest, ""
		if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 {
			name, arguments = rest[:end], rest[end:]
		}
		if !plausible(name) {
			return nil
		}
		return []skillUse{{name: name, arguments: strings.TrimSpace(arguments)}}
	}
	return mentions(t.prompt, w.dialect.mention)
}

// maxMentions is the maximum number of skills that are looked up for one prompt.
const maxMentions = 16

// mentions returns the names after a sign anywhere in a prompt, each once.
func mentions(prompt, sign string) (out []skillUse) {
	seen := map[string]bool{}
	for rest := prompt; len(out) < maxMentions; {
		_, after, ok := strings.Cut(rest, sign)
		if !ok {
			return out
		}
		end := strings.IndexFunc(after, func(r rune) bool { return !nameRune(r) })
		if end < 0 {
			end = len(after)
		}
		name := strings.TrimRight(after[:end], ":-_")
		rest = after[end:]
		if plausible(name) && !seen[name] {
			seen[name] = true
			out = append(out, skillUse{name: name})
		}
	}
	return out
}

// plausible reports whether a string can be the name of a skill.
func plausible(name string) bool {
	return name != "" && len(name) <= 200 && strings.IndexFunc(name, func(r rune) bool { return !nameRune(r) }) < 0
}

func nameRune(r rune) bool {
	return r == '-' || r == '_' || r == ':' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// Limits of the wildcards in a call's paths: an agent does not wait until the whole file system is searched.
const (
	maxMatches = 64     // files that one path matches
	maxEntries = 20_000 // entries of directories
)

// matches returns the files that a pattern matches, up to the limits. Left is how many entries may still be read.
func matches(pattern string, left *int) []string {
	root := filepath.VolumeName(pattern)
	if rest := pattern[len(root):]; rest != "" && os.IsPathSeparator(rest[0]) {
		root += rest[:1]
	}
	found := []string{root}
	for step := range strings.SplitSeq(pattern[len(root):], string(filepath.Separator)) {
		var next []string
		for _, dir := range found {
			next = append(next, filepath.Join(dir, step)) // a name can have the characters of a pattern
			if !strings.ContainsAny(step, `*?[\`) {
				continue
			}
			for _, name := range entries(dir, left) {
				if ok, err := filepath.Match(step, name); ok && err == nil && name != step {
					next = append(next, filepath.Join(dir, name))
				}
			}
		}
		found = next
	}
	found = slices.DeleteFunc(found, func(p string) bool {
		_, err := os.Lstat(p)
		return err != nil
	})
	return found[:min(len(found), maxMatches)]
}

// entries returns the names in a directory, as far as they may be read.
func entries(dir string, left *int) []string {
	dir = cmp.Or(dir, ".")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || *left <= 0 {
		return nil // opening a pipe would block
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(*left)
	*left -= len(names)
	return names
}

// readSkills returns the paths of the SKILL.md files that a call reads with a file tool or a shell command.
func (w *handler) readSkills() []string {
	return slices.DeleteFunc(w.readFiles(), func(p string) bool {
		return path.Base(strings.ReplaceAll(p, `\`, "/")) != "SKILL.md"
	})
}

// readFiles returns the paths of the existing files that a call reads with a file tool or a shell command. It resolves
// them in the call's working directory, too.
func (w *handler) readFiles() (paths []string) {
	t, left := w.event, maxEntries
	workDir, _ := text(t.input, "workdir cwd working_directory dir_path")
	for _, p := range w.toolCall().Reads() {
		dir := t.path(p)
		if workDir != "" && !filepath.IsAbs(p) {
			dir = filepath.Join(t.path(workDir), p)
		}
		if strings.ContainsAny(p, "*?[") {
			paths = append(paths, matches(dir, &left)...)
			continue
		}
		if _, err := os.Stat(dir); err == nil {
			paths = append(paths, dir)
		}
	}
	return paths
}
