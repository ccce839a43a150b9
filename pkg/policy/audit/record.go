package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	secrets "github.com/skillpm/skillpm/pkg/internal/secret"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// The values of [Record].Action.
const (
	Activate   = "activate"          // a skill was activated, or could not be
	Deactivate = "deactivate"        // a skill ended
	Hook       = "hook"              // a pre or post hook of a skill ran
	Run        = "run"               // a script or command of a skill ran
	Refuse     = "refuse"            // a tool call was denied
	Missing    = "reference-missing" // a requested file of a skill does not exist
	Find       = "find"              // skills were suggested for a task
	Task       = "task"              // a skill was submitted as a task
	TaskEnd    = "task-end"          // a task ended
	End        = "session-end"       // a session ended
	Install    = "install"           // a pack was installed
	Update     = "update"            // a pack was replaced by another version
	Remove     = "remove"            // a pack was removed
	Publish    = "publish"           // a pack was published
	Approve    = "approve"           // a skill was approved
	Revoke     = "revoke"            // an approval was revoked
	Deny       = "deny"              // a skill was denied for all users, or the denial was lifted
	Sync       = "sync"              // an organization's skills and policies were fetched
	Policy     = "policy"            // a policy was changed, or reported what it would have denied
	HookEvent  = "hook-event"        // an agent's hook event was denied or could not be parsed
)

// Actions returns all actions.
func Actions() []string {
	return []string{
		Activate, Deactivate, Hook, Run, Refuse, Missing, Find, Task, TaskEnd, End, Install, Update, Remove, Publish,
		Approve, Revoke, Deny, Sync, Policy, HookEvent,
	}
}

// The values of [Record].Result.
const (
	OK      = "ok"
	Failed  = "failed"
	Denied  = "denied"
	Timeout = "timeout"
	Begun   = "begun" // for an intent: another record has the outcome
)

// Results returns all results.
func Results() []string { return []string{OK, Failed, Denied, Timeout, Begun} }

// The values of [Record].Phase for operations with two records.
const (
	Intent  = "intent"
	Outcome = "outcome"
)

// The values of [Record].Verdict.
const (
	Allowed    = "allow"
	Forbidden  = "deny"
	WouldDeny  = "would-deny" // a policy in observe mode would have denied it
	Unapproved = "unapproved" // an approval is missing, or is for other files
)

// Verdicts returns all verdicts.
func Verdicts() []string { return []string{Allowed, Forbidden, WouldDeny, Unapproved} }

// Record describes one operation. Fields that do not apply are empty and omitted. [Log.Write] sets Seq, Time, User,
// Machine, Team, Gap, and Prev.
type Record struct {
	Seq  int64  `json:"seq"`  // starting at 1
	Time string `json:"ts"`   // RFC 3339 in UTC, with nanoseconds
	User string `json:"user"` // name in the operating system

	Machine string `json:"machine,omitempty"` // name of the machine, for logs of several machines
	Team    string `json:"team,omitempty"`    // team in the policies, see [Options].Team

	Action string `json:"action"`
	Result string `json:"result"`
	// Phase is "intent" before an operation and "outcome" after it; "" for operations with one record.
	Phase string `json:"phase,omitempty"`
	ID    string `json:"id,omitempty"` // shared by an intent and its outcome

	Skill   string `json:"skill,omitempty"`
	Pack    string `json:"pack,omitempty"`
	Version string `json:"version,omitempty"`
	Layer   string `json:"layer,omitempty"`
	Dir     string `json:"dir,omitempty"`
	Digest  string `json:"digest,omitempty"` // digest of SKILL.md
	Tokens  int64  `json:"tokens,omitempty"` // estimate of the tokens that an activation added to the context

	// Found are the skills that a search suggested, as name@pack or name, the best first. The record does not have the
	// task.
	Found []string `json:"found,omitempty"`

	Source string `json:"source,omitempty"` // source of the pack, as the lockfile writes it
	Tree   string `json:"tree,omitempty"`   // digest of the pack's files
	Signer string `json:"signer,omitempty"` // signer of the pack
	Policy string `json:"policy,omitempty"` // digest of the policies in effect, or the policy that decided
	Lock   string `json:"lock,omitempty"`   // digest of the written lockfile

	Session string `json:"session,omitempty"`
	Project string `json:"project,omitempty"`
	Profile string `json:"profile,omitempty"`
	Trigger string `json:"trigger,omitempty"` // "user" or "model"
	Host    string `json:"host,omitempty"`    // id of the agent, such as claude-code
	Event   string `json:"event,omitempty"`   // hook event of the agent, such as PreToolUse
	Trace   string `json:"trace,omitempty"`   // trace id of W3C Trace Context
	Span    string `json:"span,omitempty"`    // id of the span that requested this

	Hook        string   `json:"hook,omitempty"` // "pre" or "post"
	Script      string   `json:"script,omitempty"`
	File        string   `json:"file,omitempty"`
	Command     []string `json:"command,omitempty"`
	ExitCode    *int     `json:"exit_code,omitempty"`
	DurationMS  int64    `json:"duration_ms,omitempty"`
	Output      string   `json:"output,omitempty"`       // digest of the output
	OutputBytes int64    `json:"output_bytes,omitempty"` // size of the output
	Stdout      string   `json:"stdout,omitempty"`       // standard output without secrets, see [Options].Output
	Stderr      string   `json:"stderr,omitempty"`       // standard error without secrets, see [Options].Output

	Tool   string `json:"tool,omitempty"`
	Agent  string `json:"agent,omitempty"`
	Task   string `json:"task,omitempty"`
	Reason string `json:"reason,omitempty"` // why it failed or was denied

	Sandbox string `json:"sandbox,omitempty"` // restrictions of a script
	Verdict string `json:"verdict,omitempty"` // verdict of the policies

	Gap  bool   `json:"gap,omitempty"` // the previous line is incomplete
	Prev string `json:"prev"`          // digest of the previous line, "" for the first
}

// The limits of a record. Longer texts are cut and end in an ellipsis, and so do longer commands. If the record still
// exceeds a line's limit, its texts are cut further.
const (
	maxText    = 1024 // bytes of a text
	maxWords   = 64   // words of a command
	maxCommand = 8    // limit of all words of a command together, as a multiple of maxText
	maxFound   = 16   // suggested skills
	maxOutput  = 32   // limit of each output, as a multiple of maxText; its middle is omitted
)

// Suggestion returns an entry of [Record].Found.
func Suggestion(skill, pack string) string {
	if pack == "" {
		return skill
	}
	return skill + "@" + pack
}

// Digest returns the digest of bytes in the form of records.
func Digest(data ...[]byte) string {
	h := sha256.New()
	for _, d := range data {
		h.Write(d)
	}
	return sum(h)
}

// digestOf returns the [Digest] of a reader's bytes.
func digestOf(r io.Reader) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, r)
	return sum(h), err
}

func sum(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

// clean returns a record with its secrets removed, and its texts cut to most bytes.
func (r Record) clean(most int, known *secrets.Set) Record {
	for _, s := range []*string{&r.Reason, &r.Source, &r.Signer} {
		*s = redact(shorten(known.Redact(*s)))
	}
	stdout, stderr := cleanOutput(known.Redact(r.Stdout), most), cleanOutput(known.Redact(r.Stderr), most)
	prev := r.Prev // never cut the digest
	for _, f := range reflect.ValueOf(&r).Elem().Fields() {
		if f.Kind() == reflect.String {
			f.SetString(truncate(f.String(), most))
		}
	}
	r.Prev, r.Command = prev, cleanCommand(r.Command, most, known)
	r.Found = slices.Clone(r.Found[:min(len(r.Found), maxFound)])
	for i := range r.Found {
		r.Found[i] = truncate(known.Redact(r.Found[i]), most)
	}
	r.Stdout, r.Stderr = stdout, stderr
	return r
}

// cleanOutput returns an output without secrets. It removes them before it omits the middle, so that no part of one
// remains.
func cleanOutput(s string, most int) string {
	s = redact(strings.ToValidUTF8(s, "\ufffd"))
	limit := maxOutput * most
	if len(s) <= limit {
		return s
	}
	head := textx.Truncate(s, limit/2)
	head = strings.TrimSuffix(head, "…")
	tail := s[len(s)-limit/2:]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[%d bytes omitted]\n%s", head, len(s)-len(head)-len(tail), tail)
}

func cleanCommand(words []string, most int, known *secrets.Set) []string {
	if len(words) == 0 {
		return nil
	}
	budget := maxCommand * most
	out := make([]string, 0, min(len(words), maxWords+1))
	for i, w := range redactWords(words[:min(len(words), maxWords+1)]) {
		if i == maxWords || budget <= 0 {
			return append(out, "…")
		}
		w = truncate(known.Redact(w), min(most, budget))
		budget -= len(w)
		out = append(out, w)
	}
	return out
}

// shorten cuts a text that is far too long, at a word boundary.
func shorten(s string) string {
	if len(s) <= 4*maxText {
		return s
	}
	s = s[:4*maxText]
	return s[:strings.LastIndexAny(s, " \t\n")+1] + "…"
}

// truncate returns a text as valid UTF-8, cut to n bytes.
func truncate(s string, n int) string { return strings.ToValidUTF8(textx.Truncate(s, n), "\ufffd") }
