package pathx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// layout makes files, directories (ending in a slash), and links ("name -> target") below a directory without links.
// The target of a link that begins with a slash is below that directory, too.
func layout(t *testing.T, lines ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		name, target, isLink := strings.Cut(line, " -> ")
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case isLink:
			if strings.HasPrefix(target, "/") {
				target = root + target
			}
			if err := os.Symlink(filepath.FromSlash(target), at); err != nil {
				t.Skip("no links here:", err)
			}
			continue
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(at, 0o755)
		default:
			err = os.WriteFile(at, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func tree(t *testing.T) string {
	return layout(t,
		"dir/sub/file", "outside/secret", "dirty/",
		"link -> dir", "absolute -> /dir", "slash -> dir/", "two -> link", "three -> ./two/../two", "up -> ..",
		"dir/out -> ../outside", "dir/tofile -> sub/file", "dir/self -> .", "dir/sub/back -> ../..",
		"gone -> nothing/here", "chain -> gone", "dir/gone -> ../outside/new", "throughfile -> dir/sub/file/x",
		"loop -> loop", "ping -> pong", "pong -> ping", "dir/around -> ../dir/around/x",
	)
}

// TestResolve checks where paths lead. Paths are below the test's directory; missing says that what the path leads to
// does not exist.
func TestResolve(t *testing.T) {
	root := tree(t)
	for _, c := range []struct {
		path, want string
		missing    bool
	}{
		{path: "", want: ""},
		{path: ".", want: ""},
		{path: "dir", want: "dir"},
		{path: "dir/./sub//file/", want: "dir/sub/file"},
		{path: "dir/../dirty", want: "dirty"},
		{path: "link", want: "dir"},
		{path: "absolute/sub", want: "dir/sub"},
		{path: "slash/sub", want: "dir/sub"},
		{path: "two/sub/file", want: "dir/sub/file"},
		{path: "three/sub/file", want: "dir/sub/file"},
		{path: "link/tofile", want: "dir/sub/file"},
		{path: "link/out/secret", want: "outside/secret"},
		{path: "dir/self/self/self/sub", want: "dir/sub"},
		{path: "link/sub/back/link", want: "dir"},
		{path: strings.Repeat("dir/self/../", 20) + "dir", want: "dir"},

		{path: "new", want: "new", missing: true},
		{path: "new/deeper/still", want: "new/deeper/still", missing: true},
		{path: "link/new/deeper", want: "dir/new/deeper", missing: true},
		{path: "new/../dir", want: "dir", missing: true},
		{path: "new/../link/sub", want: "dir/sub", missing: true},
		{path: "gone", want: "nothing/here", missing: true},
		{path: "gone/x", want: "nothing/here/x", missing: true},
		{path: "chain", want: "nothing/here", missing: true},
		{path: "dir/gone", want: "outside/new", missing: true},
		{path: "dir/sub/file/x", want: "dir/sub/file/x", missing: true},
		{path: "dir/sub/file/x/y", want: "dir/sub/file/x/y", missing: true},
		{path: "dir/sub/file/..", want: "dir/sub", missing: true},
		{path: "throughfile/y", want: "dir/sub/file/x/y", missing: true},
	} {
		path, want := root+string(filepath.Separator)+filepath.FromSlash(c.path), filepath.Join(root, filepath.FromSlash(c.want))
		if got, err := Resolve(path); got != want || err != nil {
			t.Errorf("%s leads to %s, %v, want %s", c.path, got, err, want)
		}
		got, err := ResolveExisting(path)
		switch {
		case c.missing && (got != "" || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)):
			t.Errorf("%s leads to %s, %v, but it does not exist", c.path, got, err)
		case !c.missing && (got != want || err != nil):
			t.Errorf("%s leads to %s, %v, want %s", c.path, got, err, want)
		}
		if std, err := filepath.EvalSymlinks(path); err == nil && !c.missing && std != want {
			t.Errorf("filepath.EvalSymlinks says that %s leads to %s", c.path, std)
		}
	}
}

// TestResolveParent checks .. after links, which Windows removes before it looks at them.
func TestResolveParent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("removes .. before it looks at links")
	}
	root := tree(t)
	for path, want := range map[string]string{
		"dir/out/..":                "",
		"dir/out/../dirty":          "dirty",
		"dir/sub/back/../x":         filepath.Join("..", "x"),
		"up/..":                     filepath.Join("..", ".."),
		"dir/tofile/../../dirty":    "dir/dirty",
		"new/../dir/out/../dir/sub": "dir/sub",
	} {
		if got, err := Resolve(root + "/" + path); got != filepath.Join(root, want) || err != nil {
			t.Errorf("%s leads to %s, %v, want %s", path, got, err, filepath.Join(root, want))
		}
	}
	for _, path := range []string{"/..", "/../..", "//", "/."} {
		if got, err := Resolve(path); got != "/" || err != nil {
			t.Errorf("%s leads to %s, %v", path, got, err)
		}
	}
}

// TestResolveRefused checks paths that cannot be resolved.
func TestResolveRefused(t *testing.T) {
	root := tree(t)
	for _, path := range []string{"loop", "loop/x", "ping", "pong/x/y", "dir/around", "link/around"} {
		path = filepath.Join(root, path)
		if got, err := Resolve(path); err == nil || !errors.Is(err, syscall.ELOOP) {
			t.Errorf("%s leads to %s, %v", path, got, err)
		}
		if got, err := ResolveExisting(path); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s leads to %s, %v", path, got, err)
		}
		if in, err := ContainsResolved(root, path); in || err == nil {
			t.Errorf("%s is in %s: %v, %v", path, root, in, err)
		}
	}
	for _, path := range []string{"", filepath.Join(root, "a\x00b")} {
		if got, err := Resolve(path); err == nil {
			t.Errorf("%q leads to %s", path, got)
		}
	}
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		return // everything may be searched
	}
	closed := filepath.Join(root, "dirty")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
	if got, err := Resolve(filepath.Join(closed, "x")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("leads to %s, %v", got, err)
	}
}

func TestResolveDir(t *testing.T) {
	root := tree(t)
	for path, want := range map[string]string{
		"dir": "dir", "link/new/deeper": "dir/new/deeper", "dir/out/new": "outside/new", "new": "new", "three/new": "dir/new",
		"gone": "", "gone/x": "", "chain": "", "dir/gone/x": "", "dir/sub/file/x": "", "throughfile": "", "loop": "", "ping/x": "",
	} {
		got, err := ResolveDir(filepath.Join(root, filepath.FromSlash(path)))
		if want != "" {
			want = filepath.Join(root, filepath.FromSlash(want))
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s leads to %s, %v, want %s", path, got, err, want)
		}
	}
	if got := ResolveOrClean(filepath.Join(root, "loop") + "/x/.."); got != filepath.Join(root, "loop") {
		t.Errorf("got %s", got)
	}
	if got := ResolveOrClean(filepath.Join(root, "two", "new")); got != filepath.Join(root, "dir", "new") {
		t.Errorf("got %s", got)
	}
}

// TestResolveRelative checks that relative paths are relative to the working directory, also if a link led there.
func TestResolveRelative(t *testing.T) {
	root := tree(t)
	t.Chdir(filepath.Join(root, "link"))
	for path, want := range map[string]string{
		".": "dir", "sub": "dir/sub", "new/x": "dir/new/x", "out/secret": "outside/secret", "../dirty": "dirty",
	} {
		want = filepath.Join(root, filepath.FromSlash(want))
		if got, err := Resolve(filepath.FromSlash(path)); got != want || err != nil {
			t.Errorf("%s leads to %s, %v, want %s", path, got, err, want)
		}
	}
}

func TestContainsResolved(t *testing.T) {
	root := tree(t)
	for _, c := range []struct {
		dir, path string
		want      bool
	}{
		{"dir", "dir", true},
		{"dir", "link", true},
		{"link", "dir", true},
		{"two", "three/sub/file", true},
		{"dir", "link/new/deeper", true},
		{"dir", "dirty", false},
		{"dir", ".", false},
		{"dir", "dir/out", false},
		{"dir", "dir/out/secret", false},
		{"outside", "dir/out/secret", true},
		{"outside", "dir/gone", true},
		{"dir", "dir/gone", false},
		{"nothing", "gone", true},
		{"nothing/here", "chain/x", true},
		{"nothing/there", "gone", false},
		{"dir", "dir/sub/back/dirty", false},
		{"dir/sub/file", "link/tofile", true},
	} {
		got, err := ContainsResolved(filepath.Join(root, filepath.FromSlash(c.dir)), filepath.Join(root, filepath.FromSlash(c.path)))
		if got != c.want || err != nil {
			t.Errorf("%s is in %s: %v, %v", c.path, c.dir, got, err)
		}
	}
	// The file system knows whether names that differ in case are the same.
	_, statErr := os.Stat(filepath.Join(root, "DIR"))
	if got, err := ContainsResolved(filepath.Join(root, "dir"), filepath.Join(root, "DIR", "sub")); got != (statErr == nil) || err != nil {
		t.Errorf("DIR/sub is in dir: %v, %v", got, err)
	}
}

// TestSnapshot checks that links are listed in order, and that what was seen once stays.
func TestSnapshot(t *testing.T) {
	root := tree(t)
	var s Snapshot
	at, links, err := s.Follow(filepath.Join(root, "two", "out", "new"))
	if want := filepath.Join(root, "outside", "new"); at != want || err != nil {
		t.Errorf("leads to %s, %v, want %s", at, err, want)
	}
	if at, _, err := s.Follow(filepath.Join(root, "two") + "/../loop/x"); at != filepath.Join(root, "loop", "x") || err == nil {
		t.Errorf("leads to %s, %v", at, err)
	}
	want := []Link{
		{filepath.Join(root, "two"), "link"},
		{filepath.Join(root, "link"), "dir"},
		{filepath.Join(root, "dir", "out"), filepath.FromSlash("../outside")},
	}
	if !slices.Equal(links, want) {
		t.Errorf("links %v, want %v", links, want)
	}
	if err := errors.Join(os.Remove(filepath.Join(root, "link")), os.Symlink("dirty", filepath.Join(root, "link"))); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Resolve(filepath.Join(root, "link", "sub")); got != filepath.Join(root, "dir", "sub") || err != nil {
		t.Errorf("the link was seen, but leads to %s, %v", got, err)
	}
	if got, err := Resolve(filepath.Join(root, "link", "sub")); got != filepath.Join(root, "dirty", "sub") || err != nil {
		t.Errorf("leads to %s, %v", got, err)
	}
}

// TestResolveProcess checks that nothing is said about a path that differs for each process.
func TestResolveProcess(t *testing.T) {
	if _, err := os.Readlink("/proc/self/cwd"); err != nil {
		t.Skip("no directory of processes here")
	}
	dir := t.TempDir()
	for name, target := range map[string]string{"a": "/proc/self/cwd", "b": "a/x", "c": "/dev/fd/0", "d": "../../../../../../../../proc/thread-self/cwd"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"/proc/self/cwd/x", "/proc/self/root/etc", "/proc/thread-self/cwd", fmt.Sprintf("/proc/%d/cwd/x", os.Getpid()), "/dev/fd/0", "/dev/stdin",
		"/proc/self/fd/0", "/proc/self", "/proc/../proc/self/cwd", filepath.Join(dir, "a/x"), filepath.Join(dir, "b"), filepath.Join(dir, "c"),
		filepath.Join(dir, "d/x"),
	} {
		if got, err := Resolve(path); !errors.Is(err, ErrProcess) {
			t.Errorf("%s leads to %q, %v", path, got, err)
		}
	}
	if got, err := Resolve("/proc/cpuinfo"); err != nil || got != "/proc/cpuinfo" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestMissingSteps checks that below a missing directory nothing is looked at: a hook gets thousands of long paths.
func TestMissingSteps(t *testing.T) {
	root := layout(t, "a/b/", "file", "link -> a/none")
	long := strings.Repeat("/x", 1000)
	for path, want := range map[string]string{
		"a/none" + long:                    "a/none" + long,
		"file" + long:                      "file" + long,
		"link" + long:                      "a/none" + long,
		"a/none/x/../../../link/x":         "a/none/x",
		"none" + long + "/../y/../../file": "none" + long[:len(long)-2*2] + "/file",
	} {
		var s Snapshot
		got, err := s.Resolve(root + "/" + path)
		if want = filepath.Join(root, filepath.FromSlash(want)); err != nil || got != want {
			t.Errorf("%.20s: %.200q, %v, want %.200q", path, got, err, want)
		}
		if looked := len(s.seen) - strings.Count(root, string(filepath.Separator)); looked > 5 {
			t.Errorf("%.20s: looked at %d steps", path, looked)
		}
	}
}
