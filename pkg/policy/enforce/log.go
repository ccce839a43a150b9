package enforce

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/policy"
)

// Log says where what is done is written down.
type Log struct {
	Path     string // absolute; "" for the usual place
	Required bool   // nothing may be done that cannot be written down
	By       string // the policy that says so, with its line; "" for none
}

// Log returns what the policies say of the audit log. The path of the machine's policy counts, or else the user's, and
// never a project's, which could have what it likes written somewhere; one policy that requires the log is enough.
func (g *Evaluator) Log() Log { return logOf(g.Policies()) }

func logOf(set policy.Set) (l Log) {
	for _, p := range set {
		if p.Audit == nil {
			continue
		}
		location := fmt.Sprintf("%s:%d", p.Path, p.Line("audit"))
		if l.Path == "" && p.Level != policy.ProjectLevel {
			l.Path, l.By = p.Audit.Path, location
		}
		if p.Audit.Required && !l.Required {
			if l.Required = true; l.By == "" {
				l.By = location
			}
		}
	}
	return l
}
