package tool

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Written are the files that a call may create, edit, or delete, by any spelling of its paths. It does not have what
// commands write.
type Written struct {
	call  Call
	above []string // the project, the session's first directory, the home directory, and their targets, folded
	texts map[string]bool
	files []writtenFile
}

// writtenFile is a path in a call's input.
type writtenFile struct {
	path    string   // as written, truncated if long
	targets []string // the absolute paths that it may lead to, folded
	unclear string   // why it may lead anywhere
	tree    bool     // the call may move or delete what is below it

	// Another text of the call may be the directory of a relative spelling: up are those that lead above it, and rest are
	// all without that, folded. dirs are the targets as directories of other texts, not folded.
	up, rest, dirs []string
}

// maxShown is the maximum length of a path in a message.
const maxShown = 200

// Written returns the files that a call may change: those of a tool that writes, and of a tool that skillpm does not
// know every text that can be a path.
func (c Call) Written() (w Written) {
	if !c.Spellings.has(Suffix) {
		c.Find = nil
	}
	c.Spellings = 0 // no program needs an unusual spelling of a protected file
	c.work = new(work)
	w.call = c
	if len(c.Input) == 0 || !c.MayWrite() { // the question is about the tool
		return w
	}
	w.texts = map[string]bool{}
	for _, dir := range []string{c.Project, c.First, c.Home} {
		w.above = append(w.above, c.foldedForms(dir)...)
	}
	for _, u := range c.uses() {
		switch {
		case u.row == nil:
			w.addTexts(c.Input)
		case u.row.kind == file && !Writes(u.tool): // a tool that does both only reads
		case u.doubt != "":
			w.files = append(w.files, writtenFile{unclear: u.doubt})
		default:
			for _, v := range u.values {
				w.files = append(w.files, c.written(&u, v))
			}
		}
	}
	w.joinTexts()
	return w
}

// maxJoined is the maximum number of paths that texts of a call have together.
const maxJoined = 20_000

// joinTexts adds where a text that begins with .. leads from the directories that other texts name.
func (w *Written) joinTexts() {
	var dirs []string
	for _, f := range w.files {
		dirs = append(dirs, f.dirs...)
	}
	above := [][]string{dirs} // by the number of steps
	joined := 0
	for i := range w.files {
		f := &w.files[i]
		for _, p := range f.up {
			steps, rest := 0, p
			for step, after, _ := strings.Cut(rest, "/"); step == ".."; step, after, _ = strings.Cut(rest, "/") {
				steps, rest = steps+1, after
			}
			for ; len(above) <= steps && joined <= maxJoined; joined += len(above[len(above)-1]) {
				above = append(above, parents(above[len(above)-1]))
			}
			if joined += len(above[min(steps, len(above)-1)]); joined > maxJoined {
				f.unclear = "the call has too many paths"
				return
			}
			for _, dir := range above[steps] {
				target := path.Join(dir, rest)
				f.follow(w.call, location{target, target})
			}
		}
	}
}

// parents returns the directories of paths.
func parents(paths []string) []string {
	var dirs []string
	for _, p := range paths {
		dirs = append(dirs, path.Dir(p))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// written returns what a path of a tool that writes may lead to.
func (c Call) written(u *use, p string) writtenFile {
	f := writtenFile{path: textx.Truncate(p, maxShown), tree: u.tool == "Delete"}
	spellings, ok := c.spell(p, 0)
	if !ok {
		f.unclear = "it can be read in too many ways"
		return f
	}
	for _, s := range spellings {
		l, refused := c.locate(s)
		switch {
		case refused != "" && (s == p || refused == processPath):
			f.unclear = "it " + refused
			return f
		case refused != "": // a spelling that is not a path
			continue
		}
		if !f.follow(c, l) {
			f.unclear = "skillpm cannot find out where it leads"
		}
	}
	for _, l := range c.searchedFor(u, spellings) {
		if f.lead(l.cleaned); l.cleaned == "/" {
			f.unclear = "it does not exist, and the project is too large to search for it"
		}
	}
	return f
}

// addTexts adds the texts in the input of an unknown tool, and the names of its fields, until one may lead anywhere.
// Relative paths may be relative to the working directory, the session's first directory, the project, or the home
// directory.
func (w *Written) addTexts(v any) {
	switch v := v.(type) {
	case string:
		w.addText(v)
		for _, inner := range textsOfJSON(v) {
			w.addTexts(inner)
		}
	case []string:
		for _, item := range v {
			w.addTexts(item)
		}
	case []any:
		for _, item := range v {
			w.addTexts(item)
		}
	case map[string]any:
		for name, item := range v {
			w.addText(name)
			w.addTexts(item)
		}
	}
}

// textsOfJSON returns the texts in JSON objects and lists: some tools take arguments as JSON in a text. Parsers differ
// in what else they accept, such as NaN, comments, single quotes, broken lines, several documents, a key twice, or JSON
// that was escaped once more. If it is not JSON, which quotes begin a text is unknown, because a comment can have one:
// what is between two texts counts, too.
func textsOfJSON(text string) (texts []string) {
	text = strings.TrimFunc(text, isBlank)
	if text == "" || !strings.Contains("{[", text[:1]) {
		return nil
	}
	parts := betweenQuotes(text, '"')
	if json.Valid([]byte(text)) {
		for i := 0; i < len(parts); i += 2 {
			texts = append(texts, parts[i])
		}
	} else {
		texts = append(parts, betweenQuotes(text, '\'')...)
		if before, _, _ := strings.Cut(text, `"`); strings.HasSuffix(before, `\`) {
			texts = append(texts, betweenQuotes(strings.ReplaceAll(text, `\"`, `"`), '"')...)
		}
	}
	joinLines := strings.NewReplacer("\\\r\n", "", "\\\n", "")
	for i, quoted := range texts {
		quoted = joinLines.Replace(quoted)
		if json.Unmarshal([]byte(`"`+quoted+`"`), &texts[i]) != nil {
			texts[i] = quoted
		}
	}
	return texts
}

// betweenQuotes returns what follows each quote, up to the next one or the end. An escaped quote is none.
func betweenQuotes(text string, quote byte) (parts []string) {
	begin := -1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			if begin >= 0 {
				parts = append(parts, text[begin:i])
			}
			begin = i + 1
		}
	}
	if begin >= 0 {
		parts = append(parts, text[begin:])
	}
	return parts
}

func (w *Written) addText(text string) {
	if n := len(w.files); w.texts[text] || n > 0 && w.files[n-1].unclear != "" {
		return // the call is denied, whatever the rest is
	}
	w.texts[text] = true
	around := func(r rune) bool { return isBlank(r) || strings.ContainsRune("\"'`<>", r) }
	isContent := func(text string) bool {
		trimmed := strings.TrimFunc(text, around)
		return trimmed == "" || strings.ContainsAny(trimmed, "\n\r")
	}
	if path, _, _ := strings.Cut(text, "\x00"); isContent(text) && isContent(path) { // NUL ends a path
		return
	}
	f := writtenFile{path: textx.Truncate(text, maxShown), tree: true}
	document := len(textsOfJSON(text)) > 0 && json.Valid([]byte(text)) // not a directory
	spellings, _ := w.call.spell(text, 0)
	for _, s := range spellings {
		if !strings.HasPrefix(s, "/") && !drive(s) {
			if p := path.Clean(strings.ReplaceAll(s, `\`, "/")); len(p) <= maxPath {
				f.rest = append(f.rest, folded(path.Clean("/" + p)[1:]))
				if pathx.Escapes(p) {
					f.up = append(f.up, p)
				}
			}
		}
		for _, base := range slices.Compact([]string{w.call.base(), w.call.First, w.call.Project, w.call.Home}) {
			c := w.call
			if c.Dir = base; base == "" {
				continue
			}
			l, refused := c.locate(s)
			if refused == processPath {
				f.unclear = "it " + refused
			}
			if refused != "" {
				continue
			}
			f.follow(c, l)
			if !document {
				f.dirs = append(append(f.dirs, l.cleaned), c.resolvedPaths(l)...)
			}
			if strings.HasPrefix(s, "/") || drive(s) {
				break
			}
		}
	}
	if spellings == nil {
		f.unclear = "it can be read in too many ways"
	}
	w.files = append(w.files, f)
}

// Below returns the first path at or below one of the directories, and that directory; "" for none. A tool that may
// move or delete a directory must not do so with one above them, but for the project, the session's first directory,
// the home directory, and those above.
func (w Written) Below(dirs []string) (path, dir string) {
	for _, d := range dirs {
		forms := w.call.foldedForms(d)
		parts := w.parts(forms)
		for _, f := range w.files {
			for _, p := range f.rest {
				if slices.ContainsFunc(parts, func(part string) bool { return below(p, part) }) {
					return f.path, d
				}
			}
			for _, target := range f.targets {
				for _, form := range forms {
					if below(target, form) || f.tree && below(form, target) && !w.aboveAll(target) {
						return f.path, d
					}
				}
			}
		}
	}
	return "", ""
}

// parts returns paths relative to the project, the session's first directory, the home directory, and all above. A call
// may name such a directory in another text.
func (w Written) parts(paths []string) (parts []string) {
	for _, dir := range w.above {
		for last := ""; dir != last; dir = path.Dir(last) {
			last = dir
			for _, p := range paths {
				if part, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/"); ok && !slices.Contains(parts, part) {
					parts = append(parts, part)
				}
			}
		}
	}
	return parts
}

// aboveAll reports whether a folded path is one that a call may name as a whole.
func (w Written) aboveAll(target string) bool {
	return slices.ContainsFunc(w.above, func(dir string) bool { return below(dir, target) })
}

// foldedForms returns a directory, and its target if links are resolved; nothing for "".
func (c Call) foldedForms(dir string) []string {
	switch {
	case dir == "":
		return nil
	case c.Real == nil:
		return []string{folded(slash(dir))}
	}
	return []string{folded(slash(dir)), folded(c.real(slash(dir)))}
}

// lead adds a path to which a file may lead. It folds it once, because a call may have thousands of paths.
func (f *writtenFile) lead(target string) {
	if target = folded(target); target != "" && !slices.Contains(f.targets[max(0, len(f.targets)-2):], target) {
		f.targets = append(f.targets, target)
	}
}

// follow adds where a location leads, by its links and by other paths of the same file. It returns false if that is
// unknown.
func (f *writtenFile) follow(c Call, l location) (known bool) {
	f.lead(l.cleaned)
	known = true
	for _, target := range c.resolvedPaths(l) {
		if ofProcess(target) {
			f.unclear = "it " + processPath
		}
		known = known && target != "" && !ofProcess(target)
		f.lead(target)
		if c.Aliases != nil && target != "" {
			for _, alias := range c.Aliases(target) {
				f.lead(slash(alias))
			}
		}
	}
	return known
}

// Unclear returns the first path that may lead anywhere, and why; "" for none.
func (w Written) Unclear() (path, reason string) {
	for _, f := range w.files {
		if f.unclear != "" {
			return f.path, f.unclear
		}
	}
	return "", ""
}

// below reports whether a path is at or below a directory. Both are folded.
func below(path, dir string) bool {
	return dir != "" && path != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}

// folded returns what all spellings of a name have in common on file systems that ignore case, Unicode forms, and
// invisible characters.
func folded(p string) string {
	ascii := true
	for i := range len(p) {
		ascii = ascii && p[i] < 0x80
	}
	if ascii {
		return strings.ToLower(p)
	}
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(without(p, isFormat))))
}
