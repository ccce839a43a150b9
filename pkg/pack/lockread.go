package pack

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// ParseLock reads a lock. A lock that cannot be read whole is an error, with a line, and never an empty lock: merge
// markers, another version of the format, duplicate keys, bad digests, and an integrity that is not that of the skills.
// Keys that are not known are kept. Errors have code [diag.Invalid], for the last of these [diag.Integrity].
func ParseLock(path string, data []byte) (*Lock, error) {
	return reader{path: path}.lock(data)
}

func (r reader) lock(data []byte) (*Lock, error) {
	if r.notes == nil && len(data) <= maxLock {
		if l := writtenLock(data); l != nil {
			return l, nil
		}
	}
	root, err := r.mapping(data, maxLock)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, r.fileError("is empty").
			WithHint("restore it from version control, or delete it and run skillpm install to lock anew")
	}
	if err := r.lockVersion(root); err != nil {
		return nil, err
	}
	l := NewLock()
	if r.notes != nil {
		l.places.root = root
	}
	err = r.fields(root, LockName, nil, func(k, v *yaml.Node) error {
		switch k.Value {
		case "version":
		case "packs":
			return r.lockedPacks(l, v)
		case "names":
			return r.lockedNames(l, v)
		default:
			l.extra.add(&l.extra.root, k, v)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// lockVersion checks the version of the format. What another version means is not known, so that reading ends there.
func (r reader) lockVersion(root *yaml.Node) error {
	v := lookup(root, "version")
	if v == nil {
		return r.note(r.errorf(root, "the lock does not say which version of the format it has").
			WithHint("restore it from version control, or delete it and run skillpm install to lock anew"))
	}
	if v.Value != LockVersion {
		return r.errorf(v, "version %q of the lock's format is not known to this skillpm, which writes version %s", v.Value, LockVersion).
			WithHint("use a newer skillpm")
	}
	return nil
}

func (r reader) lockedPacks(l *Lock, v *yaml.Node) error {
	if err := r.mappingOf(v, "packs"); err != nil {
		return err
	}
	return r.fields(v, "packs", nil, func(k, v *yaml.Node) error {
		id, bad := ParseID(k.Value)
		if err := r.note(r.at(k, bad)); err != nil {
			return err
		}
		p, unknown, err := r.lockedPack(id, k, v)
		if err != nil || bad != nil {
			return err
		}
		l.Packs[id] = p
		if unknown != nil {
			l.extra.setPack(id, p.Clone(), unknown)
		}
		return nil
	})
}

func (r reader) lockedPack(id ID, k, v *yaml.Node) (p *LockedPack, unknown *yaml.Node, err error) {
	if v.Kind != yaml.MappingNode {
		return nil, nil, r.errorf(v, "%s must be a mapping", k.Value)
	}
	p = &LockedPack{}
	before := r.noted()
	err = r.fields(v, k.Value, nil, func(k, v *yaml.Node) (err error) {
		switch k.Value {
		case "version":
			p.Version, err = r.lockedVersion(v)
		case "source":
			p.Source, err = r.text(v, "source")
		case "resolved":
			p.Resolved, err = r.text(v, "resolved")
		case "integrity":
			p.Integrity, err = r.digest(v, "integrity")
		case "signer":
			p.Signer, err = r.signer(v)
		case "dependencies":
			p.Dependencies, err = r.lockedDependencies(v)
		case "skills":
			p.Skills, err = r.lockedSkills(v)
		case "partial":
			p.Partial, err = r.flag(v, "partial")
		default:
			unknown = appendPair(unknown, k, v)
		}
		return err
	})
	if err == nil {
		err = r.hasFields(p, k, v, before)
	}
	if err == nil && r.noted() == before && !id.IsZero() {
		err = r.checkPack(id, p, k)
	}
	return p, unknown, err
}

// hasFields checks that an entry has what it needs. Before is how many problems there were before its fields.
func (r reader) hasFields(p *LockedPack, k, v *yaml.Node, before int) error {
	for _, required := range []struct{ key, value string }{
		{"version", p.Version}, {"source", p.Source}, {"integrity", p.Integrity},
	} {
		if required.value != "" || r.noted() > before && lookup(v, required.key) != nil {
			continue
		}
		err := r.errorf(k, "%s has no %s", k.Value, required.key).
			WithHint("restore the lock from version control, or delete it and run skillpm install to lock anew")
		if err := r.note(err); err != nil {
			return err
		}
	}
	return nil
}

// checkPack checks what the fields of one entry say together.
func (r reader) checkPack(id ID, p *LockedPack, k *yaml.Node) error {
	_, err := p.Ref(id)
	if err := r.note(r.at(k, err)); err != nil {
		return err
	}
	if want := bundle.Integrity(p.Skills); p.Integrity != want {
		return &IntegrityError{Path: r.path, Line: k.Line, Pack: id, Want: want, Got: p.Integrity, column: k.Column}
	}
	return nil
}

// IntegrityError says that a lock's entry contradicts itself: its integrity is not that of the skills it lists.
type IntegrityError struct {
	Path      string
	Line      int
	Pack      ID
	Want, Got string // computed from the skills, and written
	column    int
}

// Error names the file, the line and the pack.
func (e *IntegrityError) Error() string {
	return fmt.Sprintf("%s:%d:1: %s", e.Path, e.Line, e.message())
}

func (e *IntegrityError) message() string {
	return fmt.Sprintf("the integrity of %s is %s, and that of its skills %s", e.Pack, e.Got, e.Want)
}

// Code is Integrity.
func (e *IntegrityError) Code() diag.Code { return diag.Integrity }

// Hint says how to go on.
func (e *IntegrityError) Hint() string {
	return "the lock was edited or merged by hand: restore it from version control"
}

// flag reads true or false.
func (r reader) flag(v *yaml.Node, what string) (bool, error) {
	if v.Kind != yaml.ScalarNode || v.Value != "true" && v.Value != "false" {
		return false, r.errorf(v, "%s must be true or false", what)
	}
	return v.Value == "true", nil
}

var treeDigest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^t1:sha256:[0-9a-f]{64}$`) })

func (r reader) digest(v *yaml.Node, what string) (string, error) {
	s, err := r.text(v, what)
	if err == nil && !treeDigest().MatchString(s) {
		err = r.errorf(v, "%s %q is not a tree digest", what, s).WithHint("restore the lock from version control")
	}
	return s, err
}

// maxSigner is the size in bytes over which no signer is read: twice that of a key of 8192 bits.
const maxSigner = 4096

var signerText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9][a-z0-9@.-]*:[A-Za-z0-9+/]+={0,2}|identity:https://[!-~]+ [!-~]+)$`)
})

// isSigner reports whether s is none, or a signer as a lock has them: a key, or an issuer and a subject.
func isSigner(s string) bool { return s == "" || len(s) <= maxSigner && signerText().MatchString(s) }

func (r reader) signer(v *yaml.Node) (string, error) {
	s, err := r.text(v, "signer")
	if err == nil && (s == "" || !isSigner(s)) {
		err = r.errorf(v, "signer is not a key, or an identity with its issuer").WithHint("restore the lock from version control")
	}
	return s, err
}

func (r reader) lockedVersion(v *yaml.Node) (string, error) {
	s, err := r.text(v, "version")
	if err != nil {
		return "", err
	}
	if _, err := semver.StrictNewVersion(s); err != nil {
		return "", r.errorf(v, "version %q is not a semantic version", s)
	}
	return s, nil
}

func (r reader) lockedDependencies(v *yaml.Node) (map[string]string, error) {
	if err := r.mappingOf(v, "dependencies"); err != nil {
		return nil, err
	}
	deps := make(map[string]string)
	err := r.fields(v, "dependencies", nil, func(k, v *yaml.Node) (err error) {
		_, bad := ParseID(k.Value)
		if err := r.note(r.at(k, bad)); err != nil {
			return err
		}
		deps[k.Value], err = r.text(v, k.Value)
		return err
	})
	return deps, err
}

func (r reader) lockedSkills(v *yaml.Node) (map[string]string, error) {
	if err := r.mappingOf(v, "skills"); err != nil {
		return nil, err
	}
	skills := make(map[string]string)
	err := r.fields(v, "skills", nil, func(k, v *yaml.Node) (err error) {
		if err := r.note(r.at(k, skill.CheckName(k.Value))); err != nil {
			return err
		}
		skills[k.Value], err = r.digest(v, "skill "+k.Value)
		return err
	})
	return skills, err
}

func (r reader) lockedNames(l *Lock, v *yaml.Node) error {
	if err := r.mappingOf(v, "names"); err != nil {
		return err
	}
	return r.fields(v, "names", nil, func(k, v *yaml.Node) error {
		if err := r.note(r.at(k, skill.CheckName(k.Value))); err != nil {
			return err
		}
		n, unknown, err := r.lockedName(k.Value, v)
		if err != nil {
			return err
		}
		l.Names[k.Value] = n
		if unknown != nil {
			l.extra.setName(k.Value, n, unknown)
		}
		return nil
	})
}

func (r reader) lockedName(name string, v *yaml.Node) (n LockedName, unknown *yaml.Node, err error) {
	if v.Kind != yaml.MappingNode {
		return n, nil, r.errorf(v, "name %s must be a mapping", name)
	}
	err = r.fields(v, name, nil, func(k, v *yaml.Node) (err error) {
		switch k.Value {
		case "winner":
			n.Winner, err = r.packID(v, "winner")
		case "shadowed":
			n.Shadowed, err = r.shadowed(v)
		default:
			unknown = appendPair(unknown, k, v)
		}
		return err
	})
	return n, unknown, err
}

func (r reader) shadowed(v *yaml.Node) (map[ID]string, error) {
	if err := r.mappingOf(v, "shadowed"); err != nil {
		return nil, err
	}
	shadowed := make(map[ID]string)
	err := r.fields(v, "shadowed", nil, func(k, v *yaml.Node) error {
		id, bad := ParseID(k.Value)
		if err := r.note(r.at(k, bad)); err != nil {
			return err
		}
		alias, err := r.text(v, k.Value)
		if err != nil {
			return err
		}
		if err := skill.CheckName(alias); err != nil {
			return r.at(v, err)
		}
		shadowed[id] = alias
		return nil
	})
	return shadowed, err
}
