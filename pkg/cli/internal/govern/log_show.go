package govern

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// followEvery is the polling interval of --follow.
const followEvery = 200 * time.Millisecond

// maxRecords limits the records that are kept in memory to sort them.
const maxRecords = 100_000

// addShow makes a command print records.
func (a *app) addShow(cmd *cobra.Command) {
	var selected selection
	var limit int
	var reverse, follow, output bool
	format := "text"
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		filter, err := selected.read(a)
		if err != nil {
			return err
		}
		switch {
		case limit < 0 || limit > maxRecords:
			return diag.Errorf(diag.Usage, "--limit must be between 0 and %d", maxRecords)
		case a.JSON && format == "text":
			format = "json"
		}
		switch {
		case !slices.Contains(logFormats(), format):
			return diag.Errorf(diag.Usage, "unknown --format %q", format).
				WithHint("use %s", textx.OneOf(logFormats()))
		case follow && format == "json":
			return diag.Errorf(diag.Usage, "--follow cannot print one JSON document, because the output does not end").
				WithHint("use --format ndjson, which prints one document for each record")
		case follow && (reverse || len(args) > 1):
			return diag.Errorf(diag.Usage, "--follow needs a single log, and cannot be used with --reverse")
		}
		logs, err := a.logs(args)
		if err != nil {
			return err
		}
		p := &recordPrinter{
			a: a, machine: len(logs) > 1, format: format, output: output, width: console.TerminalWidth(a.Stdout),
		}
		s := audit.Stream{Paths: logs, Filter: filter, Reverse: reverse}
		n := 0
		show := func() (err error) {
			n, err = a.show(cmd.Context(), &s, limit, p)
			return err
		}
		if !follow {
			if err := a.Paged(show); err != nil {
				return err
			}
			a.noteShown(n, limit, s.Paths)
			return p.end()
		}
		if err := show(); err != nil {
			return err
		}
		a.noteShown(n, limit, s.Paths)
		tick := time.NewTicker(followEvery)
		defer tick.Stop()
		return audit.Follow(cmd.Context(), logs[0], tick.C, func(r audit.Record) error {
			if !filter.Pass(r) {
				return nil
			}
			return p.print(r)
		})
	}
	selected.addTo(a, cmd)
	f := cmd.Flags()
	f.IntVarP(&limit, "limit", "n", 100, "show the last `N` records; 0 shows all")
	f.BoolVarP(&reverse, "reverse", "r", false, "show the newest record first")
	f.BoolVarP(&follow, "follow", "f", false, "wait for new records until Ctrl-C")
	f.BoolVar(&output, "with-output", false, "also print the recorded output of scripts (see log.output)")
	f.StringVar(&format, "format", format, "print as `FORMAT`: text, json, or ndjson")
	a.CompleteFlag(cmd, "limit", cobra.NoFileCompletions)
	a.CompleteFlag(cmd, "format", cobra.FixedCompletions(logFormats(), cobra.ShellCompDirectiveNoFileComp))
}

// logFormats are the values of --format.
func logFormats() []string { return []string{"text", "json", "ndjson"} }

// show prints records, and returns their number. It reads the last ones of a log from its end.
func (a *app) show(ctx context.Context, s *audit.Stream, limit int, p *recordPrinter) (n int, err error) {
	hidden, err := a.hiddenIntents(ctx, s, limit, p.format)
	if err != nil {
		return 0, err
	}
	each := func(r audit.Record) (bool, error) {
		if hidden.hides(r) {
			return true, nil
		}
		n++
		return limit == 0 || n < limit, p.print(r)
	}
	if limit > 0 && !s.Reverse {
		var last []audit.Record
		s.Reverse = true
		if err := a.ReadLogs(ctx, s, func(r audit.Record) (bool, error) {
			if !hidden.hides(r) {
				last = append(last, r)
			}
			return len(last) < limit, nil
		}); err != nil {
			return 0, err
		}
		for _, r := range slices.Backward(last) {
			if err := p.print(r); err != nil {
				return 0, err
			}
		}
		return len(last), nil
	}
	err = a.ReadLogs(ctx, s, each)
	return n, err
}

// noteShown prints the number of records that were shown.
func (a *app) noteShown(n, limit int, read []string) {
	if n == 0 {
		a.Note("No matching records.")
		a.noteMachineLog(read)
		return
	}
	text := textx.Count(n, "record")
	if n == limit {
		text += ". Show more with --limit N"
	}
	a.Note("%s.", text)
}

// hiddenIntents are the ids of operations with an outcome, whose intents are not shown; nil shows all.
type hiddenIntents map[string]bool

// hides reports whether a record is an intent whose outcome is shown. It remembers outcomes: from the end of a log,
// they come first.
func (h hiddenIntents) hides(r audit.Record) bool {
	if h == nil || r.ID == "" {
		return false
	}
	if r.Phase == audit.Outcome {
		h[r.ID] = true
	}
	return r.Phase == audit.Intent && h[r.ID]
}

// hiddenIntents returns what to hide: nothing in JSON or with -v. If the records are read from the start, it reads the
// outcomes first.
func (a *app) hiddenIntents(ctx context.Context, s *audit.Stream, limit int, format string) (hiddenIntents, error) {
	if format != "text" || a.Verbose > 0 {
		return nil, nil
	}
	hidden := hiddenIntents{}
	if limit > 0 || s.Reverse {
		return hidden, nil
	}
	err := s.Each(ctx, func(r audit.Record) (bool, error) {
		hidden.hides(r)
		return true, nil
	})
	return hidden, err
}

// noteMachineLog prints the path of the machine's sync log, if it was not read.
func (a *app) noteMachineLog(read []string) {
	env, err := a.Env()
	if err != nil {
		return
	}
	log := filepath.Join(env.Paths.ForMachine().State, "audit", audit.Name)
	if _, err := os.Stat(log); err == nil && !slices.Contains(read, log) {
		a.Note("\"skillpm enterprise sync\" writes another log. Show its records with: skillpm log %s", log)
	}
}

// recordPrinter prints records: one line for each, on a terminal with the reason below it, or all in one JSON document.
type recordPrinter struct {
	a       *app
	machine bool // also print the location
	output  bool // also print the output of scripts
	format  string
	width   int            // of the terminal, 0 for other streams
	records []audit.Record // of the document
}

// end prints the document.
func (p *recordPrinter) end() error {
	if p.format != "json" {
		return nil
	}
	return p.a.PrintJSON(logDocument{append([]audit.Record{}, p.records...)})
}

func (p *recordPrinter) print(r audit.Record) error {
	switch p.format {
	case "json":
		p.records = append(p.records, r)
		return nil
	case "ndjson":
		return console.WriteLine(p.a.Stdout, r)
	}
	when := r.Time
	if t, err := time.Parse(time.RFC3339Nano, r.Time); err == nil {
		when = t.UTC().Format("2006-01-02T15:04:05Z")
	}
	words := []string{fmt.Sprintf("%-20s", cmp.Or(when, "-"))}
	if p.machine {
		words = append(words, fmt.Sprintf("%-12s", r.Machine))
	}
	result := r.Result
	if r.Phase == audit.Intent {
		result = audit.Intent
	}
	words = append(words, fmt.Sprintf("%-8s", r.User), fmt.Sprintf("%-17s", actionText(r)),
		fmt.Sprintf("%-7s", result), subject(r))
	if r.Reason != "" && p.width == 0 { // programs that read lines get all of a record on one
		words[len(words)-1] = strings.TrimSpace(words[len(words)-1] + " (" + r.Reason + ")")
	}
	text := strings.TrimRight(console.OneLine(strings.Join(words, "  ")), " ")
	lines := []string{console.Fitted(text, p.width)}
	if r.Reason != "" && p.width > 0 {
		for _, line := range console.Wrap(console.OneLine(r.Reason), max(20, p.width-len(reasonIndent))) {
			lines = append(lines, reasonIndent+line)
		}
	}
	if p.output {
		lines = append(append(lines, outputLines("| ", r.Stdout)...), outputLines("! ", r.Stderr)...)
	}
	_, err := fmt.Fprintln(p.a.Stdout, strings.Join(lines, "\n"))
	return err
}

// outputLines returns the lines of a recorded output, each with a mark.
func outputLines(mark, text string) (out []string) {
	if text == "" {
		return nil
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		out = append(out, reasonIndent+mark+console.Printable(line))
	}
	return out
}

// reasonIndent is what the lines of a reason start with.
const reasonIndent = "    "

// actionText returns the action of a record as the table shows it. Lifting a denial is the same action as the denial.
func actionText(r audit.Record) string {
	if r.Action == audit.Deny && r.Verdict == audit.Allowed {
		return "deny (undone)"
	}
	return r.Action
}

// subject describes what a record is about.
func subject(r audit.Record) string {
	var words []string
	add := func(format, s string) {
		if s != "" {
			words = append(words, fmt.Sprintf(format, s))
		}
	}
	name := r.Skill
	switch {
	case name != "" && r.Pack != "":
		name += "@" + r.Pack
	case name == "":
		name = r.Pack
	}
	add("%s", name)
	add("%s", r.Version)
	add("%s", cmp.Or(r.Script, r.Hook))
	add("%s", r.File)
	add("tool %s", r.Tool)
	add("task %s", r.Task)
	add("%s", r.Event)
	if r.ExitCode != nil && *r.ExitCode != 0 {
		words = append(words, "exit "+strconv.Itoa(*r.ExitCode))
	}
	if r.DurationMS > 0 {
		words = append(words, durationText(1, r.DurationMS))
	}
	add("session %s", r.Session)
	if r.Gap {
		words = append(words, "[after a gap]")
	}
	return strings.Join(words, " ")
}
