package enforce

import (
	"cmp"
	"fmt"

	"github.com/skillpm/skillpm/pkg/policy"
)

// Log has the policies' settings of the audit log.
type Log struct {
	Path     string // absolute path; "" for the default
	Required bool   // operations that cannot be recorded are denied
	By       string // policy that requires the log, or else sets its path, with its line; "" for none
	Team     string // recorded with each operation; "" for none
}

// Log returns the policies' settings of the audit log. The path comes from the machine's policy, or else the user's,
// but never from a project's, which could choose a file to overwrite. One policy suffices to require the log. The team
// comes from the machine's policy, or else the user's, or else a project's.
func (g *Evaluator) Log() Log { return logOf(g.Policies()) }

func logOf(set policy.Set) (l Log) {
	for _, p := range set {
		if p.Audit == nil {
			continue
		}
		location := fmt.Sprintf("%s:%d", p.Path, p.Line("audit"))
		if l.Path == "" && p.Audit.Path != "" && p.Level != policy.ProjectLevel {
			l.Path = p.Audit.Path
			if !l.Required {
				l.By = location
			}
		}
		l.Team = cmp.Or(l.Team, p.Audit.Team)
		if p.Audit.Required && !l.Required {
			l.Required, l.By = true, location
		}
	}
	return l
}
