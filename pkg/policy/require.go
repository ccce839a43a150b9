package policy

import (
	"strconv"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// requirements reads the list of what packs must have.
func requirements(v yamlx.Value) []Requirement {
	var all []Requirement
	for item := range v.Items() {
		all = append(all, requirement(item))
	}
	return all
}

func requirement(v yamlx.Value) Requirement {
	q := Requirement{Line: v.Line()}
	for key, v := range v.Fields("match", "min_release_age", "signatures") {
		switch key {
		case "match":
			q.Match = yamlx.As(v, parsePattern)
		case "signatures":
			q.Signatures = signatures(v)
		case "min_release_age":
			q.MinReleaseAge = yamlx.As(v, parseAge)
		}
	}
	v.Require(`write match: "oci://registry.example/acme/**"`, "match")
	if v.IsMapping() && !v.Get("signatures").Exists() && !v.Get("min_release_age").Exists() {
		v.Errorf("write signatures or min_release_age, or remove the entry", "%s requires nothing", v.Name)
	}
	return q
}

func signatures(v yamlx.Value) *Signatures {
	s := Signatures{Threshold: 1}
	for key, v := range v.Fields("any_of", "threshold") {
		switch key {
		case "threshold":
			s.Threshold = int(v.Int(0))
		case "any_of":
			s.AnyOf = signers(v)
		}
	}
	v.Require(`write any_of: [{key: {file: keys/acme.pub, sha256: "…"}}]`, "any_of")
	anyOf, threshold := v.Get("any_of"), v.Get("threshold")
	switch {
	case !anyOf.IsList():
	case len(anyOf.Node.Content) == 0:
		anyOf.Errorf("list at least one key or identity", "any_of is empty, so that no signature is ever enough")
	case threshold.Exists() && s.Threshold > len(anyOf.Node.Content):
		threshold.Errorf("", "threshold is %d, and any_of has only %d", s.Threshold, len(anyOf.Node.Content))
	}
	return &s
}

// signers reads keys and identities. One that is there twice could reach a threshold of two alone.
func signers(v yamlx.Value) []Signer {
	var all []Signer
	lines := make(map[string]int)
	for item := range v.Items() {
		signer := readSigner(item)
		id := signer.id()
		if line := lines[id]; line > 0 && id != "" {
			item.Errorf("remove one of them", "any_of has this signer twice, first on line %d", line)
			continue
		}
		all, lines[id] = append(all, signer), item.Line()
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

func readSigner(v yamlx.Value) (s Signer) {
	kinds := 0
	for key, v := range v.Fields("identity", "key", "ssh") {
		kinds++
		switch key {
		case "key":
			s.Key = &Key{}
			pinned(v, "file", "keys/acme.pub", &s.Key.File, &s.Key.SHA256)
		case "identity":
			s.Identity = identity(v)
		case "ssh":
			s.SSH = &SSH{}
			pinned(v, "allowed_signers", "keys/allowed_signers", &s.SSH.AllowedSigners, &s.SSH.SHA256)
		}
	}
	switch {
	case kinds > 1:
		v.Errorf("write an entry for each", "%s has more than one of key, identity and ssh", v.Name)
	case kinds == 0 && v.IsMapping():
		v.Errorf("write {key: {file: …, sha256: …}}, {identity: {issuer: …, subject: …}} or {ssh: {allowed_signers: …, sha256: …}}",
			"%s has neither a key nor an identity nor ssh", v.Name)
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

// pinned reads a mapping of a file and its digest.
func pinned(v yamlx.Value, name, example string, file, sha256 *string) {
	for key, v := range v.Fields(name, "sha256") {
		if key == "sha256" {
			*sha256 = v.Text(checkSHA256)
			continue
		}
		*file = v.Text(func(s string) error {
			if s == "" || strings.Contains(s, `\`) || strings.HasSuffix(s, "/") || hasDots(s) {
				return wrong("write it with /, relative to the policy, as in "+example, "%q is not the path of a file", s)
			}
			return nil
		})
	}
	article := "a "
	if v.Name == "ssh" {
		article = ""
	}
	v.Require(article+v.Name+" is written {"+name+": "+example+", sha256: …}", name, "sha256")
}

func checkSHA256(s string) error {
	if sha256Hex().MatchString(s) {
		return nil
	}
	hint := "`sha256sum` prints it"
	if bare := strings.ToLower(strings.TrimPrefix(s, "sha256:")); sha256Hex().MatchString(bare) {
		hint = "write " + bare
	}
	return wrong(hint, "sha256 is not 64 lower-case hexadecimal digits")
}

// releaseAge is a number of hours, days of 24 hours, or weeks.
var releaseAge = lazily(`^(?:([1-9][0-9]{0,4})h|([1-9][0-9]{0,3})d|([1-9][0-9]{0,2})w)$`)

// parseAge reads how old a release must be.
func parseAge(s string) (time.Duration, error) {
	m := releaseAge().FindStringSubmatch(s)
	if m == nil {
		hint := "write hours, days or weeks, as 72h, 3d or 2w"
		if releaseAge().MatchString(s + "h") {
			hint = "write " + s + "h for hours, or " + s + "d for days"
		}
		return 0, wrong(hint, "min_release_age is %q, which is not a time", s)
	}
	var age time.Duration
	for i, unit := range [...]time.Duration{time.Hour, 24 * time.Hour, 7 * 24 * time.Hour} {
		n, err := strconv.Atoi(m[i+1])
		if err == nil {
			age = time.Duration(n) * unit
		}
	}
	return age, nil
}
