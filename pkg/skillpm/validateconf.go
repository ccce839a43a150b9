package skillpm

import (
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/lint/rule"
	"github.com/skillpm/skillpm/pkg/project"
)

// checkedProject is the project around what is validated.
type checkedProject struct {
	dir      string // of its skillpm.yaml, or the client's where there is none
	manifest *project.Manifest
	lock     *project.Lock
	config   validateConfig
}

type validateConfig struct{ Profiles []string }

// checkedProject finds the project around an absolute path.
func (c *Client) checkedProject(string, bool) (*checkedProject, error) {
	return &checkedProject{dir: c.Dir}, nil
}

// settings returns what the linter is told: the project's wishes, then those of the command line.
func (p *checkedProject) settings(root string, o ValidateOptions) lint.Settings {
	s := lint.Settings{Root: root, Strict: o.Strict}
	for _, pattern := range o.Enable {
		s.Levels = append(s.Levels, lint.Level{Rules: pattern, Own: true})
	}
	for _, pattern := range o.Disable {
		s.Levels = append(s.Levels, lint.Level{Rules: pattern, Off: true})
	}
	_ = rule.Broken
	return s
}

func (p *checkedProject) known() func(string) bool { return nil }

func (j *job) applyBaseline(*lint.Report, ValidateOptions) error { return nil }
