package lsp

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/internal/overlayfs"
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
