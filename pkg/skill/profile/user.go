package profile

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Dir is the directory of custom profiles, in the user's configuration directory.
const Dir = "profiles"

const suffix = ".yaml"

// maxFile is the maximum size of a profile, in bytes.
const maxFile = 256 << 10

var format = yamlx.Format{Name: "the profile", MaxBytes: maxFile, TypedText: true, LinesOnly: true}

// maxExtends is the maximum length of a chain of extended profiles.
const maxExtends = 8

// Resolve returns the profile with an id: a built-in one, or a custom one from user, which contains ID.yaml files and
// may be nil. The error has the code Usage if the profile does not exist, and Invalid if its file is invalid.
func Resolve(id string, user fs.FS) (*Profile, error) {
	if user == nil {
		return Lookup(id)
	}
	return (&resolver{user: user}).resolve(id)
}

// UserIDs returns the ids of the files in user, in order. A missing directory has none.
func UserIDs(user fs.FS) []string {
	if user == nil {
		return nil
	}
	entries, _ := fs.ReadDir(user, ".") // reading such a profile reports the error
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), suffix); ok && !e.IsDir() && isID(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Parse parses a custom profile from the text of its file, whose name is the id. user contains other custom profiles
// that it may extend. The error has the line.
func Parse(path, id string, text []byte, user fs.FS) (*Profile, error) {
	r := &resolver{user: user, chain: []string{id}}
	return r.parse(path, id, text)
}

// resolver resolves extended profiles.
type resolver struct {
	user  fs.FS
	chain []string // the chain of ids so far
}

func (r *resolver) resolve(id string) (*Profile, error) {
	builtIn := slices.Contains(IDs(), id)
	if r.user == nil || !isID(id) {
		return lookup(id, UserIDs(r.user))
	}
	text, err := safefile.ReadIn(r.user, id+suffix, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return lookup(id, UserIDs(r.user))
	case err != nil:
		return nil, diag.Errorf(diag.Invalid, "cannot read the file of profile %s: %w", id, err)
	case builtIn:
		return nil, diag.Errorf(diag.Conflict, "%s is a built-in profile, but the file %s/%s exists", id, Dir,
			id+suffix).
			WithHint("rename the file, and add extends: %s to it", id)
	case slices.Contains(r.chain, id):
		return nil, diag.Errorf(diag.Invalid, "profile %s extends itself: %s", id,
			strings.Join(append(r.chain, id), " → ")).WithHint("remove extends from one of these profiles")
	case len(r.chain) >= maxExtends:
		return nil, diag.Errorf(diag.Invalid, "more than %d profiles extend each other: %s", maxExtends,
			strings.Join(r.chain, " → ")).WithHint("remove extends from one of these profiles")
	}
	r.chain = append(r.chain, id)
	return r.parse(Dir+"/"+id+suffix, id, text)
}

// parse parses a file and adds what it extends.
func (r *resolver) parse(path, id string, text []byte) (*Profile, error) {
	file := yamlx.Read(path, text, format)
	root, ok := file.Root()
	p := new(Profile)
	switch {
	case ok && !root.Exists():
		return nil, diag.Errorf(diag.Invalid, "%s is empty", path).
			WithHint("add extends: %s and the fields that differ", Runtime)
	case !ok || !root.Decode(p):
		return nil, file.Err()
	}
	if base := root.Get("extends"); base.Exists() {
		extended, err := r.resolve(base.Node.Value)
		if err != nil {
			base.Errorf(diag.HintOf(err), "extends: %v", err)
			return nil, file.Err()
		}
		p = extended
		p.Extends, p.Title = "", ""
		root.Decode(p)
	}
	if idValue := root.Get("id"); idValue.Exists() && idValue.Node.Value != id {
		idValue.Errorf("omit id, or rename the file "+idValue.Node.Value+suffix,
			"the id is %q, but the name of the file is %q",
			idValue.Node.Value, id)
	}
	if !isID(id) {
		return nil, diag.Errorf(diag.Invalid, "the file name of %s is not a valid profile id: %q", path, id).
			WithHint("use at most 64 lowercase letters, digits, and single hyphens")
	}
	p.ID, p.Title, p.User = id, cmp.Or(p.Title, id), true
	(&checker{root}).check(p)
	p.Layers = withEnterprise(p.Layers)
	if err := file.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

// isID reports whether a text is a valid profile id.
func isID(s string) bool {
	if s == "" || len(s) > 64 || strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-") || strings.Contains(s, "--") {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && (r < 'a' || r > 'z') &&
			(r < '0' || r > '9')
	})
}
