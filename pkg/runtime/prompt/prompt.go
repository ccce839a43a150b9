// Package prompt writes what a model sees of skills: the list of available skills, the results of loading a skill and
// reading its files, and the message that replaces a user's /name. It performs no I/O.
//
// Profiles define the forms as data. A listing, including its heading and closing, has at most as many characters as
// its limit. A listing that is not complete says so, and how to find the rest. Names and descriptions are untrusted: each is put on one line, without characters that control a terminal
// or hide text, and cannot end its section. Bodies are passed on unchanged.
//
// Start reading at [List] and [Text]. This package may change at any time.
package prompt

// Entry is a skill to list.
type Entry struct {
	Name, Description, WhenToUse string

	Dir      string // directory of the skill
	Location string // path of its SKILL.md
	Layer    string
	Pack     string // "" for a local skill
	Rank     int    // index of the layer, 0 for the highest precedence
	Used     int    // how often the skill was used recently
	Project  bool   // the skill belongs to the project
	Tags     []string
}

// Options are the length and the form of a listing.
type Options struct {
	Budget        int    // in characters; 0 for the profile's
	Most          int    // in characters, of what the agent reads; 0 if it reads everything
	ContextWindow int    // of the model, in tokens; 0 if unknown
	Format        string // "" for the profile's own, or one of [Formats]
	Compact       bool   // list only the number of skills and their tags, in less than 1 KB
}

// Listing is a list of skills for a model.
type Listing struct {
	Text      string
	Names     []string // listed skills, in order
	Left      []string // skills that did not fit
	Shortened []string // skills whose description was cut or removed
	Limit     int      // in characters or bytes, 0 for none
	Over      bool     // the names alone exceed the limit, and every name is kept
}
