package lsp

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/overlayfs"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// view is what the server knows at one moment. It never changes: a server replaces it.
type view struct {
	*library
	client   client
	docs     map[string]*document // by path
	folders  []string             // of the workspace, by path
	profiles []string             // that skills are checked for
}

// client is what the client can, and how it counts.
type client struct {
	encoding   encoding
	plainHover bool // it shows no Markdown
	plainDocs  bool // likewise, in completion
	snippets   bool
	versions   bool // edits can name the version of a document
	actions    bool // code actions need not be commands
	configured bool // it can be asked for configuration
	watches    bool // it can be asked to watch files
	links      bool // diagnostics may have a link to more about them
}

// library is what all views share.
type library struct {
	options Options
	every   func() []dialect // of all hosts
	mu      sync.Mutex
	linters map[string]madeLinter // by volume, folder and project
	schemas map[string][]dialect
	parents map[string]bool // directories of skills that were checked
}

func newLibrary(o Options) *library {
	return &library{
		options: o, linters: map[string]madeLinter{}, schemas: map[string][]dialect{}, parents: map[string]bool{},
		every: sync.OnceValue(func() []dialect {
			all, err := profile.Hosts()
			if err != nil { // they are part of the program
				return nil
			}
			return slices.DeleteFunc(dialects(all), func(d dialect) bool { return d.root == nil })
		}),
	}
}

// windows reports whether paths may start with a drive.
func (l *library) windows() bool { return l.options.OS == "windows" }

// document returns an open document, or nil.
func (v *view) document(uri protocol.DocumentURI) *document {
	return v.docs[pathOf(uri, v.windows())]
}

// with returns a copy of the view that change was applied to.
func (v *view) with(change func(*view)) *view {
	c := *v
	c.docs = maps.Clone(v.docs)
	c.folders = slices.Clone(v.folders)
	change(&c)
	return &c
}

// dialectsOf returns the schemas that the document's YAML answers to.
func (v *view) dialectsOf(d *document) []dialect {
	if own := ownSchema(d.path); own != "" {
		return v.schemasOf(own, func() []dialect { return []dialect{{root: readSchema(own)}} })
	}
	ids := v.profilesOf(d)
	return v.schemasOf("skill "+strings.Join(ids, ","), func() []dialect {
		profiles, err := profile.Select(ids)
		if err != nil {
			return nil
		}
		return dialects(profiles)
	})
}

// schemasOf returns what read returned the first time.
func (l *library) schemasOf(key string, read func() []dialect) []dialect {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, ok := l.schemas[key]
	if !ok {
		all = slices.DeleteFunc(read(), func(d dialect) bool { return d.root == nil })
		l.schemas[key] = all
	}
	return all
}

// folder returns the folder of the workspace that a path is in, the innermost of several, "" if it is in none.
func (v *view) folder(p string) string {
	folder := ""
	for _, f := range v.folders {
		if _, ok := below(f, p); ok && len(f) > len(folder) {
			folder = f
		}
	}
	return folder
}

// home returns the directory of the skill that a path belongs to, "" if it belongs to none: the outermost in its folder
// of the workspace, because that is checked with all that it holds, and outside of the workspace the innermost.
func (v *view) home(p string) string {
	folder, home := v.folder(p), ""
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		if isSkillFile(p) && dir == path.Dir(p) || v.exists(dir+"/"+skill.File) {
			if home = dir; folder == "" {
				return home
			}
		}
		if dir == folder || dir == path.Dir(dir) || skill.SkipDir(path.Base(dir)) {
			return home
		}
	}
}

// exists reports whether there is a file, open or on disk.
func (v *view) exists(p string) bool {
	return v.docs[p] != nil || isFile(p)
}

// isFile reports whether there is a file on disk.
func isFile(p string) bool {
	info, err := os.Stat(filepath.FromSlash(p))
	return err == nil && info.Mode().IsRegular()
}

// tree returns the file system of a volume with the open documents in it.
func (v *view) tree(root string) (fs.FS, error) {
	files := map[string][]byte{}
	for p, d := range v.docs {
		if r, name := split(p); r == root {
			files[name] = []byte(d.text.string)
		}
	}
	for {
		tree, err := overlayfs.New(os.DirFS(filepath.FromSlash(root)), files)
		wrong, ok := errors.AsType[*fs.PathError](err)
		if !ok {
			return tree, err
		}
		delete(files, wrong.Path) // it cannot be a file, whatever the client says
	}
}

// content returns what is in a file, open or on disk, or nil.
func (v *view) content(tree fs.FS, p string) *text {
	if d := v.docs[p]; d != nil {
		return d.text
	}
	_, name := split(p)
	if info, err := fs.Stat(tree, name); err != nil || !info.Mode().IsRegular() || info.Size() > skill.MaxFile {
		return nil
	}
	data, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil
	}
	return newText(string(data))
}

// uri returns the URI of a file, as the client writes it if it is open.
func (v *view) uri(p string) protocol.DocumentURI {
	if d := v.docs[p]; d != nil {
		return d.uri
	}
	return uriOf(p)
}

// config is how the skills at a place are checked.
type config struct {
	root, folder string // the volume, and the folder of the workspace
	dir          string // of the project's skillpm.yaml, "" where there is none
	profiles     []string
	wishes       pack.Validate
	installed    []string // the names of installed skills, sorted
}

// config returns how a skill, or a file of skillpm's own, is checked: as the client says, and as the project's
// skillpm.yaml says, which may be open in the editor, too.
func (v *view) config(tree fs.FS, root, target string) config {
	c := config{root: root, folder: v.folder(target), dir: v.project(target), profiles: v.profiles}
	v.mu.Lock()
	v.parents[path.Dir(target)] = true
	v.mu.Unlock()
	locks := slices.Clone(v.options.Locks)
	if c.dir != "" {
		if t := v.content(tree, c.dir+"/"+pack.ManifestName); t != nil {
			if m, _ := pack.CheckManifest(pack.ManifestName, []byte(t.string)); m != nil {
				c.wishes = m.Validate
			}
		}
		locks = append(locks, c.dir+"/"+pack.LockName)
	}
	for _, p := range locks {
		c.installed = append(c.installed, v.lockedNames(tree, slashed(p, v.windows()))...)
	}
	slices.Sort(c.installed)
	if len(c.profiles) == 0 {
		c.profiles = c.wishes.Profiles
		if c.wishes.All {
			c.profiles = []string{"all"}
		}
	}
	return c
}

// profilesOf returns the ids of the profiles that a document is checked for.
func (v *view) profilesOf(d *document) []string {
	root, _ := split(d.path)
	tree, err := v.tree(root)
	if err != nil {
		return v.profiles
	}
	return v.config(tree, root, d.path).profiles
}

// project returns the directory of the nearest skillpm.yaml, "" if there is none. That of the user's home is none of a
// project.
func (v *view) project(target string) string {
	dir := target
	if v.docs[target] != nil {
		dir = path.Dir(target)
	}
	for home := slashed(v.options.Home, v.windows()); dir != home; dir = path.Dir(dir) {
		if v.exists(path.Join(dir, pack.ManifestName)) {
			return dir
		}
		if dir == path.Dir(dir) {
			break
		}
	}
	return ""
}

// lockedNames returns the names of the skills that a lock says are installed.
func (v *view) lockedNames(tree fs.FS, p string) []string {
	t := v.content(tree, p)
	if t == nil {
		return nil
	}
	lock, err := pack.ParseLock(p, []byte(t.string))
	if err != nil {
		return nil
	}
	return lock.SkillNames()
}

// settings returns what the linter is told of the project's wishes.
func (c config) settings() lint.Settings {
	root := ""
	if c.dir != "" {
		_, root = split(c.dir)
	}
	return lint.NewSettings(root, c.wishes)
}

// linter returns the linter for a configuration: the one that was made before, as long as nothing changes.
func (l *library) linter(c config) (*lint.Linter, error) {
	now := l.options.Now()
	key := fmt.Sprintf("%s\x00%s\x00%s", c.root, c.folder, c.dir)
	is := fmt.Sprintf("%q %+v %q %s", c.profiles, c.wishes, c.installed, now.Format(time.DateOnly))
	l.mu.Lock()
	defer l.mu.Unlock()
	if have, ok := l.linters[key]; ok && have.is == is {
		return have.linter, nil
	}
	profiles, err := profile.Select(c.profiles)
	if err != nil {
		return nil, err
	}
	linter, err := lint.New(lint.Options{
		Profiles: profiles, NoModes: l.windows(), Edits: true, Settings: c.settings(), Now: now,
		SkillExists: func(name string) bool { return l.isSkill(c, name) },
		Show:        func(name string) string { return show(c.root, c.folder, name) },
	})
	if err != nil {
		return nil, err
	}
	l.linters[key] = madeLinter{is, linter}
	return linter, nil
}

// besides are the directories, below that of a project or beside a skill, in which there may be other skills.
var besides = [...]string{"", "skills", ".agents/skills", ".claude/skills", ".skillpm/skills"}

// isSkill reports whether there is a skill of that name besides the one that is checked: an installed one, or one in a
// directory of that name where skills are. The workspace is not searched for it.
func (l *library) isSkill(c config, name string) bool {
	if _, ok := slices.BinarySearch(c.installed, name); ok {
		return true
	}
	l.mu.Lock()
	places := slices.Collect(maps.Keys(l.parents))
	l.mu.Unlock()
	for _, place := range append(places, c.dir, c.folder) {
		for _, beside := range besides {
			if p := path.Join(place, beside, name, skill.File); place != "" && isFile(p) {
				return true
			}
		}
	}
	return false
}

// madeLinter is a linter and what it was made for.
type madeLinter struct {
	is     string
	linter *lint.Linter
}

// accept takes out of a report what the project's baseline accepts.
func (v *view) accept(tree fs.FS, c config, report *lint.Report) {
	if c.dir == "" || c.wishes.Baseline == "" {
		return
	}
	file := path.Join(c.dir, c.wishes.Baseline)
	t := v.content(tree, file)
	if t == nil {
		return
	}
	b, err := lint.ParseBaseline(file, []byte(t.string))
	if err != nil {
		return
	}
	m := b.Matcher(v.options.Now())
	report.Accept(lint.ByBaseline, func(f diag.Finding) (string, bool) {
		p := shown(c.folder, f.Path)
		line := report.Line(f)
		if whole := v.content(tree, p); f.Line == 0 && whole != nil {
			line = whole.string
		}
		e, ok := m.Accept(lint.BaselineFinding{
			Rule: f.Rule, Path: relative(path.Dir(file), p),
			Digest: lint.BaselineDigest([]byte(line)),
		})
		return e.Reason, ok
	})
}

// show writes a path of a volume as messages do: relative to the folder of the workspace.
func show(root, folder, name string) string {
	if folder != "" {
		_, inside := split(folder)
		if rel, ok := below(inside, name); ok {
			return rel
		}
	}
	return root + name
}

// shown returns the path that show wrote.
func shown(folder, p string) string {
	if absolute(p) {
		return path.Clean(p)
	}
	return path.Join(folder, p)
}
