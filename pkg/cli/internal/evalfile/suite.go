package evalfile

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Suite holds the entries of all evaluation files of a skill, in the order of the files' names.
type Suite struct {
	Tasks   []Task
	Queries []Query
	Notes   []string // content that is not used, each starting with a path and a line
}

// Position is where an entry starts.
type Position struct {
	File string // slash-separated, relative to the skill
	Line int    // from 1
}

// Task is a prompt whose result is graded.
type Task struct {
	Position

	ID       string // unique in the skill
	Prompt   string
	Expected string // what success looks like, in words; "" if the file does not describe it
	Files    []File // files of the project in which the agent starts
	// Fixture is a directory that the project is a copy of, relative to the skill; "" for an empty project.
	Fixture string
	Graders []Grader // the assertions come last, as graders of the type judge
}

// File is a file or directory of the skill that is copied into a project. Both paths are slash-separated.
type File struct {
	Source string // relative to the skill
	Target string // relative to the project
}

// Query is a prompt and whether an agent should activate the skill for it.
type Query struct {
	Position

	ID            string // unique in the skill
	Prompt        string
	ShouldTrigger bool
	Split         string // train or validation; "" if the file does not distinguish them
}

// Grader decides whether the result of a task is right.
type Grader struct {
	Type GraderType `json:"type"`
	// Text is what Exact expects, what FileEquals expects without Expected, or the statement that Judge decides.
	Text     *string  `json:"text,omitempty"`
	Pattern  string   `json:"pattern,omitempty"`  // of Regexp, in the syntax of Go
	File     string   `json:"file,omitempty"`     // in the project; Exact and Regexp check the final message without it
	Expected string   `json:"expected,omitempty"` // of FileEquals: the file with the content, relative to the skill
	Command  []string `json:"command,omitempty"`  // of Command: the program and its arguments
	Exit     int      `json:"exit,omitempty"`     // of Command: the expected exit code
	// Not expects the opposite; not for Command and Judge. Except for FileExists, the file must exist.
	Not bool `json:"not,omitempty"`
}

// GraderType is what a grader checks.
type GraderType string

// The types of graders.
const (
	Exact      GraderType = "exact"       // the final message or a file has exactly this text
	Regexp     GraderType = "regexp"      // the final message or a file matches a pattern
	FileExists GraderType = "file-exists" // the project has a file
	FileEquals GraderType = "file-equals" // a file of the project has this content
	Command    GraderType = "command"     // a command in the project exits with this code
	Judge      GraderType = "judge"       // a model agrees with a statement about the result
)

// graderTypes are the values of [GraderType] in the order of the documentation.
var graderTypes = []string{
	string(Exact), string(Regexp), string(FileExists), string(FileEquals), string(Command), string(Judge),
}

// The values of [Query.Split].
const (
	splitTrain      = "train"
	splitValidation = "validation"
)

func (p Position) errorf(format string, args ...any) *diag.Error {
	return diag.Errorf(diag.Invalid, "%s:%d: %s", p.File, max(p.Line, 1), fmt.Sprintf(format, args...))
}
