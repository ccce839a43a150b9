package evaluate

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/evalfile"
	"github.com/skillpm/skillpm/pkg/cli/internal/skilltest"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// snapshot is a copy of a skill, so that edits during an evaluation do not mix with its runs.
type snapshot struct {
	dir    string // of the copy
	digest string // of the skill's files without its tests and evaluations
	graded string // digest of all files without the entries of evaluations: what graders may read or run
}

// isTest reports whether a path of a skill has tests or evaluations. The agent does not get them, because they contain
// the expected results.
func isTest(name string, _ bool) bool { return name == skilltest.Dir || name == evalfile.Dir }

// takeSnapshot copies a directory of a file system.
func takeSnapshot(fsys fs.FS, to string) (*snapshot, error) {
	if _, err := fs.Stat(fsys, skill.File); err != nil {
		return nil, diag.Errorf(diag.NotFound, "the directory does not contain a %s", skill.File)
	}
	if err := copyTree(fsys, ".", to, nil); err != nil {
		return nil, err
	}
	tree, err := bundle.DirTree(safefile.Dir(to), ".", isTest)
	if err != nil {
		return nil, err
	}
	graded, err := bundle.DirTree(safefile.Dir(to), ".", holdsEntries)
	if err != nil {
		return nil, err
	}
	return &snapshot{dir: to, digest: tree.Inventory.Digest(), graded: graded.Inventory.Digest()}, nil
}

func holdsEntries(name string, dir bool) bool {
	return !dir && path.Dir(name) == evalfile.Dir && evalfile.HasEntries(path.Base(name))
}

// copyTree copies the files in a directory that [bundle.Walk] visits: a link is an error.
func copyTree(fsys fs.FS, dir, to string, skip func(name string, dir bool) bool) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	return bundle.Walk(fsys, dir, skip, func(f bundle.File) error {
		return copyFile(fsys, f.Name, root, f.Path, f.Executable())
	})
}

func copyFile(fsys fs.FS, name string, root *os.Root, to string, executable bool) error {
	from, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	if dir := path.Dir(to); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	mode := fs.FileMode(0o600)
	if executable {
		mode = 0o700
	}
	f, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, from); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// inputs returns the digest of the files that a task starts with.
func (s *snapshot) inputs(t *evalfile.Task) (string, error) {
	sources := slices.Clone(t.Files)
	if t.Fixture != "" {
		sources = append(sources, evalfile.File{Source: t.Fixture, Target: "."})
	}
	var all bundle.Inventory
	for _, f := range sources {
		list, err := s.list(f)
		if err != nil {
			return "", err
		}
		for _, e := range list {
			if configures(e.Path) {
				return "", diag.Errorf(diag.Denied, "%s:%d: the input file %s would configure the agent of the evaluation",
					t.File, t.Line, e.Path).WithHint("remove the file from the input files")
			}
		}
		all = append(all, list...)
	}
	return all.Digest(), nil
}

// list returns a file, or the files of a directory, with their paths in the project.
func (s *snapshot) list(f evalfile.File) (bundle.Inventory, error) {
	fsys := safefile.Dir(s.dir)
	if info, err := fs.Stat(fsys, f.Source); err == nil && info.Mode().IsRegular() {
		data, err := safefile.ReadIn(fsys, f.Source, maxInput)
		return bundle.MapTree("", map[string][]byte{f.Target: data}, nil).Inventory, err
	}
	tree, err := bundle.DirTree(fsys, f.Source, nil)
	for i := range tree.Inventory {
		tree.Inventory[i].Path = path.Join(f.Target, tree.Inventory[i].Path)
	}
	return tree.Inventory, err
}

// maxInput limits an input file, in bytes.
const maxInput = 64 << 20

// put copies the files that a task starts with into a project.
func (s *snapshot) put(t *evalfile.Task, project string) error {
	fsys := safefile.Dir(s.dir)
	if t.Fixture != "" {
		if err := copyTree(fsys, t.Fixture, project, nil); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range t.Files {
		info, err := fs.Stat(fsys, f.Source)
		if err == nil && info.IsDir() {
			err = copyTree(fsys, f.Source, filepath.Join(project, filepath.FromSlash(f.Target)), nil)
		} else if err == nil {
			err = copyFile(fsys, f.Source, root, f.Target, info.Mode()&0o100 != 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// install copies the skill into a directory, without its tests.
func (s *snapshot) install(to string) error { return copyTree(safefile.Dir(s.dir), ".", to, isTest) }

// configures reports whether a file of a project configures agents or other programs that run there: a fixture must not
// start commands or change where an agent sends the user's login.
func configures(name string) bool {
	first, _, _ := strings.Cut(strings.ToLower(name), "/")
	return slices.Contains([]string{
		".git", ".mcp.json", ".env", ".envrc", ".vscode", ".github", ".skillpm", "opencode.json", "opencode.jsonc",
		".opencode", "crush.json", ".crush.json", ".amp", ".kilocode", ".zed", ".aider.conf.yml", ".npmrc",
	}, first) || slices.ContainsFunc(agent.All(), func(a agent.Agent) bool {
		for _, dir := range []string{a.Project, a.Mark} {
			if top, _, _ := strings.Cut(dir, "/"); strings.HasPrefix(top, ".") && strings.EqualFold(top, first) {
				return true
			}
		}
		return false
	})
}

// instructions are the names of files that agents follow in any directory, in lower case.
var instructions = [...]string{
	"agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md", "gemini.md", "qwen.md", "crush.md",
	"warp.md", ".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".goosehints", ".rules",
}

// steers reports whether agents follow or load files and directories with a name. A repository is none of them.
func steers(name string) bool {
	return !strings.EqualFold(name, ".git") &&
		(configures(name) || slices.Contains(instructions[:], strings.ToLower(name)))
}
