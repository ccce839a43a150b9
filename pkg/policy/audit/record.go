package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"reflect"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// The actions that are recorded.
const (
	Activate   = "activate"          // a skill was activated, or was not
	Deactivate = "deactivate"        // a skill ended
	Hook       = "hook"              // a skill's own script ran before or after it
	Run        = "run"               // a script or command of a skill ran
	Refuse     = "refuse"            // a call of a tool was refused
	Missing    = "reference-missing" // a file that a skill was asked for is not there
	Task       = "task"              // a skill was handed to a runner
	TaskEnd    = "task-end"          // what a runner was handed has ended
	End        = "session-end"       // a session ended
	Install    = "install"           // a pack was installed
	Update     = "update"            // a pack was replaced by another version of it
	Remove     = "remove"            // a pack was removed
	Publish    = "publish"           // a pack was published
	Approve    = "approve"           // what needs an approval was approved
	Revoke     = "revoke"            // an approval was taken back
	Deny       = "deny"              // a skill was denied to everybody, or is denied no longer
	Sync       = "sync"              // an organisation's skills and policies were fetched
	Policy     = "policy"            // a policy was changed, or only noted what it would have refused
	HookEvent  = "hook-event"        // an event of an agent's own hooks was refused, or not understood
)

// Actions returns all actions.
func Actions() []string {
	return []string{
		Activate, Deactivate, Hook, Run, Refuse, Missing, Task, TaskEnd, End, Install, Update, Remove, Publish,
		Approve, Revoke, Deny, Sync, Policy,
		HookEvent,
	}
}

// The results of actions.
const (
	OK      = "ok"
	Failed  = "failed"
	Denied  = "denied"
	Timeout = "timeout"
	Begun   = "begun" // of an intent: how it ended is in another record
)

// Results returns all results.
func Results() []string { return []string{OK, Failed, Denied, Timeout, Begun} }

// The phases of what is recorded twice: before it is done, and after.
const (
	Intent  = "intent"
	Outcome = "outcome"
)

// The verdicts of policies.
const (
	Allowed    = "allow"
	Forbidden  = "deny"
	WouldDeny  = "would-deny" // a policy that only observes would have refused it
	Unapproved = "unapproved" // an approval is missing, or was given to something else
)

// Record is one action. What does not apply is empty and not written. [Log.Write] sets Seq, Time, User, Machine, Gap
// and Prev.
type Record struct {
	Seq  int64  `json:"seq"`  // from 1
	Time string `json:"ts"`   // RFC 3339 in UTC, with nanoseconds
	User string `json:"user"` // of the operating system

	Machine string `json:"machine,omitempty"` // where it was done: a log does not know which others it is laid beside

	Action string `json:"action"`
	Result string `json:"result"`
	// "intent" before something is done, "outcome" after it; "" for what is recorded once
	Phase string `json:"phase,omitempty"`
	ID    string `json:"id,omitempty"` // what an intent and its outcome have in common

	Skill   string `json:"skill,omitempty"`
	Pack    string `json:"pack,omitempty"`
	Version string `json:"version,omitempty"`
	Layer   string `json:"layer,omitempty"`
	Dir     string `json:"dir,omitempty"`
	Digest  string `json:"digest,omitempty"` // of its SKILL.md

	Source string `json:"source,omitempty"` // where a pack is from, as locks have it
	Tree   string `json:"tree,omitempty"`   // the digest of its files
	Signer string `json:"signer,omitempty"` // who signed it
	Policy string `json:"policy,omitempty"` // the digest of the policies in force, or the policy that decided
	Lock   string `json:"lock,omitempty"`   // the digest of the lock that was written

	Session string `json:"session,omitempty"`
	Project string `json:"project,omitempty"`
	Profile string `json:"profile,omitempty"`
	Trigger string `json:"trigger,omitempty"` // who asked: "user" or "model"
	Host    string `json:"host,omitempty"`    // the agent's program, as claude-code
	Event   string `json:"event,omitempty"`   // of that program's hooks, as PreToolUse
	Trace   string `json:"trace,omitempty"`   // the trace that this belongs to, as W3C Trace Context has it
	Span    string `json:"span,omitempty"`    // the span in it that asked for this

	Hook        string   `json:"hook,omitempty"` // "pre" or "post"
	Script      string   `json:"script,omitempty"`
	File        string   `json:"file,omitempty"`
	Command     []string `json:"command,omitempty"`
	ExitCode    *int     `json:"exit_code,omitempty"`
	DurationMS  int64    `json:"duration_ms,omitempty"`
	Output      string   `json:"output,omitempty"`       // the digest of what it printed
	OutputBytes int64    `json:"output_bytes,omitempty"` // and its size

	Tool   string `json:"tool,omitempty"`
	Agent  string `json:"agent,omitempty"`
	Task   string `json:"task,omitempty"`
	Reason string `json:"reason,omitempty"` // why it failed or was refused

	Sandbox string `json:"sandbox,omitempty"` // what a script was confined to
	Verdict string `json:"verdict,omitempty"` // what the policies say

	Gap  bool   `json:"gap,omitempty"` // the line before was not written to its end
	Prev string `json:"prev"`          // the digest of the line before, "" for the first
}

// The limits of a record: longer texts are cut and end in an ellipsis, as a command does that has more words. Where the
// record would still be longer than a line may be, its texts are cut shorter.
const (
	maxText    = 1024 // bytes of one text
	maxWords   = 64   // of a command
	maxCommand = 8    // texts: what all words of a command have together
)

// Digest returns the digest of some bytes as records have it.
func Digest(data ...[]byte) string {
	h := sha256.New()
	for _, d := range data {
		h.Write(d)
	}
	return sum(h)
}

// digestOf is [Digest] of what is read.
func digestOf(r io.Reader) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, r)
	return sum(h), err
}

func sum(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

// clean returns a record with its secrets removed and its texts cut to so many bytes.
func (r Record) clean(most int) Record {
	for _, s := range []*string{&r.Reason, &r.Source, &r.Signer} {
		*s = redact(shorten(*s))
	}
	prev := r.Prev // a digest, which is never cut
	for _, f := range reflect.ValueOf(&r).Elem().Fields() {
		if f.Kind() == reflect.String {
			f.SetString(truncate(f.String(), most))
		}
	}
	r.Prev, r.Command = prev, cleanCommand(r.Command, most)
	return r
}

func cleanCommand(words []string, most int) []string {
	if len(words) == 0 {
		return nil
	}
	budget := maxCommand * most
	out := make([]string, 0, min(len(words), maxWords+1))
	for i, w := range redactWords(words[:min(len(words), maxWords+1)]) {
		if i == maxWords || budget <= 0 {
			return append(out, "…")
		}
		w = truncate(w, min(most, budget))
		budget -= len(w)
		out = append(out, w)
	}
	return out
}

// shorten returns the beginning of a text that is much too long, without the word that it would cut.
func shorten(s string) string {
	if len(s) <= 4*maxText {
		return s
	}
	s = s[:4*maxText]
	return s[:strings.LastIndexAny(s, " \t\n")+1] + "…"
}

// truncate returns a text as valid UTF-8, shortened to n bytes.
func truncate(s string, n int) string { return strings.ToValidUTF8(textx.Truncate(s, n), "\ufffd") }
