package textdiff_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
)

func file(path, text string) textdiff.File { return textdiff.File{Path: path, Data: []byte(text)} }

func script(path, text string) textdiff.File {
	return textdiff.File{Path: path, Data: []byte(text), Executable: true}
}

// numbered is a text of lines 1 to n, with some of them changed.
func numbered(n int, change map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if text, ok := change[i]; ok {
			b.WriteString(text)
			continue
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

type files = []textdiff.File

func TestTrees(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after files
		options       textdiff.Options
		want          string
	}{
		{"nothing", nil, nil, textdiff.Options{}, ""},
		{"the same", files{file("a", "x\n"), file("b", "")}, files{file("b", ""), file("a", "x\n")}, textdiff.Options{}, ""},
		{"added", nil, files{file("a/SKILL.md", "x\ny\n")}, textdiff.Options{}, `diff --git a/a/SKILL.md b/a/SKILL.md
new file mode 100644
--- /dev/null
+++ b/a/SKILL.md
@@ -0,0 +1,2 @@
+x
+y
`},
		{"added, executable, without a line end", nil, files{script("run.sh", "x")}, textdiff.Options{}, `diff --git a/run.sh b/run.sh
new file mode 100755
--- /dev/null
+++ b/run.sh
@@ -0,0 +1 @@
+x
\ No newline at end of file
`},
		{"added, empty", nil, files{file("e", "")}, textdiff.Options{}, "diff --git a/e b/e\nnew file mode 100644\n"},
		{"removed", files{script("a", "x\n")}, nil, textdiff.Options{}, `diff --git a/a b/a
deleted file mode 100755
--- a/a
+++ /dev/null
@@ -1 +0,0 @@
-x
`},
		{"removed, empty", files{file("e", "")}, nil, textdiff.Options{}, "diff --git a/e b/e\ndeleted file mode 100644\n"},
		{"emptied", files{file("a", "x\n")}, files{file("a", "")}, textdiff.Options{}, `diff --git a/a b/a
--- a/a
+++ b/a
@@ -1 +0,0 @@
-x
`},
		{"mode", files{file("a", "x\n")}, files{script("a", "x\n")}, textdiff.Options{}, "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n"},
		{"mode of a binary file", files{file("a", "\x00")}, files{script("a", "\x00")}, textdiff.Options{}, "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n"},
		{"bytes and mode", files{script("a", "x\n")}, files{file("a", "y\n")}, textdiff.Options{}, `diff --git a/a b/a
old mode 100755
new mode 100644
--- a/a
+++ b/a
@@ -1 +1 @@
-x
+y
`},
		{"a line end comes", files{file("a", "x")}, files{file("a", "x\n")}, textdiff.Options{}, `diff --git a/a b/a
--- a/a
+++ b/a
@@ -1 +1 @@
-x
\ No newline at end of file
+x
`},
		{"two hunks", files{file("a", numbered(20, nil))}, files{file("a", numbered(20, map[int]string{3: "new\n", 15: ""}))}, textdiff.Options{}, `diff --git a/a b/a
--- a/a
+++ b/a
@@ -1,6 +1,6 @@
 line 1
 line 2
-line 3
+new
 line 4
 line 5
 line 6
@@ -12,7 +12,6 @@
 line 12
 line 13
 line 14
-line 15
 line 16
 line 17
 line 18
`},
		{"hunks that touch are one", files{file("a", numbered(9, nil))}, files{file("a", numbered(9, map[int]string{1: "", 8: "new\nlines\n"}))}, textdiff.Options{}, `diff --git a/a b/a
--- a/a
+++ b/a
@@ -1,9 +1,9 @@
-line 1
 line 2
 line 3
 line 4
 line 5
 line 6
 line 7
-line 8
+new
+lines
 line 9
`},
		{"without context", files{file("a", numbered(9, nil))}, files{file("a", numbered(9, map[int]string{1: "", 8: "line 8\nnew\n"}))}, textdiff.Options{Context: -1}, `diff --git a/a b/a
--- a/a
+++ b/a
@@ -1 +0,0 @@
-line 1
@@ -8,0 +8 @@
+new
`},
		{"binary", files{file("a", "x\x00")}, files{file("a", "y"), file("b", "\x00")}, textdiff.Options{}, `diff --git a/a b/a
Binary file a: 1 bytes, previously 2 bytes
diff --git a/b b/b
new file mode 100644
Binary file b: added, 1 bytes
`},
		{"a zero byte in a text", files{file("a", numbered(20, nil))}, files{file("a", "new \x00\n"+numbered(20, nil))}, textdiff.Options{}, `diff --git a/a b/a
--- a/a
+++ b/a
@@ -1,3 +1,4 @@
+new ` + "\x00" + `
 line 1
 line 2
 line 3
`},
		{"zero bytes all over a text", files{file("a", strings.Repeat("x", 100))}, files{file("a", strings.Repeat("x\x00", 100))}, textdiff.Options{}, `diff --git a/a b/a
Binary file a: 200 bytes, previously 100 bytes
`},
		{"a zero byte in what is no text", nil, files{file("a", "\xff\x00"+strings.Repeat("x", 100))}, textdiff.Options{}, `diff --git a/a b/a
new file mode 100644
Binary file a: added, 102 bytes
`},
		{"binary, removed", files{script("a", "x\x00")}, nil, textdiff.Options{}, "diff --git a/a b/a\ndeleted file mode 100755\nBinary file a: removed, 2 bytes\n"},
		{"large", files{file("a", "12345")}, files{file("a", "123456")}, textdiff.Options{MaxFile: 5}, "diff --git a/a b/a\nLarge file a: 6 bytes, previously 5 bytes\n"},
		{"a large difference", files{file("a", "1\n")}, files{file("a", "123456\n")}, textdiff.Options{MaxText: 20}, "diff --git a/a b/a\nLarge file a: 7 bytes, previously 2 bytes\n"},
		{"odd names", nil, files{file("a b", "x\n"), file("q\"\\\n\u202e", "x\n"), file("über/ß", "x\n")}, textdiff.Options{}, `diff --git a/a b b/a b
new file mode 100644
--- /dev/null
+++ b/a b	
@@ -0,0 +1 @@
+x
diff --git "a/q\"\\\012\342\200\256" "b/q\"\\\012\342\200\256"
new file mode 100644
--- /dev/null
+++ "b/q\"\\\012\342\200\256"
@@ -0,0 +1 @@
+x
diff --git a/über/ß b/über/ß
new file mode 100644
--- /dev/null
+++ b/über/ß
@@ -0,0 +1 @@
+x
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := textdiff.Trees(t.Context(), tt.before, tt.after, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			if got := d.String(); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func TestTreesChanges(t *testing.T) {
	d, err := textdiff.Trees(t.Context(),
		files{file("gone", "1\n2\n"), file("text", "1\n2\n3\n"), script("mode", "x"), file("bin", "\x00"), file("same", "x")},
		files{file("text", "1\nnew\nmore\n3\n"), file("mode", "x"), script("new", "1\n"), file("bin", "\x00\x00"), file("same", "x")},
		textdiff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range d {
		if !strings.HasPrefix(c.Text, "diff --git ") {
			t.Errorf("%s: %q", c.Path, c.Text)
		}
		c.Text = ""
		got = append(got, fmt.Sprintf("%+v", c))
	}
	want := []string{
		"{Path:bin Status:changed OldSize:1 NewSize:2 OldExecutable:false NewExecutable:false Binary:true Large:false Insertions:0 Deletions:0 Text:}",
		"{Path:gone Status:removed OldSize:4 NewSize:0 OldExecutable:false NewExecutable:false Binary:false Large:false Insertions:0 Deletions:2 Text:}",
		"{Path:mode Status:mode OldSize:1 NewSize:1 OldExecutable:true NewExecutable:false Binary:false Large:false Insertions:0 Deletions:0 Text:}",
		"{Path:new Status:added OldSize:0 NewSize:2 OldExecutable:false NewExecutable:true Binary:false Large:false Insertions:1 Deletions:0 Text:}",
		"{Path:text Status:changed OldSize:6 NewSize:13 OldExecutable:false NewExecutable:false Binary:false Large:false Insertions:2 Deletions:1 Text:}",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if s := d.Stat(); s != (textdiff.Stat{Files: 5, Insertions: 3, Deletions: 3}) {
		t.Errorf("stat %+v", s)
	}
	if _, err := textdiff.Trees(t.Context(), files{file("a", ""), file("a", "x")}, nil, textdiff.Options{}); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("a path twice: %v", err)
	}
}

// TestTreesBudget compares files that exceed the limit together, but not alone.
func TestTreesBudget(t *testing.T) {
	var before, after files
	for i := range 5 {
		before = append(before, file(strconv.Itoa(i), strings.Repeat("a\nb\n", 100)))
		after = append(after, file(strconv.Itoa(i), strings.Repeat("b\na\n", 100)))
	}
	changed := func(b *textdiff.Budget) (counts []int) {
		d, err := textdiff.Trees(t.Context(), before, after, textdiff.Options{Budget: b})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range d {
			counts = append(counts, c.Insertions)
			if c.Large {
				counts[len(counts)-1] = -1
			} else if got := apply(t, before[0].Data, c.Text[strings.Index(c.Text, "---"):]); !bytes.Equal(got, after[0].Data) {
				t.Errorf("%s: the difference does not lead there", c.Path)
			}
		}
		return counts
	}
	for _, tt := range []struct {
		name   string
		budget *textdiff.Budget
		want   []int
	}{
		{"its own", nil, []int{1, 1, 1, 1, 1}},
		{"few steps", &textdiff.Budget{Steps: 4000, Text: 1 << 20}, []int{1, 1, 200, 200, 200}},
		{"little text", &textdiff.Budget{Steps: 1 << 20, Text: 100}, []int{1, -1, -1, -1, -1}},
	} {
		if got := changed(tt.budget); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v lines are inserted, want %v", tt.name, got, tt.want)
		}
	}
}

// TestTreesInterrupted cancels the context during the second of three files.
func TestTreesInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var read []string
	reading := func(name string) textdiff.File {
		return textdiff.File{Path: name, Read: func() ([]byte, error) {
			if read = append(read, name); name == "b" {
				cancel()
			}
			return []byte(name), nil
		}}
	}
	_, err := textdiff.Trees(ctx, files{reading("c"), reading("b"), reading("a")}, nil, textdiff.Options{})
	if !errors.Is(err, context.Canceled) || !slices.Equal(read, []string{"a", "b"}) {
		t.Errorf("%v after reading %q", err, read)
	}
}

// TestTreesUnreadable compares trees with an unreadable file.
func TestTreesUnreadable(t *testing.T) {
	broken := errors.New("broken")
	f := textdiff.File{Path: "a", Read: func() ([]byte, error) { return nil, broken }}
	for _, pair := range [][2]files{{{f}, nil}, {nil, {f}}} {
		if _, err := textdiff.Trees(t.Context(), pair[0], pair[1], textdiff.Options{}); !errors.Is(err, broken) {
			t.Errorf("%v, want that of reading", err)
		}
	}
}

func TestUnifiedReadsWell(t *testing.T) {
	before := "# Deploy\n\n1. Build.\n\n2. Test.\n\n3. Push.\n"
	after := "# Deploy\n\n1. Build.\n\n2. Lint.\n\n3. Test.\n\n4. Push.\n"
	want := `--- a/SKILL.md
+++ b/SKILL.md
@@ -2,6 +2,8 @@
 
 1. Build.
 
-2. Test.
+2. Lint.
 
-3. Push.
+3. Test.
+
+4. Push.
`
	if got := textdiff.Unified("a/SKILL.md", "b/SKILL.md", []byte(before), []byte(after)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := textdiff.Unified("a", "b", []byte(before), []byte(before)); got != "" {
		t.Errorf("equal texts: %q", got)
	}
}

func TestVisible(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"plain\ttext\n", "plain\ttext\n"},
		{"ünïcödé 日本 😀 ❤️\n", "ünïcödé 日本 😀 ❤️\n"},
		{"\x1b[2Jx", "<U+001B>[2Jx"},
		{"a\r\n", "a^M\n"},
		{"\u009b31m", "<U+009B>31m"},
		{"\u202etxt\u2066", "<U+202E>txt<U+2066>"},
		{"a\u200bb\u200d\ufeff", "a<U+200B>b<U+200D><U+FEFF>"},
		{"\U000e0041\U000e0100", "<U+E0041><U+E0100>"},
		{"\u2028\u3164\u2800", "<U+2028><U+3164><U+2800>"},
		{"\xff\xfe", "<0xFF><0xFE>"},
		{"\ufffd\x7f", "\ufffd<U+007F>"},
	} {
		if got := textdiff.Visible(tt.text); got != tt.want {
			t.Errorf("Visible(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// apply applies a diff of one text; it checks everything in the diff.
func apply(t testing.TB, before []byte, diff string) []byte {
	t.Helper()
	var old []string
	for line := range strings.Lines(string(before)) {
		old = append(old, line)
	}
	var out strings.Builder
	at := 0
	lines := slices.Collect(strings.Lines(diff))
	if len(lines) > 0 {
		lines = lines[2:]
	}
	for len(lines) > 0 {
		var a, b string
		if _, err := fmt.Sscanf(lines[0], "@@ -%s +%s @@", &a, &b); err != nil {
			t.Fatalf("%q: %v", lines[0], err)
		}
		from, count := extent(t, a)
		_, added := extent(t, b)
		if count > 0 {
			from--
		}
		for ; at < from; at++ {
			out.WriteString(old[at])
		}
		for lines = lines[1:]; count+added > 0; {
			line := lines[0]
			lines = lines[1:]
			if len(lines) > 0 && strings.HasPrefix(lines[0], `\`) {
				line = strings.TrimSuffix(line, "\n")
				lines = lines[1:]
			}
			if line[0] != '+' {
				if old[at] != line[1:] {
					t.Fatalf("line %d is %q, and the difference says %q", at+1, old[at], line[1:])
				}
				at, count = at+1, count-1
			}
			if line[0] != '-' {
				out.WriteString(line[1:])
				added--
			}
		}
	}
	for ; at < len(old); at++ {
		out.WriteString(old[at])
	}
	return []byte(out.String())
}

func extent(t testing.TB, s string) (from, count int) {
	t.Helper()
	first, rest, several := strings.Cut(s, ",")
	from, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	if count = 1; several {
		if count, err = strconv.Atoi(rest); err != nil {
			t.Fatal(err)
		}
	}
	return from, count
}

// FuzzUnified checks that applying a diff gives the new text, and that the diff is empty only for equal texts.
func FuzzUnified(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nc\nd"))
	f.Add([]byte(""), []byte("\n"))
	f.Add([]byte("x\r\ny\n\\ No newline at end of file\n"), []byte("x\n+y\n-z\n@@ -1 +1 @@\n"))
	f.Add([]byte(strings.Repeat("a\nb\n", 40)), []byte(strings.Repeat("b\na\n", 50)))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		diff := textdiff.Unified("a", "b", before, after)
		if got := apply(t, before, diff); !bytes.Equal(got, after) {
			t.Errorf("%q and\n%s\nbecome %q, want %q", before, diff, got, after)
		}
		if (diff == "") != bytes.Equal(before, after) {
			t.Errorf("difference %q", diff)
		}
		if seen := textdiff.Visible(diff); strings.ContainsAny(seen, "\r\x1b\u202e") {
			t.Errorf("%q can be seen", seen)
		}
	})
}

// sample generates a text with few different lines, which are easy to confuse, and changes it.
func sample(r *rand.Rand) (before, after string) {
	lines := make([]string, r.IntN(60))
	for i := range lines {
		lines[i] = []string{"a\n", "b\n", "\n", "c\r\n", " d\n", "-e\n", "+f\n", fmt.Sprintf("%d\n", r.IntN(40))}[r.IntN(8)]
	}
	changed := slices.Clone(lines)
	for range r.IntN(6) {
		at := r.IntN(len(changed) + 1)
		if r.IntN(2) == 0 {
			changed = slices.Insert(changed, at, fmt.Sprintf("new %d\n", r.IntN(5)))
		} else {
			changed = slices.Delete(changed, at, min(len(changed), at+r.IntN(4)))
		}
	}
	end := func(lines []string) string {
		text := strings.Join(lines, "")
		if r.IntN(4) == 0 {
			return strings.TrimSuffix(text, "\n")
		}
		return text
	}
	return end(lines), end(changed)
}

// TestGitApply checks that git converts one tree to the other.
func TestGitApply(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not there")
	}
	if runtime.GOOS == "windows" {
		t.Skip("files have other names and no modes there")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 25 {
		before := files{file("zero", numbered(20, nil))}
		after := files{file("zero", numbered(20, map[int]string{5: "a \x00\n"}))}
		for _, name := range []string{
			"SKILL.md", "a b/c d.md", "ü/ß.md", "q\"uote", `back\slash`, "tab\tname", "scripts/run.sh", "deep/er/still.md", "x", "y",
		} {
			was, is := sample(r)
			mode := func() bool { return r.IntN(3) == 0 }
			executable := mode()
			switch r.IntN(6) {
			case 0:
				before = append(before, textdiff.File{Path: name, Data: []byte(was), Executable: executable})
			case 1:
				after = append(after, textdiff.File{Path: name, Data: []byte(is), Executable: executable})
			case 2:
				before = append(before, textdiff.File{Path: name, Data: []byte(was), Executable: executable})
				after = append(after, textdiff.File{Path: name, Data: []byte(was), Executable: mode()})
			default:
				before = append(before, textdiff.File{Path: name, Data: []byte(was), Executable: executable})
				after = append(after, textdiff.File{Path: name, Data: []byte(is), Executable: mode()})
			}
		}
		context := r.IntN(4)
		d, err := textdiff.Trees(t.Context(), before, after, textdiff.Options{Context: context})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		write(t, dir, before)
		if len(d) > 0 {
			cmd := exec.CommandContext(t.Context(), git, "apply", "--whitespace=nowarn", "-")
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(d.String())
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("round %d: %v\n%s\n%s", round, err, out, d)
			}
		}
		if got, want := read(t, dir), describe(after); got != want {
			t.Errorf("round %d: got\n%s\nwant\n%s\n%s", round, got, want, d)
		}
	}
}

func write(t *testing.T, dir string, tree files) {
	t.Helper()
	for _, f := range tree {
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if f.Executable {
			mode = 0o755
		}
		if err := os.WriteFile(name, f.Data, mode); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, dir string) string {
	t.Helper()
	var tree files
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		tree = append(tree, textdiff.File{Path: filepath.ToSlash(rel), Data: data, Executable: info.Mode()&0o100 != 0})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return describe(tree)
}

func describe(tree files) string {
	var lines []string
	for _, f := range tree {
		lines = append(lines, fmt.Sprintf("%q %v %q", f.Path, f.Executable, f.Data))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestUnifiedFew compares the number of changed lines with the number of edits.
func TestUnifiedFew(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		before, after := sample(r)
		d, err := textdiff.Trees(t.Context(), files{file("a", before)}, files{file("a", after)}, textdiff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s := d.Stat(); s.Insertions+s.Deletions > 24 { // five edits of four lines, and line ends
			t.Errorf("%+v for\n%q\n%q", s, before, after)
		}
	}
}

// hostile lists pairs of texts that are hard to compare.
func hostile(size int) map[string][2]string {
	r := rand.New(rand.NewPCG(5, 6))
	coin := func(words ...string) string {
		var b strings.Builder
		for b.Len() < size {
			b.WriteString(words[r.IntN(len(words))])
		}
		return b.String()
	}
	unique := func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, "%d\n", (i*n)%1_000_003)
		}
		return b.String()
	}
	return map[string][2]string{
		"two words":      {coin("a\n", "b\n"), coin("a\n", "b\n")},
		"line ends":      {strings.Repeat("\n", size), strings.Repeat("\n", size/2)},
		"shuffled":       {unique(1), unique(7919)},
		"nothing shared": {coin("a\n", "b\n"), coin("c\n", "d\n")},
		"turned round":   {strings.Repeat("a\nb\n", size/4), strings.Repeat("b\na\n", size/4)},
		"one line":       {strings.Repeat("x", size), strings.Repeat("y", size)},
		"one change":     {strings.Repeat("some words on a line\n", size/21), strings.Repeat("some words on a line\n", size/42) + "new\n" + strings.Repeat("some words on a line\n", size/42)},
		"islands":        {islands(size, "a", "b"), islands(size, "b", "a")},
	}
}

// islands are unique lines, with repeated lines between them.
func islands(size int, words ...string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "island %d\n%s", i, strings.Repeat(strings.Join(words, "\n")+"\n", 200))
	}
	return b.String()
}

// TestUnifiedHostile checks that texts that are hard to compare give a correct diff quickly.
func TestUnifiedHostile(t *testing.T) {
	for name, pair := range hostile(200_000) {
		before, after := []byte(pair[0]), []byte(pair[1])
		if got := apply(t, before, textdiff.Unified("a", "b", before, after)); !bytes.Equal(got, after) {
			t.Errorf("%s: the difference does not lead there", name)
		}
	}
}

func BenchmarkUnified(b *testing.B) {
	cases := hostile(1 << 20)
	cases["a real edit"] = [2]string{numbered(80_000, nil), numbered(80_000, map[int]string{100: "x\n", 40_000: "", 70_000: "y\nz\n"})}
	for name, pair := range cases {
		b.Run(name, func(b *testing.B) {
			before, after := []byte(pair[0]), []byte(pair[1])
			b.SetBytes(int64(len(before) + len(after)))
			for b.Loop() {
				textdiff.Unified("a", "b", before, after)
			}
		})
	}
}
