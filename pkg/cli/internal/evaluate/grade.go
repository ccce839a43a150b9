package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/evalfile"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/run"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/sandbox"
)

const (
	maxGraded   = 16 << 20        // bytes of a file that a grader reads
	maxEvidence = 300             // bytes of evidence
	graderLimit = 2 * time.Minute // for a command
)

// gradersOf returns the graders of a task. The expected output is a statement for the judge if there is nothing else.
func gradersOf(t *evalfile.Task) []evalfile.Grader {
	if len(t.Graders) > 0 || strings.TrimSpace(t.Expected) == "" {
		return t.Graders
	}
	text := "The result is as described: " + t.Expected
	return []evalfile.Grader{{Type: evalfile.Judge, Text: &text}}
}

// grade applies the graders of a finished run, except those that need a model.
func (r *runner) grade(ctx context.Context, j *job, graders []evalfile.Grader, project, output string) ([]Grade,
	error,
) {
	var grades []Grade
	for _, g := range graders {
		var grade Grade
		switch g.Type {
		case evalfile.Judge:
			continue
		case evalfile.Command:
			var err error
			if grade, err = r.command(ctx, j, g, project, output); err != nil {
				return grades, err
			}
		default:
			grade = check(g, j.target.with.dir, project, output)
		}
		grade.Grader, grade.Text = string(g.Type), describe(g)
		grade.Evidence = textx.Truncate(grade.Evidence, maxEvidence)
		grades = append(grades, grade)
	}
	return grades, nil
}

// describe returns what a grader checks, in words.
func describe(g evalfile.Grader) string {
	what, is, has, matches, exists := "the final message", "is", "has", "matches", "exists"
	if g.File != "" {
		what = g.File
	}
	if g.Not {
		is, has, matches, exists = "is not", "does not have", "does not match", "does not exist"
	}
	switch g.Type {
	case evalfile.Exact:
		return fmt.Sprintf("%s %s %q", what, is, textx.Truncate(*g.Text, 80))
	case evalfile.Regexp:
		return fmt.Sprintf("%s %s %s", what, matches, g.Pattern)
	case evalfile.FileExists:
		return g.File + " " + exists
	case evalfile.FileEquals:
		if g.Expected != "" {
			return fmt.Sprintf("%s %s the content of %s", g.File, has, g.Expected)
		}
		return fmt.Sprintf("%s %s the expected content", g.File, has)
	case evalfile.Command:
		return fmt.Sprintf("%s exits with %d", strings.Join(g.Command, " "), g.Exit)
	case evalfile.Judge:
		return *g.Text
	}
	return ""
}

// check applies a grader that reads the final message or a file. The agent wrote both, so they are untrusted. A file
// that cannot be read passes no grader, except a missing one that must not exist.
func check(g evalfile.Grader, skill, project, output string) (grade Grade) {
	text := output
	if g.File != "" {
		data, err := readProject(project, g.File)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			grade.Passed, grade.Evidence = g.Type == evalfile.FileExists && g.Not, "the file does not exist"
			return grade
		case err != nil:
			grade.Evidence = diag.TextOf(err)
			return grade
		}
		text = string(data)
	}
	switch g.Type {
	case evalfile.FileExists:
		grade.Passed, grade.Evidence = true, fmt.Sprintf("the file has %d bytes", len(text))
	case evalfile.Exact:
		grade.Passed = strings.TrimSpace(text) == strings.TrimSpace(*g.Text)
		grade.Evidence = text
	case evalfile.Regexp:
		found := regexp.MustCompile(g.Pattern).FindString(text) // was valid when it was read
		if grade.Passed, grade.Evidence = regexp.MustCompile(g.Pattern).MatchString(text), text; grade.Passed {
			grade.Evidence = found
		}
	case evalfile.FileEquals:
		want := ""
		if g.Text != nil {
			want = *g.Text
		}
		if g.Expected != "" {
			data, err := safefile.ReadIn(safefile.Dir(skill), g.Expected, maxGraded)
			if err != nil {
				grade.Error = diag.TextOf(err)
				return grade
			}
			want = string(data)
		}
		if grade.Passed = text == want; !grade.Passed {
			grade.Evidence = fmt.Sprintf("the file has other content, of %d bytes", len(text))
		}
	}
	if g.Not {
		grade.Passed = !grade.Passed
	}
	return grade
}

// readProject reads a file that an agent may have written.
func readProject(project, name string) ([]byte, error) {
	root, err := safefile.OpenRoot(project)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	return safefile.ReadIn(root, name, maxGraded)
}

// command runs a grader's command in the project. It comes with the skill, so it may only write to the project and
// cannot use the network. It gets the final message on standard input.
func (r *runner) command(ctx context.Context, j *job, g evalfile.Grader, project, output string) (grade Grade,
	err error,
) {
	dirs := strings.NewReplacer("{skill-dir}", j.target.with.dir, "{project-dir}", project)
	c := run.Command{
		Argv: slices.Clone(g.Command), Dir: project, Stdin: strings.NewReader(output), Limit: graderLimit,
		Sandbox: &sandbox.Rules{
			Read: []string{j.target.with.dir}, Write: []string{project}, Optional: r.o.Unconfined,
		},
		Helper: r.o.Helper,
	}
	for i := range c.Argv {
		c.Argv[i] = dirs.Replace(c.Argv[i])
	}
	home := path.Join(filepath.ToSlash(filepath.Dir(project)), "grader-home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return grade, err
	}
	c.Env = run.Environment(r.o.Getenv, map[string]string{
		"HOME": home, "USERPROFILE": home, "SKILL_DIR": j.target.with.dir,
	})
	res, err := run.Run(ctx, c)
	switch {
	case ctx.Err() != nil:
		return grade, ctx.Err()
	case err != nil:
		grade.Error = diag.TextOf(err)
		return grade, nil
	}
	return commandGrade(g, res), nil
}

// commandGrade decides by how a grader's command ended. A result that makes its command hang is wrong.
func commandGrade(g evalfile.Grader, res *run.Result) (grade Grade) {
	ended := fmt.Sprintf("exit code %d", res.ExitCode)
	if res.TimedOut {
		ended = fmt.Sprintf("the command did not end in %s", graderLimit)
	}
	grade.Passed = res.ExitCode == g.Exit && !res.TimedOut
	grade.Evidence = strings.TrimSpace(fmt.Sprintf("%s\n%s%s", ended, res.Stdout, res.Stderr))
	return grade
}

// realTemp creates a temporary directory, without links in its path, as the sandbox requires.
func realTemp(pattern string) (string, error) {
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", err
	}
	return pathx.ResolveExisting(dir)
}
