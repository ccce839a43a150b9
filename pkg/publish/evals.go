package publish

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// The files of a skill's evaluation, which agentskills.io describes: tasks for an agent, and trigger queries.
const (
	evalsDir    = "evals"
	evalsFile   = "evals.json"
	triggerFile = "eval_queries.json"
)

type evalTasks struct {
	Skill string     `json:"skill_name"`
	Evals []evalTask `json:"evals"`
}

type evalTask struct {
	ID         int      `json:"id"`
	Prompt     string   `json:"prompt"`
	Expected   string   `json:"expected_output"`
	Files      []string `json:"files"`
	Assertions []string `json:"assertions"`
}

type evalQuery struct {
	Query         string `json:"query"`
	ShouldTrigger bool   `json:"should_trigger"`
}

// unrelatedQuery is a prompt for which no skill is needed. Only authors know prompts that are nearly for the skill.
const unrelatedQuery = "What is 17 times 23?"

// writeEvals writes a sample evaluation, derived from the description, into a skill's directory. It returns the
// written files, none if the skill has a directory of evaluations.
func writeEvals(dir, name, description string) ([]string, error) {
	if _, err := os.Lstat(filepath.Join(dir, evalsDir)); err == nil {
		return nil, nil
	}
	description = strings.Join(strings.Fields(description), " ")
	purpose := firstSentence(description)
	tasks := evalTasks{name, []evalTask{{
		ID: 1, Prompt: "Please do this for me: " + purpose, Expected: "The result of: " + purpose,
		Files: []string{}, Assertions: []string{"The answer has the result, and is not a question or a refusal."},
	}}}
	queries := []evalQuery{{purpose, true}, {unrelatedQuery, false}}
	if err := os.Mkdir(filepath.Join(dir, evalsDir), 0o755); err != nil {
		return nil, err
	}
	var written []string
	for _, f := range []struct {
		name    string
		content any
	}{{evalsFile, tasks}, {triggerFile, queries}} {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(f.content); err != nil {
			return nil, diag.Errorf(diag.Internal, "%w", err)
		}
		file := filepath.Join(dir, evalsDir, f.name)
		if err := createFile(file, text.Bytes()); err != nil {
			return nil, err
		}
		written = append(written, file)
	}
	return written, nil
}

// firstSentence returns the first sentence of a text, without its punctuation.
func firstSentence(text string) string {
	if end := strings.Index(text, ". "); end > 0 {
		text = text[:end]
	}
	return strings.TrimRight(text, ".!?")
}

// AddEvals writes a sample evaluation into each skill of the pack in the client's directory that does not have one.
// It returns the written files. Without skills it returns none.
func (c *Client) AddEvals() ([]string, error) {
	content, err := pack.Describe(os.DirFS(c.Dir), pack.Ref{Kind: pack.KindPath, URL: filepath.ToSlash(c.Dir)})
	if diag.CodeOf(err) == diag.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var written []string
	for _, s := range content.Skills {
		files, err := writeEvals(filepath.Join(c.Dir, filepath.FromSlash(s.Dir)), s.Name, cmp.Or(s.Description, s.Name))
		written = append(written, files...)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}
