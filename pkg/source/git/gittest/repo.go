package gittest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n\n# %s\n\nDo what the name says.\n", name, description, name)
}

// Repo is a bare repository.
type Repo struct {
	Dir string
	tb  testing.TB
}

// New makes an empty bare repository at dir/name, whose default branch is main.
func New(tb testing.TB, dir, name string) *Repo {
	tb.Helper()
	r := &Repo{Dir: filepath.Join(dir, filepath.FromSlash(name)), tb: tb}
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	r.Run("init", "--quiet", "--bare", "--initial-branch=main", ".")
	return r
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
	ref := "refs/heads/" + branch
	var b bytes.Buffer
	message := "commit " + branch
	fmt.Fprintf(&b, "commit %s\ncommitter A U Thor <author@example.com> 1700000000 +0000\ndata %d\n%s\n", ref, len(message), message)
	if r.has(ref) {
		fmt.Fprintf(&b, "from %s^0\n", ref)
	}
	b.WriteString("deleteall\n")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		writeFile(&b, path, files[path])
	}
	r.Pipe(b.Bytes(), "fast-import", "--quiet", "--force", "--date-format=raw")
	return r.Run("rev-parse", ref)
}

func (r *Repo) has(ref string) bool {
	cmd := exec.Command(Git(r.tb), "show-ref", "--verify", "--quiet", ref)
	cmd.Dir, cmd.Env = r.Dir, environ()
	return cmd.Run() == nil
}

func writeFile(b *bytes.Buffer, path string, f File) {
	mode, data := "100644", f.Data
	switch {
	case f.Commit != "":
		fmt.Fprintf(b, "M 160000 %s %s\n", f.Commit, path)
		return
	case f.Link != "":
		mode, data = "120000", f.Link
	case f.Executable:
		mode = "100755"
	}
	fmt.Fprintf(b, "M %s inline %s\ndata %d\n%s\n", mode, path, len(data), data)
}

// Tag puts a lightweight tag on a revision, moving it if it exists.
func (r *Repo) Tag(name, rev string) { r.tb.Helper(); r.Run("tag", "--force", name, rev) }

// AnnotatedTag puts a tag object on a revision, moving it if it exists.
func (r *Repo) AnnotatedTag(name, rev string) {
	r.tb.Helper()
	r.Run("tag", "--force", "--annotate", "--message", name, name, rev)
}

// Blob writes a file's content as an object and returns its id.
func (r *Repo) Blob(data string) string {
	r.tb.Helper()
	return r.Pipe([]byte(data), "hash-object", "-w", "--stdin")
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
	return r.Pipe(b.Bytes(), "hash-object", "-t", "tree", "-w", "--literally", "--stdin")
}

// CommitTree makes a commit of a tree, puts a branch on it, and returns its id.
func (r *Repo) CommitTree(branch, tree string) string {
	r.tb.Helper()
	id := r.Run("commit-tree", "-m", "raw", tree)
	r.Run("update-ref", "refs/heads/"+branch, id)
	return id
}
