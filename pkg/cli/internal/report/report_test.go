package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/report"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

var start = time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)

// manyRecords returns a team's records of several days.
func manyRecords(n int, over time.Duration) (all []audit.Record) {
	skills := []string{"deploy", "review", "changelog", "a-name-that-is-as-long-as-names-of-skills-can-ever-become-in-the-world"}
	zero, two := 0, 2
	for i := range n {
		r := audit.Record{
			Seq: int64(i + 1), Time: start.Add(over / time.Duration(n) * time.Duration(i)).Format(time.RFC3339Nano), User: []string{"ada", "grace"}[i%2],
			Machine: []string{"laptop-7", "build-1", "ws-eu-central-production-0042"}[i%3], Session: fmt.Sprint("s", i/10), Skill: skills[i%7%4], Result: audit.OK,
		}
		if i%2 == 0 {
			r.Pack = "acme/deploy"
		}
		switch i % 5 {
		case 0:
			r.Action = audit.Activate
		case 1, 2:
			r.Action, r.ExitCode, r.DurationMS = audit.Run, &zero, int64(40+i*i%9000)
		case 3:
			r.Action, r.Result, r.ExitCode, r.DurationMS, r.Reason = audit.Run, audit.Failed, &two, 7, "exit code 2"
		case 4:
			r.Action, r.Result, r.Tool, r.Reason = audit.Refuse, audit.Denied, "Write", "skill "+r.Skill+" allows no Write"
		}
		all = append(all, r)
	}
	return all
}

// export writes records.
func export(t *testing.T, to report.Export, all []audit.Record) {
	t.Helper()
	for _, r := range all {
		if err := to.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
}

// traces has the fields that a reader of OTLP's JSON expects.
type traces struct {
	ResourceSpans []struct {
		Resource   struct{ Attributes []attribute }
		ScopeSpans []struct {
			Scope struct{ Name, Version string }
			Spans []span
		}
	}
}

type span struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int
	StartTimeUnixNano, EndTimeUnixNano  string
	Attributes                          []attribute
	Status                              struct {
		Message string
		Code    int
	}
}

type attribute struct {
	Key   string
	Value struct {
		StringValue, IntValue *string
		ArrayValue            *struct {
			Values []struct{ StringValue string }
		}
	}
}

func spans(t *testing.T, data []byte) (all []span) {
	t.Helper()
	for line := range bytes.Lines(data) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		var of traces
		if err := d.Decode(&of); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for _, r := range of.ResourceSpans {
			if len(r.Resource.Attributes) == 0 || r.Resource.Attributes[0].Key != "service.name" {
				t.Errorf("resource %v", r.Resource)
			}
			for _, s := range r.ScopeSpans {
				all = append(all, s.Spans...)
			}
		}
	}
	return all
}

// TestK8Spans checks SPEC K8: each invocation of a skill is a span with the attribute skill_name, in the caller's
// trace.
func TestK8Spans(t *testing.T) {
	const trace, caller = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	code := 3
	records := append(manyRecords(1300, 30*24*time.Hour),
		audit.Record{Seq: 1301, Time: "2026-12-01T10:00:00Z", Machine: "m", Action: audit.Activate, Result: audit.OK, Skill: "traced", Session: "t", Trace: trace, Span: caller},
		audit.Record{Seq: 1302, Time: "2026-12-01T10:00:02Z", Machine: "m", Action: audit.Run, Result: audit.Failed, Skill: "traced", Session: "t", Trace: trace, Span: caller, Command: []string{"sh", "x"}, ExitCode: &code, DurationMS: 1500, Reason: "no"},
		audit.Record{Seq: 1303, Time: "2026-12-01T10:00:02Z", Action: audit.Install, Result: audit.OK, Pack: "acme/deploy"},
		audit.Record{Seq: 1304, Time: "2026-12-01T10:00:02Z", Action: audit.Activate, Result: audit.Begun, Phase: audit.Intent, Skill: "traced"},
		audit.Record{Seq: 1305, Time: "yesterday", Action: audit.Activate, Result: audit.OK, Skill: "traced"},
		audit.Record{Seq: 1306, Time: "2026-12-01T10:00:02Z", Action: audit.Activate, Result: audit.OK, Skill: "own"},
	)
	var b bytes.Buffer
	export(t, report.NewExport("otlp", &b, "1.2.3"), records)
	all := spans(t, b.Bytes())
	if len(all) != 1303 {
		t.Fatalf("%d spans", len(all))
	}
	ids := map[string]bool{}
	for _, s := range all {
		if len(s.Attributes) == 0 || s.Attributes[0].Key != "skill_name" || *s.Attributes[0].Value.StringValue == "" {
			t.Fatalf("span %s has no skill_name", s.Name)
		}
		for id, n := range map[string]int{s.TraceID: 16, s.SpanID: 8, s.ParentSpanID: 8} {
			if data, err := hex.DecodeString(id); id != "" && (err != nil || len(data) != n) || id == "" && n == 16 {
				t.Fatalf("id %q", id)
			}
		}
		if ids[s.SpanID] {
			t.Fatalf("two spans are %s", s.SpanID)
		}
		ids[s.SpanID] = true
		from, err1 := strconv.ParseInt(s.StartTimeUnixNano, 10, 64)
		to, err2 := strconv.ParseInt(s.EndTimeUnixNano, 10, 64)
		if err1 != nil || err2 != nil || from > to || s.Kind != 1 {
			t.Fatalf("%+v", s)
		}
	}
	var traced []span
	for _, s := range all {
		if *s.Attributes[0].Value.StringValue == "traced" {
			traced = append(traced, s)
		}
	}
	if len(traced) != 2 || traced[0].TraceID != trace || traced[0].ParentSpanID != caller || traced[1].TraceID != trace || traced[1].Status.Code != 2 || traced[1].Status.Message != "no" {
		t.Fatalf("%+v", traced)
	}
	if traced[1].EndTimeUnixNano != "1796119202000000000" || traced[1].StartTimeUnixNano != "1796119200500000000" {
		t.Errorf("from %s to %s", traced[1].StartTimeUnixNano, traced[1].EndTimeUnixNano)
	}
	values := map[string]string{}
	for _, a := range traced[1].Attributes {
		if a.Value.IntValue != nil {
			values[a.Key] = *a.Value.IntValue
		}
		if a.Value.ArrayValue != nil {
			values[a.Key] = fmt.Sprint(a.Value.ArrayValue.Values)
		}
	}
	if want := map[string]string{"skillpm.seq": "1302", "process.exit.code": "3", "process.command_args": "[{sh} {x}]"}; !reflect.DeepEqual(values, want) {
		t.Errorf("got %v, want %v", values, want)
	}
	if !strings.Contains(b.String(), `"intValue":"3"`) || !strings.Contains(b.String(), `"version":"1.2.3"`) {
		t.Error("64-bit integers are texts in OTLP's JSON")
	}
}

// TestOTLPSession checks that a session's records form one trace, even without a caller's trace, and that runs are
// below their activation.
func TestOTLPSession(t *testing.T) {
	at := func(second int) string {
		return start.Add(time.Duration(second) * time.Second).Format(time.RFC3339Nano)
	}
	var b bytes.Buffer
	export(t, report.NewExport("otlp", &b, ""), []audit.Record{
		{Seq: 1, Time: at(0), Action: audit.Activate, Result: audit.OK, Skill: "deploy", Session: "s", Machine: "m"},
		{Seq: 2, Time: at(1), Action: audit.Run, Result: audit.OK, Skill: "deploy", Session: "s", Machine: "m"},
		{Seq: 3, Time: at(2), Action: audit.Deactivate, Result: audit.OK, Skill: "deploy", Session: "s", Machine: "m"},
		{Seq: 4, Time: at(3), Action: audit.Run, Result: audit.OK, Skill: "deploy", Session: "s", Machine: "m"},
		{Seq: 5, Time: at(4), Action: audit.Run, Result: audit.OK, Skill: "deploy", Session: "s", Machine: "other"},
	})
	all := spans(t, b.Bytes())
	if all[1].ParentSpanID != all[0].SpanID || all[2].ParentSpanID != all[0].SpanID || all[3].ParentSpanID != "" || all[4].ParentSpanID != "" {
		t.Errorf("%+v", all)
	}
	if all[0].TraceID != all[1].TraceID || all[0].TraceID != all[3].TraceID || all[0].TraceID == all[4].TraceID {
		t.Error("traces are not sessions")
	}
	b.Reset()
	export(t, report.NewExport("otlp", &b, ""), nil)
	if b.String() != `{"resourceSpans":[]}`+"\n" {
		t.Errorf("of nothing: %s", &b)
	}
}

// TestCSV checks that no cell is a formula, and that reading the output returns the original values.
func TestCSV(t *testing.T) {
	code := -1
	var b bytes.Buffer
	export(t, report.NewExport("csv", &b, ""), []audit.Record{{
		Seq: 1, Time: "2026-11-01T10:00:00Z", User: "ada", Action: audit.Run, Result: audit.Failed, Skill: "=HYPERLINK(\"http://evil.example\")", Session: "@SUM(1)",
		Project: "/a,b\n\"c\"", Reason: " +1+1", Tool: "-2", Machine: "＝x", File: "plain", ExitCode: &code, Command: []string{"=cmd|' /C calc'!A0"}, Gap: true,
	}})
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	got := map[string]string{}
	for i, name := range rows[0] {
		if rows[1][i] != "" {
			got[name] = rows[1][i]
		}
	}
	want := map[string]string{
		"seq": "1", "ts": "2026-11-01T10:00:00Z", "user": "ada", "action": "run", "result": "failed", "skill": "'=HYPERLINK(\"http://evil.example\")", "session": "'@SUM(1)",
		"project": "/a,b\n\"c\"", "reason": "' +1+1", "tool": "'-2", "machine": "'＝x", "file": "plain", "exit_code": "-1", "command": "'=cmd|' /C calc'!A0", "gap": "true",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	b.Reset()
	export(t, report.NewExport("csv", &b, ""), nil)
	if rows, err := csv.NewReader(&b).ReadAll(); err != nil || len(rows) != 1 {
		t.Error(rows, err)
	}
}

// TestCSVColumns checks that each exported field of a record is a column.
func TestCSVColumns(t *testing.T) {
	var b bytes.Buffer
	export(t, report.NewExport("csv", &b, ""), nil)
	names := strings.Split(strings.TrimSpace(b.String()), ",")
	of := reflect.TypeFor[audit.Record]()
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "dir" && !strings.Contains(","+strings.Join(names, ",")+",", ","+name+",") {
			t.Errorf("no column is %s", name)
		}
	}
}

func TestJSON(t *testing.T) {
	for _, n := range []int{0, 1, 3} {
		var b bytes.Buffer
		export(t, report.NewExport("json", &b, ""), manyRecords(n, time.Hour))
		var got struct {
			SchemaVersion int
			Records       []audit.Record
		}
		err := json.Unmarshal(b.Bytes(), &got)
		if err != nil || got.SchemaVersion != 1 || got.Records == nil || len(got.Records) != n {
			t.Errorf("%d: version %d, %d records, %v", n, got.SchemaVersion, len(got.Records), err)
		}
	}
}

// page writes the page of some records.
func page(t testing.TB, all []audit.Record) string {
	t.Helper()
	s := report.NewSummary(audit.Stats{})
	for _, r := range all {
		s.Add(r)
	}
	var b bytes.Buffer
	if err := s.Page(&b, report.PageOptions{Now: start.AddDate(0, 2, 0)}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestO14Page checks SPEC O14, O24: activations over time, each skill, durations, failures, refusals with reasons, and
// the machines.
func TestO14Page(t *testing.T) {
	html := page(t, manyRecords(700, 30*24*time.Hour))
	for _, want := range []string{
		`700 audit log records from <time datetime="2026-11-01T10:00:00Z">1 November 2026</time> to`, "on 3 machines", "<dt>Activations</dt><dd>140</dd>", "<dt>Failures</dt><dd>140</dd>", "<dt>Denials</dt><dd>140</dd>",
		"Activations by day", `<th scope="row">deploy<small>acme/deploy</small></th>`, "exit code 2", "skill deploy allows no Write", "ws-eu-central-production-0042",
		`aria-label="Activations: 140 in total, at most`, "<th scope=\"row\">15 Nov 2026</th>",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if html != page(t, manyRecords(700, 30*24*time.Hour)) {
		t.Error("the same records make another page")
	}
	for want, of := range map[string][]audit.Record{
		"<section class=\"card empty\"><p>The audit log does not contain records yet. Activate a": nil,
		"1 audit log record from <time":   manyRecords(1, time.Hour),
		"by hour":                         manyRecords(40, 40*time.Hour),
		"Activations by week":             manyRecords(400, 300*24*time.Hour),
		"Activations by month":            manyRecords(400, 4*365*24*time.Hour),
		"Activations by year":             manyRecords(400, 40*365*24*time.Hour),
		"1 record does not have a time":   {{Seq: 1, Time: "?", Action: audit.Run, Result: audit.OK, Skill: "a"}},
		"does not show 200 more machines": machines(300),
		"the tool Bash is not allowed":    {{Seq: 1, Action: audit.Refuse, Result: audit.Denied, Skill: "a", Tool: "Bash"}},
	} {
		if html := page(t, of); !strings.Contains(html, want) {
			t.Errorf("the page of %d records has no %q", len(of), want)
		}
	}
}

func machines(n int) (all []audit.Record) {
	for i := range n {
		all = append(all, audit.Record{Seq: int64(i), Time: start.Format(time.RFC3339), Action: audit.Activate, Result: audit.OK, Skill: "a", Machine: fmt.Sprint("m", i)})
	}
	return all
}

// TestPageHostile checks that any content of a record is text on the page.
func TestPageHostile(t *testing.T) {
	evil := `"><script>alert(1)</script><img src=x onerror=alert(1)>&amp;%` + "\u202e\x00"
	r := audit.Record{Seq: 1, Time: start.Format(time.RFC3339), User: evil, Machine: evil, Action: audit.Run, Result: audit.Failed, Skill: evil, Pack: evil, Reason: evil, DurationMS: 3, Session: evil}
	refused := r
	refused.Result = audit.Denied
	html := page(t, []audit.Record{r, refused})
	if tags := regexp.MustCompile(`(?i)<(script|img|iframe|link|object|base)|<[^>]*\son[a-z]+=|\x{202e}|\x00`).FindAllString(html, -1); len(tags) > 0 {
		t.Errorf("the page has %q", tags)
	}
	if !strings.Contains(html, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the page does not show what was written")
	}
	for _, tag := range regexp.MustCompile(`<[^>]*\b(src|href|action)=`).FindAllString(html, -1) {
		t.Errorf("the page leads elsewhere: %v", tag)
	}
}

func BenchmarkPage(b *testing.B) {
	all := manyRecords(100_000, 400*24*time.Hour)
	for b.Loop() {
		page(b, all)
	}
}
