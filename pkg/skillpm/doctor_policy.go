package skillpm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/provider"
	"github.com/skillpm/skillpm/pkg/scope"
)

// checkPolicies looks whether the policies can be read, who owns that of the machine, and whether the files of keys that
// they name are those that they name.
func checkPolicies(x *examination) {
	project := ""
	if s, found, err := x.client.Paths.Project(x.client.Dir); err == nil && found && s.Kind == scope.KindProject {
		project = s.Root
	}
	var inForce []string
	for _, p := range x.client.machine.Policies(project) {
		if err := p.Err(); err != nil {
			x.find(Diagnosis{
				Severity: diag.SeverityError, Path: p.Path, Message: bare(err), Means: "everything is denied: nothing is installed or updated",
				Fix: diag.HintOf(err),
			})
			continue
		}
		inForce = append(inForce, fmt.Sprintf("%s (%s)", p.Path, p.Mode))
		x.policyKeys(p)
	}
	if len(inForce) > 0 {
		x.fact("policies", strings.Join(inForce, ", "))
	}
}

// bare returns what is wrong with a policy, without what follows from it.
func bare(err error) string {
	if denied, ok := errors.AsType[*policy.DeniedError](err); ok && denied.Err != nil {
		return denied.Err.Error()
	}
	return err.Error()
}

func (x *examination) policyKeys(p *policy.Policy) {
	for _, q := range p.Require {
		if q.Signatures == nil {
			continue
		}
		if err := provider.CheckSigners(policy.Rule{Requirement: q, Policy: p}); err != nil {
			x.find(Diagnosis{
				Severity: diag.SeverityError, Path: p.Path, Message: err.Error(), Means: "packs from " + string(q.Match) + " are denied",
				Fix: diag.HintOf(err),
			})
		}
	}
}
