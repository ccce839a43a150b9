package audit_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// TestO24Stats checks SPEC O24: for each skill, the number of uses, their duration, and their failures.
func TestO24Stats(t *testing.T) {
	path := filepath.Join(t.TempDir(), audit.Name)
	zero, three := 0, 3
	for i, r := range []audit.Record{
		{Action: audit.Activate, Result: audit.OK, Skill: "deploy", Pack: "acme/deploy", Tokens: 120},
		{Action: audit.Run, Result: audit.OK, Skill: "deploy", Pack: "acme/deploy", ExitCode: &zero, DurationMS: 100},
		{Action: audit.Run, Result: audit.Failed, Skill: "deploy", Pack: "acme/deploy", ExitCode: &three, DurationMS: 300},
		{Action: audit.Run, Result: audit.Failed, Skill: "deploy", Pack: "acme/deploy", Reason: "bash is not installed"},
		{Action: audit.Hook, Result: audit.Timeout, Skill: "deploy", Pack: "acme/deploy", DurationMS: 800, ExitCode: &three},
		{Action: audit.Refuse, Result: audit.Denied, Skill: "deploy", Pack: "acme/deploy", Tool: "Write"},
		{Action: audit.Deactivate, Result: audit.OK, Skill: "deploy", Pack: "acme/deploy"},
		{Action: audit.Activate, Result: audit.OK, Skill: "deploy"},
		{Action: audit.Activate, Result: audit.Denied, Skill: "secret"},
		{Action: audit.Task, Result: audit.OK, Skill: "outline", Task: "t"},
		{Action: audit.TaskEnd, Result: audit.OK, Skill: "outline", Task: "t", ExitCode: &zero, DurationMS: 60_000},
		{Action: audit.Missing, Result: audit.Failed, Skill: "outline", File: "x"},
		{Action: audit.End, Result: audit.OK},
		{Action: audit.Approve, Result: audit.OK, Skill: "deploy@acme/deploy other"}, // what is said of skills is no use of them
		{Action: audit.Revoke, Result: audit.Failed, Skill: "deploy", Pack: "acme/deploy"},
		{Action: audit.Deny, Result: audit.OK, Skill: "*@acme/deploy"},
		{Action: audit.Policy, Result: audit.OK, Skill: "deploy", Pack: "acme/deploy"},
		{Action: audit.HookEvent, Result: audit.Denied, Skill: "deploy", Pack: "acme/deploy"},
	} {
		now := func() time.Time { return clock().AddDate(0, 0, i) }
		if err := audit.Open(path, audit.Options{Now: now, User: "u"}).Write(r); err != nil {
			t.Fatal(err)
		}
	}
	at := func(day int) *time.Time {
		when := clock().AddDate(0, 0, day)
		return &when
	}
	deploy := audit.Usage{
		Skill: "deploy", Pack: "acme/deploy", Activations: 1, Runs: 4, Succeeded: 2, Tokens: 120, Failures: 3, Refusals: 1, TotalMS: 1200, MeanMS: 400, MaxMS: 800, First: at(0), Last: at(4),
	}
	outline := audit.Usage{Skill: "outline", Activations: 1, Runs: 1, Succeeded: 2, Failures: 1, TotalMS: 60_000, MeanMS: 60_000, MaxMS: 60_000, First: at(9), Last: at(10)}
	own := audit.Usage{Skill: "deploy", Activations: 1, Succeeded: 1, First: at(7), Last: at(7)}
	secret := audit.Usage{Skill: "secret", Refusals: 1}
	for name, tt := range map[string]struct {
		stats audit.Stats
		want  []audit.Usage
	}{
		"all":   {audit.Stats{}, []audit.Usage{deploy, outline, own, secret}},
		"since": {audit.Stats{Since: *at(7)}, []audit.Usage{outline, own, secret}},
		"one":   {audit.Stats{Skill: "outline"}, []audit.Usage{outline}},
		"none":  {audit.Stats{Skill: "other"}, []audit.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			read, err := readFile(t.Context(), path, func(r audit.Record) error { tt.stats.Add(r); return nil })
			if err != nil || read != (audit.Read{Records: 18}) {
				t.Fatalf("%+v, %v", read, err)
			}
			if got := plain(tt.stats.Usages()); !reflect.DeepEqual(got, plain(tt.want)) {
				t.Errorf("got  %v\nwant %v", got, plain(tt.want))
			}
		})
	}
}

// plain returns the comparable values of sums.
func plain(all []audit.Usage) (out []string) {
	for _, s := range all {
		out = append(out, fmt.Sprint(s.Skill, " ", s.Pack, s.Activations, s.Runs, s.Succeeded, s.Tokens, s.Failures, s.Refusals, s.TotalMS, s.MeanMS, s.MaxMS, s.First, s.Last))
	}
	return out
}

// TestStatsBy checks that records are grouped by any of their fields, and that suggestions count for their skills.
func TestStatsBy(t *testing.T) {
	all := []audit.Record{
		{
			Action: audit.Activate, Result: audit.OK, Skill: "deploy", Pack: "acme/deploy", Version: "1.0.0", Team: "pay",
			User: "ada", Machine: "m1", Project: "/p", Host: "codex", Tokens: 10,
		},
		{
			Action: audit.Activate, Result: audit.OK, Skill: "deploy", Pack: "acme/deploy", Version: "2.0.0", Team: "pay",
			User: "bob", Machine: "m1", Project: "/q", Host: "codex", Tokens: 20,
		},
		{
			Action: audit.Activate, Result: audit.Denied, Skill: "review", Team: "web",
			User: "ada", Machine: "m2", Project: "/q", Host: "claude-code",
		},
		{
			Action: audit.Find, Result: audit.OK, Found: []string{"deploy@acme/deploy", "other"}, Team: "web",
			User: "ada", Machine: "m2", Project: "/q", Host: "claude-code",
		},
	}
	for by, want := range map[string]string{
		"":              "deploy acme/deploy 2 0 1 30; review 0 1 0 0; other 0 0 1 0",
		"skill":         "deploy acme/deploy 2 0 1 30; review 0 1 0 0; other 0 0 1 0",
		"team":          "pay 2 0 0 30; web 0 1 2 0",
		"user":          "ada 1 1 2 10; bob 1 0 0 20",
		"machine":       "m1 2 0 0 30; m2 0 1 2 0",
		"project":       "/q 1 1 2 20; /p 1 0 0 10",
		"agent":         "codex 2 0 0 30; claude-code 0 1 2 0",
		"pack":          "acme/deploy 2 0 1 30; 0 1 1 0",
		"version":       "deploy acme/deploy 1.0.0 1 0 0 10; deploy acme/deploy 2.0.0 1 0 0 20; review 0 1 0 0; deploy acme/deploy 0 0 1 0; other 0 0 1 0",
		"team,user":     "pay ada 1 0 0 10; pay bob 1 0 0 20; web ada 0 1 2 0",
		"user,pack":     "ada acme/deploy 1 0 1 10; bob acme/deploy 1 0 0 20; ada 0 1 1 0",
		"team,skill":    "pay deploy acme/deploy 2 0 0 30; web review 0 1 0 0; web deploy acme/deploy 0 0 1 0; web other 0 0 1 0",
		"skill,version": "deploy acme/deploy 1.0.0 1 0 0 10; deploy acme/deploy 2.0.0 1 0 0 20; review 0 1 0 0; deploy acme/deploy 0 0 1 0; other 0 0 1 0",
	} {
		var s audit.Stats
		if by != "" {
			s.By = strings.Split(by, ",")
		}
		for _, r := range all {
			s.Add(r)
		}
		var got []string
		for _, u := range s.Usages() {
			names := strings.Join(strings.Fields(strings.Join([]string{
				u.Team, u.User, u.Machine, u.Project, u.Agent, u.Skill, u.Pack, u.Version,
			}, " ")), " ")
			got = append(got, strings.TrimSpace(fmt.Sprint(names, " ", u.Activations, u.Refusals, u.Found, u.Tokens)))
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s:\ngot  %s\nwant %s", by, text, want)
		}
	}
}

// TestStatsForged checks that numbers and times of a forged record do not make the sums useless, nor the JSON fail.
func TestStatsForged(t *testing.T) {
	var s audit.Stats
	for _, at := range []string{"9999-12-31T23:59:59-12:00", "0000-01-01T00:00:00+12:00", "2026-11-29T00:00:00Z"} {
		s.Add(audit.Record{
			Time: at, Action: audit.Run, Result: audit.OK, Skill: "deploy", ExitCode: new(int),
			Tokens: math.MaxInt64, DurationMS: math.MaxInt64,
		})
	}
	u := s.Usages()[0]
	if u.Runs != 3 || u.Tokens != 3e12 || u.TotalMS != 3e12 || u.First.Year() != 2026 || u.Last.Year() != 2026 {
		t.Errorf("got %+v", u)
	}
}

// TestReadDamaged checks that lines that are not records are skipped, however long, and that later lines are read.
func TestReadDamaged(t *testing.T) {
	const whole = `{"seq":1,"ts":"","user":"u","action":"run","result":"ok","skill":"a","prev":""}`
	for name, tt := range map[string]struct {
		log  string
		want audit.Read
	}{
		"empty":               {"", audit.Read{}},
		"whole":               {whole + "\n" + whole + "\n", audit.Read{Records: 2}},
		"without its end":     {whole, audit.Read{Records: 1}},
		"torn":                {whole[:40] + "\n" + whole + "\n", audit.Read{Records: 1, Damaged: 1}},
		"torn at the end":     {whole + "\n" + whole[:40], audit.Read{Records: 1, Damaged: 1}},
		"something else":      {"what\n{}\n\n[1]\n" + whole + "\n", audit.Read{Records: 1, Damaged: 4}},
		"too long":            {strings.Repeat("x", 300<<10) + "\n" + whole + "\n", audit.Read{Records: 1, Damaged: 1}},
		"too long, at an end": {whole + "\n" + strings.Repeat("x", 300<<10), audit.Read{Records: 1, Damaged: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			n := int64(0)
			got, err := readFile(t.Context(), writeLog(t, tt.log), func(r audit.Record) error {
				n++
				return nil
			})
			if err != nil || got != tt.want || n != got.Records {
				t.Errorf("%+v, %v, %d records; want %+v", got, err, n, tt.want)
			}
		})
	}
}

// TestReadFails checks that an unreadable log is an error, and a missing one is not.
func TestReadFails(t *testing.T) {
	dir := t.TempDir()
	if read, err := readFile(t.Context(), filepath.Join(dir, "none"), nil); err != nil || read != (audit.Read{}) {
		t.Errorf("%+v, %v", read, err)
	}
	if _, err := readFile(t.Context(), dir, nil); err == nil {
		t.Error("a directory was read")
	}
	path := filepath.Join(dir, audit.Name)
	for range 3 {
		if err := audit.Open(path, audit.Options{User: "u"}).Write(audit.Record{Action: audit.Run}); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	_, err := readFile(t.Context(), path, func(audit.Record) error { n++; return io.ErrUnexpectedEOF })
	if !errors.Is(err, io.ErrUnexpectedEOF) || n != 1 {
		t.Errorf("%v after %d records", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readFile(ctx, path, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestActionsDocumented checks that docs/reference/formats.md names every action.
func TestActionsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range audit.Actions() {
		if !strings.Contains(string(page), "`"+action+"`") {
			t.Errorf("docs/reference/formats.md does not name %s", action)
		}
	}
	fields := reflect.TypeFor[audit.Record]()
	for field := range fields.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/reference/formats.md does not name the field %s", name)
		}
	}
}

// TestActions checks that Actions returns every action constant.
func TestActions(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "record.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, spec := range file.Decls[1].(*ast.GenDecl).Specs { // the first declaration is that of imports
		for _, value := range spec.(*ast.ValueSpec).Values {
			all = append(all, strings.Trim(value.(*ast.BasicLit).Value, `"`))
		}
	}
	if got := audit.Actions(); !reflect.DeepEqual(got, all) || len(got) < 19 {
		t.Errorf("got  %v\nwant %v", got, all)
	}
}

// readFile reads a log, one record after the other.
func readFile(ctx context.Context, path string, each func(audit.Record) error) (audit.Read, error) {
	s := audit.Stream{Paths: []string{path}}
	err := s.Each(ctx, func(r audit.Record) (bool, error) {
		if err := each(r); err != nil {
			return false, err
		}
		return true, nil
	})
	return s.Read(), err
}

// writeLog returns a file with a text.
func writeLog(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func FuzzReadAll(f *testing.F) {
	f.Add("{\"seq\":1,\"action\":\"run\",\"skill\":\"a\"}\n\nx")
	f.Fuzz(func(t *testing.T, log string) {
		var s audit.Stats
		read, err := readFile(t.Context(), writeLog(t, log), func(r audit.Record) error { s.Add(r); return nil })
		if lines := int64(strings.Count(log+"\n", "\n")); err != nil || read.Records+read.Damaged > lines || int64(len(s.Usages())) > 16*read.Records {
			t.Errorf("%+v, %v of %d lines", read, err, lines)
		}
	})
}

// BenchmarkStats reads 100,000 records, which a busy team writes in months.
func BenchmarkStats(b *testing.B) {
	path := filepath.Join(b.TempDir(), audit.Name)
	line := `{"seq":7,"ts":"2026-11-22T10:00:00.000000005Z","user":"ada","action":"run","result":"ok","skill":"deploy","pack":"acme/deploy","script":"scripts/go.sh",` +
		`"command":["sh","go.sh"],"exit_code":0,"duration_ms":12,"output":"sha256:762069bc07a6e1b5df123a5ae7bd91c10daa04694fbaa17fba0cd6a8dcce8f22","prev":"sha256:762069bc"}` + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 100_000)), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var s audit.Stats
		if read, err := readFile(b.Context(), path, func(r audit.Record) error { s.Add(r); return nil }); err != nil || read.Records != 100_000 {
			b.Fatal(read, err)
		}
	}
}
