// Package prompt writes what a model sees of skills: the listing of those there are (stage 1), what asking for one
// returns (stages 2 and 3), and what a user's /name becomes.
//
// The forms are data of a profile. A listing keeps its limit: heading, entries and closing together are no more
// characters than it allows. Names and descriptions come from strangers: each is put on one line, without characters
// that steer a terminal or hide text, and cannot end the section that it stands in. Bodies are handed over as they are.
//
// Start reading at [List] and [Text]. This package may change at any time.
package prompt

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
