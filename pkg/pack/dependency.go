package pack

import (
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// The keys of a dependency that is a mapping, in the order in which skillpm writes them. At most one of the first five
// names the source; without any, registries have the pack by its name.
const (
	keyOCI     = "oci"        // oci://host/repository
	keyLayout  = "layout"     // the directory of an OCI layout
	keyGit     = "git"        // the URL of a repository; path is then the directory in it
	keyPath    = "path"       // a directory
	keyWebsite = "well-known" // the URL of a website that publishes skills
	keyVersion = "version"    // a range of versions
	keyTag     = "tag"        // of a git repository, an OCI repository or a layout
	keyBranch  = "branch"     // of a git repository
	keyRev     = "rev"        // a commit, tag or branch of a git repository
	keyDigest  = "digest"     // sha256:… of an artifact, or the commit that a tag must stand for
	keySkills  = "skills"     // the required skills
)

var dependencyKeys = []string{
	keyOCI, keyLayout, keyGit, keyPath, keyWebsite, keyVersion, keyTag, keyBranch, keyRev, keyDigest, keySkills,
}

var sourceKeys = dependencyKeys[:5]

// dependencies reads the mapping of packs to requirements.
func dependencies(v yamlx.Value) []Dependency {
	var list []Dependency
	for name, v := range v.Fields() {
		id, err := ParseID(name)
		v.Key().Check(err)
		if d := dependency(id, v); err == nil {
			list = append(list, d)
		}
	}
	return list
}

// dependency reads a range of versions, or a mapping of [dependencyKeys]. An invalid dependency has neither a
// constraint nor a source.
func dependency(id ID, v yamlx.Value) Dependency {
	d := Dependency{ID: id}
	if !v.IsMapping() {
		d.Constraint = v.Text(func(s string) error {
			if strings.Contains(s, ":") {
				return diag.Errorf(diag.Invalid, "%s must have a version range, but %q is a source", v.Name, s).
					WithHint("use {git: \"…\"}, {oci: \"…\"}, or {path: \"…\"}")
			}
			return checkConstraint(s)
		})
		return d
	}
	f := readFields(v)
	d.Skills = f.skills
	if f.invalid || id.IsZero() {
		_, err := f.kind()
		v.Check(err)
		return d
	}
	d.Constraint = f.text[keyVersion]
	reference, err := f.reference(id)
	if !v.Check(err) || reference == "" {
		return d
	}
	if ref, err := Parse(reference); f.source.Check(err) {
		if f.text[keyGit] != "" {
			ref.Digest = f.text[keyDigest]
		}
		d.Ref = &ref
	}
	return d
}

// depFields are the fields of one dependency in the manifest.
type depFields struct {
	text    map[string]string
	skills  []string
	source  yamlx.Value // the value that names the source
	invalid bool        // some of them are not valid
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
			f.text[key] = "?" // the key exists
		}
	}
	f.invalid = v.Count() > before
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

// reference returns the text for [Parse], or "" for a pack that registries have by its name.
func (f depFields) reference(id ID) (string, error) {
	kind, err := f.kind()
	if err != nil {
		return "", err
	}
	switch kind {
	case keyOCI:
		repository := f.text[keyOCI]
		if !strings.HasPrefix(strings.ToLower(repository), "oci://") {
			return "", diag.Errorf(diag.Invalid, "oci %q does not start with oci://", repository)
		}
		if last := repository[strings.LastIndex(repository, "/")+1:]; strings.ContainsAny(last, ":@") {
			return "", diag.Errorf(diag.Invalid, "oci %q contains a tag or digest", repository).
				WithHint("use tag: for the tag, and digest: for the digest")
		}
		return repository + f.tagAndDigest(), nil
	case keyLayout:
		dir := strings.TrimSuffix(f.text[keyLayout], "/")
		return "oci-layout:" + dir + "//" + id.String() + f.tagAndDigest(), nil
	case keyGit:
		return f.gitReference()
	case keyPath:
		return "path:" + f.text[keyPath], nil
	case keyWebsite:
		return websitePrefix + f.text[keyWebsite], nil
	}
	return "", nil
}

// tagAndDigest returns the :tag and @digest of an OCI source.
func (f depFields) tagAndDigest() (s string) {
	if tag := f.text[keyTag]; tag != "" {
		s = ":" + tag
	}
	if digest := f.text[keyDigest]; digest != "" {
		s += "@" + digest
	}
	return s
}

func (f depFields) gitReference() (string, error) {
	repository := f.text[keyGit]
	path := strings.TrimPrefix(repository[strings.Index(repository, ":")+1:], "//")
	if strings.Contains(repository, "#") || strings.Contains(path, "//") {
		return "", diag.Errorf(diag.Invalid, "git %q contains a directory or a revision", repository).
			WithHint("use path: for the directory, and tag:, branch:, or rev: for the revision")
	}
	if digest := f.text[keyDigest]; digest != "" && !commit().MatchString(digest) {
		return "", diag.Errorf(diag.Invalid, "digest %q is not a commit of 40 hexadecimal digits", digest)
	}
	if strings.Contains(repository, "://") && !strings.HasPrefix(repository, "git+") {
		repository = "git+" + repository
	}
	if dir := f.text[keyPath]; dir != "" {
		repository += "//" + dir
	}
	for _, key := range []string{keyTag, keyBranch, keyRev} {
		if rev := f.text[key]; rev != "" {
			return repository + "#" + rev, nil
		}
	}
	return repository, nil
}

// keysOf returns the keys that a kind of source allows besides skills.
func keysOf(kind string) []string {
	switch kind {
	case keyOCI, keyLayout:
		return []string{keyVersion, keyTag, keyDigest}
	case keyGit:
		return []string{keyPath, keyVersion, keyTag, keyBranch, keyRev, keyDigest}
	case keyWebsite:
		return nil
	default:
		return []string{keyVersion}
	}
}

// kind returns the key that names the source, "" if there is none, and checks that it and the other keys go together.
func (f depFields) kind() (string, error) {
	kind := ""
	for _, key := range sourceKeys {
		if f.text[key] == "" || key == keyPath && kind == keyGit {
			continue
		}
		if kind != "" {
			return "", diag.Errorf(diag.Invalid, "the pack has two sources, %s and %s", kind, key).
				WithHint("remove one of the sources")
		}
		kind = key
	}
	var pins []string
	for _, key := range dependencyKeys[5:] {
		if f.text[key] == "" {
			continue
		}
		if !slices.Contains(keysOf(kind), key) {
			if kind == "" {
				return "", diag.Errorf(diag.Invalid, "%s requires a source: oci, layout, or git", key)
			}
			return "", diag.Errorf(diag.Invalid, "%s cannot be used with %s", key, kind)
		}
		if key != keyDigest || len(pins) > 0 && pins[0] == keyVersion {
			pins = append(pins, key)
		}
	}
	if len(pins) > 1 {
		return "", diag.Errorf(diag.Invalid, "%s cannot be used together", strings.Join(pins, " and ")).
			WithHint("remove %s", strings.Join(pins, " or "))
	}
	if kind == "" && f.text[keyVersion] == "" && !f.invalid {
		return "", diag.Errorf(diag.Invalid, "the dependency has neither a version nor a source").
			WithHint("set a version range, such as version: \"^1.2\", or one of oci, layout, git, and path")
	}
	return kind, nil
}

// fieldsOf returns the fields of d in the order in which skillpm writes them; none if d is only a range of versions.
// oldRevKey is the key that the manifest has for the revision, if any.
func fieldsOf(d Dependency, oldRevKey string) (yamlx.Mapping, error) {
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
				return nil, diag.Errorf(diag.Invalid, "the source %s contains a different pack than %s", d.Ref, d.ID).
					WithHint("use the name of the pack in the source: %s", d.Ref.ID)
			}
			add(keyLayout, d.Ref.URL)
		case KindGit:
			add(keyGit, d.Ref.URL)
			add(keyPath, d.Ref.Subdir)
		case KindPath:
			add(keyPath, d.Ref.URL)
		case KindWebsite:
			add(keyWebsite, d.Ref.URL)
			if len(d.Skills) > 0 {
				fields = append(fields, yamlx.Entry{Key: keySkills, Value: words(d.Skills)})
			}
			return fields, nil
		default:
			return nil, diag.Errorf(diag.Internal, "cannot write the source %s to a manifest", d.Ref)
		}
	} else if len(d.Skills) == 0 {
		return nil, nil
	}
	add(keyVersion, d.Constraint)
	if d.Ref != nil {
		add(revisionKey(*d.Ref, oldRevKey), d.Ref.Rev)
		add(keyDigest, d.Ref.Digest)
	}
	if len(d.Skills) > 0 {
		fields = append(fields, yamlx.Entry{Key: keySkills, Value: words(d.Skills)})
	}
	return fields, nil
}

// revisionKey chooses between tag, branch and rev.
func revisionKey(ref Ref, old string) string {
	_, release := VersionFromTag(ref.Rev, "")
	switch {
	case ref.Kind != KindGit || release:
		return keyTag
	case commit().MatchString(ref.Rev):
		return keyRev
	case old != "" && old != keyTag: // without a version in it, it may be a branch
		return old
	default:
		return keyRev
	}
}
