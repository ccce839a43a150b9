package policy

import (
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// require reads the list of what packs must have.
func (r *reader) require(v *yaml.Node) []Requirement {
	items, _ := r.sequence(v, "require")
	var all []Requirement
	for _, item := range items {
		q := r.requirement(item)
		q.Line = item.Line
		all = append(all, q)
	}
	return all
}

func (r *reader) requirement(v *yaml.Node) (q Requirement) {
	const what = "an entry of require"
	if !r.fields(v, what, fields{
		"match":           func(v *yaml.Node) { q.Match, _ = r.pattern(v, "match") },
		"signatures":      func(v *yaml.Node) { q.Signatures = r.signatures(v) },
		"min_release_age": func(v *yaml.Node) { q.MinReleaseAge = r.age(v) },
	}) {
		return q
	}
	if lookup(v, "match") == nil {
		r.add(v, `write match: "oci://registry.example/acme/**"`, "%s has no match", what)
	}
	if lookup(v, "signatures") == nil && lookup(v, "min_release_age") == nil {
		r.add(v, "write signatures or min_release_age, or remove the entry", "%s requires nothing", what)
	}
	return q
}

func (r *reader) signatures(v *yaml.Node) *Signatures {
	s := Signatures{Threshold: 1}
	ok := r.fields(v, "signatures", fields{
		"threshold": func(v *yaml.Node) { s.Threshold = int(r.count(v, "threshold")) },
		"any_of":    func(v *yaml.Node) { s.AnyOf = r.signers(v) },
	})
	switch anyOf, threshold := lookup(v, "any_of"), lookup(v, "threshold"); {
	case !ok:
	case anyOf == nil:
		r.add(v, `write any_of: [{key: {file: keys/acme.pub, sha256: "…"}}]`, "signatures has no any_of")
	case anyOf.Kind == yaml.SequenceNode && len(anyOf.Content) == 0:
		r.add(anyOf, "list at least one key or identity", "any_of is empty, so that no signature is ever enough")
	case threshold != nil && anyOf.Kind == yaml.SequenceNode && s.Threshold > len(anyOf.Content):
		r.add(threshold, "", "threshold is %d, and any_of has only %d", s.Threshold, len(anyOf.Content))
	}
	return &s
}

// signers reads keys and identities. One that is there twice could reach a threshold of two alone.
func (r *reader) signers(v *yaml.Node) []Signer {
	items, _ := r.sequence(v, "any_of")
	var all []Signer
	first := make(map[string]*yaml.Node, len(items))
	for _, item := range items {
		signer := r.signer(item)
		id := signer.id()
		if before := first[id]; before != nil && id != "" {
			r.add(item, "remove one of them", "any_of has this signer twice, first on line %d", before.Line)
			continue
		}
		all, first[id] = append(all, signer), item
	}
	return all
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

func (r *reader) signer(v *yaml.Node) (s Signer) {
	const what = "an entry of any_of"
	if !r.fields(v, what, fields{
		"key":      func(v *yaml.Node) { s.Key = r.key(v) },
		"identity": func(v *yaml.Node) { s.Identity = r.identity(v) },
		"ssh":      func(v *yaml.Node) { s.SSH = r.ssh(v) },
	}) {
		return s
	}
	kinds := 0
	for _, kind := range [...]string{"key", "identity", "ssh"} {
		if lookup(v, kind) != nil {
			kinds++
		}
	}
	switch {
	case kinds > 1:
		r.add(v, "write an entry for each", "%s has more than one of key, identity and ssh", what)
	case kinds == 0:
		r.add(v, "write {key: {file: …, sha256: …}}, {identity: {issuer: …, subject: …}} or {ssh: {allowed_signers: …, sha256: …}}",
			"%s has neither a key nor an identity nor ssh", what)
	}
	return s
}

var (
	sha256Hex    = lazily(`^[0-9a-f]{64}$`)
	absolutePath = lazily(`^(/|[A-Za-z]:[/\\])(.*[^/\\])$`)
)

// hasDots reports whether a path has a part that leads upward.
func hasDots(path string) bool {
	for part := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '/' || c == '\\' }) {
		if part == ".." {
			return true
		}
	}
	return false
}

func (r *reader) key(v *yaml.Node) *Key {
	var k Key
	r.pinned(v, "key", "file", "keys/acme.pub", &k.File, &k.SHA256)
	return &k
}

func (r *reader) ssh(v *yaml.Node) *SSH {
	var s SSH
	r.pinned(v, "ssh", "allowed_signers", "keys/allowed_signers", &s.AllowedSigners, &s.SHA256)
	return &s
}

// pinned reads a mapping of a file and its digest.
func (r *reader) pinned(v *yaml.Node, what, key, example string, file, sha256 *string) {
	ok := r.fields(v, what, fields{
		key: func(v *yaml.Node) {
			s, ok := r.text(v, key)
			if ok && (s == "" || strings.Contains(s, `\`) || strings.HasSuffix(s, "/") || hasDots(s)) {
				r.add(v, "write it with /, relative to the policy, as in "+example, "%q is not the path of a file", s)
			}
			*file = s
		},
		"sha256": func(v *yaml.Node) { *sha256 = r.sha256(v) },
	})
	article := "a "
	if what == "ssh" {
		article = ""
	}
	for _, name := range [...]string{key, "sha256"} {
		if ok && lookup(v, name) == nil {
			r.add(v, article+what+" is written {"+key+": "+example+", sha256: …}", "%s has no %s", what, name)
		}
	}
}

func (r *reader) sha256(v *yaml.Node) string {
	s, ok := r.text(v, "sha256")
	if !ok || sha256Hex().MatchString(s) {
		return s
	}
	hint := "`sha256sum` prints it"
	if bare := strings.ToLower(strings.TrimPrefix(s, "sha256:")); sha256Hex().MatchString(bare) {
		hint = "write " + bare
	}
	r.add(v, hint, "sha256 is not 64 lower-case hexadecimal digits")
	return ""
}

// units are those of a release age. A day has 24 hours.
var releaseAge = lazily(`^(?:([1-9][0-9]{0,4})h|([1-9][0-9]{0,3})d|([1-9][0-9]{0,2})w)$`)

// age reads how old a release must be.
func (r *reader) age(v *yaml.Node) time.Duration {
	s, ok := r.text(v, "min_release_age")
	if !ok {
		return 0
	}
	m := releaseAge().FindStringSubmatch(s)
	if m == nil {
		hint := "write hours, days or weeks, as 72h, 3d or 2w"
		if releaseAge().MatchString(s + "h") {
			hint = "write " + s + "h for hours, or " + s + "d for days"
		}
		r.add(v, hint, "min_release_age is %q, which is not a time", s)
		return 0
	}
	var age time.Duration
	for i, unit := range [...]time.Duration{time.Hour, 24 * time.Hour, 7 * 24 * time.Hour} {
		n, err := strconv.Atoi(m[i+1])
		if err == nil {
			age = time.Duration(n) * unit
		}
	}
	return age
}
