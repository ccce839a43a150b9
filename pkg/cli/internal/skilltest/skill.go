package skilltest

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/evalfile"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// Skill holds the results of a skill's offline tests: those of its test files and of its trigger queries.
type Skill struct {
	Dir     string   `json:"dir"` // as on the command line, with slashes
	Name    string   `json:"name"`
	Results []Result `json:"cases"`
	Notes   []string `json:"notes,omitempty"`   // content of evaluation files that is not used
	Problem string   `json:"problem,omitempty"` // errors in its test files
	Err     error    `json:"-"`                 // the same
	Tasks   int      `json:"tasks"`             // number of tasks for an evaluation with an agent
}

// Failed reports whether a case failed or a file is invalid.
func (s *Skill) Failed() bool {
	for _, r := range s.Results {
		if r.Outcome == Failed {
			return true
		}
	}
	return s.Err != nil
}

// Summary holds the results of the offline tests of several skills.
type Summary struct {
	Skills  []Skill `json:"skills"` // those with tests
	Passed  int     `json:"passed"`
	Failed  int     `json:"failed"`
	Skipped int     `json:"skipped"`
	Invalid int     `json:"invalid"` // number of skills with invalid test files
	Tasks   int     `json:"-"`       // number of tasks of all skills
}

// Add adds the results of a skill. It reports whether the skill has tests; without tests, it is not added.
func (s *Summary) Add(one Skill) bool {
	s.Tasks += one.Tasks
	if one.Err == nil && len(one.Results) == 0 {
		return false
	}
	for _, c := range one.Results {
		switch c.Outcome {
		case Passed:
			s.Passed++
		case Failed:
			s.Failed++
		default:
			s.Skipped++
		}
	}
	if one.Err != nil {
		s.Invalid++
	}
	s.Skills = append(s.Skills, one)
	return true
}

// OK reports whether all tests passed. Skills without tests do not count.
func (s *Summary) OK() bool { return s.Failed == 0 && s.Invalid == 0 }

// ListSkills returns the skills in directories, for [Options.Others]. Skills that the profile skips are left out.
func ListSkills(dirs []string, o Options) (list []*catalog.Skill) {
	for _, dir := range dirs {
		if l, err := newListing(dir, Options{Profile: o.Profile, Config: o.Config}); err == nil {
			list = append(list, l.self)
		}
	}
	return list
}

// RunSkill runs all offline tests of the skill in a directory. For o.Match, the name of a case is skill/file/name,
// where the file of a test file is relative to [Dir].
func RunSkill(ctx context.Context, dir string, o Options) (Skill, error) {
	s := Skill{Dir: filepath.ToSlash(dir), Name: filepath.Base(dir), Results: []Result{}}
	files, readErr := Read(dir)
	suite, evalErr := evalfile.Read(dir)
	s.fail(readErr)
	s.fail(evalErr)
	match := o.Match
	for _, f := range files {
		o.Match = func(name string) bool {
			return match == nil || match(s.Name+"/"+strings.TrimPrefix(f.Path, Dir+"/")+"/"+name)
		}
		results, err := Run(ctx, dir, f, o)
		s.Results = append(s.Results, results...)
		if err != nil {
			return s, err
		}
	}
	if suite == nil {
		return s, nil
	}
	s.Notes, s.Tasks = suite.Notes, len(suite.Tasks)
	return s, s.runQueries(ctx, dir, suite.Queries, match, o)
}

// fail records an error in the skill's files.
func (s *Skill) fail(err error) {
	if err == nil {
		return
	}
	if s.Err != nil {
		err = errors.Join(s.Err, err)
	}
	s.Err, s.Problem = err, err.Error()
}

// runQueries checks trigger queries.
func (s *Skill) runQueries(ctx context.Context, dir string, queries []evalfile.Query, match func(string) bool,
	o Options,
) error {
	var list *listing
	for _, q := range queries {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := queryName(q)
		if match != nil && !match(s.Name+"/"+q.File+"/"+name) {
			continue
		}
		began := o.Now()
		if list == nil {
			var err error
			if list, err = newListing(dir, o); err != nil {
				s.fail(err)
				return nil
			}
		}
		r := Result{File: q.File, Line: q.Line, Name: name}
		if err := list.check(q, &r); err != nil {
			return err
		}
		r.setTook(o.Now().Sub(began))
		s.Results = append(s.Results, r)
	}
	return nil
}

func (r *Result) setTook(d time.Duration) {
	r.Took = d
	r.TookMS = float64(d.Microseconds()) / 1000
}
