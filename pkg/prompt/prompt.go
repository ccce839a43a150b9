// Package prompt writes what a model sees of skills: the listing of those there are (stage 1), what asking for one
// returns (stages 2 and 3), and what a user's /name becomes.
//
// The forms are data of a profile. A listing keeps its limit: heading, entries and closing together are no more
// characters than it allows. Names and descriptions come from strangers: each is put on one line, without characters
// that steer a terminal or hide text, and cannot end the section that it stands in. Bodies are handed over as they are.
package prompt

import (
	"time"

	"github.com/skillpm/skillpm/pkg/profile"
)

// Entry is a skill as a listing knows it.
type Entry struct {
	Name, Description, WhenToUse string

	Dir      string // of the skill
	Location string // of its SKILL.md
	Layer    string
	Pack     string // "" for a skill that was not installed
	Rank     int    // of the layer, 0 for the strongest
	Tags     []string
}

// Options say how much is listed, and in which form.
type Options struct {
	Budget        int    // in characters; 0 for what the profile allows
	ContextWindow int    // in tokens; 0 where it is not known
	Format        string // "" for the profile's own, else one of [Formats]
	Compact       bool   // how many there are and their tags, in less than 1 KB
}

// Listing is what a model is told about the skills there are.
type Listing struct {
	Text      string
	Names     []string // of those listed, in order
	Left      []string // of those left out for want of space
	Shortened []string // of those whose description is cut or left out
	Limit     int      // in characters, 0 where there is none
	Over      bool     // that the names alone are more, where every name is kept
}

// The kinds of results.
const (
	Activated = "activated" // the skill's instructions are returned
	Spawned   = "spawned"   // a task has them
	Failed    = "failed"
	Read      = "file" // a file of the skill is returned
)

// Result is what comes of asking for a skill, or for one of its files.
type Result struct {
	Kind string // Activated, Spawned, Failed or Read

	Name, Dir, Description string

	Body   string // with its arguments; the file's text for Read
	Source string // the whole SKILL.md, likewise
	Path   string // of the file, for Read; relative to Dir, with forward slashes
	Files  []File

	TaskID    string   // for Spawned
	Err       error    // for Failed
	Available []string // the names there are, for Failed

	Started  time.Time
	Duration time.Duration
}

// File is a file of a skill that its model may ask for.
type File struct{ Path, Description string }

// List returns what the model is told about the skills.
func List(p *profile.Profile, entries []Entry, o Options) (Listing, error) {
	return Listing{}, nil
}

// Navigation returns what any model needs to know to find its way in a skill.
func Navigation() string { return "" }

// ToolCalling returns what any model needs to know to call tools.
func ToolCalling() string { return "" }

// Text returns a result as the model sees it.
func Text(p *profile.Profile, r Result) string { return r.Body }

// JSON returns a result as the host's structured data.
func JSON(p *profile.Profile, r Result) ([]byte, error) { return nil, nil }

// Message returns what is sent to the model when a user asks for a skill.
func Message(p *profile.Profile, r Result) string { return r.Body }

// Notice returns what is shown to people while a skill loads, "" for nothing.
func Notice(p *profile.Profile, r Result) string { return "" }
