// Package match finds the skills that fit a task.
package match

// Doc is what a catalogue says of a skill before it is loaded.
type Doc struct {
	Name        string
	Description string
	WhenToUse   string
	Tags        []string
}

// Hit is a skill that fits.
type Hit struct {
	Name  string
	Score float64  // from 0 to 1
	Why   []string // in words
}

// Options say what is asked for.
type Options struct {
	Limit     int     // of hits, 0 for all
	Threshold float64 // the least score
}

// Find returns the skills that fit a task, the best first.
func Find(string, []Doc, Options) []Hit { return nil }
