package publish

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
)

// TestDeployError checks that an error after a skill was moved to its destination does not report that deployment
// failed, and that it still shows where the old skill is.
func TestDeployError(t *testing.T) {
	r := &DeployReport{Skill: "deploy", Dir: "/layer/deploy", Scope: DeployPersonal}
	cause := &fs.PathError{Op: "sync", Path: "/layer", Err: fs.ErrPermission}
	if err := deployError(r, cause); diag.CodeOf(err) != diag.Denied ||
		!strings.Contains(err.Error(), "cannot write to /layer") {
		t.Errorf("before: %v", err)
	}
	for backup, hint := range map[string]string{"/backup/deploy-1": "in /backup/deploy-1", "": stagePrefix} {
		r.Backup = backup
		err := deployError(r, &installedError{cause})
		if diag.CodeOf(err) != diag.Internal || !errors.Is(err, fs.ErrPermission) ||
			!strings.Contains(err.Error(), "deployed the skill deploy to /layer/deploy") {
			t.Errorf("after: %v", err)
		}
		if !strings.Contains(diag.HintOf(err), hint) {
			t.Errorf("hint %q, want %q", diag.HintOf(err), hint)
		}
	}
}
