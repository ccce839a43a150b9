package profile

import (
	"cmp"
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// Dir is the directory of a user's own profiles, below that of the user's configuration.
const Dir = "profiles"

const suffix = ".yaml"

// maxExtends is how many profiles may extend each other.
const maxExtends = 8

// Resolve returns the profile of that id: one of those built in, or a user's own from user, which holds ID.yaml files
// and may be nil. The error has code Usage where there is none of that id, and Invalid where its file is wrong.
func Resolve(id string, user fs.FS) (*Profile, error) {
	if user == nil {
		return Lookup(id)
	}
	return (&resolver{user: user}).resolve(id)
}

// UserIDs returns the ids that the files of user have, in order. A directory that is not there has none.
func UserIDs(user fs.FS) []string {
	if user == nil {
		return nil
	}
	entries, _ := fs.ReadDir(user, ".") // what cannot be read is said when it is asked for
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), suffix); ok && !e.IsDir() && isID(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Parse reads a profile of a user's own from the text of its file, whose name gives the id; others of that user, that it
// may extend, are in user. The error says the line.
func Parse(path, id string, text []byte, user fs.FS) (*Profile, error) {
	r := &resolver{user: user, chain: []string{id}}
	return r.parse(path, id, text)
}

// resolver follows what profiles extend.
type resolver struct {
	user  fs.FS
	chain []string // the ids on the way here
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
		return nil, diag.Errorf(diag.Invalid, "the file of profile %s cannot be read: %w", id, err)
	case builtIn:
		return nil, diag.Errorf(diag.Conflict, "%s is a profile of skillpm's own, and there is a file %s/%s", id, Dir, id+suffix).
			WithHint("give the file another name, and write extends: %s in it", id)
	case slices.Contains(r.chain, id):
		return nil, diag.Errorf(diag.Invalid, "profile %s extends itself: %s", id, strings.Join(append(r.chain, id), " → "))
	case len(r.chain) >= maxExtends:
		return nil, diag.Errorf(diag.Invalid, "more than %d profiles extend each other: %s", maxExtends, strings.Join(r.chain, " → "))
	}
	r.chain = append(r.chain, id)
	return r.parse(Dir+"/"+id+suffix, id, text)
}

// parse reads a file and fills in what it extends.
func (r *resolver) parse(path, id string, text []byte) (*Profile, error) {
	s := strict{path: path}
	root, err := s.root(text)
	if err != nil {
		return nil, err
	}
	if err := s.check(root, reflect.TypeFor[Profile](), ""); err != nil {
		return nil, err
	}
	p := new(Profile)
	if base := value(root, "extends"); base != nil {
		if p, err = r.resolve(base.Value); err != nil {
			return nil, s.errorf(base, "extends: %v", err).WithHint("%s", diag.HintOf(err))
		}
		p.Extends, p.Title = "", ""
	}
	if err := root.Decode(p); err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %w", path, err)
	}
	if at := value(root, "id"); at != nil && at.Value != id {
		return nil, s.errorf(at, "the id is %q, and the file's name says %q", at.Value, id).WithHint("leave id out, or rename the file %s%s", at.Value, suffix)
	}
	p.ID, p.Title, p.User = id, cmp.Or(p.Title, id), true
	if !isID(id) {
		return nil, diag.Errorf(diag.Invalid, "%s: %q is no id", path, id).WithHint("lower-case letters, digits and single hyphens, at most 64")
	}
	return p, s.values(root, p)
}

// root parses the text as one mapping.
func (s strict) root(text []byte) (*yaml.Node, error) {
	if len(text) > maxFile {
		return nil, diag.Errorf(diag.Invalid, "%s has %d bytes; a profile has at most %d", s.path, len(text), maxFile)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %s", s.path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 {
		return nil, diag.Errorf(diag.Invalid, "%s is empty", s.path).WithHint("write extends: %s, and what is to be different", Runtime)
	}
	return document.Content[0], nil
}

// value returns the value of a key of a mapping, or nil.
func value(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		var found *yaml.Node
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				found = n.Content[i+1]
			}
		}
		if found == nil {
			return nil
		}
		n = found
	}
	return n
}

// isID reports whether a text may be a profile's id.
func isID(s string) bool {
	if s == "" || len(s) > 64 || strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-") || strings.Contains(s, "--") {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}
