package skillpm

import (
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/connect/attach"
	"github.com/skillpm/skillpm/pkg/diag"
)

// checkHosts looks whether the agents that are in use call skillpm's hooks and start its MCP server, and whether what
// they would start is there.
func checkHosts(x *examination) {
	c := x.client
	e := attach.Env{Home: c.Paths.Home, OS: c.OS, Getenv: c.Getenv, State: c.Paths.State}
	if s, _, err := c.Paths.Project(c.Dir); err == nil {
		e.Project = s.Root
	}
	var ids []string
	for _, a := range x.agentsInUse(e.Project) {
		ids = append(ids, a.ID)
	}
	for _, h := range attach.Detect(e, ids) {
		for _, kind := range []attach.Kind{attach.Hook, attach.MCP} {
			x.host(e, h, kind)
		}
	}
}

// host says in which scopes a host has what, and what is wrong there.
func (x *examination) host(e attach.Env, h attach.Host, kind attach.Kind) {
	var installed []string
	for _, in := range h.Scopes(kind) {
		if e.Project == "" && (in == attach.Project || in == attach.Local) {
			continue
		}
		r, err := attach.Status(e, attach.Options{Kind: kind, Host: h, Scope: in})
		if err != nil || r.State == attach.Missing {
			continue
		}
		again := fmt.Sprintf("skillpm %s install --host %s --scope %s", kind, h.ID, in)
		switch r.State {
		case attach.Broken:
			x.find(Diagnosis{
				Severity: diag.SeverityWarning, Path: r.File, Message: r.Reason, Means: h.Title + " may not read it either", Fix: "mend the file",
			})
		case attach.Stale:
			x.find(Diagnosis{
				Severity: diag.SeverityWarning, Path: r.File, Message: "what skillpm has there is not what it should be: " + r.Reason,
				Means: "not all is enforced in " + h.Title, Fix: again,
			})
		}
		for _, o := range r.Obstacles {
			x.find(Diagnosis{
				Severity: diag.SeverityWarning, Path: r.File, Message: o.Message, Means: h.Title + " does not do what the file says", Fix: o.Fix,
			})
		}
		if r.State == attach.Installed {
			installed = append(installed, string(in))
		}
	}
	if len(h.Scopes(kind)) == 0 {
		return
	}
	what := map[attach.Kind]string{attach.Hook: "hooks", attach.MCP: "MCP server"}[kind]
	if installed == nil {
		x.fact(what+", "+h.Title, "not installed")
		return
	}
	x.fact(what+", "+h.Title, "installed for "+strings.Join(installed, ", "))
}
