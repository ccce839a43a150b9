package gittest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// File is one entry of a commit. The zero File is an empty file.
type File struct {
	Data       string
	Executable bool
	Link       string // the target of a symbolic link; Data is not used
	Commit     string // the commit of a submodule; Data is not used
}

// Files are the entries of a commit by path.
type Files map[string]File

// Text returns files with the given contents, by path. A path that ends in * is executable, without the asterisk.
func Text(contents map[string]string) Files {
	files := make(Files, len(contents))
	for path, data := range contents {
		name, executable := strings.CutSuffix(path, "*")
		files[name] = File{Data: data, Executable: executable}
	}
	return files
}

// Skill returns the text of a SKILL.md.
func Skill(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n\n# %s\n\nDo what the name says.\n", name, description,
		name)
}

// Repo is a bare repository.
type Repo struct {
	Dir string
	tb  testing.TB
}

// New makes an empty bare repository at dir/name, whose default branch is main.
func New(tb testing.TB, dir, name string) *Repo {
	tb.Helper()
	Git(tb) // or the test is skipped
	r := &Repo{Dir: filepath.Join(dir, filepath.FromSlash(name)), tb: tb}
	for _, sub := range []string{"hooks", "info", "objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(r.Dir, filepath.FromSlash(sub)), 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	r.write("HEAD", []byte("ref: refs/heads/main\n"))
	r.write("config", []byte("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"))
	return r
}

// write writes a file of the repository.
func (r *Repo) write(name string, data []byte) {
	r.tb.Helper()
	file := filepath.Join(r.Dir, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, data, 0o644)
	}
	if err != nil {
		r.tb.Fatal(err)
	}
}

// object writes a loose object (gitformat-loose), whatever it holds, and returns its id. It is much faster than git is,
// which takes a process for each.
func (r *Repo) object(kind string, content []byte) string {
	r.tb.Helper()
	data := append([]byte(kind+" "+strconv.Itoa(len(content))+"\x00"), content...)
	sum := sha1.Sum(data)
	id := hex.EncodeToString(sum[:])
	name := "objects/" + id[:2] + "/" + id[2:]
	if _, err := os.Stat(filepath.Join(r.Dir, filepath.FromSlash(name))); err == nil {
		return id
	}
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err == nil {
		_, err = z.Write(data)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		r.tb.Fatal(err)
	}
	r.write(name, b.Bytes())
	return id
}

// Run runs git in the repository and returns what it prints, without the last line break.
func (r *Repo) Run(args ...string) string {
	r.tb.Helper()
	return r.Pipe(nil, args...)
}

// Pipe runs git in the repository with input and returns what it prints, without the last line break.
func (r *Repo) Pipe(input []byte, args ...string) string {
	r.tb.Helper()
	cmd := exec.Command(Git(r.tb), args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, environ(), bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.tb.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Commit makes a commit of exactly these files, puts branch main on it, and returns its id.
func (r *Repo) Commit(files Files) string {
	r.tb.Helper()
	return r.CommitOn("main", files)
}

// CommitOn makes a commit of exactly these files on top of a branch, which need not exist, and returns its id.
func (r *Repo) CommitOn(branch string, files Files) string {
	r.tb.Helper()
	root := newDirectory()
	for path, f := range files {
		root.add(path, f)
	}
	return r.commit(branch, r.writeTree(root), r.head(branch), "commit "+branch)
}

// head returns the commit of a branch, or "".
func (r *Repo) head(branch string) string {
	r.tb.Helper()
	id, err := os.ReadFile(filepath.Join(r.Dir, "refs", "heads", filepath.FromSlash(branch)))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(r.Dir, "packed-refs")); err == nil {
			r.tb.Fatalf("the branch %s may be packed", branch)
		}
		return ""
	} else if err != nil {
		r.tb.Fatal(err)
	}
	return strings.TrimSpace(string(id))
}

// commit writes a commit and puts a branch on it.
func (r *Repo) commit(branch, tree, parent, message string) string {
	r.tb.Helper()
	const who = "A U Thor <author@example.com> 1700000000 +0000"
	if parent != "" {
		parent = "parent " + parent + "\n"
	}
	id := r.object("commit", []byte("tree "+tree+"\n"+parent+"author "+who+"\ncommitter "+who+"\n\n"+message))
	r.write("refs/heads/"+branch, []byte(id+"\n"))
	return id
}

// directory is a tree of a commit before it is written.
type directory struct {
	files map[string]File
	dirs  map[string]*directory
}

func newDirectory() *directory {
	return &directory{files: make(map[string]File), dirs: make(map[string]*directory)}
}

func (d *directory) add(path string, f File) {
	name, rest, below := strings.Cut(path, "/")
	if !below {
		d.files[name] = f
		return
	}
	if d.dirs[name] == nil {
		d.dirs[name] = newDirectory()
	}
	d.dirs[name].add(rest, f)
}

// writeTree writes a tree in git's order, which compares directory names as if they ended with a slash.
func (r *Repo) writeTree(d *directory) string {
	r.tb.Helper()
	entries := make(map[string]Entry)
	for name, f := range d.files {
		entries[name] = r.fileEntry(name, f)
	}
	for name, below := range d.dirs {
		entries[name+"/"] = Entry{Mode: "40000", Name: name, ID: r.writeTree(below)}
	}
	var sorted []Entry
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		sorted = append(sorted, entries[key])
	}
	return r.RawTree(sorted...)
}

func (r *Repo) fileEntry(name string, f File) Entry {
	r.tb.Helper()
	switch {
	case f.Commit != "":
		return Entry{Mode: "160000", Name: name, ID: f.Commit}
	case f.Link != "":
		return Entry{Mode: "120000", Name: name, ID: r.Blob(f.Link)}
	case f.Executable:
		return Entry{Mode: "100755", Name: name, ID: r.Blob(f.Data)}
	}
	return Entry{Mode: "100644", Name: name, ID: r.Blob(f.Data)}
}

// Tag puts a lightweight tag on a commit, moving it if it exists.
func (r *Repo) Tag(name, commit string) {
	r.tb.Helper()
	r.write("refs/tags/"+name, []byte(commit+"\n"))
}

// AnnotatedTag puts a tag object on a revision, moving it if it exists.
func (r *Repo) AnnotatedTag(name, rev string) {
	r.tb.Helper()
	r.Run("tag", "--force", "--annotate", "--message", name, name, rev)
}

// Blob writes a file's content as an object and returns its id.
func (r *Repo) Blob(data string) string {
	r.tb.Helper()
	return r.object("blob", []byte(data))
}

// Entry is one entry of a raw tree.
type Entry struct {
	Mode string // "100644", "100755", "120000", "160000", "40000"
	Name string
	ID   string
}

// RawTree writes a tree object of exactly these entries in this order, whatever git thinks of them, and returns its
// id: names like .git and .., duplicates, and entries out of order are possible.
func (r *Repo) RawTree(entries ...Entry) string {
	r.tb.Helper()
	var b bytes.Buffer
	for _, e := range entries {
		id, err := hex.DecodeString(e.ID)
		if err != nil {
			r.tb.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\x00%s", e.Mode, e.Name, id)
	}
	return r.object("tree", b.Bytes())
}

// CommitTree makes a commit of a tree without a parent, puts a branch on it, and returns its id.
func (r *Repo) CommitTree(branch, tree string) string {
	r.tb.Helper()
	return r.commit(branch, tree, "", "raw\n")
}
