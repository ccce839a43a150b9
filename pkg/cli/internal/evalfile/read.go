package evalfile

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
)

// Dir is the name of a skill's directory with evaluation files.
const Dir = "evals"

// Name is the name of the file with tasks.
const Name = "evals.json"

const (
	maxFile    = 1 << 20 // bytes of a file
	maxFiles   = 100
	maxEntries = 1000 // of a skill
	maxErrors  = 20   // of a file
	maxMessage = 500  // bytes of an error
	maxUnknown = 20   // fields of a file in a note
)

const schemaHint = "print the format with: skillpm schema skill-evals"

// Read reads the evaluation files of the skill in a directory. They are optional. It joins all errors, which have the
// code Invalid and start with a path and a line.
func Read(dir string) (*Suite, error) {
	root, err := safefile.OpenRoot(dir)
	if err != nil {
		return nil, diag.Errorf(diag.NotFound, "cannot open the skill's directory: %w", err)
	}
	defer func() { _ = root.Close() }() // it was only read
	entries, err := fs.ReadDir(root, Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return &Suite{}, nil
	}
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: cannot read the directory: %s", Dir, syserr.Reason(err))
	}
	s := &Suite{}
	var problems []error
	files := 0
	for _, e := range entries {
		if e.IsDir() || !HasEntries(e.Name()) {
			continue
		}
		if files++; files > maxFiles {
			return nil, diag.Errorf(diag.Invalid, "%s has more than %d evaluation files", Dir, maxFiles)
		}
		name := path.Join(Dir, e.Name())
		data, err := safefile.ReadIn(root, name, maxFile)
		if err != nil {
			problems = append(problems, diag.Errorf(diag.Invalid, "%s: cannot read the file: %s", name, syserr.Reason(err)))
			continue
		}
		if err := s.add(root, name, data); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) == 0 {
		problems = append(problems, s.check())
	}
	if len(problems) == 1 {
		return s, problems[0]
	}
	return s, errors.Join(problems...)
}

// HasEntries reports whether a file of the directory has entries: others may be inputs or results.
func HasEntries(name string) bool {
	base := strings.ToLower(name)
	return isTaskFile(name) || path.Ext(base) == ".json" && !strings.HasPrefix(base, ".") &&
		(strings.Contains(base, "trigger") || strings.Contains(base, "queries"))
}

// isTaskFile reports whether entries of a file can be tasks, ignoring case.
func isTaskFile(name string) bool { return strings.EqualFold(path.Base(name), Name) }

// check finds valid but contradictory entries.
func (s *Suite) check() error {
	if n := len(s.Tasks) + len(s.Queries); n > maxEntries {
		return diag.Errorf(diag.Invalid, "%s has %d entries; the limit is %d", Dir, n, maxEntries)
	}
	first := map[string]Position{}
	entry := func(id string, p Position) error {
		if known, ok := first[id]; ok {
			return p.errorf("the id %q is duplicated; it first appears at %s:%d", id, known.File, known.Line)
		}
		first[id] = p
		return nil
	}
	var problems []error
	for _, t := range s.Tasks {
		problems = append(problems, entry(t.ID, t.Position))
	}
	for _, q := range s.Queries {
		problems = append(problems, entry(q.ID, q.Position))
	}
	problems = slices.DeleteFunc(problems, func(err error) bool { return err == nil })
	if len(problems) == 0 {
		return nil
	}
	return cmp.Or(problems...)
}
