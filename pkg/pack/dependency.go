package pack

import (
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// The keys of a dependency that is written as a mapping, in the order they are written in. At most one of the first
// four says where the pack is; without any it is looked up by name.
const (
	keyOCI     = "oci"     // oci://host/repository
	keyLayout  = "layout"  // the directory of an OCI layout
	keyGit     = "git"     // the URL of a repository; path is then the directory in it
	keyPath    = "path"    // a directory
	keyVersion = "version" // a range of versions
	keyTag     = "tag"     // of a git repository, an OCI repository or a layout
	keyBranch  = "branch"  // of a git repository
	keyRev     = "rev"     // a commit, tag or branch of a git repository
	keyDigest  = "digest"  // sha256:… of an artifact, or the commit that a tag must stand for
	keySkills  = "skills"  // the skills wanted of it
)

var dependencyKeys = []string{
	keyOCI, keyLayout, keyGit, keyPath, keyVersion, keyTag, keyBranch, keyRev, keyDigest, keySkills,
}

var sourceKeys = dependencyKeys[:4]

// dependencies reads the mapping of pack to what is required of it.
func dependencies(v yamlx.Value) []Dependency {
	var list []Dependency
	for name, v := range v.Fields() {
		id, bad := ParseID(name)
		v.Key().Check(bad)
		if d := dependency(id, v); bad == nil {
			list = append(list, d)
		}
	}
	return list
}

// dependency reads a range of versions, or a mapping of [dependencyKeys]. One that is not valid has neither a
// constraint nor a place.
func dependency(id ID, v yamlx.Value) Dependency {
	d := Dependency{ID: id}
	if !v.IsMapping() {
		d.Constraint = v.Text(func(s string) error {
			if strings.Contains(s, ":") {
				return diag.Errorf(diag.Invalid, "%s: %q is a place, not a range of versions", v.Name, s).
					WithHint("write {git: \"…\"}, {oci: \"…\"} or {path: \"…\"}")
			}
			return checkConstraint(s)
		})
		return d
	}
	f := readFields(v)
	d.Skills = f.skills
	if f.broken || id.IsZero() {
		_, err := f.kind()
		v.Check(err)
		return d
	}
	d.Constraint = f.text[keyVersion]
	place, err := f.place(id)
	if !v.Check(err) || place == "" {
		return d
	}
	if ref, err := Parse(place); f.source.Check(err) {
		if f.text[keyGit] != "" {
			ref.Digest = f.text[keyDigest]
		}
		d.Ref = &ref
	}
	return d
}

// depFields are the fields of one dependency as they are written.
type depFields struct {
	text   map[string]string
	skills []string
	source yamlx.Value // where the pack is
	broken bool        // some of them are not valid
}

func readFields(v yamlx.Value) depFields {
	f := depFields{text: make(map[string]string), source: v}
	before := v.Count()
	for key, v := range v.Fields(dependencyKeys...) {
		count := v.Count()
		switch key {
		case keySkills:
			f.skills = v.Texts(skill.CheckName)
			continue
		case keyVersion:
			f.text[key] = v.Text(checkConstraint)
		default:
			f.text[key] = v.Text(notEmpty(key))
		}
		if slices.Contains(sourceKeys, key) {
			f.source = v
		}
		if v.Count() > count {
			f.text[key] = "?" // it is there
		}
	}
	f.broken = v.Count() > before
	return f
}

func notEmpty(key string) func(string) error {
	return func(s string) error {
		if s == "" {
			return diag.Errorf(diag.Invalid, "%s is empty", key)
		}
		return nil
	}
}

// place returns the text that [Parse] reads, or "" for a pack that is looked up by name.
func (f depFields) place(id ID) (string, error) {
	kind, err := f.kind()
	if err != nil {
		return "", err
	}
	switch kind {
	case keyOCI:
		place := f.text[keyOCI]
		if !strings.HasPrefix(strings.ToLower(place), "oci://") {
			return "", diag.Errorf(diag.Invalid, "oci %q does not start with oci://", place)
		}
		if tail := place[strings.LastIndex(place, "/")+1:]; strings.ContainsAny(tail, ":@") {
			return "", diag.Errorf(diag.Invalid, "oci %q holds a tag or digest", place).
				WithHint("write it as tag: or digest:")
		}
		return place + f.artifact(), nil
	case keyLayout:
		dir := strings.TrimSuffix(f.text[keyLayout], "/")
		return "oci-layout:" + dir + "//" + id.String() + f.artifact(), nil
	case keyGit:
		return f.gitPlace()
	case keyPath:
		return "path:" + f.text[keyPath], nil
	}
	return "", nil
}

// artifact returns the :tag and @digest of an OCI place.
func (f depFields) artifact() (s string) {
	if tag := f.text[keyTag]; tag != "" {
		s = ":" + tag
	}
	if digest := f.text[keyDigest]; digest != "" {
		s += "@" + digest
	}
	return s
}

func (f depFields) gitPlace() (string, error) {
	place := f.text[keyGit]
	if strings.ContainsAny(place, "#") || strings.Contains(strings.TrimPrefix(place[strings.Index(place, ":")+1:],
		"//"), "//") {
		return "", diag.Errorf(diag.Invalid, "git %q holds a directory or a revision", place).
			WithHint("write the directory as path:, and the revision as tag:, branch: or rev:")
	}
	if digest := f.text[keyDigest]; digest != "" && !commit().MatchString(digest) {
		return "", diag.Errorf(diag.Invalid, "digest %q is not a commit of 40 hexadecimal digits", digest)
	}
	if strings.Contains(place, "://") && !strings.HasPrefix(place, "git+") {
		place = "git+" + place
	}
	if dir := f.text[keyPath]; dir != "" {
		place += "//" + dir
	}
	for _, key := range []string{keyTag, keyBranch, keyRev} {
		if rev := f.text[key]; rev != "" {
			return place + "#" + rev, nil
		}
	}
	return place, nil
}

// allowed says which keys go with a place; skills go with every one.
func allowed(kind string) []string {
	switch kind {
	case keyOCI, keyLayout:
		return []string{keyVersion, keyTag, keyDigest}
	case keyGit:
		return []string{keyPath, keyVersion, keyTag, keyBranch, keyRev, keyDigest}
	case keyPath:
		return []string{keyVersion}
	default:
		return []string{keyVersion}
	}
}

// kind returns the key that says where the pack is, "" for a pack that is looked up by name, and checks that the other
// keys go with it and with each other.
func (f depFields) kind() (string, error) {
	kind := ""
	for _, key := range sourceKeys {
		if f.text[key] == "" || key == keyPath && kind == keyGit {
			continue
		}
		if kind != "" {
			return "", diag.Errorf(diag.Invalid, "%s and %s are two places for one pack", kind, key).
				WithHint("remove one of the two")
		}
		kind = key
	}
	var pins []string
	for _, key := range dependencyKeys[4:] {
		if f.text[key] == "" {
			continue
		}
		if !slices.Contains(allowed(kind), key) {
			if kind == "" {
				return "", diag.Errorf(diag.Invalid, "%s needs a place: oci, layout or git", key)
			}
			return "", diag.Errorf(diag.Invalid, "%s does not go with %s", key, kind)
		}
		if key != keyDigest || len(pins) > 0 && pins[0] == keyVersion {
			pins = append(pins, key)
		}
	}
	if len(pins) > 1 {
		return "", diag.Errorf(diag.Invalid, "%s exclude each other", strings.Join(pins, " and ")).
			WithHint("keep one of them")
	}
	if kind == "" && f.text[keyVersion] == "" && !f.broken {
		return "", diag.Errorf(diag.Invalid, "neither a version nor a place is given").
			WithHint("write a range of versions, as in version: \"^1.2\", or one of oci, layout, git and path")
	}
	return kind, nil
}

// fieldsOf returns the fields that say d, in the order they are written in; none when d is a range of versions and no
// more. The revision of a git place is written under the key given, or the one that fits what it looks like.
func fieldsOf(d Dependency, revKey string) (yamlx.Mapping, error) {
	var fields yamlx.Mapping
	add := func(key, text string) {
		if text != "" {
			fields = append(fields, yamlx.Entry{Key: key, Value: text})
		}
	}
	if d.Ref != nil {
		switch d.Ref.Kind {
		case KindOCI:
			add(keyOCI, d.Ref.URL)
		case KindLayout:
			if !d.Ref.ID.IsZero() && d.Ref.ID != d.ID {
				return nil, diag.Errorf(diag.Invalid,
					"%s is another pack than %s: a manifest names a layout's pack by its own name", d.Ref, d.ID)
			}
			add(keyLayout, d.Ref.URL)
		case KindGit:
			add(keyGit, d.Ref.URL)
			add(keyPath, d.Ref.Subdir)
		case KindPath:
			add(keyPath, d.Ref.URL)
		default:
			return nil, diag.Errorf(diag.Internal, "a manifest has no form for %s", d.Ref)
		}
	} else if len(d.Skills) == 0 {
		return nil, nil
	}
	add(keyVersion, d.Constraint)
	if d.Ref != nil {
		add(revisionKey(*d.Ref, revKey), d.Ref.Rev)
		add(keyDigest, d.Ref.Digest)
	}
	if len(d.Skills) > 0 {
		fields = append(fields, yamlx.Entry{Key: keySkills, Value: words(d.Skills)})
	}
	return fields, nil
}

// revisionKey chooses between tag, branch and rev.
func revisionKey(ref Ref, was string) string {
	_, release := VersionFromTag(ref.Rev, "")
	switch {
	case ref.Kind != KindGit || release:
		return keyTag
	case commit().MatchString(ref.Rev):
		return keyRev
	case was != "" && was != keyTag: // what is no release may well be a branch
		return was
	default:
		return keyRev
	}
}
