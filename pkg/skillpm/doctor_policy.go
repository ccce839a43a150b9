package skillpm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// checkPolicies looks whether the policies can be read, who owns that of the machine, and whether the files of keys
// that they name are those that they name.
func checkPolicies(x *examination) {
	project := ""
	switch s, found, err := x.client.Paths.Project(x.client.Dir); {
	case err != nil: // as in the home directory, which is no project
	case found && s.Kind == scope.KindProject:
		project = s.Root
	case !found:
		project = x.client.Dir // where one would begin
	}
	var inForce []string
	for _, p := range x.client.machine.PolicyFiles().Policies(project) {
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

// checkAuditLog looks whether what is done can be recorded: where a policy requires that, nothing is done else.
func checkAuditLog(x *examination) {
	door := x.client.machine.Guard(x.client.Dir)
	log := x.client.Log(door)
	err := log.Check()
	if err == nil {
		return
	}
	d := Diagnosis{Severity: diag.SeverityWarning, Path: log.Path(), Message: err.Error(), Means: "what is done is not on record", Fix: diag.HintOf(err)}
	if log.Required() {
		d.Severity, d.Means = diag.SeverityError, "nothing is installed, activated or run, because "+door.Log().By+" wants it on record"
	}
	x.find(d)
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
		if q.Signatures.NeedIdentity() && x.client.Keyless == nil {
			x.find(Diagnosis{
				Severity: diag.SeverityError, Path: p.Path, Message: policy.Rule{Requirement: q, Policy: p}.String() + " asks for identities, which this program cannot check",
				Means: "packs from " + string(q.Match) + " are denied", Fix: "use skillpm-keyless of the same release, or trust a key",
			})
		}
		if err := admission.CheckSigners(policy.Rule{Requirement: q, Policy: p}); err != nil {
			x.find(Diagnosis{
				Severity: diag.SeverityError, Path: p.Path, Message: err.Error(), Means: "packs from " + string(q.Match) + " are denied",
				Fix: diag.HintOf(err),
			})
		}
	}
}

// checkTrustedKeys looks whether the files of keys that the settings trust are there, and are such files.
func checkTrustedKeys(x *examination) {
	for _, name := range x.config.TrustedKeys {
		file := x.config.File(name)
		if _, err := trust.ReadKeys([]string{file}); err != nil {
			x.find(Diagnosis{
				Severity: diag.SeverityError, Path: file, Message: err.Error() + ", and trusted-keys of the settings names it",
				Means: "install, update and try fail with --require-signature", Fix: "put the public key there, or take it out of the settings",
			})
		}
	}
}
