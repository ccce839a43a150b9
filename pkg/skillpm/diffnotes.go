package skillpm

import (
	"bytes"
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/textdiff"
)

// DiffNote is a change that should not be overlooked among others.
type DiffNote struct {
	Kind string `json:"kind"` // one of the Note constants
	Path string `json:"path,omitempty"`
	Text string `json:"text"` // a clause, as "allowed-tools: Read → Bash"
}

// What a note can be about.
const (
	NoteSkill       = "skill"       // a skill comes or goes
	NoteTools       = "tools"       // what a skill may do without asking changes
	NoteHooks       = "hooks"       // commands that a host runs by itself change
	NoteScript      = "script"      // a script comes, or changes
	NoteExecutable  = "executable"  // a file becomes executable
	NoteURL         = "url"         // an address that was in none of the pack's files before
	NoteRequirement = "requirement" // another pack is required, or another range of it
)

// frontNotes are the fields of the frontmatter whose change is noted.
var frontNotes = []struct{ key, kind string }{{"allowed-tools", NoteTools}, {"hooks", NoteHooks}}

// notes returns what stands out between two versions of a pack's files.
func notes(before, after []textdiff.File) []DiffNote {
	old := map[string]textdiff.File{}
	for _, f := range before {
		old[f.Path] = f
	}
	var list []DiffNote
	add := func(kind, path, text string) { list = append(list, DiffNote{Kind: kind, Path: path, Text: text}) }
	known := urls(before)
	now := map[string]bool{}
	for _, f := range after {
		now[f.Path] = true
		was, had := old[f.Path]
		if path.Base(f.Path) == skill.File && had && bytes.Equal(was.Data, f.Data) && was.Executable == f.Executable {
			continue
		}
		if path.Base(f.Path) == skill.File {
			if !had {
				add(NoteSkill, f.Path, "new skill")
			}
			for _, n := range frontNotes {
				if a, b := frontText(was.Data, n.key), frontText(f.Data, n.key); a != b {
					add(n.kind, f.Path, n.key+": "+cmp.Or(a, "none")+" → "+cmp.Or(b, "none"))
				}
			}
		}
		switch {
		case !had && isScript(f):
			add(NoteScript, f.Path, "new script")
		case had && isScript(f) && !bytes.Equal(was.Data, f.Data):
			add(NoteScript, f.Path, "the script changes")
		}
		switch {
		case had && f.Executable && !was.Executable:
			add(NoteExecutable, f.Path, "becomes executable")
		}
		for _, url := range slices.Sorted(maps.Keys(urls([]textdiff.File{f}))) {
			if !known[url] {
				known[url] = true
				add(NoteURL, f.Path, "new address "+url)
			}
		}
	}
	for _, f := range before {
		if path.Base(f.Path) == skill.File && !now[f.Path] {
			add(NoteSkill, f.Path, "the skill goes")
		}
	}
	return list
}

// requirementNotes returns what a version requires that the one before did not.
func requirementNotes(before, after *project.LockedPack) []DiffNote {
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
			list = append(list, DiffNote{Kind: NoteRequirement, Text: "requires " + id + " " + now + " (before: " + cmp.Or(was, "not at all") + ")"})
		}
	}
	return list
}

// frontText returns a field of a SKILL.md's frontmatter on one line, "" if it is not there.
func frontText(data []byte, key string) string {
	doc, _ := skill.Parse(data)
	_, v := doc.Lookup(key)
	if v == nil {
		return ""
	}
	if v.Kind == yaml.SequenceNode {
		var items []string
		for _, item := range v.Content {
			items = append(items, skill.ScalarText(item))
		}
		return strings.Join(items, ", ")
	}
	if v.Kind == yaml.ScalarNode {
		return skill.ScalarText(v)
	}
	flow := *v
	flow.Style = yaml.FlowStyle
	text, err := yaml.Marshal(&flow)
	if err != nil {
		return "(not readable)"
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// scriptNames are the ends of names of files that are run.
var scriptNames = []string{
	".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".ps1", ".psm1", ".bat", ".cmd", ".exe",
}

// isScript reports whether a file is there to be run.
func isScript(f textdiff.File) bool {
	return f.Executable || bytes.HasPrefix(f.Data, []byte("#!")) || slices.Contains(scriptNames, strings.ToLower(path.Ext(f.Path)))
}

var urlText = regexp.MustCompile("(?i)\\b(?:https?|ftp|wss?|ssh|git)://[^\\s<>\"'`(){}\\[\\]|\\\\^]+")

// maxURLs is how many addresses of one file are looked at.
const maxURLs = 1000

// urls returns the addresses in files, without what ends a sentence.
func urls(files []textdiff.File) map[string]bool {
	found := map[string]bool{}
	for _, f := range files {
		if bytes.IndexByte(f.Data, 0) >= 0 {
			continue
		}
		for _, url := range urlText.FindAll(f.Data, maxURLs) {
			found[strings.TrimRight(string(url), ".,;:!?*_")] = true
		}
	}
	return found
}
