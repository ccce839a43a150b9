package prompt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// The values of [Result].Kind.
const (
	Activated = "activated" // the skill's instructions are returned
	Spawned   = "spawned"   // a task runs the skill
	Failed    = "failed"
	Unknown   = "unknown" // no skill has the name
	Read      = "file"    // a file of the skill is returned
)

// Result is the outcome of loading a skill or reading one of its files.
type Result struct {
	Kind string // Activated, Spawned, Failed, Unknown or Read

	Name, Dir, Description string

	Body   string // instructions with arguments inserted, or the file for Read
	Source string // SKILL.md with that body
	Path   string // for Read: path of the file relative to Dir, with slashes
	Files  []File

	Model        string   // model that the skill asks for, "" for none
	AllowedTools []string // of its frontmatter
	Toolsets     []string // that the skill needs

	Repeated    bool   // the skill was already active; its instructions are returned again
	Restriction string // what is allowed while the skill is active, and how it ends; a sentence, "" for nothing

	Ask       string   // for Spawned: how the model asks for the task's result, such as "call X"; "" if it cannot
	TaskID    string   // for Spawned
	Err       error    // for Failed and Unknown
	Available []string // for Unknown: names of the available skills

	Started  time.Time
	Duration time.Duration
}

// File is a file of a skill that the model may read.
type File struct {
	Path        string `json:"path"`
	Description string `json:"description"`
}

// form returns the form of a profile for results of a kind.
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

// Text returns the text of a result for the model. It contains bodies and files unchanged.
func Text(p *profile.Profile, r Result) string {
	f := form(p, r.Kind)
	return r.notes(fill(p, f, f.Text, r))
}

// notes adds to a text what every profile's model is told about an activation.
func (r *Result) notes(text string) string {
	if r.Repeated {
		text = fmt.Sprintf("Skill %q is already active. These are its instructions again.\n\n%s", line(r.Name), text)
	}
	if r.Restriction != "" {
		text = strings.TrimRight(text, "\n") + "\n\n" + line(r.Restriction) + "\n"
	}
	return text
}

// Message returns the text for the model after a user started a skill.
func Message(p *profile.Profile, r Result) string {
	if p.Trigger.Message == "" || r.Kind != Activated && r.Kind != "" {
		return Text(p, r)
	}
	return r.notes(fill(p, form(p, r.Kind), p.Trigger.Message, r))
}

// Notice returns the text for the user while a skill loads, "" for none.
func Notice(p *profile.Profile, r Result) string {
	return fill(p, &profile.Form{}, p.Activation.Notice, r)
}

// fill expands a template. It returns an invalid template unchanged; profiles from files have only valid ones.
func fill(p *profile.Profile, f *profile.Form, text string, r Result) string {
	t, err := template(text)
	if err != nil {
		return text
	}
	return expand(t, f.Escape, r.values(p, f))
}

// body returns the instructions without leading empty lines, or a file unchanged.
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

// values returns the placeholder values of a result.
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
		case "toolsets":
			return line(strings.Join(r.Toolsets, ", ")), false
		case "task":
			return line(r.TaskID), false
		case "error":
			return line(r.message()), false
		case "hint":
			return line(diag.ModelHintOf(r.Err)), false
		case "available":
			return line(strings.Join(r.Available, ", ")), false
		case "model":
			return line(r.Model), false
		case "allowed_tools":
			return line(strings.Join(r.AllowedTools, ", ")), false
		case "ask":
			return line(r.Ask), false
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

// seconds returns the duration in seconds, with one decimal.
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

// files lists a skill's files, up to the layout's maximum.
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
