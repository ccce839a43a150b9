package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("AUDIT_TEST_WRITER"); path != "" {
		n, _ := strconv.Atoi(os.Getenv("AUDIT_TEST_RECORDS"))
		l := audit.Open(path, audit.Options{User: os.Getenv("AUDIT_TEST_USER")})
		for i := range n {
			if err := l.Write(audit.Record{Action: audit.Run, Result: audit.OK, Skill: os.Getenv("AUDIT_TEST_NAME"), Reason: strconv.Itoa(i)}); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func clock() time.Time { return time.Date(2026, 11, 22, 10, 0, 0, 5, time.UTC) }

// lines reads a log and checks its chain: each record's number and the digest of the line before.
func lines(t *testing.T, path string) (all []audit.Record) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	prev := ""
	for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		var r audit.Record
		if json.Unmarshal(line, &r) == nil {
			if r.Prev != prev || r.Seq != int64(i+1) {
				t.Errorf("line %d: seq %d, prev %s, want %s", i+1, r.Seq, r.Prev, prev)
			}
			all = append(all, r)
		}
		prev = audit.Digest(line)
	}
	return all
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "audit", audit.Name)
	l := audit.Open(path, audit.Options{Now: clock, User: "ada", Machine: "m1", Sync: true})
	code := 3
	for _, r := range []audit.Record{
		{Action: audit.Activate, Result: audit.OK, Skill: "deploy", Pack: "acme/deploy"},
		{Action: audit.Run, Result: audit.Failed, Skill: "deploy", Script: "scripts/go.sh", Command: []string{"sh", "go.sh", "--token", "abc"}, ExitCode: &code, Output: audit.Digest([]byte("out")), OutputBytes: 3},
	} {
		if err := l.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"seq":1,"ts":"2026-11-22T10:00:00.000000005Z","user":"ada","machine":"m1","action":"activate","result":"ok","skill":"deploy","pack":"acme/deploy","prev":""}
{"seq":2,"ts":"2026-11-22T10:00:00.000000005Z","user":"ada","machine":"m1","action":"run","result":"failed","skill":"deploy","script":"scripts/go.sh","command":["sh","go.sh","--token","[redacted]"],"exit_code":3,"output":"sha256:762069bc07a6e1b5df123a5ae7bd91c10daa04694fbaa17fba0cd6a8dcce8f22","output_bytes":3,"prev":"sha256:` + strings.TrimPrefix(audit.Digest(bytes.SplitN(got, []byte("\n"), 2)[0]), "sha256:") + `"}
`
	if string(got) != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	lines(t, path)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the log: %v, %v", info.Mode(), err)
	}
}

// TestNil checks that a nil log writes nothing.
func TestNil(t *testing.T) {
	var l *audit.Log
	if err := l.Write(audit.Record{}); err != nil || l.Path() != "" {
		t.Error(err)
	}
}

// TestUser checks that the default user comes from the operating system, and not from the environment.
func TestUser(t *testing.T) {
	t.Setenv("USER", "mallory")
	t.Setenv("LOGNAME", "mallory")
	path := filepath.Join(t.TempDir(), audit.Name)
	if err := audit.Open(path, audit.Options{}).Write(audit.Record{Action: audit.Run}); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, path)[0].User; got == "" || got == "mallory" {
		t.Errorf("user %q", got)
	}
}

// TestTorn checks that a partial line of a killed writer stays, and that the next record starts a new line and reports
// a gap.
func TestTorn(t *testing.T) {
	whole := `{"seq":7,"ts":"","user":"u","action":"run","result":"ok","prev":"x"}`
	for name, tt := range map[string]struct {
		log string
		seq int64
		gap bool
	}{
		"cut":                {whole + "\n" + whole[:30], 9, true},
		"cut, alone":         {whole[:30], 2, true},
		"without its end":    {whole, 8, true},
		"not JSON":           {whole + "\nwhat\n", 9, true},
		"two that are":       {whole + "\nwhat\nis\n", 10, true},
		"empty lines":        {whole + "\n\n", 9, true},
		"whole":              {whole + "\n", 8, false},
		"longer than a line": {whole + "\n" + strings.Repeat("x", 200<<10), 9, true},
		"only line ends":     {strings.Repeat("\n", 3000), 1001, true},
		"a forged number":    {whole + "\n" + `{"seq":9223372036854775807}` + "\n", 9, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), audit.Name)
			if err := os.WriteFile(path, []byte(tt.log), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := audit.Open(path, audit.Options{User: "u"}).Write(audit.Record{Action: audit.Run, Result: audit.OK}); err != nil {
				t.Fatal(err)
			}
			data, _ := os.ReadFile(path)
			if !bytes.HasPrefix(data, []byte(tt.log)) {
				t.Fatalf("what was there is not kept: %q", data)
			}
			all := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
			var last audit.Record
			if err := json.Unmarshal(all[len(all)-1], &last); err != nil {
				t.Fatalf("the record is not on a line of its own: %q", data)
			}
			if last.Prev != audit.Digest(all[len(all)-2]) {
				t.Errorf("prev %s", last.Prev)
			}
			if last.Seq != tt.seq || last.Gap != tt.gap {
				t.Errorf("seq %d, gap %t, want %d, %t", last.Seq, last.Gap, tt.seq, tt.gap)
			}
		})
	}
}

// TestTwentyProcesses checks that twenty concurrent writers lose no line and break no chain.
func TestTwentyProcesses(t *testing.T) {
	const writers, records = 20, 25
	path := filepath.Join(t.TempDir(), audit.Name)
	var all []*exec.Cmd
	for i := range writers {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "AUDIT_TEST_WRITER="+path, "AUDIT_TEST_RECORDS="+strconv.Itoa(records), "AUDIT_TEST_NAME=w"+strconv.Itoa(i))
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	got := lines(t, path)
	if len(got) != writers*records {
		t.Errorf("%d records, want %d", len(got), writers*records)
	}
	next := map[string]int{}
	for _, r := range got {
		if r.Gap || r.Reason != strconv.Itoa(next[r.Skill]) {
			t.Errorf("%s: record %s, want %d, gap %t", r.Skill, r.Reason, next[r.Skill], r.Gap)
		}
		next[r.Skill]++
	}
}

// TestKilled checks that the log of a killed writer can be read and written.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), audit.Name)
	for range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "AUDIT_TEST_WRITER="+path, "AUDIT_TEST_RECORDS=1000000", "AUDIT_TEST_NAME=w")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for before := size(path); size(path) < before+2000; {
			syscall.Getpid() // until it is at work
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	if err := audit.Open(path, audit.Options{User: "u"}).Write(audit.Record{Action: audit.Run, Skill: "last"}); err != nil {
		t.Fatal(err)
	}
	if all := lines(t, path); all[len(all)-1].Skill != "last" {
		t.Error("the last record is not there")
	}
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// TestBounds checks that every record is bounded, on one line, and valid UTF-8.
func TestBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), audit.Name)
	words := make([]string, 5000)
	for i := range words {
		words[i] = strings.Repeat("w", 2000)
	}
	long := strings.Repeat("é\n\xff", 1<<20)
	l := audit.Open(path, audit.Options{User: "u"})
	for range 3 {
		if err := l.Write(audit.Record{Action: audit.Run, Skill: long, Reason: long, Dir: long, Command: words, File: long}); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(lines(t, path)); got != 3 {
		t.Errorf("%d lines", got)
	}
	if n := size(path) / 3; n > 48<<10 {
		t.Errorf("a record has %d bytes", n)
	}
}

// FuzzChain checks for any record, and any content before it, that the next record has the next number, the digest of
// the line before, and no gap. A character may take six times its bytes in JSON.
func FuzzChain(f *testing.F) {
	f.Add("deploy", "", 1)
	f.Add("\x01", `{"seq":3}`, 9000)
	f.Add("\u2028\"\\", "{", 70_000)
	f.Fuzz(func(t *testing.T, text, before string, times int) {
		if times < 0 || times > 100_000 || len(text)*times > 1<<20 {
			return
		}
		text = strings.Repeat(text, times)
		path := filepath.Join(t.TempDir(), audit.Name)
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		r := audit.Record{
			Time: text, Action: text, Result: text, Skill: text, Pack: text, Version: text, Layer: text, Dir: text, Digest: text, Session: text,
			Project: text, Profile: text, Trigger: text, Hook: text, Script: text, File: text, Command: []string{text, text, text, text, text, text, text, text, text},
			Output: text, Tool: text, Agent: text, Task: text, Reason: text,
		}
		l := audit.Open(path, audit.Options{User: "u" + text})
		for range 2 {
			if err := l.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		first, second := all[len(all)-2], all[len(all)-1]
		var a, b audit.Record
		if json.Unmarshal(first, &a) != nil || json.Unmarshal(second, &b) != nil {
			t.Fatalf("no record: %q, %q", first, second)
		}
		if b.Seq != a.Seq+1 || b.Gap || b.Prev != audit.Digest(first) || a.Seq < 1 {
			t.Errorf("seq %d after %d, gap %t, prev %s of a line of %d bytes", b.Seq, a.Seq, b.Gap, b.Prev, len(first))
		}
	})
}

// TestNotAFile checks that a log that is a link or a directory is not written to, because its target may belong to
// someone else.
// TestO13Output checks SPEC O13: a log keeps the output of scripts if it is to, within a limit and without secrets.
func TestO13Output(t *testing.T) {
	long := strings.Repeat("é", 40<<10)
	for _, keep := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		l := audit.Open(path, audit.Options{Output: keep})
		for _, r := range []audit.Record{
			{Action: audit.Run, Stdout: "deployed\n\tpassword: hunter22\nGITHUB=ghp_0123456789abcdef\n", Stderr: "warning \xff\n"},
			{Action: audit.Run, Stdout: long, Stderr: strings.Repeat("\x01", 64<<10)},
		} {
			if err := l.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := audit.Verify(t.Context(), path, audit.VerifyOptions{}); err != nil {
			t.Fatal(err)
		}
		var got []audit.Record
		if err := (&audit.Stream{Paths: []string{path}}).Each(t.Context(), func(r audit.Record) (bool, error) {
			got = append(got, r)
			return true, nil
		}); err != nil || len(got) != 2 {
			t.Fatal(got, err)
		}
		if !keep {
			if got[0].Stdout+got[0].Stderr+got[1].Stdout != "" {
				t.Errorf("%+v", got)
			}
			continue
		}
		if got[0].Stdout != "deployed\n\tpassword: [redacted]\n[redacted]\n" || got[0].Stderr != "warning \ufffd\n" {
			t.Errorf("%q, %q", got[0].Stdout, got[0].Stderr)
		}
		out := got[1].Stdout
		if !strings.HasPrefix(out, "éé") || !strings.HasSuffix(out, "éé") || !strings.Contains(out, "bytes omitted]\n") ||
			len(out) > 33<<10 || !utf8.ValidString(out) || !strings.Contains(got[1].Stderr, "bytes omitted]") {
			t.Errorf("%d bytes of %d", len(out), len(long))
		}
	}
}

func TestNotAFile(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, audit.Name)
	if err := os.Symlink("target", link); err != nil {
		t.Skip("no links here:", err)
	}
	if err := audit.Open(link, audit.Options{}).Write(audit.Record{}); diag.CodeOf(err) != diag.Denied || diag.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	if size(target) != 0 {
		t.Error("the link was followed")
	}
}

func BenchmarkWrite(b *testing.B) {
	l := audit.Open(filepath.Join(b.TempDir(), audit.Name), audit.Options{Now: clock, User: "u"})
	r := audit.Record{Action: audit.Activate, Result: audit.OK, Skill: "deploy", Pack: "acme/deploy", Dir: "/home/u/.skillpm/plugins/acme/deploy/deploy"}
	for b.Loop() {
		if err := l.Write(r); err != nil {
			b.Fatal(err)
		}
	}
}
