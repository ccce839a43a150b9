package skillpm

import (
	"fmt"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy/sandbox"
	"github.com/skillpm/skillpm/pkg/runtime"
)

// checkSandbox tries whether scripts can be confined on this machine.
func checkSandbox(x *examination) {
	if len(x.options.Helper) == 0 {
		return
	}
	if err := runtime.CheckConfinement(x.ctx, x.options.Helper); err != nil {
		x.fact("sandbox", "none")
		x.find(Diagnosis{
			Severity: diag.SeverityAdvice, Message: "scripts of skills: " + err.Error(),
			Means: "those that are to be confined do not run",
			Fix:   "let users have namespaces, on a kernel with Landlock; or allow in the machine's policy that they run unconfined: execution: {unavailable: allow}",
		})
		return
	}
	x.fact("sandbox", fmt.Sprintf("works: namespaces, and version %d of Landlock", sandbox.Version()))
}
