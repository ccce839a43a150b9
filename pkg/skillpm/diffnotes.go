package skillpm

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
)

// DiffNote is a change that needs attention.
type DiffNote struct {
	Kind string `json:"kind"` // one of the Note constants
	Path string `json:"path,omitempty"`
	Text string `json:"text"` // a clause such as "changed script"
}

// What a note can be about.
const (
	NoteSkill       = "skill"       // a skill is new or removed
	NoteFront       = "front"       // frontmatter that needs a close look
	NoteHidden      = "hidden"      // a text that the diff does not show
	NoteScript      = "script"      // a script changes
	NoteExecutable  = "executable"  // a file that is not known as a script becomes executable
	NoteURL         = "url"         // a URL that no file of the pack had before
	NoteRequirement = "requirement" // a requirement is new, or changes
)

// shown is a change of a file that the capabilities of a pack already show: of a kind of notes, and for a URL of a host.
type shown struct{ kind, path, host string }

// notes returns the changes between two versions of a pack that need attention, besides those that its capabilities
// show.
func notes(ctx context.Context, before, after []textdiff.File, known map[shown]bool) ([]DiffNote, error) {
	n := noteTaker{previous: map[string]textdiff.File{}, urls: addresses{}, shown: known, notes: []DiffNote{}}
	for _, f := range before {
		n.previous[f.Path] = f
		data, err := read(ctx, f)
		if err != nil {
			return nil, err
		}
		n.urls.add(data)
	}
	for _, f := range after {
		var err error
		if f.Data, err = read(ctx, f); err != nil {
			return nil, err
		}
		was, had := n.previous[f.Path]
		if was.Data, err = read(ctx, was); err != nil {
			return nil, err
		}
		delete(n.previous, f.Path)
		if !had || !bytes.Equal(was.Data, f.Data) || was.Executable != f.Executable {
			n.file(was, f, had)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(n.previous)) {
		if isSkill(path) {
			n.add(NoteSkill, path, "removed skill")
		}
	}
	return n.notes, nil
}

// read returns the content of a file, unless ctx has ended.
func read(ctx context.Context, f textdiff.File) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return f.Bytes()
}

func isSkill(name string) bool { return path.Base(name) == skill.File }

// noteTaker collects notes.
type noteTaker struct {
	previous map[string]textdiff.File // files that are not compared yet
	urls     addresses
	shown    map[shown]bool
	notes    []DiffNote
}

func (n *noteTaker) add(kind, path, text string) {
	n.notes = append(n.notes, DiffNote{Kind: kind, Path: path, Text: text})
}

// file adds notes about a new or changed file.
func (n *noteTaker) file(was, f textdiff.File, had bool) {
	if isSkill(f.Path) {
		if !had {
			n.add(NoteSkill, f.Path, "new skill")
		}
		n.front(f)
	}
	if had && isScript(f) && !bytes.Equal(was.Data, f.Data) {
		n.add(NoteScript, f.Path, "changed script")
	}
	if f.Executable && !was.Executable && !n.shown[shown{NoteExecutable, f.Path, ""}] {
		n.add(NoteExecutable, f.Path, "becomes executable")
	}
	if had && len(was.Data) > 0 && textdiff.Binary(f.Data) && !textdiff.Binary(was.Data) && !isText(f.Path) {
		n.add(NoteHidden, f.Path, "becomes binary; skillpm does not show its content")
	}
	found, all := n.urls.add(f.Data)
	for _, address := range found {
		if u, err := url.Parse(address); err == nil && n.shown[shown{NoteURL, f.Path, strings.ToLower(u.Hostname())}] {
			continue
		}
		n.add(NoteURL, f.Path, "new URL "+address)
	}
	if !all {
		n.add(NoteURL, f.Path, fmt.Sprintf("has more than %d URLs; skillpm checked only the first %[1]d", maxURLs))
	}
}

// front adds notes about frontmatter.
func (n *noteTaker) front(f textdiff.File) {
	now, problems := skill.Parse(f.Data)
	for _, p := range problems {
		if p.Kind != skill.ByteOrderMark {
			n.add(NoteFront, f.Path, fmt.Sprintf(
				"agents may read the frontmatter in different ways: line %d: %s", p.Line, p.Message))
			break
		}
	}
	if hasIndirection(now.Front) {
		n.add(NoteFront, f.Path, "the frontmatter uses YAML anchors, aliases, or merge keys; review the frontmatter")
	}
}

// hasIndirection reports whether YAML has anchors, aliases or merge keys.
func hasIndirection(n *yaml.Node) bool {
	return n != nil && (n.Kind == yaml.AliasNode || n.Anchor != "" || n.ShortTag() == "!!merge" ||
		slices.ContainsFunc(n.Content, hasIndirection))
}

// hiddenNotes returns notes about text files that the diff does not show.
func hiddenNotes(d textdiff.Diff) []DiffNote {
	var list []DiffNote
	for _, c := range d {
		switch {
		case c.Status == textdiff.Removed || !isText(c.Path):
		case c.Binary:
			list = append(list, DiffNote{
				Kind: NoteHidden, Path: c.Path, Text: "is binary despite its name; skillpm does not show its content",
			})
		case c.Large:
			list = append(list, DiffNote{
				Kind: NoteHidden, Path: c.Path, Text: "is too large to compare; skillpm does not show its content",
			})
		}
	}
	return list
}

// requirementNotes returns notes about changed requirements.
func requirementNotes(before, after *pack.LockedPack) []DiffNote {
	if after == nil {
		return nil
	}
	var list []DiffNote
	for _, id := range slices.Sorted(maps.Keys(after.Dependencies)) {
		was := ""
		if before != nil {
			was = before.Dependencies[id]
		}
		if now := after.Dependencies[id]; now != was {
			list = append(list, DiffNote{
				Kind: NoteRequirement,
				Text: "requires " + id + " " + now + " (before: " + cmp.Or(was, "not required") + ")",
			})
		}
	}
	return list
}

// scriptNames are the file name extensions of programs.
var scriptNames = []string{
	".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".ps1", ".psm1",
	".bat", ".cmd", ".exe",
}

// isScript reports whether a file is a program.
func isScript(f textdiff.File) bool {
	return f.Executable || bytes.HasPrefix(f.Data, []byte("#!")) ||
		slices.Contains(scriptNames, strings.ToLower(path.Ext(f.Path)))
}

// textNames are the file name extensions of texts that agents read.
var textNames = []string{
	".md", ".mdx", ".markdown", ".txt", ".rst", ".json", ".yaml", ".yml", ".toml", ".xml", ".html",
	".csv",
}

// isText reports whether a file name has the extension of a text.
func isText(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext != ".exe" && (slices.Contains(textNames, ext) || slices.Contains(scriptNames, ext))
}

var urlText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?i)\\b(?:https?|ftp|wss?|ssh|git)://[^\\s\\x00<>\"'`(){}\\[\\]|\\\\^]+")
})

// Limits of the notes about addresses.
const (
	maxURLs = 1000 // of one file
	maxURL  = 2000 // bytes of one that is told
)

// addresses is a set of URLs, by the first half of their SHA-256.
type addresses map[[sha256.Size / 2]byte]bool

// add adds the URLs of a file, without punctuation at their end, and returns the new ones, sorted. It reports whether
// the file has no more of them than its limit.
func (a addresses) add(data []byte) (list []string, all bool) {
	found := urlText().FindAll(data, maxURLs+1)
	for _, text := range found[:min(len(found), maxURLs)] {
		text = bytes.TrimRight(text, ".,;:!?*_")
		sum := sha256.Sum256(text)
		key := [sha256.Size / 2]byte(sum[:])
		if !a[key] {
			a[key] = true
			list = append(list, strings.ToValidUTF8(string(text[:min(len(text), maxURL)]), "\uFFFD"))
		}
	}
	slices.Sort(list)
	return list, len(found) <= maxURLs
}
