package store_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/store"
)

const (
	crashDir   = "SKILLPM_TEST_STORE" // in a child: write to this store …
	crashAfter = "SKILLPM_TEST_BYTES" // … and die after reading so many bytes of the archive
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		if err := dieWriting(dir); err != nil {
			fmt.Println(err)
		}
		os.Exit(3)
	}
	if dir := os.Getenv(gcDir); dir != "" {
		if err := collect(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testkit.UseMemory()
	m.Run()
}

func packed(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := bundle.WriteArchive(&b, []bundle.Tree{deploy()}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// mortal kills the process at the end of its input.
type mortal struct{ r io.Reader }

func (m mortal) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if err != nil {
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	}
	return n, nil
}

func dieWriting(dir string) error {
	n, err := strconv.Atoi(os.Getenv(crashAfter))
	if err != nil {
		return err
	}
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	w, err := s.Writer(bundle.Limits{})
	if err != nil {
		return err
	}
	return bundle.Unpack(mortal{bytes.NewReader(data[:n])}, bundle.UnpackOptions{}, w)
}

// TestKilledWriter checks that an interrupted download adds nothing, and that the next writer removes its files.
func TestKilledWriter(t *testing.T) { // M2
	data := packed(t)
	for n := 0; n < len(data); n += len(data)/5 + 1 {
		s, dir := open(t)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashDir+"="+dir, crashAfter+"="+strconv.Itoa(n))
		cmd.Stdin = bytes.NewReader(data)
		if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() == 3 {
			t.Fatalf("it was not killed: %s", out)
		}
		if trees, _ := entries(t, dir); len(trees) > 0 {
			t.Errorf("after %d bytes the store has %q", n, trees)
		}
		put(t, s, deploy())
		if trees, rubbish := entries(t, dir); len(trees) != 1 || len(rubbish) > 0 {
			t.Errorf("after %d bytes and another attempt the store has %q and left %q", n, trees, rubbish)
		}
	}
}

// TestHostileArchive checks that a bad archive writes nothing inside or outside the store, however late it fails.
func TestHostileArchive(t *testing.T) { // M2
	data := packed(t)
	for _, bad := range [][]byte{append(bytes.Clone(data), 0), data[:len(data)-1], data[:len(data)/2]} {
		s, dir := open(t)
		w := writer(t, s, bundle.Limits{})
		if err := bundle.Unpack(bytes.NewReader(bad), bundle.UnpackOptions{}, w); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("got %v", err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if trees, rubbish := entries(t, dir); len(trees)+len(rubbish) > 0 {
			t.Errorf("the store has %q and left %q", trees, rubbish)
		}
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(filepath.Join(dir, "store"))
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := s.Writer(bundle.DefaultLimits())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close() // does nothing after Commit
	text := "---\nname: hello\ndescription: Say hello.\n---\n"
	if err := w.WriteFile("hello", "SKILL.md", false, int64(len(text)), bytes.NewReader([]byte(text))); err != nil {
		fmt.Println(err)
		return
	}
	digests, err := w.Commit(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Materialize(context.Background(), digests["hello"], filepath.Join(dir, "hello")))
	// Output: <nil>
}
