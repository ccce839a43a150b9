package skilltest

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// File is a test file.
type File struct {
	Path string `yaml:"-"` // slash-separated, relative to the skill
	Data []byte `yaml:"-"`

	Profile     string             `yaml:"profile"`     // a profile id; "" for the caller's
	Agent       string             `yaml:"agent"`       // the agent type that skills are selected for
	Tenant      string             `yaml:"tenant"`      // the user
	Environment string             `yaml:"environment"` // the channel
	Commands    map[string]Command `yaml:"commands"`    // for every case
	Files       map[string]string  `yaml:"files"`       // for every case
	Cases       []Case             `yaml:"cases"`
}

// Case is one test case.
type Case struct {
	Name    string `yaml:"name"`
	Profile string `yaml:"profile"`
	Skip    string `yaml:"skip"` // why it is skipped

	// For a case that activates the skill:
	Arguments string   `yaml:"arguments"`
	Trigger   string   `yaml:"trigger"` // model or user; "" for model
	Shell     bool     `yaml:"shell"`   // run commands in the text, if the profile has them
	Body      *string  `yaml:"body"`
	BodyFile  string   `yaml:"body-file"`
	Error     string   `yaml:"error"` // expected part of the activation's error
	Calls     []Call   `yaml:"calls"`
	Contains  []string `yaml:"contains"` // expected text, or output of a script
	Lacks     []string `yaml:"lacks"`

	// For a case that runs a script, or the command of the frontmatter:
	Script     string            `yaml:"script"`
	Command    bool              `yaml:"command"`
	Args       []string          `yaml:"args"`
	Stdin      string            `yaml:"stdin"`
	Env        map[string]string `yaml:"env"`
	Limit      string            `yaml:"limit"` // a duration, as 5s
	Exit       *int              `yaml:"exit"`  // nil for 0
	Stdout     *string           `yaml:"stdout"`
	StdoutFile string            `yaml:"stdout-file"`
	Stderr     *string           `yaml:"stderr"`

	Ran      []string           `yaml:"ran"` // expected mocked commands with their arguments, in order
	Commands map[string]Command `yaml:"commands"`
	Files    map[string]string  `yaml:"files"` // files of the project, by path

	line int
	body *yaml.Node // the scalar of Body, for updates
	key  *yaml.Node // its key
}

// Line returns where the case starts in its file, from 1.
func (c *Case) Line() int { return c.line }

// runs reports whether the case runs a program of the skill.
func (c *Case) runs() bool { return c.Script != "" || c.Command }

// Call is a simulated tool call.
type Call struct {
	Tool    string         `yaml:"tool"`
	Input   map[string]any `yaml:"input"`
	Reply   any            `yaml:"reply"`   // the tool's reply
	Want    string         `yaml:"want"`    // allowed or refused; "" for allowed
	Because string         `yaml:"because"` // expected part of the reason for a denial
}

// Command is a mocked program.
type Command struct {
	Stdout string `yaml:"stdout"`
	Stderr string `yaml:"stderr"`
	Exit   int    `yaml:"exit"`
}

// maxFile limits the size of a test file, and of an expected text, in bytes.
const maxFile = 1 << 20

// maxCases limits the number of cases in a file.
const maxCases = 1000

var format = yamlx.Format{Name: "a test file", NullIsEmpty: true, Aliases: true, LinesOnly: true}

const schemaHint = "add \"cases\" to the file, and print the format with: skillpm schema skill-test"

// Parse parses a test file. Errors have the code Invalid, and start with the path and the line.
func Parse(path string, data []byte) (*File, error) {
	f := &File{Path: path, Data: data}
	r := yamlx.Read(path, data, format)
	root, ok := r.Root()
	if ok && !root.Exists() {
		return nil, invalid(path, 1, "the test file is empty").WithHint(schemaHint)
	}
	if root.Exists() {
		root.Decode(f)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	i := 0
	for item := range root.Get("cases").Items() {
		f.Cases[i].line = item.Line()
		body := item.Get("body")
		f.Cases[i].key, f.Cases[i].body = body.Key().Node, body.Node
		i++
	}
	return f, f.check()
}

func invalid(path string, line int, format string, args ...any) *diag.Error {
	return diag.Errorf(diag.Invalid, "%s:%d: %s", path, max(line, 1), fmt.Sprintf(format, args...))
}

// check finds valid but contradictory content.
func (f *File) check() error {
	switch {
	case len(f.Cases) == 0:
		return invalid(f.Path, 1, "the test file does not contain cases").WithHint(schemaHint)
	case len(f.Cases) > maxCases:
		return invalid(f.Path, 1, "the test file has %d cases; the limit is %d", len(f.Cases), maxCases)
	}
	lines := map[string]int{}
	for i := range f.Cases {
		c := &f.Cases[i]
		if first, twice := lines[c.Name]; twice && c.Name != "" {
			return invalid(f.Path, c.line, "the case name %q is duplicated; it first appears on line %d", c.Name, first)
		}
		lines[c.Name] = c.line
		if problem := c.problem(); problem != "" {
			return invalid(f.Path, c.line, "%s", problem)
		}
	}
	return nil
}

// problem describes a contradiction in a case, or returns "".
func (c *Case) problem() string {
	script := len(c.Args) > 0 || c.Stdin != "" || len(c.Env) > 0 || c.Limit != "" || c.Exit != nil ||
		c.Stdout != nil || c.StdoutFile != "" || c.Stderr != nil
	text := c.Arguments != "" || c.Trigger != "" || c.Shell || c.Body != nil || c.BodyFile != "" || len(c.Calls) > 0
	switch {
	case c.Name == "":
		return "the case does not have a name"
	case c.Script != "" && c.Command:
		return "the case has both script and command: split the case into two"
	case c.runs() && text:
		return "the case has script or command together with fields for an activation, such as body: split the case into two"
	case !c.runs() && script:
		return "the case has fields for a run, such as args or stdout, but neither script nor command"
	case c.Body != nil && c.BodyFile != "":
		return "the case has both body and body-file"
	case c.Stdout != nil && c.StdoutFile != "":
		return "the case has both stdout and stdout-file"
	case isTests(c.BodyFile) || isTests(c.StdoutFile):
		return "the case compares with a test file, which --update would overwrite: use an extension other than .yaml or .yml"
	case c.Error != "" && (c.Body != nil || c.BodyFile != "" || len(c.Calls) > 0 || len(c.Contains) > 0 ||
		len(c.Lacks) > 0):
		return "the case expects both an error and a result"
	case !slices.Contains([]string{"", "model", "user"}, c.Trigger):
		return fmt.Sprintf("unknown trigger %q: use model or user", c.Trigger)
	case slices.Contains(c.Contains, "") || slices.Contains(c.Lacks, ""):
		return "contains or lacks has an empty text"
	}
	if c.Limit != "" {
		if d, err := time.ParseDuration(c.Limit); err != nil || d <= 0 {
			return fmt.Sprintf("the limit %q is not a duration such as 5s", c.Limit)
		}
	}
	for i, call := range c.Calls {
		switch {
		case call.Tool == "":
			return fmt.Sprintf("call %d does not name a tool", i+1)
		case !slices.Contains([]string{"", allowed, refused}, call.Want):
			return fmt.Sprintf("call %d expects %q: use allowed or refused", i+1, call.Want)
		case call.Because != "" && call.Want != refused:
			return fmt.Sprintf("call %d has \"because\", but \"want\" is not \"refused\"", i+1)
		}
	}
	return ""
}

// isTests reports whether a file name in the tests directory is that of a test file, ignoring case.
func isTests(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return (ext == ".yaml" || ext == ".yml") && path.Dir(path.Clean(name)) == "."
}

// Expected results of a call.
const (
	allowed = "allowed"
	refused = "refused"
)
