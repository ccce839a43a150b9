package evaluate_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/evaluate"
	"github.com/skillpm/skillpm/pkg/cli/internal/render"
	"github.com/skillpm/skillpm/pkg/diag"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares an output with a file in testdata/report.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "report", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs; run the test with -update. Got:\n%s", file, got)
	}
}

func text(t testing.TB, c compared, o evaluate.TextOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := evaluate.WriteText(&b, c.report, c.base, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestText(t *testing.T) {
	all := samples()
	golden(t, "sample.txt", text(t, all["sample"], evaluate.TextOptions{Width: 80}))
	golden(t, "narrow.txt", text(t, all["interrupted"], evaluate.TextOptions{Width: 40, ASCII: true, Verbose: true}))
	golden(t, "errors.txt", text(t, all["errors"], evaluate.TextOptions{}))
	golden(t, "none.txt", text(t, all["none"], evaluate.TextOptions{}))
}

// TestTextSafe checks that no report controls a terminal, and that lines fit the terminal.
func TestTextSafe(t *testing.T) {
	for name, c := range samples() {
		for _, width := range []int{0, 40, 80, 120} {
			for line := range strings.Lines(string(text(t, c, evaluate.TextOptions{Width: width, Verbose: true}))) {
				line = strings.TrimSuffix(line, "\n")
				if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
					t.Errorf("%s: %q", name, line)
				}
				if width > 0 && name != "hostile" && console.Cells([]rune(line)) > width {
					t.Errorf("%s has %d columns, more than %d: %s", name, console.Cells([]rune(line)), width, line)
				}
			}
		}
	}
	if !strings.Contains(string(text(t, samples()["sample"], evaluate.TextOptions{Palette: true})), "\x1b[32m✓\x1b[0m") {
		t.Error("there are no colors")
	}
	for name, c := range samples() {
		got := string(text(t, c, evaluate.TextOptions{ASCII: true}))
		if i := strings.IndexFunc(got, func(r rune) bool { return r > unicode.MaxASCII }); i >= 0 && name != "hostile" {
			t.Errorf("%s is not ASCII: %.40s", name, got[i:])
		}
	}
}

// TestSummary checks the numbers of a small report.
func TestSummary(t *testing.T) {
	run := func(v evaluate.Variant, o evaluate.Outcome, seconds int) evaluate.Run {
		return evaluate.Run{Variant: v, Outcome: o, Duration: time.Duration(seconds) * time.Second, ToolCalls: seconds}
	}
	priced := run(evaluate.With, evaluate.Passed, 4)
	in, out, price := int64(1000), int64(50), 0.25
	priced.InputTokens, priced.OutputTokens, priced.CostUSD, priced.Denials = &in, &out, &price, 2
	half := run(evaluate.With, evaluate.Failed, 2)
	half.InputTokens = &in // without output tokens, the number of tokens is unknown
	r := &evaluate.Report{Skills: []evaluate.Skill{{Name: "a", Dir: "x/a", Cases: []evaluate.Case{
		{ID: "1", Kind: evaluate.Task, Runs: []evaluate.Run{
			priced, half, run(evaluate.With, evaluate.Errored, 100), run(evaluate.Without, evaluate.Failed, 1),
			run(evaluate.Without, evaluate.TimedOut, 9),
		}},
		{ID: "2", Kind: evaluate.Task, Runs: []evaluate.Run{run(evaluate.With, evaluate.Passed, 6), run(evaluate.Without, evaluate.Errored, 1)}},
		{ID: "3", Kind: evaluate.Trigger, ShouldTrigger: &yes, Runs: []evaluate.Run{
			run(evaluate.With, evaluate.Passed, 1), run(evaluate.With, evaluate.Failed, 1), run(evaluate.With, evaluate.TimedOut, 1),
		}},
		{ID: "4", Kind: evaluate.Trigger, ShouldTrigger: &no, Runs: []evaluate.Run{
			run(evaluate.With, evaluate.Passed, 1), run(evaluate.With, evaluate.Failed, 1), run(evaluate.With, evaluate.TimedOut, 1),
		}},
	}}}}
	s := evaluate.Summarize(r, nil)
	if len(s.Skills) != 1 || s.Skills[0].Name != "a" || s.Skills[0].Dir != "x/a" || !reflect.DeepEqual(s.Skills[0].Results, s.Total) {
		t.Fatalf("%+v", s)
	}
	m := s.Total.Measures
	if len(m) != 3 || m[0].Variant != evaluate.With || m[1].Variant != evaluate.Without || m[2].Kind != evaluate.Trigger {
		t.Fatalf("%+v", m)
	}
	with := m[0]
	if with.Cases != 2 || with.Runs != 3 || with.Errors != 1 || with.Timeouts != 0 || with.PassRate.Count != 2 || with.Denials != 2 {
		t.Errorf("%+v", with)
	}
	if *with.Tokens != (evaluate.Average{Runs: 1, Mean: 1050, Median: 1050, Total: 1050}) || with.CostUSD.Total != 0.25 {
		t.Errorf("tokens %+v, cost %+v", *with.Tokens, *with.CostUSD)
	}
	if *with.TimeSeconds != (evaluate.Average{Runs: 3, Mean: 4, Median: 4, Total: 12}) || with.ToolCalls.Total != 12 {
		t.Errorf("time %+v", *with.TimeSeconds)
	}
	if m[1].Runs != 2 || m[1].Errors != 1 || m[1].Timeouts != 1 || m[1].PassRate.Count != 0 || m[1].Tokens != nil {
		t.Errorf("%+v", m[1])
	}
	// The skill was activated in 1 of 3 runs that should, and in 1 of 2 that should not; the third did not end.
	trigger := m[2]
	if trigger.Recall.Count != 1 || trigger.Recall.Of != 3 || trigger.Precision.Count != 1 || trigger.Precision.Of != 2 ||
		trigger.PassRate.Count != 2 || trigger.PassRate.Of != 6 {
		t.Errorf("%+v %+v %+v", *trigger.Recall, *trigger.Precision, *trigger.PassRate)
	}
	// Only case 1 was measured with and without the skill.
	if len(s.Total.Deltas) != 1 {
		t.Fatalf("%+v", s.Total.Deltas)
	}
	d := s.Total.Deltas[0]
	if d.Against != evaluate.Without || d.Cases != 1 || d.PassRate.Value != 0.5 || d.Verdict != evaluate.Unclear || d.Tokens != nil ||
		*d.TimeSeconds != 3-5 {
		t.Errorf("%+v", d)
	}
}

// TestSummaryOrder checks that the order of runs and cases is irrelevant.
func TestSummaryOrder(t *testing.T) {
	r, base := sample(1, 6), sample(2, 6)
	want := evaluate.Summarize(r, base)
	random := rand.New(rand.NewPCG(7, 7))
	for _, s := range r.Skills {
		random.Shuffle(len(s.Cases), func(i, j int) { s.Cases[i], s.Cases[j] = s.Cases[j], s.Cases[i] })
		for _, c := range s.Cases {
			random.Shuffle(len(c.Runs), func(i, j int) { c.Runs[i], c.Runs[j] = c.Runs[j], c.Runs[i] })
		}
	}
	if got := rounded(t, evaluate.Summarize(r, base)); got != rounded(t, want) {
		t.Errorf("got  %s\nwant %s", got, rounded(t, want))
	}
}

// rounded returns a summary as JSON without the last digits, which depend on the order of sums.
func rounded(t *testing.T, s evaluate.Summary) string {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(\.\d{6})\d+`).ReplaceAllString(string(data), "$1")
}

// TestBaselineCases checks which cases of a baseline are compared.
func TestBaselineCases(t *testing.T) {
	cases := func(r *evaluate.Report, base *evaluate.Report) (n int) {
		for _, m := range evaluate.Summarize(r, base).Total.Measures {
			if m.Variant == evaluate.Baseline {
				n += m.Cases
			}
		}
		return n
	}
	r := sample(1, 2)
	if got := cases(r, r); got != 16 {
		t.Errorf("%d cases of the same report are compared", got)
	}
	for name, change := range map[string]func(*evaluate.Report){
		"prompt":   func(r *evaluate.Report) { r.Skills[0].Cases[0].Prompt += "!" },
		"id":       func(r *evaluate.Report) { r.Skills[0].Cases[0].ID += "x" },
		"kind":     func(r *evaluate.Report) { r.Skills[0].Cases[0].Kind = evaluate.Trigger },
		"expected": func(r *evaluate.Report) { r.Skills[0].Cases[5].ShouldTrigger = &no },
	} {
		base := sample(1, 2)
		change(base)
		if got := cases(r, base); got != 15 {
			t.Errorf("another %s: %d cases are compared", name, got)
		}
	}
	moved := sample(1, 2)
	moved.Skills[0].Dir = "elsewhere"
	if got := cases(r, moved); got != 16 {
		t.Errorf("a skill in another directory: %d cases are compared", got)
	}
	moved.Skills[1].Name = moved.Skills[0].Name // now the directory decides, and there is no such directory
	if got := cases(r, moved); got != 3 {
		t.Errorf("two skills of one name: %d cases are compared", got)
	}
}

// TestThreshold checks which skills are not good enough.
func TestThreshold(t *testing.T) {
	rates := func(passed, failed, errors int) (runs []evaluate.Run) {
		for n, o := range map[evaluate.Outcome]int{evaluate.Passed: passed, evaluate.Failed: failed, evaluate.Errored: errors} {
			for range o {
				runs = append(runs, evaluate.Run{Variant: evaluate.With, Outcome: n})
			}
		}
		return runs
	}
	report := func(tasks, triggers []evaluate.Run) *evaluate.Report {
		return &evaluate.Report{Skills: []evaluate.Skill{{Name: "a", Dir: "a", Cases: []evaluate.Case{
			{ID: "1", Kind: evaluate.Task, Runs: tasks}, {ID: "2", Kind: evaluate.Trigger, Runs: triggers},
		}}}}
	}
	for name, c := range map[string]struct {
		report, base *evaluate.Report
		below        float64
		want         string
	}{
		"reached":    {report(rates(8, 2, 0), rates(9, 1, 0)), nil, 80, ""},
		"below":      {report(rates(79, 21, 3), rates(9, 1, 0)), nil, 79.5, "a: 79 of 100 task runs passed (79.0%); the minimum is 79.5%"},
		"triggers":   {report(rates(1, 0, 0), rates(6, 3, 0)), nil, 80, "a: 6 of 9 trigger runs passed (66.7%); the minimum is 80%"},
		"half":       {report(rates(2, 2, 1), rates(2, 1, 0)), nil, 0, ""},
		"less":       {report(rates(1, 2, 1), rates(0, 1, 0)), nil, 0, "a: 1: 1 of 3 runs passed; 1 error; at least half must pass|a: 2: 0 of 1 run passed; at least half must pass"},
		"errors":     {report(rates(0, 0, 2), rates(1, 0, 0)), nil, 50, "a: 1: no run was measured: 2 errors"},
		"not run":    {report(nil, nil), nil, 80, ""},
		"regression": {report(rates(11, 9, 0), nil), report(rates(20, 0, 0), nil), 0, "a: the task pass rate is 45 points lower than in the baseline, more than chance"},
		"by chance":  {report(rates(15, 5, 0), nil), report(rates(19, 1, 0), nil), 0, ""},
		"better":     {report(rates(19, 1, 0), nil), report(rates(11, 9, 0), nil), 0, ""},
	} {
		var got []string
		for _, s := range evaluate.CheckThreshold(c.report, c.base, c.below) {
			got = append(got, s.String())
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestThresholdNegative checks that a prompt that activates the skill in half of the runs, and should not, fails, as
// agentskills.io describes it.
func TestThresholdNegative(t *testing.T) {
	c := evaluate.Case{ID: "1", Kind: evaluate.Trigger, ShouldTrigger: &no}
	r := &evaluate.Report{Skills: []evaluate.Skill{{Name: "a", Dir: "a"}}}
	for _, want := range []string{"", "1 of 2 runs passed; more than half must pass", ""} {
		r.Skills[0].Cases = []evaluate.Case{c}
		short := evaluate.CheckThreshold(r, nil, 0)
		if want == "" && len(short) != 0 || want != "" && (len(short) != 1 || short[0].Reason != want) {
			t.Errorf("%d runs: got %+v, want %q", len(c.Runs), short, want)
		}
		c.Runs = append(c.Runs, evaluate.Run{Variant: evaluate.With, Outcome: evaluate.Passed})
		if len(c.Runs) == 1 {
			c.Runs = append(c.Runs, evaluate.Run{Variant: evaluate.With, Outcome: evaluate.Failed})
		}
	}
}

// TestThresholdPrevious checks that a regression against the previous version is one, and that a skill that does not
// help is not.
func TestThresholdPrevious(t *testing.T) {
	r := &evaluate.Report{Skills: []evaluate.Skill{{Name: "a", Dir: "a", Cases: []evaluate.Case{{ID: "1", Kind: evaluate.Task}}}}}
	c := &r.Skills[0].Cases[0]
	for range 9 { // the pass rate is also below the minimum
		c.Runs = append(c.Runs, evaluate.Run{Variant: evaluate.With, Outcome: evaluate.Failed},
			evaluate.Run{Variant: evaluate.Without, Outcome: evaluate.Passed},
			evaluate.Run{Variant: evaluate.Previous, Outcome: evaluate.Passed})
	}
	got := evaluate.CheckThreshold(r, nil, 1)
	if len(got) != 2 || got[0].Against != "" || got[1].Against != evaluate.Previous || !strings.Contains(got[1].Reason, "than with the previous version") {
		t.Errorf("%+v", got)
	}
}

// TestJUnit checks that each skill is a suite, that failures are those of skills that are not good enough, and that the
// counts match.
func TestJUnit(t *testing.T) {
	r := sample(1, 6)
	var b bytes.Buffer
	if err := evaluate.WriteJUnit(&b, r, evaluate.CheckThreshold(r, nil, 80)); err != nil {
		t.Fatal(err)
	}
	golden(t, "sample.xml", b.Bytes())
	for name, c := range samples() {
		for _, below := range []float64{0, 50, 100} {
			short := evaluate.CheckThreshold(c.report, c.base, below)
			b.Reset()
			if err := evaluate.WriteJUnit(&b, c.report, short); err != nil {
				t.Fatal(err)
			}
			var doc render.JUnitSuites
			if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if doc.Failures > 0 != (len(short) > 0) {
				t.Errorf("%s, %g: %d failures, %d skills below", name, below, doc.Failures, len(short))
			}
			tests := 0
			for i, s := range doc.Suites {
				tests += len(s.Cases)
				if s.Tests != len(s.Cases) || s.Tests < len(c.report.Skills[i].Cases) {
					t.Errorf("%s: %d tests, %d cases", name, s.Tests, len(s.Cases))
				}
			}
			if doc.Tests != tests {
				t.Errorf("%s: %d tests of %d", name, doc.Tests, tests)
			}
		}
	}
}

// TestSummaryJSON checks the JSON form, and that it is a baseline.
func TestSummaryJSON(t *testing.T) {
	r := sample(1, 6)
	var b bytes.Buffer
	if err := console.WriteDocument(&b, evaluate.Document{Report: *r, Summary: evaluate.Summarize(r, sample(2, 6))}); err != nil {
		t.Fatal(err)
	}
	var summary bytes.Buffer
	var d struct{ Summary json.RawMessage }
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if err := json.Indent(&summary, d.Summary, "", "  "); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary.json", append(summary.Bytes(), '\n'))
	file := filepath.Join(t.TempDir(), "report.json")
	for name, c := range samples() {
		b.Reset()
		if err := console.WriteDocument(&b, evaluate.Document{Report: *c.report, Summary: evaluate.Summarize(c.report, c.base)}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := evaluate.ReadBaseline(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if was, is := rounded(t, evaluate.Summarize(c.report, nil)), rounded(t, evaluate.Summarize(got, nil)); was != is {
			t.Errorf("%s: the report that was read has another summary: %s, not %s", name, is, was)
		}
	}
}

// TestBaselineErrors checks that files that are not reports are errors that name the file and the reason.
func TestBaselineErrors(t *testing.T) {
	const run = `{"variant":"with","number":1,"outcome":"passed","toolCalls":0,"denials":0,"durationNs":0}`
	skill := func(c string) string {
		return `{"schemaVersion":1,"agent":"x","skills":[{"name":"a","dir":"a","cases":[` + c + `]}]}`
	}
	with := func(old, changed string) string {
		return skill(`{"id":"1","kind":"task","runs":[` + strings.Replace(run, old, changed, 1) + `]}`)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "base.json")
	for name, c := range map[string]struct{ data, want string }{
		"valid":             {with("", ""), ""},
		"unknown field":     {with(`"number"`, `"later":[1],"number"`), ""},
		"empty":             {"", "invalid JSON"},
		"other JSON":        {"{}", "schemaVersion is 0"},
		"another version":   {`{"schemaVersion":2,"skills":[]}`, "schemaVersion is 2"},
		"an error document": {`{"schemaVersion":1,"error":{"code":"usage"}}`, "does not have an agent and skills"},
		"offline tests":     {`{"schemaVersion":1,"skills":[]}`, "does not have an agent and skills"},
		"test --json":       {`{"schemaVersion":1,"skills":[],"evaluation":{"agent":"x","skills":[]}}`, ""},
		"list":              {"[]", "cannot unmarshal array"},
		"trailing":          {with("", "") + "{}", "unexpected data after"},
		"duplicate key":     {`{"schemaVersion":1,"skills":[],"Skills":[]}`, `the key "Skills" is duplicated`},
		"deep":              {strings.Repeat("[", 100) + strings.Repeat("]", 100), "nested more than"},
		"UTF-8":             {"\"\xff\"", "not valid UTF-8"},
		"unnamed skill":     {`{"schemaVersion":1,"agent":"x","skills":[{"dir":"a","cases":[]}]}`, "does not have a name"},
		"two skills":        {`{"schemaVersion":1,"agent":"x","skills":[{"name":"a","dir":"a"},{"name":"a","dir":"a"}]}`, "is duplicated"},
		"two cases":         {skill(`{"id":"1","kind":"task"},{"id":"1","kind":"task"}`), "is duplicated"},
		"kind":              {skill(`{"id":"1","kind":"x\u001b[31m"}`), `unknown kind "x\x1b[31m"`},
		"variant":           {with(`"with"`, `"baseline"`), `has the variant "baseline"`},
		"outcome":           {with(`"passed"`, `"good"`), `unknown outcome "good"`},
		"negative":          {with(`"denials":0`, `"denials":-1`), "the negative number -1"},
		"tokens":            {with(`"denials":0`, `"denials":0,"inputTokens":9000000000000`), "more than 1000000000000 tokens"},
		"cost":              {with(`"denials":0`, `"denials":0,"costUsd":1e300`), "costs 1e+300 US dollars"},
		"fraction":          {with(`"denials":0`, `"denials":0.5`), "cannot unmarshal number"},
	} {
		if err := os.WriteFile(file, []byte(c.data), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := evaluate.ReadBaseline(file)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want == "":
		case err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), file):
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		case diag.CodeOf(err) != diag.Invalid || diag.HintOf(err) == "":
			t.Errorf("%s: %v, %q", name, diag.CodeOf(err), diag.HintOf(err))
		}
	}
	if _, err := evaluate.ReadBaseline(filepath.Join(dir, "missing")); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("missing: %v", err)
	}
	if err := os.Truncate(file, 65<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := evaluate.ReadBaseline(file); err == nil || !strings.Contains(err.Error(), "the limit is 67108864") {
		t.Errorf("large: %v", err)
	}
	if _, err := evaluate.ReadBaseline(dir); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("directory: %v", err)
	}
}

// TestPage checks what the page of a report shows.
func TestPage(t *testing.T) {
	for name, want := range map[string][]string{
		"sample": {
			"204 runs of 16 cases in 3 skills, with claude-code 2.1.14 (claude-sonnet-4-5), on 28 November 2026, in 12.6 min.",
			"1 run ended with an error and measured nothing", "<dt>Pass rate with skill</dt><dd>68%</dd>", "<dt>Difference</dt><dd>+31</dd>",
			"Pass rate of tasks", "<title>with skill: 83% of runs passed, 25 of 30; 95% interval 66–93%</title>",
			`<p class="delta better"><b>better than without the skill</b>: +53 points (+29 to +70)</p>`,
			"Precision and recall of activation", "Tokens per run of a task", "Time per run of a task", "Cost per run of a task", "Tool calls per run of a task",
			"Commit only what is staged", "529 overloaded_error", "should not activate", "the footer begins with BREAKING CHANGE",
			"auth: extend the login timeout to 30 s", "<title>with skill: 5 of 6 runs passed</title>",
		},
		"interrupted": {"The evaluation was interrupted: runs are missing.", "<small>not run</small>"},
		"errors":      {"12 runs ended with errors", "<dd>–</dd>", "executable file not found", "with skill: not measured"},
		"one":         {"Evaluation of commit-messages", "1 run of 1 case in 1 skill"},
		"none":        {"The report does not contain runs."},
	} {
		c := samples()[name]
		page := html(t, c.report, c.base)
		for _, w := range want {
			if !strings.Contains(page, w) {
				t.Errorf("the page of %s does not contain %q", name, w)
			}
		}
		if page != html(t, c.report, c.base) {
			t.Errorf("%s: the same report makes another page", name)
		}
	}
	other := sample(2, 6)
	other.Model = "another"
	if !strings.Contains(html(t, sample(1, 6), other), "The baseline has another agent or model") {
		t.Error("the page does not warn about another model")
	}
}

// TestPageHostile checks that any content of a report is text on the page, and that nothing leads elsewhere.
func TestPageHostile(t *testing.T) {
	page := html(t, hostile(), hostile())
	if tags := regexp.MustCompile(`(?i)<(script|img|iframe|link|object|base)|<[^>]*\son[a-z]+=|[\x{202e}\x{200f}\x00\x1b\r]`).FindAllString(page, -1); len(tags) > 0 {
		t.Errorf("the page has %q", tags)
	}
	if !strings.Contains(page, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the page does not show what was written")
	}
	for _, tag := range regexp.MustCompile(`<[^>]*\b(src|href|action|url)=`).FindAllString(page, -1) {
		t.Errorf("the page leads elsewhere: %v", tag)
	}
}

// TestPageLarge checks that the size of a page is limited, and that a reader learns what is omitted.
func TestPageLarge(t *testing.T) {
	many := sample(1, 450)
	long := sample(1, 4)
	for i := range long.Skills {
		for j := range long.Skills[i].Cases {
			for n := range long.Skills[i].Cases[j].Runs {
				long.Skills[i].Cases[j].Runs[n].Output = strings.Repeat("x", 1<<20)
			}
		}
	}
	for _, r := range []*evaluate.Report{many, long} {
		if page := html(t, r, r); len(page) > 24<<20 || !strings.Contains(page, "The JSON report has all details.") {
			t.Errorf("the page has %d bytes", len(page))
		}
	}
}

// FuzzBaseline checks that no file that is accepted as a report breaks an output.
func FuzzBaseline(f *testing.F) {
	for _, c := range samples() {
		if c.report.Repeats > 10 {
			continue
		}
		var b bytes.Buffer
		if err := console.WriteDocument(&b, c.report); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := evaluate.ReadBaseline(file)
		if err != nil {
			return
		}
		var b bytes.Buffer
		s := evaluate.Summarize(r, r)
		if err := console.WriteDocument(&b, evaluate.Document{Report: *r, Summary: s}); err != nil {
			t.Fatal(err)
		}
		if err := evaluate.WriteJUnit(&b, r, evaluate.CheckThreshold(r, r, 50)); err != nil {
			t.Fatal(err)
		}
		html(t, r, r)
		text(t, compared{r, r}, evaluate.TextOptions{Width: 40})
	})
}
