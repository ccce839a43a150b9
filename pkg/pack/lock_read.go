package pack

import (
	"fmt"
	"maps"
	"regexp"
	"sync"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

var lockFormat = yamlx.Format{
	Name: LockName, MaxBytes: maxLock, NullIsEmpty: true,
	ConflictHint: "resolve the conflict with: skillpm install --resolve-lock",
}

const restoreLock = "restore skillpm.lock from version control, or delete it and run \"skillpm install\""

// ParseLock reads a lockfile and keeps unknown keys. It never returns a part of one: merge markers, another version of
// the format, duplicate keys, and bad digests are errors with a line and code [diag.Invalid]. An integrity that doesn't
// match the skills has code [diag.Integrity].
func ParseLock(path string, data []byte) (*Lock, error) {
	if len(data) <= maxLock {
		if l := parseCanonicalLock(data); l != nil {
			return l, nil
		}
	}
	l, r := readLock(path, data)
	if err := r.Err(); err != nil {
		return nil, err
	}
	l.root = nil
	return l, nil
}

// readLock returns the readable part of a lockfile, nil if there is none.
func readLock(path string, data []byte) (*Lock, *yamlx.Reader) {
	r := yamlx.Read(path, data, lockFormat)
	root, ok := r.Root()
	if !ok {
		return nil, r
	}
	if !root.Exists() {
		r.Add(Problem{Message: "the file is empty", Hint: restoreLock})
		return nil, r
	}
	if !lockVersion(root) {
		return nil, r
	}
	l := NewLock()
	l.unknown.packs, l.unknown.names = map[ID]unknownIn[*LockedPack]{}, map[string]unknownIn[LockedName]{}
	l.root = root.Node
	for key, v := range root.Fields() {
		switch key {
		case "version":
		case "packs":
			l.readPacks(path, v)
		case "names":
			l.readNames(v)
		default:
			l.unknown.root = appendPair(l.unknown.root, v)
		}
	}
	return l, r
}

// lockVersion checks the version of the format. Reading ends at an unknown one.
func lockVersion(root yamlx.Value) bool {
	v := root.Get("version")
	switch {
	case !v.Exists():
		root.Errorf(restoreLock, "the lockfile does not have a format version")
	case v.Node.Value != LockVersion:
		v.Errorf("use a newer skillpm",
			"unsupported lockfile version %q; this skillpm supports version %s",
			v.Node.Value, LockVersion)
		return false
	}
	return true
}

func (l *Lock) readPacks(path string, v yamlx.Value) {
	for name, v := range v.Fields() {
		id, bad := ParseID(name)
		v.Key().Check(bad)
		p, unknown := lockedPack(path, id, v)
		if p == nil || bad != nil {
			continue
		}
		l.Packs[id] = p
		if unknown != nil {
			l.unknown.packs[id] = unknownIn[*LockedPack]{p.Clone(), unknown}
		}
	}
}

func lockedPack(path string, id ID, v yamlx.Value) (p *LockedPack, unknown *yaml.Node) {
	if !v.IsMapping() {
		v.Errorf("", "%s must be a mapping", v.Name)
		return nil, nil
	}
	p = &LockedPack{}
	before := v.Count()
	for key, v := range v.Fields() {
		switch key {
		case "version":
			p.Version = v.Text(checkLockedVersion)
		case "source":
			p.Source = v.Text()
		case "resolved":
			p.Resolved = v.Text()
		case "integrity":
			p.Integrity = treeDigest(v)
		case "signer":
			p.Signer = v.Text(checkSigner)
		case "dependencies":
			p.Dependencies = lockedDependencies(v)
		case "requires":
			p.Needs = lockedNeeds(v)
		case "skills":
			p.Skills = lockedSkills(v)
		case "partial":
			p.Partial = v.Bool()
		default:
			unknown = appendPair(unknown, v)
		}
	}
	for _, required := range []struct{ key, value string }{
		{"version", p.Version}, {"source", p.Source}, {"integrity", p.Integrity},
	} {
		if required.value == "" && (v.Count() == before || !v.Get(required.key).Exists()) {
			v.Key().Errorf(restoreLock,
				"%s does not have the required key %s", v.Name, required.key)
		}
	}
	if v.Count() == before && !id.IsZero() {
		checkPack(path, id, p, v.Key())
	}
	return p, unknown
}

// checkPack checks rules that involve several fields of a pack.
func checkPack(path string, id ID, p *LockedPack, key yamlx.Value) {
	_, err := p.Ref(id)
	key.Check(err)
	if want := bundle.Integrity(p.Skills); p.Integrity != want {
		key.Check(&IntegrityError{
			Path: path, Line: key.Line(), Pack: id, Want: want, Got: p.Integrity,
			column: key.Node.Column,
		})
	}
}

// IntegrityError reports that the integrity of a locked pack doesn't match its skills.
type IntegrityError struct {
	Path      string
	Line      int
	Pack      ID
	Want, Got string // computed from the skills, and written
	column    int
}

// Error returns the file, the line and the message.
func (e *IntegrityError) Error() string {
	return fmt.Sprintf("%s:%d:1: %s", e.Path, e.Line, e.message())
}

func (e *IntegrityError) message() string {
	return fmt.Sprintf("the integrity of %s is %s, but its skills have the integrity %s", e.Pack, e.Got, e.Want)
}

// Problem returns the error as a [Problem].
func (e *IntegrityError) Problem() Problem {
	return Problem{Line: e.Line, Column: e.column, Message: e.message(), Hint: e.Hint()}
}

// Code is Integrity.
func (e *IntegrityError) Code() diag.Code { return diag.Integrity }

// Hint suggests how to recover.
func (e *IntegrityError) Hint() string {
	return "restore skillpm.lock from version control, and do not edit or merge the file by hand"
}

var treeDigestText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^t1:sha256:[0-9a-f]{64}$`) })

func treeDigest(v yamlx.Value) string {
	return v.Text(func(s string) error {
		if !treeDigestText().MatchString(s) {
			return diag.Errorf(diag.Invalid, "invalid digest %q for %s: use t1:sha256: and 64 hexadecimal digits", s, v.Name).
				WithHint("restore skillpm.lock from version control")
		}
		return nil
	})
}

// maxSigner is the greatest size of a signer in bytes: twice that of a key of 8192 bits.
const maxSigner = 4096

var signerText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9][a-z0-9@.-]*:[A-Za-z0-9+/]+={0,2}|identity:https://[!-~]+ [!-~]+( https://[!-~]+)?)$`)
})

// isSigner reports whether s is empty, a key, or an issuer and a subject, with or without a repository.
func isSigner(s string) bool { return s == "" || len(s) <= maxSigner && signerText().MatchString(s) }

func checkSigner(s string) error {
	if s == "" || !isSigner(s) {
		return diag.Errorf(diag.Invalid, "signer must be a key, or an identity with its issuer").
			WithHint("restore skillpm.lock from version control")
	}
	return nil
}

func checkLockedVersion(s string) error {
	if _, err := semver.StrictNewVersion(s); err != nil {
		return diag.Errorf(diag.Invalid, "invalid version %q", s).
			WithHint("restore skillpm.lock from version control")
	}
	return nil
}

func lockedDependencies(v yamlx.Value) map[string]string {
	deps := make(map[string]string)
	for name, v := range v.Fields() {
		_, bad := ParseID(name)
		v.Key().Check(bad)
		deps[name] = v.Text()
	}
	return deps
}

// lockedNeeds reads what a pack needs on a machine. Kinds and values that this version does not know are kept.
func lockedNeeds(v yamlx.Value) map[string]string {
	needs := make(map[string]string)
	for kind, v := range v.Fields() {
		needs[kind] = v.Text()
	}
	return needs
}

func lockedSkills(v yamlx.Value) map[string]string {
	skills := make(map[string]string)
	for name, v := range v.Fields() {
		v.Key().Check(skill.CheckName(name))
		skills[name] = treeDigest(v.Named("skill " + name))
	}
	return skills
}

func (l *Lock) readNames(v yamlx.Value) {
	for name, v := range v.Fields() {
		v.Key().Check(skill.CheckName(name))
		if !v.IsMapping() {
			v.Errorf("", "names.%s must be a mapping", name)
			continue
		}
		var n LockedName
		var unknown *yaml.Node
		for key, v := range v.Fields() {
			switch key {
			case "winner":
				n.Winner = yamlx.As(v, ParseID)
			case "shadowed":
				n.Shadowed = shadowed(v)
			default:
				unknown = appendPair(unknown, v)
			}
		}
		l.Names[name] = n
		if unknown != nil {
			saved := LockedName{Winner: n.Winner, Shadowed: maps.Clone(n.Shadowed)}
			l.unknown.names[name] = unknownIn[LockedName]{saved, unknown}
		}
	}
}

func shadowed(v yamlx.Value) map[ID]string {
	shadowed := make(map[ID]string)
	for name, v := range v.Fields() {
		id, bad := ParseID(name)
		v.Key().Check(bad)
		if alias := v.Text(skill.CheckName); alias != "" {
			shadowed[id] = alias
		}
	}
	return shadowed
}

// Problem is an error in a file, with its Line and Column, a Message, and a Hint how to fix it.
type Problem = yamlx.Problem

// The greatest sizes in bytes: of a manifest or a configuration, and of a lockfile.
const (
	maxFile = 1 << 20
	maxLock = 64 << 20
)

// CheckManifest reads a manifest like [ParseManifest], but goes on after an error: it returns all problems in order of
// their positions, and the readable part of the manifest, nil if there is none.
func CheckManifest(path string, data []byte) (*Manifest, []Problem) {
	m, r := readManifest(path, data)
	return m, r.Problems()
}

// CheckLock reads a lockfile like [ParseLock], and returns all problems; see [CheckManifest].
func CheckLock(path string, data []byte) (*Lock, []Problem) {
	l, r := readLock(path, data)
	return l, r.Problems()
}
