package project

import (
	"regexp"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/source"
)

// ParseLock reads a lock. A lock that cannot be read whole is an error, with a line, and never an empty lock: merge
// markers, another version of the format, duplicate keys, bad digests, and an integrity that is not that of the skills.
// Keys that are not known are kept. Errors have code [diag.Invalid], for the last of these [diag.Integrity].
func ParseLock(path string, data []byte) (*Lock, error) {
	r := reader{path: path}
	root, err := r.mapping(data, maxLock)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, diag.Errorf(diag.Invalid, "%s is empty", path).
			WithHint("restore it from version control, or delete it and run skillpm install to lock anew")
	}
	if err := r.lockVersion(root); err != nil {
		return nil, err
	}
	l := NewLock()
	for k, v := range pairs(root) {
		var err error
		switch k.Value {
		case "version":
		case "packs":
			err = r.lockedPacks(l, v)
		case "names":
			err = r.lockedNames(l, v)
		default:
			l.extra.add(&l.extra.root, k, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (r reader) lockVersion(root *yaml.Node) error {
	v := lookup(root, "version")
	if v == nil {
		return r.errorf(root, "the lock does not say which version of the format it has").
			WithHint("restore it from version control, or delete it and run skillpm install to lock anew")
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
		id, err := source.ParseID(k.Value)
		if err != nil {
			return r.at(k, err)
		}
		p, unknown, err := r.lockedPack(id, k, v)
		if err != nil {
			return err
		}
		l.Packs[id] = p
		if unknown != nil {
			l.extra.setPack(id, p.Clone(), unknown)
		}
		return nil
	})
}

func (r reader) lockedPack(id source.ID, k, v *yaml.Node) (p *LockedPack, unknown *yaml.Node, err error) {
	if v.Kind != yaml.MappingNode {
		return nil, nil, r.errorf(v, "%s must be a mapping", id)
	}
	p = &LockedPack{}
	err = r.fields(v, id.String(), nil, func(k, v *yaml.Node) (err error) {
		switch k.Value {
		case "version":
			p.Version, err = r.lockedVersion(v)
		case "source":
			p.Source, err = r.text(v, "source")
		case "resolved":
			p.Resolved, err = r.text(v, "resolved")
		case "integrity":
			p.Integrity, err = r.digest(v, "integrity")
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
		err = r.checkPack(id, p, k)
	}
	return p, unknown, err
}

// checkPack checks what the fields of one entry say together.
func (r reader) checkPack(id source.ID, p *LockedPack, k *yaml.Node) error {
	for _, required := range []struct{ key, value string }{
		{"version", p.Version}, {"source", p.Source}, {"integrity", p.Integrity},
	} {
		if required.value == "" {
			return r.errorf(k, "%s has no %s", id, required.key).
				WithHint("restore the lock from version control, or delete it and run skillpm install to lock anew")
		}
	}
	if _, err := p.Ref(id); err != nil {
		return r.at(k, err)
	}
	if want := bundle.Integrity(p.Skills); p.Integrity != want {
		return &IntegrityError{Path: r.path, Line: k.Line, Pack: id, Want: want, Got: p.Integrity}
	}
	return nil
}

// IntegrityError says that a lock's entry contradicts itself: its integrity is not that of the skills it lists.
type IntegrityError struct {
	Path      string
	Line      int
	Pack      source.ID
	Want, Got string // computed from the skills, and written
}

// Error names the file, the line and the pack.
func (e *IntegrityError) Error() string {
	n := &yaml.Node{Line: e.Line, Column: 1}
	return reader{path: e.Path}.errorf(n, "the integrity of %s is %s, and that of its skills %s", e.Pack, e.Got, e.Want).Error()
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

var treeDigest = regexp.MustCompile(`^t1:sha256:[0-9a-f]{64}$`)

func (r reader) digest(v *yaml.Node, what string) (string, error) {
	s, err := r.text(v, what)
	if err == nil && !treeDigest.MatchString(s) {
		err = r.errorf(v, "%s %q is not a tree digest", what, s).WithHint("restore the lock from version control")
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
		if _, err := source.ParseID(k.Value); err != nil {
			return r.at(k, err)
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
		if err := skill.CheckName(k.Value); err != nil {
			return r.at(k, err)
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
		if err := skill.CheckName(k.Value); err != nil {
			return r.at(k, err)
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

func (r reader) shadowed(v *yaml.Node) (map[source.ID]string, error) {
	if err := r.mappingOf(v, "shadowed"); err != nil {
		return nil, err
	}
	shadowed := make(map[source.ID]string)
	err := r.fields(v, "shadowed", nil, func(k, v *yaml.Node) error {
		id, err := source.ParseID(k.Value)
		if err != nil {
			return r.at(k, err)
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
