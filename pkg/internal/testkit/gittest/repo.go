package gittest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
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
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		r.tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		r.tb.Fatal(err)
	}
	id := hex.EncodeToString(sum[:])
	r.write("objects/"+id[:2]+"/"+id[2:], b.Bytes())
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
	ref := "refs/heads/" + branch
	var b bytes.Buffer
	message := "commit " + branch
	fmt.Fprintf(&b, "commit %s\nmark :1\ncommitter A U Thor <author@example.com> 1700000000 +0000\ndata %d\n%s\n", ref,
		len(message), message)
	if r.has(ref) {
		fmt.Fprintf(&b, "from %s^0\n", ref)
	}
	b.WriteString("deleteall\n")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		writeFile(&b, path, files[path])
	}
	b.WriteString("get-mark :1\n")
	return r.Pipe(b.Bytes(), "fast-import", "--quiet", "--force", "--date-format=raw")
}

// has reports whether there is a reference. Nothing here packs them.
func (r *Repo) has(ref string) bool {
	_, err := os.Stat(filepath.Join(r.Dir, filepath.FromSlash(ref)))
	return err == nil
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

// CommitTree makes a commit of a tree, puts a branch on it, and returns its id.
func (r *Repo) CommitTree(branch, tree string) string {
	r.tb.Helper()
	const who = "A U Thor <author@example.com> 1700000000 +0000"
	id := r.object("commit", []byte("tree "+tree+"\nauthor "+who+"\ncommitter "+who+"\n\nraw\n"))
	r.write("refs/heads/"+branch, []byte(id+"\n"))
	return id
}
