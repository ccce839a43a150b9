package audit_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// logOf writes a log with that many records and returns its path and lines.
func logOf(t testing.TB, n int, segment int64) (path string, lines []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), audit.Name)
	l := audit.Open(path, audit.Options{Now: clock, User: "u", Machine: "m", Segment: segment})
	for i := range n {
		if err := l.Write(audit.Record{Action: audit.Run, Result: audit.OK, Skill: "deploy", Reason: fmt.Sprint("record ", i+1)}); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func verify(t *testing.T, path string, o audit.VerifyOptions) *audit.Verified {
	t.Helper()
	v, err := audit.Verify(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestVerify checks SPEC O13, O22: changed, missing, inserted, and moved lines are found, and the error names the line.
func TestVerify(t *testing.T) {
	path, whole := logOf(t, 10, 0)
	forged := func(of int, seq int64, prev string) string {
		return fmt.Sprintf(`{"seq":%d,"ts":"","user":"u","action":"run","result":"ok","skill":"forged%d","prev":%q}`, seq, of, prev)
	}
	digest := func(line string) string { return audit.Digest([]byte(line)) }
	for name, tt := range map[string]struct {
		edit  func([]string) []string
		o     audit.VerifyOptions
		lines []int64 // that are named
		what  string
	}{
		"whole":         {edit: func(l []string) []string { return l }},
		"empty":         {edit: func([]string) []string { return nil }},
		"edited":        {func(l []string) []string { l[4] = strings.Replace(l[4], "deploy", "review", 1); return l }, audit.VerifyOptions{}, []int64{5}, "changed"},
		"first edited":  {func(l []string) []string { l[0] = strings.Replace(l[0], "deploy", "review", 1); return l }, audit.VerifyOptions{}, []int64{1}, "changed"},
		"a space":       {func(l []string) []string { l[4] += " "; return l }, audit.VerifyOptions{}, []int64{5}, "changed"},
		"garbage":       {func(l []string) []string { l[4] = "x"; return l }, audit.VerifyOptions{}, []int64{5}, "changed"},
		"deleted":       {func(l []string) []string { return slices.Delete(l, 4, 5) }, audit.VerifyOptions{}, []int64{5}, "record 5 is missing before this line"},
		"three deleted": {func(l []string) []string { return slices.Delete(l, 4, 7) }, audit.VerifyOptions{}, []int64{5}, "records 5 to 7 are missing before this line"},
		"first deleted": {func(l []string) []string { return l[1:] }, audit.VerifyOptions{}, []int64{1}, "record 1 is missing"},
		"put in twice":  {func(l []string) []string { return slices.Insert(l, 6, l[2]) }, audit.VerifyOptions{}, []int64{7}, "record 3 follows record 6"},
		"forged":        {func(l []string) []string { return slices.Insert(l, 6, forged(1, 7, digest(l[5]))) }, audit.VerifyOptions{}, []int64{7}, "inserted"},
		"moved":         {func(l []string) []string { l[4], l[5] = l[5], l[4]; return l }, audit.VerifyOptions{}, []int64{5, 5, 6}, "missing"},
		"renumbered":    {func(l []string) []string { l[9] = strings.Replace(l[9], `"seq":10`, `"seq":12`, 1); return l }, audit.VerifyOptions{}, []int64{10}, "the number of this record is 12, but the number must be 10"},
		"the end of the log was removed or rewritten": {edit: func(l []string) []string { return l[:8] }},
		"cut off, and kept":                           {func(l []string) []string { return l[:8] }, audit.VerifyOptions{Head: digest(whole[9])}, []int64{8}, "the end of the log was removed or rewritten"},
		"grown since":                                 {func(l []string) []string { return l }, audit.VerifyOptions{Head: digest(whole[3])}, nil, ""},
		"older moved away":                            {func(l []string) []string { return l[3:] }, audit.VerifyOptions{After: digest(whole[2])}, nil, ""},
		"too much of it":                              {func(l []string) []string { return l[4:] }, audit.VerifyOptions{After: digest(whole[2])}, []int64{1}, "the first record does not follow the record with the digest"},
		"no gap is said": {func(l []string) []string {
			return append(l, `{"seq":11,"ts":`, forged(1, 12, digest(`{"seq":11,"ts":`)))
		}, audit.VerifyOptions{}, []int64{12}, "gap"},
		"the last is blank": {func(l []string) []string { l[9] = ""; return l }, audit.VerifyOptions{}, []int64{10}, "changed"},
		"the last is words": {func(l []string) []string { l[9] = "xxx"; return l }, audit.VerifyOptions{}, []int64{10}, "changed"},
		"another's torn":    {func(l []string) []string { l[9] = `{"seq":9,"ts":"20`; return l }, audit.VerifyOptions{}, []int64{10}, "record 10"},
		"torn":              {edit: func(l []string) []string { l[9] = l[9][:20]; return l }},
	} {
		t.Run(name, func(t *testing.T) {
			lines := tt.edit(slices.Clone(whole))
			data := strings.Join(lines, "\n")
			if len(lines) > 0 {
				data += "\n"
			}
			if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			v := verify(t, path, tt.o)
			var got []int64
			for _, f := range v.Findings {
				got = append(got, f.Line)
			}
			if !slices.Equal(got, tt.lines) {
				t.Errorf("findings %v, want lines %v", v.Findings, tt.lines)
			}
			if (len(tt.lines) > 0) != (diag.CodeOf(v.Err()) == diag.Integrity && v.Err() != nil) {
				t.Errorf("error %v", v.Err())
			}
			if len(v.Findings) > 0 && !strings.Contains(v.Findings[0].What, tt.what) {
				t.Errorf("%q does not say %q", v.Findings[0].What, tt.what)
			}
			if len(lines) > 0 && v.Head != digest(lines[len(lines)-1]) {
				t.Errorf("head %s", v.Head)
			}
		})
	}
}

// TestVerifyTorn checks that a log that continues after any killed writer is valid.
func TestVerifyTorn(t *testing.T) {
	for name, torn := range map[string]string{
		"none": "", "cut": `{"seq":1,"ts":"20`, "not JSON": "what\n", "two": "what\nis\n", "long": strings.Repeat("x", 200<<10), "many": strings.Repeat("\n", 3000),
		"a record without its end": `{"seq":1,"ts":"","user":"u","action":"run","result":"ok","prev":""}`, "empty": "\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), audit.Name)
			if err := os.WriteFile(path, []byte(torn), 0o600); err != nil {
				t.Fatal(err)
			}
			l := audit.Open(path, audit.Options{User: "u"})
			for range 3 {
				if err := l.Write(audit.Record{Action: audit.Run, Result: audit.OK}); err != nil {
					t.Fatal(err)
				}
			}
			if v := verify(t, path, audit.VerifyOptions{}); v.Err() != nil || v.Records < 3 {
				t.Errorf("%+v", v)
			}
		})
	}
}

// TestVerifyGap checks that a gap in the middle of a log is reported but is not an error, and that a replaced last
// record with later records after it is one.
func TestVerifyGap(t *testing.T) {
	for _, tt := range []struct {
		last     string
		findings int
		notes    []int64
	}{
		{`{"seq":4,"ts":"2026-11-22T10:0`, 0, []int64{4}},
		{`{"se`, 0, []int64{4}},
		{"\n", 1, nil},
		{"xxx\n", 1, nil},
		{`{"seq":3,"ts":"20` + "\n", 1, nil},
	} {
		path, lines := logOf(t, 4, 0)
		if err := os.WriteFile(path, []byte(strings.Join(lines[:3], "\n")+"\n"+tt.last), 0o600); err != nil {
			t.Fatal(err)
		}
		l := audit.Open(path, audit.Options{User: "u"})
		for range 3 {
			if err := l.Write(audit.Record{Action: audit.Run, Result: audit.OK}); err != nil {
				t.Fatal(err)
			}
		}
		v := verify(t, path, audit.VerifyOptions{})
		var notes []int64
		for _, n := range v.Notes {
			notes = append(notes, n.Line)
		}
		if len(v.Findings) != tt.findings || !slices.Equal(notes, tt.notes) {
			t.Errorf("%q: %+v", tt.last, v)
		}
	}
}

// TestLogs checks SPEC O24: logs that a pattern or a directory names are each read once, across all their files, even
// if only closed files exist.
func TestLogs(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, n int) {
		l := audit.Open(filepath.Join(dir, name), audit.Options{User: "u", Segment: 600})
		for range n {
			if err := l.Write(audit.Record{Action: audit.Run, Result: audit.OK, Skill: name}); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("user-ada.jsonl", 10)
	write("user-bob.jsonl", 7)
	write("build-7.jsonl", 1)
	if err := os.Remove(filepath.Join(dir, "user-bob.jsonl")); err != nil { // its closed files are left
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(all) != 5 {
		t.Fatal(all, err)
	}
	ada, bob, build := filepath.Join(dir, "user-ada.jsonl"), filepath.Join(dir, "user-bob.jsonl"), filepath.Join(dir, "build-7.jsonl")
	for _, paths := range [][]string{all, {dir}, append([]string{dir}, all...)} {
		logs, err := audit.Logs(paths)
		slices.Sort(logs)
		if err != nil || !slices.Equal(logs, []string{build, ada, bob}) {
			t.Fatalf("%v: %v, %v", paths, logs, err)
		}
		counts := map[string]int{}
		s := audit.Stream{Paths: logs}
		if err := s.Each(t.Context(), func(r audit.Record) (bool, error) { counts[r.Skill]++; return true, nil }); err != nil {
			t.Fatal(err)
		}
		if counts["user-ada.jsonl"] != 10 || counts["user-bob.jsonl"] == 0 || counts["user-bob.jsonl"] > 7 || counts["build-7.jsonl"] != 1 {
			t.Errorf("%v", counts)
		}
		for _, log := range logs {
			if v := verify(t, log, audit.VerifyOptions{}); v.Err() != nil {
				t.Errorf("%s: %v", log, v.Findings)
			}
		}
	}
	if logs, err := audit.Logs([]string{t.TempDir()}); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("%v, %v", logs, err)
	}
}

// TestSegments checks that a log that has grown continues in another file with the same chain, whatever happens between
// the two.
func TestSegments(t *testing.T) {
	path, _ := logOf(t, 100, 2000)
	files, err := audit.Files(path)
	if err != nil || len(files) < 5 || files[len(files)-1] != path {
		t.Fatal(files, err)
	}
	v := verify(t, path, audit.VerifyOptions{})
	if v.Err() != nil || v.Records != 100 || v.Last != 100 || v.Files != len(files) {
		t.Errorf("%+v", v)
	}
	for _, f := range files {
		if n := size(f); n > 2500 {
			t.Errorf("%s has %d bytes", f, n)
		}
	}
	read, err := readFile(t.Context(), path, func(audit.Record) error { return nil })
	if err != nil || read.Records != 100 {
		t.Errorf("%+v, %v", read, err)
	}
	// Killed after closing the old file, before the new one has a record.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	before := verify(t, path, audit.VerifyOptions{}).Last
	if err := audit.Open(path, audit.Options{User: "u"}).Write(audit.Record{Action: audit.Run}); err != nil {
		t.Fatal(err)
	}
	if v := verify(t, path, audit.VerifyOptions{}); v.Err() != nil || v.Last != before+1 {
		t.Errorf("%d after %d: %v", v.Last, before, v.Findings)
	}
	if err := os.Remove(files[2]); err != nil {
		t.Fatal(err)
	}
	if v := verify(t, path, audit.VerifyOptions{}); len(v.Findings) != 1 || v.Findings[0].File != files[3] || v.Findings[0].Line != 1 {
		t.Errorf("a file is missing: %v", v.Findings)
	}
}

// FuzzVerify changes one byte of a log: verification finds it, unless it is in the last line.
func FuzzVerify(f *testing.F) {
	f.Add(uint16(3), byte('x'))
	f.Add(uint16(250), byte('\n'))
	path, lines := logOf(f, 6, 0)
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	end := len(whole) - len(lines[5]) - 1
	f.Fuzz(func(t *testing.T, at uint16, to byte) {
		data := bytes.Clone(whole)
		i := int(at) % end
		if data[i] == to {
			return
		}
		data[i] = to
		file := filepath.Join(t.TempDir(), audit.Name)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if v := verify(t, file, audit.VerifyOptions{}); v.Err() == nil {
			t.Errorf("byte %d of line %d became %q, and nobody sees it", i, bytes.Count(data[:i], []byte("\n"))+1, to)
		}
	})
}

// BenchmarkVerify measures the verification of each record: a million of them use the memory of one line.
func BenchmarkVerify(b *testing.B) {
	path, _ := logOf(b, 1000, 0)
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if v, err := audit.Verify(b.Context(), path, audit.VerifyOptions{}); err != nil || v.Records != 1000 {
			b.Fatal(err)
		}
	}
}

// TestVerifyEnd checks that a known head finds every change to the end of a log, and that without one, the result does
// not vouch for the last record: its number is not [audit.Verified.KeptAt].
func TestVerifyEnd(t *testing.T) {
	edit := func(line string) string { return strings.Replace(line, "deploy", "review", 1) }
	chain := func(lines []string, from int) []string { // what whoever knows the format writes
		for i := from; i < len(lines); i++ {
			prev := audit.Digest([]byte(lines[i-1]))
			head, _, _ := strings.Cut(lines[i], `"prev":"`)
			lines[i] = head + `"prev":"` + prev + `"}`
		}
		return lines
	}
	for name, forge := range map[string]func([]string) []string{
		"last record changed":               func(l []string) []string { l[5] = edit(l[5]); return l },
		"last record removed":               func(l []string) []string { return l[:5] },
		"all but the first removed":         func(l []string) []string { return l[:1] },
		"last record replaced by two":       func(l []string) []string { return chain(append(l[:5], l[4], l[4]), 5) },
		"changed, and all later recomputed": func(l []string) []string { l[2] = edit(l[2]); return chain(l, 3) },
		"another chain":                     func(l []string) []string { l[0] = edit(l[0]); return chain(l, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			path, lines := logOf(t, 6, 0)
			head := audit.Digest([]byte(lines[5]))
			if v := verify(t, path, audit.VerifyOptions{Head: head}); v.Err() != nil || v.KeptAt != v.Last {
				t.Fatalf("unchanged: %+v", v)
			}
			if err := os.WriteFile(path, []byte(strings.Join(forge(lines), "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if v := verify(t, path, audit.VerifyOptions{Head: head}); diag.CodeOf(v.Err()) != diag.Integrity {
				t.Errorf("with the head: %+v", v)
			}
			if v := verify(t, path, audit.VerifyOptions{}); v.KeptAt == v.Last {
				t.Errorf("without a head, the result vouches for record %d", v.Last)
			}
		})
	}
	t.Run("deleted", func(t *testing.T) {
		path, lines := logOf(t, 6, 0)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		v, err := audit.Verify(t.Context(), path, audit.VerifyOptions{Head: audit.Digest([]byte(lines[5]))})
		if err == nil && v.Err() == nil {
			t.Errorf("%+v", v)
		}
	})
}
