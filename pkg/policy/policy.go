package policy

import (
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Policy is a parsed policy file.
type Policy struct {
	Path      string // for messages
	Version   int    // version of the format: 1
	Mode      Mode
	Sources   Sources
	Skills    Skills
	Require   []Requirement // in the order of the file; every matching one applies
	Forbid    []Capability  // capabilities that no skill may have
	Approve   []Capability  // capabilities that need an approval
	Limits    Limits
	Downgrade Downgrade
	Lint      Lint
	Audit     *Audit // nil if unspecified

	Advisories Advisories
	Updates    Updates

	AllowedTools AllowedTools // "" if unspecified
	Hooks        HookRules
	Approvers    Approvers // "" if unspecified
	Execution    Execution
	Publish      Publish
	Authoring    Authoring

	Level  Level  // set by the reader of the file
	Digest string // digest of the file, set by its reader: "sha256:…"

	root   yamlx.Value // the parsed file, see Line
	broken error       // why everything is denied, see Broken
}

// Mode is the consequence of what the policy does not allow.
type Mode string

// The modes of a policy.
const (
	Enforce Mode = "enforce" // it is denied; the default
	Observe Mode = "audit"   // it is only reported
)

// Downgrade controls whether an older version, or one with fewer signatures, may replace an installed one.
type Downgrade string

// The values of downgrade.
const (
	DenyDowngrade  Downgrade = "deny" // the default
	AllowDowngrade Downgrade = "allow"
)

// Sources has the rules for sources of packs. A denial has precedence.
type Sources struct {
	Allow []Pattern // nil allows everything that is not denied; empty allows nothing
	Deny  []Pattern
}

// Pattern is a pattern of sources: a scheme on this machine (local, embedded, path, oci-layout, git+file), or
// scheme://host/path. In the path, * stands for any characters within a component and ** for any number of components.
// A host may start with *. for any number of names.
type Pattern string

// Skills has the rules for names of skills. A denial has precedence.
type Skills struct {
	Allow []SkillPattern // nil allows everything that is not denied; empty allows nothing
	Deny  []SkillPattern
}

// SkillPattern is a pattern skill@owner/name, owner/name for the skills of a pack, or skill alone for skills of that
// name from anywhere. A * stands for any characters of a part.
type SkillPattern string

// Requirement is a requirement for packs of some sources.
type Requirement struct {
	Match         Pattern
	Signatures    *Signatures   // nil if none are required
	MinReleaseAge time.Duration // 0 if none is required
	Line          int           // line in the file
}

// Signatures are the signers that a pack needs.
type Signatures struct {
	Threshold int // how many of AnyOf must have signed, at least 1
	AnyOf     []Signer
}

// NeedIdentity reports whether there are fewer keys than the threshold, so that an identity must have signed.
func (s *Signatures) NeedIdentity() bool {
	keys := 0
	for _, signer := range s.AnyOf {
		if signer.Identity == nil {
			keys++
		}
	}
	return keys < max(1, s.Threshold)
}

// id returns a unique id of a signer, "" if it is not valid.
func (s Signer) id() string {
	switch {
	case s.Key != nil && s.Key.SHA256 != "":
		return "key " + s.Key.SHA256
	case s.Identity != nil && s.Identity.Issuer != "" && s.Identity.Subject != "":
		return "identity " + s.Identity.Issuer + " " + s.Identity.Subject + " " + s.Identity.Repository
	case s.SSH != nil && s.SSH.SHA256 != "":
		return "ssh " + s.SSH.SHA256
	}
	return ""
}

// Signer is a key, an identity, or for repositories a user with an SSH key in a file of allowed signers.
type Signer struct {
	Key      *Key
	Identity *Identity
	SSH      *SSH
}

// Key is a public key in a file.
type Key struct {
	File   string // slash-separated path, absolute or relative to the policy file
	SHA256 string // SHA-256 of the file, 64 lowercase hexadecimal digits
}

// SSH is a file of allowed signers in the format of ssh-keygen. Each of its keys counts for the tags of repositories.
type SSH struct {
	AllowedSigners string // slash-separated path, absolute or relative to the policy file
	SHA256         string // SHA-256 of the file, 64 lowercase hexadecimal digits
}

// Identity is the identity that a certificate was issued to.
type Identity struct {
	Issuer  string // https address of the OpenID Connect issuer
	Subject string // exact subject of the certificate, or a regular expression that starts with ^ and ends with $

	// Repository is the https address of the repository of a CI job, "" for any. A job that calls a reusable workflow
	// has the workflow's repository in its subject.
	Repository string
}

// Capability is something that a skill's files make it able to do, or that they contain.
type Capability string

// The capabilities that skills can have.
const (
	NativeBinaries Capability = "native-binaries"
	Hooks          Capability = "hooks"
	DynamicShell   Capability = "dynamic-shell"
	Scripts        Capability = "scripts"
	NetworkTools   Capability = "network-tools"
	FileWrite      Capability = "file-write"
	UnscopedShell  Capability = "unscoped-shell"
	Secrets        Capability = "secrets"
)

// The capabilities that policies cannot name. They inform readers, and matter in comparison with another version.
const (
	Administrator Capability = "administrator" // programs such as sudo
	Tools         Capability = "tools"         // an entry of allowed-tools, or the configuration of MCP servers
	Restriction   Capability = "restriction"   // a limit that the skill sets for itself: without it, it can do more
)

// Capabilities returns all capabilities that policies can name.
func Capabilities() []Capability {
	return []Capability{NativeBinaries, Hooks, DynamicShell, Scripts, NetworkTools, FileWrite, UnscopedShell, Secrets}
}

// CapabilityNames returns the names of all capabilities.
func CapabilityNames() (names []string) {
	for _, c := range Capabilities() {
		names = append(names, string(c))
	}
	return names
}

// Limits are the maximum sizes of a skill. 0 means that the policy has no limit.
type Limits struct {
	Files      int64 // number of files
	FileBytes  int64 // bytes of each file
	TotalBytes int64 // bytes of all files
	PathBytes  int64 // bytes of each path
	Depth      int64 // levels of directories
}

// Lint selects the findings that deny a skill.
type Lint struct {
	FailOn []string // rule ids, families such as SEC, and prefixes such as SEC1*
}

// Advisories decide about packs that advisories are about. Malicious packs are always denied.
type Advisories struct {
	Vulnerable Vulnerable // what happens with vulnerable packs; "" is WarnVulnerable
	Required   bool       // deny installations without current advisories
}

// Vulnerable is what happens when a vulnerable pack is installed.
type Vulnerable string

// The values of advisories.vulnerable.
const (
	WarnVulnerable Vulnerable = "warn"
	DenyVulnerable Vulnerable = "deny"
)

// Audit has the settings of the audit log.
type Audit struct {
	Path     string // absolute path; "" for the default
	Required bool   // operations that cannot be recorded are denied
	Team     string // recorded with each operation; "" for none
}

// AllowedTools is the meaning of `allowed-tools`.
type AllowedTools string

// What a list of allowed tools does.
const (
	Restrict AllowedTools = "restrict" // other tools are denied; the default
	Grant    AllowedTools = "grant"    // these tools need no confirmation, and others work as usual
)

// HookRules control the answers to agents' hooks.
type HookRules struct {
	Unreadable Unreadable // "" if unspecified
}

// Unreadable is the answer to a tool call whose hook event cannot be read.
type Unreadable string

// What happens to a tool call whose hook event is unreadable.
const (
	Closed Unreadable = "closed" // deny; the default
	Open   Unreadable = "open"   // allow
)

// Approvers controls whose approvals satisfy a machine's policy.
type Approvers string

// Whose approvals count.
const (
	OwnApprovers  Approvers = "own"  // the administrator's, beside the policy; the default
	UserApprovers Approvers = "user" // also the user's
)

// Problem is a problem of a policy file: its Line and Column, a Message, and a Hint how to fix it.
type Problem = yamlx.Problem

// InvalidError reports that a file is not a valid policy.
type InvalidError struct {
	Path     string
	Problems []Problem // at least one, in the order of the file
}

// Error returns the first problem with its position, and the number of others.
func (e *InvalidError) Error() string { return e.text() }

// Code returns [diag.Invalid].
func (e *InvalidError) Code() diag.Code { return diag.Invalid }

// Hint returns the hint of the first problem.
func (e *InvalidError) Hint() string { return e.Problems[0].Hint }
