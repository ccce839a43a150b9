package lsp

import (
	"errors"
	"fmt"
	"io"
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

// view is the server's state at one moment. It never changes: the server replaces it.
type view struct {
	*shared
	client   client
	docs     map[string]*document // by path
	folders  []string             // of the workspace, by path
	profiles []string             // selected by the client
}

// client has the client's capabilities.
type client struct {
	encoding       encoding
	plainTextHover bool // it shows no Markdown
	plainTextDocs  bool // likewise, in completion
	snippets       bool
	versions       bool // edits can name the version of a document
	actions        bool // code actions need not be commands
	configured     bool // it can be asked for configuration
	watches        bool // it can be asked to watch files
	links          bool // diagnostics may have a link to more about them
}

// shared is the state that all views share.
type shared struct {
	options      Options
	agentSchemas func() []profileSchema // of all agents
	mu           sync.Mutex
	linters      map[string]cachedLinter // by volume, folder and project
	schemas      map[string][]profileSchema
	parents      map[string]bool // directories of skills that were checked
}

func newShared(o Options) *shared {
	return &shared{
		options: o, linters: map[string]cachedLinter{}, schemas: map[string][]profileSchema{},
		parents: map[string]bool{},
		agentSchemas: sync.OnceValue(func() []profileSchema {
			all, err := profile.Agents()
			if err != nil { // they are part of the program
				return nil
			}
			return slices.DeleteFunc(profileSchemas(all), func(d profileSchema) bool { return d.root == nil })
		}),
	}
}

// windows reports whether paths may start with a drive.
func (l *shared) windows() bool { return l.options.OS == "windows" }

// document returns an open document, or nil.
func (v *view) document(uri protocol.DocumentURI) *document {
	return v.docs[pathOf(uri, v.windows())]
}

// with returns a changed copy of the view.
func (v *view) with(change func(*view)) *view {
	c := *v
	c.docs = maps.Clone(v.docs)
	c.folders = slices.Clone(v.folders)
	change(&c)
	return &c
}

// schemasFor returns the schemas for the document's YAML.
func (v *view) schemasFor(d *document) []profileSchema {
	if own := ownSchema(d.path); own != "" {
		return v.cachedSchemas(own, func() []profileSchema { return []profileSchema{{root: readSchema(own)}} })
	}
	ids := v.profilesOf(d)
	return v.cachedSchemas("skill "+strings.Join(ids, ","), func() []profileSchema {
		profiles, err := profile.Select(ids)
		if err != nil {
			return nil
		}
		return profileSchemas(profiles)
	})
}

// cachedSchemas returns the result of the first read.
func (l *shared) cachedSchemas(key string, read func() []profileSchema) []profileSchema {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, ok := l.schemas[key]
	if !ok {
		all = slices.DeleteFunc(read(), func(d profileSchema) bool { return d.root == nil })
		l.schemas[key] = all
	}
	return all
}

// folder returns the folder of the workspace that contains a path, the innermost of several, "" if there is none.
func (v *view) folder(p string) string {
	folder := ""
	for _, f := range v.folders {
		if _, ok := relativeTo(f, p); ok && len(f) > len(folder) {
			folder = f
		}
	}
	return folder
}

// skillRoot returns the directory of the skill that a path belongs to, "" if it belongs to none. In a folder of the
// workspace, that is the outermost skill, because it is checked with everything in it; elsewhere it is the innermost.
func (v *view) skillRoot(p string) string {
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

// exists reports whether a file is open or on disk.
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
		if r, name := splitVolume(p); r == root {
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

// content returns the content of a file, open or on disk, or nil.
func (v *view) content(tree fs.FS, p string) *text {
	if d := v.docs[p]; d != nil {
		return d.text
	}
	_, name := splitVolume(p)
	if info, err := fs.Stat(tree, name); err != nil || !info.Mode().IsRegular() || info.Size() > skill.MaxFile {
		return nil
	}
	f, err := tree.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, skill.MaxFile+1)) // some files have no size
	if err != nil || len(data) > skill.MaxFile {
		return nil
	}
	return newText(string(data))
}

// uri returns the URI of a file, in the client's form if it is open.
func (v *view) uri(p string) protocol.DocumentURI {
	if d := v.docs[p]; d != nil {
		return d.uri
	}
	return uriOf(p)
}

// config is the configuration of a check.
type config struct {
	root, folder string // the volume, and the folder of the workspace
	dir          string // of the project's skillpm.yaml, "" where there is none
	profiles     []string
	validate     pack.Validate
	installed    []string // the names of installed skills, sorted
}

// config returns the configuration for a skill, or for one of skillpm's own files: the client's settings, and those of
// the project's skillpm.yaml, which may be open in the editor.
func (v *view) config(tree fs.FS, root, target string) config {
	c := config{root: root, folder: v.folder(target), dir: v.project(target), profiles: v.profiles}
	v.mu.Lock()
	v.parents[path.Dir(target)] = true
	v.mu.Unlock()
	locks, manifest := slices.Clone(v.options.Locks), &pack.Manifest{}
	if c.dir != "" {
		if t := v.content(tree, c.dir+"/"+pack.ManifestName); t != nil {
			if m, _ := pack.CheckManifest(pack.ManifestName, []byte(t.string)); m != nil {
				c.validate, manifest = m.Validate, m
			}
		}
		locks = append(locks, c.dir+"/"+pack.LockName)
	}
	for _, p := range locks {
		c.installed = append(c.installed, v.lockedNames(tree, toSlash(p, v.windows()))...)
	}
	slices.Sort(c.installed)
	if len(c.profiles) == 0 {
		c.profiles = manifest.ValidateProfiles()
	}
	return c
}

// profilesOf returns the ids of the profiles for a document.
func (v *view) profilesOf(d *document) []string {
	root, _ := splitVolume(d.path)
	tree, err := v.tree(root)
	if err != nil {
		return v.profiles
	}
	return v.config(tree, root, d.path).profiles
}

// project returns the directory of the nearest skillpm.yaml, "" if there is none. The user's home directory is not a
// project.
func (v *view) project(target string) string {
	dir := target
	if v.docs[target] != nil {
		dir = path.Dir(target)
	}
	for home := toSlash(v.options.Home, v.windows()); dir != home; dir = path.Dir(dir) {
		if v.exists(path.Join(dir, pack.ManifestName)) {
			return dir
		}
		if dir == path.Dir(dir) {
			break
		}
	}
	return ""
}

// lockedNames returns the names of the skills in a lockfile.
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

// settings returns the linter's settings for the project.
func (c config) settings() lint.Settings {
	root := ""
	if c.dir != "" {
		_, root = splitVolume(c.dir)
	}
	return lint.NewSettings(root, c.validate)
}

// linter returns the linter for a configuration, and reuses the last one if nothing changed.
func (l *shared) linter(tree fs.FS, c config) (*lint.Linter, error) {
	now := l.options.Now()
	slot := fmt.Sprintf("%s\x00%s\x00%s", c.root, c.folder, c.dir)
	key := fmt.Sprintf("%q %+v %q %s %s", c.profiles, c.validate, c.installed, now.Format(time.DateOnly),
		c.ruleFiles(tree))
	l.mu.Lock()
	defer l.mu.Unlock()
	if have, ok := l.linters[slot]; ok && have.key == key {
		return have.linter, nil
	}
	profiles, err := profile.Select(c.profiles)
	if err != nil {
		return nil, err
	}
	rules, err := c.rules(tree)
	if err != nil {
		return nil, err
	}
	linter, err := lint.New(lint.Options{
		Profiles: profiles, Rules: rules, NoModes: l.windows(), Edits: true, Settings: c.settings(), Now: now,
		SkillExists: func(name string) bool { return l.isSkill(c, name) },
		Show:        func(name string) string { return displayPath(c.root, c.folder, name) },
		Unshow: func(shown string) string {
			_, name := splitVolume(fromDisplayPath(c.folder, shown))
			return name
		},
	})
	if err != nil {
		return nil, err
	}
	l.linters[slot] = cachedLinter{key, linter}
	return linter, nil
}

// rulesDir returns the directory of the team's rules, "" for none.
func (c config) rulesDir() string {
	if c.dir == "" || c.validate.RulesDir == "" {
		return ""
	}
	_, dir := splitVolume(path.Join(c.dir, c.validate.RulesDir))
	return dir
}

// ruleFiles describes the team's rule files, to notice changes.
func (c config) ruleFiles(tree fs.FS) string {
	dir := c.rulesDir()
	if dir == "" {
		return ""
	}
	entries, _ := fs.ReadDir(tree, dir) // rules reports the error
	var b strings.Builder
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			fmt.Fprintf(&b, "%q %d %d ", e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// rules reads the team's rules, or returns nil if the project has none.
func (c config) rules(tree fs.FS) (*lint.RuleSet, error) {
	dir := c.rulesDir()
	if dir == "" {
		return nil, nil
	}
	sub, err := fs.Sub(tree, dir)
	if err != nil {
		return nil, err
	}
	return lint.ReadRules(sub, func(name string) string { return displayPath(c.root, c.folder, path.Join(dir, name)) })
}

// skillDirs are directories, relative to a project's or a skill's, that may contain other skills.
var skillDirs = [...]string{"", "skills", ".agents/skills", ".claude/skills", ".skillpm/skills"}

// isSkill reports whether there is another skill of that name: an installed one, or one in a directory of that name
// among skills. It does not search the workspace.
func (l *shared) isSkill(c config, name string) bool {
	if _, ok := slices.BinarySearch(c.installed, name); ok {
		return true
	}
	l.mu.Lock()
	parents := slices.Collect(maps.Keys(l.parents))
	l.mu.Unlock()
	for _, parent := range append(parents, c.dir, c.folder) {
		for _, beside := range skillDirs {
			if p := path.Join(parent, beside, name, skill.File); parent != "" && isFile(p) {
				return true
			}
		}
	}
	return false
}

// cachedLinter is a linter and the configuration that it was made for.
type cachedLinter struct {
	key    string
	linter *lint.Linter
}

// applyBaseline removes the findings that the project's baseline accepts.
func (v *view) applyBaseline(tree fs.FS, c config, report *lint.Report) {
	if c.dir == "" || c.validate.Baseline == "" {
		return
	}
	file := path.Join(c.dir, c.validate.Baseline)
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
		p := fromDisplayPath(c.folder, f.Path)
		line := report.Line(f)
		if content := v.content(tree, p); f.Line == 0 && content != nil {
			line = content.string
		}
		e, ok := m.Accept(lint.BaselineFinding{
			Rule: f.Rule, Path: relative(path.Dir(file), p),
			Digest: lint.BaselineDigest([]byte(line)),
		})
		return e.Reason, ok
	})
}

// displayPath formats a path of a volume for messages: relative to the folder of the workspace.
func displayPath(root, folder, name string) string {
	if folder != "" {
		_, inside := splitVolume(folder)
		if rel, ok := relativeTo(inside, name); ok {
			return rel
		}
	}
	return root + name
}

// fromDisplayPath is the inverse of displayPath.
func fromDisplayPath(folder, p string) string {
	if isAbsolute(p) {
		return path.Clean(p)
	}
	return path.Join(folder, p)
}
