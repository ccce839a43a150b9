package govern

import (
	"cmp"
	"context"
	"encoding/json"
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
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// followEvery is the polling interval of --follow.
const followEvery = 200 * time.Millisecond

// maxRecords limits the records that are kept in memory to sort them.
const maxRecords = 100_000

func newAuditShow(a *app) *cobra.Command {
	var selected selection
	var limit int
	var reverse, follow bool
	cmd := &cobra.Command{
		Use:   "show [LOG...]",
		Short: "Print what is on record",
		Long: `Print the last records, the newest at the end: when, what was done, how it ended, with
which skill, and why not. Several logs are read in the order of their times. On a
terminal a line is cut to what there is room for.

With --json each record is a line, with all of its fields.`,
		Example: `  skillpm audit show
  skillpm audit show --skill deploy --since 7d
  skillpm audit show --result denied --limit 20 --reverse
  skillpm audit show --action run --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := selected.read(a)
			if err != nil {
				return err
			}
			switch {
			case limit < 0 || limit > maxRecords:
				return diag.Errorf(diag.Usage, "--limit must be from 0 to %d", maxRecords)
			case follow && (reverse || len(args) > 1):
				return diag.Errorf(diag.Usage, "--follow takes one log, and not --reverse")
			}
			logs, err := a.logs(args)
			if err != nil {
				return err
			}
			p := &recordPrinter{a: a, machine: len(logs) > 1}
			s := audit.Stream{Paths: logs, Filter: filter, Reverse: reverse}
			if err := a.show(cmd.Context(), &s, limit, p); err != nil || !follow {
				return err
			}
			tick := time.NewTicker(followEvery)
			defer tick.Stop()
			return audit.Follow(cmd.Context(), logs[0], tick.C, func(r audit.Record) error {
				if !filter.Pass(r) {
					return nil
				}
				return p.print(r)
			})
		},
	}
	selected.addTo(a, cmd)
	f := cmd.Flags()
	f.IntVarP(&limit, "limit", "n", 100, "only the last `N` records; 0 for all")
	f.BoolVarP(&reverse, "reverse", "r", false, "the newest record first")
	f.BoolVarP(&follow, "follow", "f", false, "go on with what is done from now on, until Ctrl-C")
	a.CompleteFlag(cmd, "limit", cobra.NoFileCompletions)
	return cmd
}

// show prints records. It reads the last ones of a log from its end.
func (a *app) show(ctx context.Context, s *audit.Stream, limit int, p *recordPrinter) error {
	n := 0
	each := func(r audit.Record) (bool, error) {
		n++
		return limit == 0 || n < limit, p.print(r)
	}
	if limit > 0 && !s.Reverse {
		var last []audit.Record
		s.Reverse = true
		if err := a.stream(ctx, s, func(r audit.Record) (bool, error) {
			last = append(last, r)
			return len(last) < limit, nil
		}); err != nil {
			return err
		}
		for _, r := range slices.Backward(last) {
			if _, err := each(r); err != nil {
				return err
			}
		}
	} else if err := a.stream(ctx, s, each); err != nil {
		return err
	}
	if n == 0 {
		a.Note("nothing like that is on record")
		a.noteMachineLog(s.Paths)
	}
	return nil
}

// noteMachineLog prints the path of the machine's sync log, if it was not read.
func (a *app) noteMachineLog(read []string) {
	env, err := a.Env()
	if err != nil {
		return
	}
	log := filepath.Join(env.Paths.ForMachine().State, "audit", audit.Name)
	if _, err := os.Stat(log); err == nil && !slices.Contains(read, log) {
		a.Note("what skillpm sync did is in another log: skillpm audit show %s", log)
	}
}

// recordPrinter prints records, one per line.
type recordPrinter struct {
	a       *app
	machine bool // also print the location
}

func (p *recordPrinter) print(r audit.Record) error {
	if p.a.JSON {
		enc := json.NewEncoder(p.a.Stdout)
		enc.SetEscapeHTML(false)
		return enc.Encode(r)
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
	words = append(words, fmt.Sprintf("%-8s", r.User), fmt.Sprintf("%-17s", r.Action), fmt.Sprintf("%-7s", result),
		subject(r))
	line := strings.TrimRight(console.OneLine(strings.Join(words, "  ")), " ")
	_, err := fmt.Fprintln(p.a.Stdout, console.Fitted(line, console.TerminalWidth(p.a.Stdout)))
	return err
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
	add("(%s)", r.Reason)
	if r.Gap {
		words = append(words, "[after a gap]")
	}
	return strings.Join(words, " ")
}
