package prompt

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// The kinds of results.
const (
	Activated = "activated" // the skill's instructions are returned
	Spawned   = "spawned"   // a task has them
	Failed    = "failed"
	Unknown   = "unknown" // there is no such skill
	Read      = "file"    // a file of the skill is returned
)

// Result is what comes of asking for a skill, or for one of its files.
type Result struct {
	Kind string // Activated, Spawned, Failed, Unknown or Read

	Name, Dir, Description string

	Body   string // with its arguments; the file's text for Read
	Source string // the whole SKILL.md, likewise
	Path   string // of the file, for Read; relative to Dir, with forward slashes
	Files  []File

	TaskID    string   // for Spawned
	Err       error    // for Failed and Unknown
	Available []string // the names there are, for Unknown

	Started  time.Time
	Duration time.Duration
}

// File is a file of a skill that its model may ask for.
type File struct {
	Path        string `json:"path"`
	Description string `json:"description"`
}

// form returns how a profile writes results of this kind.
func form(p *profile.Profile, kind string) *profile.Form {
	switch kind {
	case Spawned:
		return &p.Activation.Spawned
	case Unknown:
		if u := &p.Activation.Unknown; u.Text != "" || !u.JSON.IsZero() {
			return u
		}
		return &p.Activation.Failed
	case Failed:
		return &p.Activation.Failed
	case Read:
		return &p.Activation.File
	default:
		return &p.Activation.Activated
	}
}

// Text returns a result as the model sees it. Bodies and files are in it as they are.
func Text(p *profile.Profile, r Result) string {
	f := form(p, r.Kind)
	return fill(p, f, f.Text, r)
}

// Message returns what is sent to the model when a user asks for a skill.
func Message(p *profile.Profile, r Result) string {
	if p.Trigger.Message == "" || r.Kind != Activated && r.Kind != "" {
		return Text(p, r)
	}
	return fill(p, form(p, r.Kind), p.Trigger.Message, r)
}

// Notice returns what is shown to people while a skill loads, "" for nothing.
func Notice(p *profile.Profile, r Result) string {
	return fill(p, &profile.Form{}, p.Activation.Notice, r)
}

// fill fills a template of a result in. One that cannot be read, which a profile that was read has not, is taken as it
// is.
func fill(p *profile.Profile, f *profile.Form, text string, r Result) string {
	t, err := template(text)
	if err != nil {
		return text
	}
	return expand(t, f.Escape, r.values(p, f))
}

// body returns the instructions without the empty lines before them, or a file as it is.
func (r *Result) body() string {
	text := r.Body
	for r.Kind != Read {
		first, rest, more := strings.Cut(text, "\n")
		if !more || strings.TrimSpace(first) != "" {
			break
		}
		text = rest
	}
	return text
}

// values are those of a result, as text.
func (r *Result) values(p *profile.Profile, f *profile.Form) values {
	return func(name string) (string, bool) {
		switch name {
		case "name":
			return line(r.Name), false
		case "directory":
			return path(r.Dir), false
		case "description":
			return line(r.Description), false
		case "body":
			return r.body(), true
		case "source":
			return r.Source, true
		case "path":
			return path(r.Path), false
		case "paths":
			return strings.Join(r.paths(), ", "), false
		case "files":
			return files(p, f.Files, r.Files), true
		case "task":
			return line(r.TaskID), false
		case "error":
			return line(r.message()), false
		case "hint":
			return line(diag.HintOf(r.Err)), false
		case "available":
			return line(strings.Join(r.Available, ", ")), false
		case "timestamp":
			return r.timestamp(), false
		case "duration_ms":
			return strconv.FormatInt(r.Duration.Milliseconds(), 10), false
		case "seconds":
			return r.seconds(), false
		default:
			return frame(p, 0)(name)
		}
	}
}

func (r *Result) message() string {
	if r.Err == nil {
		return ""
	}
	return r.Err.Error()
}

func (r *Result) timestamp() string { return r.Started.UTC().Format(time.RFC3339) }

// seconds returns how long it took, to a tenth.
func (r *Result) seconds() string {
	return strconv.FormatFloat(math.Round(r.Duration.Seconds()*10)/10, 'f', -1, 64)
}

func (r *Result) paths() []string {
	out := []string{}
	for _, f := range r.Files {
		out = append(out, f.Path)
	}
	return out
}

// files writes the list of a skill's files, as many as the layout allows.
func files(p *profile.Profile, source profile.Layout, all []File) string {
	l, err := compile(source)
	if err != nil || len(all) == 0 {
		return ""
	}
	files := all
	if l.Most > 0 && len(all) > l.Most {
		files = all[:l.Most]
	}
	lines := make([]string, 0, len(files)+1)
	for _, f := range files {
		lines = append(lines, expand(l.entry, l.Escape, func(name string) (string, bool) {
			if name == "path" {
				return path(f.Path), false
			}
			return line(f.Description), false
		}))
	}
	if more := len(all) - len(files); more > 0 {
		lines = append(lines, expand(l.more, l.Escape, frame(p, more)))
	}
	around := frame(p, len(all))
	return expand(l.heading, l.Escape, around) + strings.Join(lines, l.Separator) + expand(l.closing, l.Escape, around)
}
