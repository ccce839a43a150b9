package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/cli"
)

// TestMain lets the test binary act as the launcher and as a registry, and as skillpm if it has that name.
func TestMain(m *testing.M) {
	if self, err := os.Executable(); err == nil && strings.TrimSuffix(filepath.Base(self), ".exe") == "skillpm" {
		os.Exit(cli.Main(os.Args, "0.0.0"))
	}
	if len(os.Args) > 1 && (os.Args[1] == launchCommand || os.Args[1] == registryCommand) {
		main()
	}
	os.Exit(m.Run())
}

func testSystem(t *testing.T, stdout *bytes.Buffer, args ...string) system {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return system{Args: args, Self: self, Stdin: strings.NewReader(""), Stdout: stdout, Stderr: t.Output(), Environ: os.Environ(), Now: time.Now}
}

// TestAllRows measures every row once with a pack of three skills, so that every command line, server, and result check
// runs with the real programs. It also runs the peers that are installed, except npm's.
func TestAllRows(t *testing.T) {
	if testing.Short() {
		t.Skip("runs all measured commands")
	}
	runAllRows(t, "--skillpm", copySelf(t)) // building skillpm would compile everything again
}

// runAllRows runs every row once, with options.
func runAllRows(t *testing.T, options ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	var stdout bytes.Buffer
	dir := t.TempDir()
	sys := testSystem(t, &stdout, append(options, "--dir", dir, "--sizes", "3", "--runs", "1", "--large", "2", "--packs", "200", "--skills", none, "--json")...)
	if code := run(t.Context(), sys); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, stdout.String())
	}
	var got report
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Results) != len(rows()) {
		t.Errorf("%d results for %d rows", len(got.Results), len(rows()))
	}
	for _, r := range got.Results {
		if r.Runs != 1 || r.Ours.Wall.Median <= 0 || r.Ours.CPU.Median <= 0 {
			t.Errorf("%s was not measured: %+v", r.Row, r)
		}
		if peer := r.Peer != "" && r.Missing == ""; peer != (r.Theirs != nil) || peer != (r.Ratio != nil) {
			t.Errorf("%s: peer %q, missing %q, figures %v", r.Row, r.Peer, r.Missing, r.Theirs)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestInterrupted checks that an interrupt ends the program and its child processes, and removes the files that it
// wrote.
func TestInterrupted(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("there is no sleep")
	}
	var stdout bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	sys := testSystem(t, &stdout)
	started := filepath.Join(t.TempDir(), "log")
	go func() {
		for ctx.Err() == nil { // the launcher makes the log just before it starts the command
			if _, err := os.Stat(started); err == nil {
				cancel()
			}
		}
	}()
	_, err = sys.launch(ctx, job{Steps: [][]string{{sleep, "600"}}, Log: started})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("launch returned %v", err)
	}
	cancel()
	dir := t.TempDir()
	sys = testSystem(t, &stdout, "--dir", dir)
	if code := run(ctx, sys); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestLaunchReportsWhatWentWrong(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	sys := testSystem(t, &bytes.Buffer{})
	j := job{Dir: t.TempDir(), Log: filepath.Join(t.TempDir(), "log")}
	j.Steps = [][]string{{git, "--version"}, {git, "no-such-command"}}
	if _, err := sys.launch(t.Context(), j); err == nil || !strings.Contains(err.Error(), "is not a git command") {
		t.Errorf("error %v does not have what git said", err)
	}
	j.Steps = [][]string{{filepath.Join(j.Dir, "nosuch")}}
	if _, err := sys.launch(t.Context(), j); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("error %v does not name the program", err)
	}
	j.Steps = [][]string{{git, "--version"}, {git, "--version"}}
	u, err := sys.launch(t.Context(), j)
	if err != nil || u.Wall <= 0 || u.CPU <= 0 {
		t.Errorf("usage %+v, error %v", u, err)
	}
}

func TestCommandLine(t *testing.T) {
	for _, tt := range []struct {
		args string
		code int
		want string // in what is printed on standard output
	}{
		{"--help", exitOK, "cold-git "},
		{"--nosuch", exitUsage, ""},
		{"--sizes 0", exitUsage, ""},
		{"--sizes 10,x", exitUsage, ""},
		{"--only nosuch", exitUsage, ""},
		{"--runs 0", exitUsage, ""},
		{"--patience 0s", exitUsage, ""},
		{"surplus", exitUsage, ""},
		{"--skillpm /nonexistent/skillpm --dir .", exitFailed, ""},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			var stdout bytes.Buffer
			if code := run(t.Context(), testSystem(t, &stdout, strings.Fields(tt.args)...)); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if !strings.Contains(stdout.String(), tt.want) || (tt.want == "") != (stdout.Len() == 0) {
				t.Errorf("printed %q, want %q in it", stdout.String(), tt.want)
			}
		})
	}
}

func TestHaveSkills(t *testing.T) {
	p, err := generate(filepath.Join(t.TempDir(), "pack"), "pack-2", 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := haveSkills(p.Dir, 2); err != nil {
		t.Error(err)
	}
	for dir, n := range map[string]int{p.Dir: 3, filepath.Join(p.Dir, "nosuch"): 1} {
		if err := haveSkills(dir, n); err == nil {
			t.Errorf("%d skills are found in %s", n, dir)
		}
	}
	if err := prune(p.Dir, "skillpm.yaml"); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(p.Dir); err != nil || len(left) != 1 || left[0].Name() != "skillpm.yaml" {
		t.Errorf("left %v, %v", left, err)
	}
}

// digest returns the digest of all files of a directory: their paths, modes, and contents.
func digest(t *testing.T, dir string) (sum string, files int) {
	t.Helper()
	h := sha256.New()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		fmt.Fprintf(h, "%s %v %d\n%s", path, info.Mode().Perm()&0o111 != 0, len(data), data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), files
}

// TestPacksAreTheSame checks that packs are the same on every machine: the digests are part of the test.
func TestPacksAreTheSame(t *testing.T) {
	for _, tt := range []struct {
		generate func(dir, name string, n int) (benchPack, error)
		n, files int
		want     string
	}{
		{generate, 10, 10*filesOfSkill + 1, "d51c79731a1de2ca102c6f41be28b2eaae14a001441b9a2e11c7532e7d37c7e7"},
		{generateLarge, 8, 4*(filesOfSkill+2) + 1, "765bbe44ecc0c155259aa28ef869eb8708df283b172228a00aa64768dedb45dc"},
	} {
		for range 2 {
			p, err := tt.generate(filepath.Join(t.TempDir(), "pack"), "pack", tt.n)
			if err != nil {
				t.Fatal(err)
			}
			if got, files := digest(t, p.Dir); got != tt.want || files != tt.files {
				t.Errorf("%d: digest %s of %d files, want %s of %d", tt.n, got, files, tt.want, tt.files)
			}
		}
	}
}

// TestPacksAreLikeReal checks the sizes of files, and that the text compresses like prose: two to three times.
func TestPacksAreLikeReal(t *testing.T) {
	p, err := generate(filepath.Join(t.TempDir(), "pack"), "pack", 5)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	total := 0
	for file, size := range map[string]int{
		"SKILL.md": skillBytes, "references/part-1.md": referenceBytes, "references/part-3.md": referenceBytes, "scripts/run.sh": scriptBytes,
	} {
		data, err := os.ReadFile(filepath.Join(p.skill(4), file))
		if err != nil {
			t.Fatal(err)
		}
		if len(data) < size || len(data) > size+size/4 {
			t.Errorf("%s has %d bytes, want about %d", file, len(data), size)
		}
		total += len(data)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if factor := float64(total) / float64(packed.Len()); factor < 2 || factor > 3 {
		t.Errorf("the text is compressed %.2f times", factor)
	}
}
