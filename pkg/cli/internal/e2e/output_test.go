package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli"
	"github.com/skillpm/skillpm/pkg/cli/internal/outputschema"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/schema"
)

// Every command that a story runs with --json must print one document that its schema describes.

// outputSchemas caches compiled schemas by name.
var outputSchemas sync.Map

func outputSchema(name string) (*jsonschema.Schema, error) {
	if s, ok := outputSchemas.Load(name); ok {
		return s.(*jsonschema.Schema), nil
	}
	text, err := schema.Read("output/" + name)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	address := schema.Base + "output/" + name + ".schema.json"
	if err := c.AddResource(address, bytes.NewReader(text)); err != nil {
		return nil, err
	}
	s, err := c.Compile(address)
	if err == nil {
		outputSchemas.Store(name, s)
	}
	return s, err
}

// commandOf returns the name of the command that a command line runs, without "skillpm", if it asks for JSON.
func commandOf(args []string) (name string, asks bool) {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	if !slices.Contains(args, "--json") || slices.Contains(args, "__complete") || slices.Contains(args, "--help") {
		return "", false
	}
	cmd, _, err := cli.Command(environ.Environment{}).Find(args)
	if err != nil {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "skillpm"), " "), true
}

// checkOutput validates the standard output of a command line against the schema of its command.
func checkOutput(args []string, out []byte) error {
	command, asks := commandOf(args)
	if !asks || slices.Contains(outputschema.Foreign(), command) {
		return nil
	}
	if command == "schema" && slices.ContainsFunc(args, func(a string) bool { return a != "schema" && a[0] != '-' }) {
		return nil // a schema
	}
	return checkDocument(command, out)
}

// isDocument requires the standard output of the last command to be what "skillpm COMMAND --json" prints. Stories need
// it only for commands that run as processes.
func isDocument(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(checkDocument(strings.Join(args, " "), []byte(ts.ReadFile("stdout"))))
}

// checkDocument validates a document against the schema of a command, or of errors.
func checkDocument(command string, out []byte) error {
	var document any
	dec := json.NewDecoder(bytes.NewReader(out))
	if err := dec.Decode(&document); err != nil {
		return fmt.Errorf("skillpm %s printed no JSON document: %w", command, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("skillpm %s printed more than one JSON document", command)
	}
	name := outputschema.Find(command)
	if fields, ok := document.(map[string]any); ok && fields["error"] != nil {
		name = "error"
	}
	s, err := outputSchema(name)
	if err != nil {
		return fmt.Errorf("skillpm %s: %w", command, err)
	}
	err = s.Validate(document)
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return fmt.Errorf("skillpm %s violates schema output/%s:\n%s", command, name, violations(invalid))
	}
	return err
}

// violations returns the innermost reasons why a document is invalid.
func violations(e *jsonschema.ValidationError) string {
	if len(e.Causes) == 0 {
		return e.InstanceLocation + ": " + e.Message
	}
	var lines []string
	for _, cause := range e.Causes {
		lines = append(lines, violations(cause))
	}
	return strings.Join(lines, "\n")
}

// TestOutputSchemas requires a schema for every command, or a reason why it has none.
func TestOutputSchemas(t *testing.T) {
	none := slices.Concat(outputschema.Foreign(), outputschema.Without())
	var commands []string
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		if name := strings.TrimPrefix(c.CommandPath(), "skillpm "); c.Runnable() && !c.Hidden && c.HasParent() &&
			(!c.HasSubCommands() || name == "log") {
			commands = append(commands, name)
		}
	}
	root := cli.Command(environ.Environment{})
	root.InitDefaultCompletionCmd()
	visit(root)
	for _, name := range commands {
		if name == "help" {
			continue
		}
		switch schema, known := outputschema.Find(name), slices.Contains(none, name); {
		case schema == "" && !known:
			t.Errorf("skillpm %s has no schema: add it to Documents", name)
		case schema != "" && known:
			t.Errorf("skillpm %s has a schema, so it should not be in Foreign or Without", name)
		}
	}
	for _, d := range outputschema.Documents() {
		for _, name := range append([]string{d.Command}, d.Others...) {
			if !slices.Contains(commands, name) {
				t.Errorf("there is no command skillpm %s", name)
			}
		}
	}
}

var runsSkillpm = regexp.MustCompile(`^(?:\[[^]]*\] )?(?:exits \d+ |! )?skillpm (.*)$`)

// TestOutputCases requires a story that runs each command with --json, in which checkOutput validates it.
func TestOutputCases(t *testing.T) {
	seen := map[string]bool{}
	stories, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "testdata", "script", "*.txtar"))
	if err != nil || len(stories) == 0 {
		t.Fatal(err, stories)
	}
	for _, story := range stories {
		lines := bufio.NewScanner(bytes.NewReader(readFile(t, story)))
		for lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "document "); ok {
				seen[name] = true
			}
			if m := runsSkillpm.FindStringSubmatch(lines.Text()); m != nil {
				if name, asks := commandOf(strings.Fields(m[1])); asks {
					seen[name] = true
				}
			}
		}
	}
	for _, d := range outputschema.Documents() {
		for _, name := range append([]string{d.Command}, d.Others...) {
			if !seen[name] {
				t.Errorf("no story runs skillpm %s --json", name)
			}
		}
	}
}

// TestOutputPage requires docs/reference/output.md to list every command whose schema does not have its name.
func TestOutputPage(t *testing.T) {
	page := string(readFile(t, filepath.Join("..", "..", "..", "..", "docs", "reference", "output.md")))
	for _, d := range outputschema.Documents() {
		if len(d.Others) == 0 {
			continue
		}
		row := "| `" + strings.Join(d.Others, "`, `") + "` | `output/" + outputschema.Name(d.Command) + "` |"
		if !strings.Contains(page, row) {
			t.Errorf("docs/reference/output.md lacks the row %s", row)
		}
	}
	for _, name := range slices.Concat(outputschema.Foreign(), outputschema.Without()) {
		if name, _, _ = strings.Cut(name, " "); name != "index" && !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/reference/output.md lacks %s", name)
		}
	}
}
