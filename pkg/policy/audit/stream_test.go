package audit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// texts writes the output of a stream.
func texts(t *testing.T, s audit.Stream, most int) (out []string) {
	t.Helper()
	err := s.Each(t.Context(), func(r audit.Record) (bool, error) {
		out = append(out, r.Machine+" "+r.Skill)
		return len(out) != most, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestO14Machines checks SPEC O14: the logs of many machines are read as one, sorted by time.
func TestO14Machines(t *testing.T) {
	dir := t.TempDir()
	one, two, three := filepath.Join(dir, "one.jsonl"), filepath.Join(dir, "two.jsonl"), filepath.Join(dir, "host-3", audit.Name)
	at := clock()
	write := func(path, machine, skill string, second int, segment int64) {
		now := func() time.Time { return at.Add(time.Duration(second) * time.Second) }
		l := audit.Open(path, audit.Options{Now: now, User: "u", Machine: machine, Segment: segment})
		if err := l.Write(audit.Record{Action: audit.Activate, Result: audit.OK, Skill: skill}); err != nil {
			t.Fatal(err)
		}
	}
	write(one, "m1", "a", 1, 1) // each record of it in a file of its own
	write(two, "m2", "b", 2, 0)
	write(one, "m1", "c", 3, 1)
	write(two, "m2", "d", 4, 0)
	write(one, "m1", "e", 5, 1)
	if err := os.MkdirAll(filepath.Dir(three), 0o700); err != nil {
		t.Fatal(err)
	}
	line := `{"seq":1,"ts":"` + at.Add(2500*time.Millisecond).Format(time.RFC3339Nano) + `","user":"u","action":"run","result":"ok","skill":"x","prev":""}` + "\ntorn"
	if err := os.WriteFile(three, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	all := []string{one, two, three}
	for name, tt := range map[string]struct {
		s    audit.Stream
		most int
		want []string
	}{
		"all":     {audit.Stream{Paths: all}, 0, []string{"m1 a", "m2 b", "host-3 x", "m1 c", "m2 d", "m1 e"}},
		"reverse": {audit.Stream{Paths: all, Reverse: true}, 0, []string{"m1 e", "m2 d", "m1 c", "host-3 x", "m2 b", "m1 a"}},
		"some":    {audit.Stream{Paths: all, Reverse: true}, 2, []string{"m1 e", "m2 d"}},
		"machine": {audit.Stream{Paths: all, Filter: audit.Filter{Machine: "m2"}}, 0, []string{"m2 b", "m2 d"}},
		"since":   {audit.Stream{Paths: all, Filter: audit.Filter{Since: at.Add(3 * time.Second)}}, 0, []string{"m1 c", "m2 d", "m1 e"}},
		"until":   {audit.Stream{Paths: all, Filter: audit.Filter{Until: at.Add(2 * time.Second)}}, 0, []string{"m1 a"}},
		"action":  {audit.Stream{Paths: all, Filter: audit.Filter{Action: audit.Run, Skill: "x", User: "u", Result: audit.OK}}, 0, []string{"host-3 x"}},
		"nothing": {audit.Stream{Paths: all, Filter: audit.Filter{Session: "s"}}, 0, nil},
		"no log":  {audit.Stream{Paths: []string{filepath.Join(dir, "none.jsonl")}}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := texts(t, tt.s, tt.most); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
	unordered := texts(t, audit.Stream{Paths: all, Unordered: true}, 0)
	if want := []string{"m1 a", "m1 c", "m1 e", "m2 b", "m2 d", "host-3 x"}; !reflect.DeepEqual(unordered, want) {
		t.Errorf("got  %q\nwant %q", unordered, want)
	}
	if some := texts(t, audit.Stream{Paths: all, Unordered: true}, 4); len(some) != 4 {
		t.Errorf("%q", some)
	}
	s := audit.Stream{Paths: all}
	if err := s.Each(t.Context(), func(audit.Record) (bool, error) { return false, io.ErrUnexpectedEOF }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// FuzzBackward checks that reading any log backward gives the same lines as reading it forward.
func FuzzBackward(f *testing.F) {
	f.Add("", 0)
	f.Add("\n\n", 1)
	f.Add(`{"seq":1,"action":"run"}`+"\nx\n"+`{"seq":2,"action":"run"}`, 7)
	f.Add(strings.Repeat("x", 70)+"\n", 1000)
	f.Fuzz(func(t *testing.T, log string, times int) {
		if times < 0 || times*len(log) > 1<<19 || times > 5000 {
			return
		}
		path := filepath.Join(t.TempDir(), audit.Name)
		var b strings.Builder
		for i := range times {
			fmt.Fprintf(&b, "%s\n{\"seq\":%d,\"action\":\"run\"}\n", log, i+1)
		}
		b.WriteString(log)
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		read := func(reverse bool) (seqs []int64, read audit.Read) {
			s := audit.Stream{Paths: []string{path}, Reverse: reverse}
			if err := s.Each(t.Context(), func(r audit.Record) (bool, error) { seqs = append(seqs, r.Seq); return true, nil }); err != nil {
				t.Fatal(err)
			}
			return seqs, s.Read()
		}
		there, a := read(false)
		back, b2 := read(true)
		if a != b2 || len(there) != len(back) {
			t.Fatalf("%+v forwards, %+v backwards", a, b2)
		}
		for i := range there {
			if there[i] != back[len(back)-1-i] {
				t.Fatalf("record %d forwards is %d, backwards %d", i, there[i], back[len(back)-1-i])
			}
		}
	})
}

// TestFollow checks that following a log returns each record once, even if files are closed and others started between
// two reads.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), audit.Name)
	l := audit.Open(path, audit.Options{Now: clock, User: "u", Segment: 600})
	n := 0
	write := func(times int) {
		for range times {
			n++
			if err := l.Write(audit.Record{Action: audit.Run, Result: audit.OK, Reason: fmt.Sprint(n)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(4) // from before: not to be seen
	tick, got, ended := make(chan time.Time), make(chan string, 1000), make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		ended <- audit.Follow(ctx, path, tick, func(r audit.Record) error { got <- r.Reason; return nil })
	}()
	tick <- time.Time{}
	for _, times := range []int{1, 0, 3, 20, 2} {
		write(times)
		tick <- time.Time{}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"seq":31,"action":"run","rea`); err != nil { // half of a line
		t.Fatal(err)
	}
	tick <- time.Time{}
	if _, err := f.WriteString(`son":"half"}` + "\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	tick <- time.Time{}
	tick <- time.Time{} // what was looked for before this has been handed on
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	close(got)
	var seen []string
	for r := range got {
		seen = append(seen, r)
	}
	var want []string
	for i := 5; i <= n; i++ {
		want = append(want, fmt.Sprint(i))
	}
	if want = append(want, "half"); !reflect.DeepEqual(seen, want) {
		t.Errorf("got  %q\nwant %q", seen, want)
	}
}

// BenchmarkMillion reads a million records, from both ends, with the memory of one.
func BenchmarkMillion(b *testing.B) {
	path := filepath.Join(b.TempDir(), audit.Name)
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	line := `{"seq":7,"ts":"2026-11-22T10:00:00.000000005Z","user":"ada","machine":"m","action":"run","result":"ok","skill":"deploy","pack":"acme/deploy",` +
		`"script":"scripts/go.sh","exit_code":0,"duration_ms":12,"prev":"sha256:762069bc07a6e1b5df123a5ae7bd91c10daa04694fbaa17fba0cd6a8dcce8f22"}` + "\n"
	for range 1000 {
		if _, err := f.WriteString(strings.Repeat(line, 1000)); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	for _, reverse := range []bool{false, true} {
		b.Run(fmt.Sprint("reverse=", reverse), func(b *testing.B) {
			var most runtime.MemStats
			for b.Loop() {
				s := audit.Stream{Paths: []string{path}, Reverse: reverse}
				n := 0
				if err := s.Each(b.Context(), func(audit.Record) (bool, error) {
					if n++; n == 900_000 {
						runtime.ReadMemStats(&most)
					}
					return true, nil
				}); err != nil || n != 1_000_000 {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(most.HeapInuse)/(1<<20), "MiB-heap")
		})
	}
}
