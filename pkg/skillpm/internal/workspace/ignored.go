package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// The generated links lie beside local skills, which belong in the repository. So skillpm writes a .gitignore into each
// directory of an agent, with a block that lists exactly the entries that skillpm created there, and the file itself. A
// file without such a block belongs to the user and stays as it is. So does a directory of which git tracks a generated
// entry: its team commits the links.
const (
	ignoreName  = ".gitignore"
	ignoreBegin = "# skillpm: generated links, which skillpm install creates again\n"
	ignoreEnd   = "# skillpm: end\n"
)

// ignoreBlock returns the block for the names of generated entries.
func ignoreBlock(names []string) []byte {
	var b bytes.Buffer
	b.WriteString(ignoreBegin + "/" + ignoreName + "\n")
	escape := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `)
	for _, name := range names {
		if !strings.ContainsAny(name, "\n\r") {
			b.WriteString("/" + escape.Replace(name) + "\n")
		}
	}
	b.WriteString(ignoreEnd)
	return b.Bytes()
}

// splitIgnore splits a .gitignore into skillpm's block and what is around it. Found is false if it does not have one.
func splitIgnore(data []byte) (before, block, after []byte, found bool) {
	start := bytes.Index(data, []byte(ignoreBegin))
	if start < 0 || start > 0 && data[start-1] != '\n' {
		return nil, nil, nil, false
	}
	length := bytes.Index(data[start:], []byte(ignoreEnd))
	if length < 0 {
		return nil, nil, nil, false
	}
	end := start + length + len(ignoreEnd)
	return data[:start], data[start:end], data[end:], true
}

// isGeneratedIgnore reports whether the data of a .gitignore is only skillpm's block.
func isGeneratedIgnore(data []byte) bool {
	before, _, after, found := splitIgnore(data)
	return found && len(before) == 0 && len(after) == 0
}

// generatedNames returns the names of the entries that a layout has in each directory of an agent, sorted. It includes
// the directories in which skillpm created entries before.
func (w *Workspace) generatedNames(l *Layout, unlink []AgentDir) map[string][]string {
	names := map[string][]string{}
	own := func(at string) bool { return at == scope.DirName || strings.HasPrefix(at, scope.DirName+"/") }
	for _, dir := range slices.Concat(l.Dirs, unlink) {
		names[dir.real] = nil
	}
	created := func(at string) {
		if !own(at) {
			names[path.Dir(at)] = nil
		}
	}
	for at := range w.state.Links {
		created(at)
	}
	for at := range w.state.Trees {
		created(at)
	}
	wanted := func(at string) {
		if !own(at) {
			names[path.Dir(at)] = append(names[path.Dir(at)], path.Base(at))
		}
	}
	for at := range l.links {
		wanted(at)
	}
	for at := range l.trees {
		wanted(at)
	}
	for _, list := range names {
		slices.Sort(list)
	}
	return names
}

// compareIgnores adds to the change the .gitignore files of agents' directories that have to change. Nothing is added
// outside of git repositories.
func (w *Workspace) compareIgnores(c *Change, l *Layout, unlink []AgentDir) {
	if w.Scope.Kind != scope.KindProject {
		return
	}
	repository := inRepository(w.Scope.Root)
	generated := w.generatedNames(l, unlink)
	tracked := sync.OnceValue(func() map[string]bool { return w.trackedDirs(generated) })
	for _, dir := range slices.Sorted(maps.Keys(generated)) {
		names := generated[dir]
		at := path.Join(dir, ignoreName)
		data, err := safefile.ReadOptional(w.Scope.Abs(at))
		if err != nil {
			continue // a directory or a link, for example, which the user made
		}
		before, block, after, found := splitIgnore(data)
		if !found && (data != nil || len(names) == 0 || !repository) {
			continue
		}
		want := ignoreBlock(names)
		changes := !bytes.Equal(block, want) || c.touches(dir)
		if known := w.state.Committed[dir]; found && !changes || known && !c.touches(dir) {
			if known {
				c.committed = append(c.committed, dir)
			}
			continue
		}
		if len(names) == 0 {
			want = nil
		} else if repository && tracked()[dir] {
			want = nil
			c.committed = append(c.committed, dir)
		}
		switch rest := slices.Concat(before, want, after); {
		case bytes.Equal(rest, data):
		case len(rest) == 0:
			c.removals = append(c.removals, at)
		default:
			c.files[at] = rest
		}
	}
}

// touches reports whether the change writes or removes an entry of a directory.
func (c *Change) touches(dir string) bool {
	in := func(at string) bool { return path.Dir(at) == dir }
	return hasKey(c.links, in) || hasKey(c.Trees, in) || slices.ContainsFunc(c.removals, in)
}

// trackedDirs returns the directories in which git tracks a generated entry. Without the git program, it returns none.
func (w *Workspace) trackedDirs(generated map[string][]string) map[string]bool {
	var paths []string
	for dir, names := range generated {
		for _, name := range names {
			paths = append(paths, path.Join(dir, name))
		}
	}
	tracked, err := git.Tracked(context.Background(), w.Scope.Root, paths) // it reads the index of a local repository
	dirs := make(map[string]bool)
	if err != nil {
		return dirs
	}
	for p := range tracked {
		dirs[path.Dir(p)] = true
	}
	return dirs
}

// inRepository reports whether a directory is in a git repository, or in something that looks like one.
func inRepository(dir string) bool {
	for dir = pathx.ResolveOrClean(dir); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		} else if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return false
		}
	}
}
