package publish

import (
	"context"
	"encoding/hex"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// OfflineTests runs the offline tests of the skills in directories, with the same order in the result.
type OfflineTests func(ctx context.Context, dirs []string) ([]SkillTests, error)

// SkillTests are the results of a skill's offline tests, by the names of the tests.
type SkillTests struct {
	Passed, Failed, Skipped []string
	Problem                 error // in a test file
}

// Evaluation is the result of an evaluation of skills with an agent, for [ReleaseOptions.Evaluations].
type Evaluation struct {
	Name   string            // of its file, for messages
	Skills map[string]string // the digests of the evaluated skills, without their tests, by name
	Result sign.TestResult   // without Files
}

// TestCounts are the results of tests in a [ReleaseReport].
type TestCounts struct {
	Passed int    `json:"passed"`          // number of passed tests
	Warned int    `json:"warned"`          // passed only in some runs
	Failed int    `json:"failed"`          // number of failed tests
	Agent  string `json:"agent,omitempty"` // of an evaluation; absent for offline tests
}

// testResults runs the offline tests of a pack and checks the evaluations. It returns the results to publish.
//
// A dry run only runs tests that the manifest requires, because tests run scripts of the skills.
func (c *Client) testResults(ctx context.Context, m *pack.Manifest, dir string, trees []bundle.Tree, r *ReleaseReport,
	o ReleaseOptions,
) ([]*sign.TestResult, error) {
	var all []*sign.TestResult
	if m.Publish.RequireTests || o.Test != nil && !o.DryRun {
		offline, err := c.offlineResult(ctx, m, dir, r, o)
		if err != nil {
			return nil, err
		}
		if offline != nil {
			all = append(all, offline)
		}
	}
	for i := range o.Evaluations {
		e := &o.Evaluations[i]
		if err := e.check(r.Pack, trees); err != nil {
			return nil, err
		}
		all = append(all, &e.Result)
	}
	for _, result := range all {
		result.Files = testFiles(trees)
		r.Tests = append(r.Tests, TestCounts{
			len(result.Passed), len(result.Warned), len(result.Failed), result.Agent,
		})
	}
	return all, nil
}

// offlineResult runs the offline tests of a pack. It returns nil if there are none.
func (c *Client) offlineResult(ctx context.Context, m *pack.Manifest, dir string, r *ReleaseReport, o ReleaseOptions,
) (*sign.TestResult, error) {
	if o.Test == nil {
		return nil, diag.Errorf(diag.Internal, "%s requires tests, but the options cannot run them", r.Pack)
	}
	content, err := pack.Describe(os.DirFS(dir), pack.Ref{Kind: pack.KindPath, URL: filepath.ToSlash(dir)})
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, s := range content.Skills {
		dirs = append(dirs, filepath.Join(dir, filepath.FromSlash(s.Dir)))
	}
	c.Progress(skillpm.Event{Text: "testing " + r.Pack + " " + r.Version})
	found, err := o.Test(ctx, dirs)
	if err != nil {
		return nil, err
	}
	result := &sign.TestResult{TestRun: sign.TestRun{Skillpm: c.Version}}
	var untested, problems []string
	for i, s := range found {
		result.Passed = append(result.Passed, s.Passed...)
		result.Failed = append(result.Failed, s.Failed...)
		if s.Problem != nil {
			line, _, _ := strings.Cut(s.Problem.Error(), "\n")
			problems = append(problems, strings.TrimPrefix(content.Skills[i].Dir+"/"+line, "./"))
		} else if len(s.Passed)+len(s.Failed) == 0 {
			untested = append(untested, content.Skills[i].Name)
		}
	}
	if m.Publish.RequireTests {
		if err := c.checkRequired(dir, r, result, untested, problems); err != nil {
			return nil, err
		}
	}
	if len(problems) > 0 {
		r.Warnings = append(r.Warnings, "the release will not record test results: "+problems[0])
		return nil, nil
	}
	if n := len(result.Failed); n > 0 {
		r.Warnings = append(r.Warnings, textx.Count(n, "offline test")+" failed, which the release will record: "+
			textx.FirstAndMore(result.Failed, maxNamed))
	}
	if len(result.Passed)+len(result.Failed) == 0 {
		return nil, nil
	}
	return result, nil
}

// checkRequired returns an error unless each skill has tests and all of them passed.
func (c *Client) checkRequired(dir string, r *ReleaseReport, result *sign.TestResult, untested, problems []string) error {
	cannot := "cannot publish " + r.Pack + " " + r.Version + ", which requires tests: "
	run := "skillpm test " + filepath.ToSlash(c.DisplayPath(dir))
	switch {
	case len(problems) > 0:
		return diag.Errorf(diag.Invalid, "%s%s", cannot, problems[0]).
			WithHint("correct the file, and run the tests with: %s", run)
	case len(result.Failed) > 0:
		return diag.Errorf(diag.Invalid, "%s%s of %d failed: %s", cannot,
			textx.Count(len(result.Failed), "test"), len(result.Passed)+len(result.Failed),
			textx.FirstAndMore(result.Failed, maxNamed)).
			WithHint("show the differences with: %s", run)
	case len(untested) > 0:
		return diag.Errorf(diag.Invalid, "%sthese skills do not have offline tests: %s", cannot,
			textx.FirstAndMore(untested, maxNamed)).
			WithHint("add YAML files to the tests directory of the skill, or trigger queries to evals/%s, and run the tests with: %s",
				triggerFile, run)
	}
	return nil
}

// check returns an error unless all evaluated skills are in the pack with the same files.
func (e *Evaluation) check(packName string, trees []bundle.Tree) error {
	cannot := "cannot publish the test report " + e.Name + " with " + packName + ": "
	if len(e.Skills) == 0 {
		return diag.Errorf(diag.Invalid, "%sthe report does not have results of an agent", cannot).
			WithHint("evaluate the skills with: skillpm test --agent AGENT --output FILE")
	}
	for name, digest := range e.Skills {
		i := slices.IndexFunc(trees, func(t bundle.Tree) bool { return t.Name == name })
		if i < 0 {
			return diag.Errorf(diag.Invalid, "%sthe pack does not contain the skill %q", cannot, name).
				WithHint("evaluate only the skills of the pack")
		}
		instructions := slices.DeleteFunc(slices.Clone(trees[i].Inventory), isTest)
		if instructions.Digest() != digest {
			return diag.Errorf(diag.Invalid, "%sthe report is about other files of the skill %s", cannot, name).
				WithHint("evaluate the version that you publish, without files that %s leaves out", pack.IgnoreName)
		}
	}
	return nil
}

// testFiles returns the files of a pack that contain tests, with their digests.
func testFiles(trees []bundle.Tree) map[string]string {
	files := map[string]string{}
	for _, t := range trees {
		for _, e := range t.Inventory {
			if isTest(e) {
				files[path.Join(t.Name, e.Path)] = "sha256:" + hex.EncodeToString(e.SHA256[:])
			}
		}
	}
	return files
}

// isTest reports whether a file of a skill has tests, or belongs to them. An agent that is evaluated does not get it.
func isTest(e bundle.Entry) bool {
	top, _, ok := strings.Cut(e.Path, "/")
	return ok && (top == "tests" || top == evalsDir)
}

// rememberTests returns f with a memory of its results, because a workspace checks all packs before it publishes one.
func rememberTests(f OfflineTests) OfflineTests {
	if f == nil {
		return nil
	}
	results := map[string][]SkillTests{}
	return func(ctx context.Context, dirs []string) ([]SkillTests, error) {
		key := strings.Join(dirs, "\n")
		if found, ok := results[key]; ok {
			return found, nil
		}
		found, err := f(ctx, dirs)
		if err == nil {
			results[key] = found
		}
		return found, err
	}
}
