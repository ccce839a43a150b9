package policy

import (
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Policy is what a policy file says.
type Policy struct {
	Path      string // for messages
	Version   int    // of the format: 1
	Mode      Mode
	Sources   Sources
	Skills    Skills
	Require   []Requirement // in the order of the file; every one that matches holds
	Forbid    []Capability  // what no skill may have
	Approve   []Capability  // what a skill may have once somebody has approved it
	Limits    Limits
	Downgrade Downgrade
	Lint      Lint
	Audit     *Audit // nil where the file has none

	AllowedTools AllowedTools // "" where the file does not say
	Hooks        HookRules
	Approvers    Approvers // "" where the file does not say
	Execution    Execution
	Publish      Publish

	Level  Level  // whose it is, as whoever read the file says
	Digest string // of the file's bytes, as whoever read it says: "sha256:…"

	root   yamlx.Value // of the file, see Line
	broken error       // why everything is denied, see Broken
}

// Mode says what happens to what the policy does not allow.
type Mode string

// The modes.
const (
	Enforce Mode = "enforce" // it is refused; the default
	Observe Mode = "audit"   // it is only noted
)

// Downgrade says whether an older version, or one with fewer signatures, may replace what is installed.
type Downgrade string

// The answers to a downgrade.
const (
	DenyDowngrade  Downgrade = "deny" // the default
	AllowDowngrade Downgrade = "allow"
)

// Sources says where packs may come from. A denial wins.
type Sources struct {
	Allow []Pattern // nil: everything that is not denied; empty: nothing
	Deny  []Pattern
}

// Pattern is a pattern of sources: one of the words local, embedded, path, oci-layout and git+file for places on this
// machine, or scheme://host/path, in which * stands for any characters within a part of the path, ** for any number of
// parts, and *. before a host for any number of names.
type Pattern string

// Skills says which skills may not be used.
type Skills struct {
	Deny []SkillPattern
}

// SkillPattern is a pattern skill@owner/name, or skill alone for the skill of that name wherever it comes from, in
// which * stands for any characters of a part.
type SkillPattern string

// Requirement is what packs of some sources must have.
type Requirement struct {
	Match         Pattern
	Signatures    *Signatures   // nil where none are required
	MinReleaseAge time.Duration // 0 where none is required
	Line          int           // in the file
}

// Signatures says whose signatures a pack needs.
type Signatures struct {
	Threshold int // how many of AnyOf, at least 1 and at most all
	AnyOf     []Signer
}

// NeedIdentity reports whether there are not enough keys, so that no pack has the signatures without an identity.
func (s *Signatures) NeedIdentity() bool {
	keys := 0
	for _, signer := range s.AnyOf {
		if signer.Identity == nil {
			keys++
		}
	}
	return keys < max(1, s.Threshold)
}

// id returns what tells a signer from others, "" for one that was not read.
func (s Signer) id() string {
	switch {
	case s.Key != nil && s.Key.SHA256 != "":
		return "key " + s.Key.SHA256
	case s.Identity != nil && s.Identity.Issuer != "" && s.Identity.Subject != "":
		return "identity " + s.Identity.Issuer + " " + s.Identity.Subject
	case s.SSH != nil && s.SSH.SHA256 != "":
		return "ssh " + s.SSH.SHA256
	}
	return ""
}

// Signer is a key, an identity, or for repositories somebody whose SSH key is in a file of allowed signers.
type Signer struct {
	Key      *Key
	Identity *Identity
	SSH      *SSH
}

// Key is a public key in a file.
type Key struct {
	File   string // slash-separated, relative to the policy file or absolute
	SHA256 string // of the file, 64 lower-case hexadecimal digits
}

// SSH is a file of allowed signers as ssh-keygen reads it: each of its keys counts for the tags of repositories.
type SSH struct {
	AllowedSigners string // the file, slash-separated, relative to the policy file or absolute
	SHA256         string // of the file, 64 lower-case hexadecimal digits
}

// Identity is who a certificate was issued to.
type Identity struct {
	Issuer  string // the https address of the OpenID Connect issuer, exactly
	Subject string // the certificate's subject exactly, or a regular expression that starts with ^ and ends with $
}

// Capability is something that a skill may be able to do, or bring along.
type Capability string

// The capabilities.
const (
	NativeBinaries Capability = "native-binaries"
	Hooks          Capability = "hooks"
	DynamicShell   Capability = "dynamic-shell"
	Scripts        Capability = "scripts"
	NetworkTools   Capability = "network-tools"
	FileWrite      Capability = "file-write"
	UnscopedShell  Capability = "unscoped-shell"
)

// Capabilities returns all capabilities.
func Capabilities() []Capability {
	return []Capability{NativeBinaries, Hooks, DynamicShell, Scripts, NetworkTools, FileWrite, UnscopedShell}
}

// Limits are how large a skill may be. 0 stands for no limit of the policy's own.
type Limits struct {
	Files      int64 // number of files
	FileBytes  int64 // of each file
	TotalBytes int64 // of all files together
	PathBytes  int64 // of each path
	Depth      int64 // directories in each other
}

// Lint says which findings keep a skill from being used.
type Lint struct {
	FailOn []string // ids of rules, families as SEC, and beginnings as SEC1*
}

// Audit says where what is done is written down.
type Audit struct {
	Path     string // absolute
	Required bool   // nothing is done that cannot be written down
}

// AllowedTools says what a skill's list of allowed tools means.
type AllowedTools string

// The meanings of a list of allowed tools.
const (
	Restrict AllowedTools = "restrict" // no other tool may be called; the default
	Grant    AllowedTools = "grant"    // those need not be asked for, and others may be called as always
)

// HookRules say how the hooks of hosts answer.
type HookRules struct {
	Unreadable Unreadable // "" where the file does not say
}

// Unreadable says what becomes of a call that a hook is asked about in a way that it can't read.
type Unreadable string

// The answers to what cannot be read.
const (
	Closed Unreadable = "closed" // it is refused; the default
	Open   Unreadable = "open"   // it goes on
)

// Approvers say whose approvals count for a machine's policy.
type Approvers string

// The approvers.
const (
	OwnApprovers  Approvers = "own"  // those that are kept beside the policy, by the administrator; the default
	UserApprovers Approvers = "user" // the user's, too
)

// Problem is one thing that is wrong with a policy file: its Line and Column, a Message, and a Hint how to fix it.
type Problem = yamlx.Problem

// InvalidError is the error for a file that is not a policy.
type InvalidError struct {
	Path     string
	Problems []Problem // at least one, in the order of the file
}

// Error returns the first problem with its place, and how many more there are.
func (e *InvalidError) Error() string { return e.text() }

// Code returns [diag.Invalid].
func (e *InvalidError) Code() diag.Code { return diag.Invalid }

// Hint returns the hint of the first problem.
func (e *InvalidError) Hint() string { return e.Problems[0].Hint }
