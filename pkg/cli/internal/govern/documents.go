package govern

import (
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// approveDocument is the output of "approve SKILL --json".
type approveDocument struct {
	Approved []approvedJSON `json:"approved"`          // the approved skills
	File     string         `json:"file"`              // file with the approvals
	Level    string         `json:"level"`             // scope of the policy: project, user, or machine
	By       string         `json:"by"`                // user who approved the skills
	Reason   string         `json:"reason"`            // reason for the approval
	Expires  *time.Time     `json:"expires,omitempty"` // missing if it does not expire
}

// approvalsDocument is the output of "approve --list --json" and "approve SKILL --undo --json".
type approvalsDocument struct {
	Approvals []approvalJSON `json:"approvals"` // all approvals, or those that --undo removed
}

// trustDocument is the output of "trust --json".
type trustDocument struct {
	Trusted string `json:"trusted"` // directory that is now trusted
}

// untrustDocument is the output of "trust --undo --json".
type untrustDocument struct {
	Removed string `json:"removed"` // directory that is no longer trusted
}

// trustedDocument is the output of "trust --list --json".
type trustedDocument struct {
	Folders []trustedJSON `json:"folders"` // the trusted directories
}

// policyInitDocument is the output of "policy init --json".
type policyInitDocument struct {
	Policy string `json:"policy"` // file of the new policy
	Level  string `json:"level"`  // scope of the policy: project, user, or machine
}

// checkDocument is the output of "policy check --json".
type checkDocument struct {
	Files []checkedJSON `json:"files"` // the checked files
}

// explainDocument is the output of "policy explain SUBJECT --json".
type explainDocument struct {
	Explained []explainedJSON `json:"explained"` // the decision about each subject
}

// rulesDocument is the output of "policy explain --json".
type rulesDocument struct {
	Rules    []ruleJSON     `json:"rules"`    // rules of all policies in effect
	Settings policySettings `json:"settings"` // combined settings of all policies
}

// policySettings are the combined settings of all policies in effect.
type policySettings struct {
	AllowedTools  string `json:"allowedTools"`  // what a skill's allowed-tools does: grant or restrict
	Hooks         string `json:"hooks"`         // tool calls whose hook event is unreadable: open or closed
	Audit         string `json:"audit"`         // path of the audit log that a policy sets, or ""
	AuditRequired bool   `json:"auditRequired"` // whether a call is denied if its record cannot be written
	Team          string `json:"team,omitempty"`
}

// logDocument is the output of "log --json".
type logDocument struct {
	Records []audit.Record `json:"records"` // records of the audit log, with the field names of its files
}

// Documents returns what the commands print with --json.
func Documents() []console.Document {
	return []console.Document{
		{Command: "policy init", Types: []any{policyInitDocument{}}},
		{Command: "policy check", Types: []any{checkDocument{}}},
		{Command: "policy explain", Types: []any{rulesDocument{}, explainDocument{}}},
		{Command: "approve", Types: []any{approveDocument{}, approvalsDocument{}}},
		{Command: "deny", Types: []any{denied{}}},
		{Command: "log", Others: []string{"log export"}, Types: []any{logDocument{}}},
		{Command: "log verify", Types: []any{verifiedDocument{}}},
		{Command: "log stats", Types: []any{statsDocument{}, pageDocument{}}},
		{Command: "trust", Types: []any{trustDocument{}, untrustDocument{}, trustedDocument{}}},
		{Command: "enterprise sync", Types: []any{skillpm.SyncReport{}, skillpm.SyncStatus{}}},
		{Command: "enterprise publish", Types: []any{skillpm.PublishListReport{}}},
		{Command: "deploy", Types: []any{publish.DeployReport{}}},
	}
}
