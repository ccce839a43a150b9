package publish

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
)

// What fails once a skill is in its place is not said to have kept it from there, and where the old one is stays known.
func TestDeployError(t *testing.T) {
	r := &DeployReport{Skill: "deploy", Dir: "/layer/deploy", Scope: DeployPersonal}
	cause := &fs.PathError{Op: "sync", Path: "/layer", Err: fs.ErrPermission}
	if err := deployError(r, cause); diag.CodeOf(err) != diag.Denied ||
		!strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("before: %v", err)
	}
	for backup, hint := range map[string]string{"/backup/deploy-1": "is in /backup/deploy-1", "": stagePrefix} {
		r.Backup = backup
		err := deployError(r, &installedError{cause})
		if diag.CodeOf(err) != diag.Internal || !errors.Is(err, fs.ErrPermission) ||
			!strings.Contains(err.Error(), "is deployed to /layer/deploy") {
			t.Errorf("after: %v", err)
		}
		if !strings.Contains(diag.HintOf(err), hint) {
			t.Errorf("hint %q, want %q", diag.HintOf(err), hint)
		}
	}
}
