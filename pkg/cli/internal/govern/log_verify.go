package govern

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// verifiedDocument is the output of "log verify --json".
type verifiedDocument struct {
	Logs []verifiedLog `json:"logs"`
}

// verifiedLog is the result for one log.
type verifiedLog struct {
	Log string `json:"log"`
	*audit.Verified
}

func newLogVerify(a *app) *cobra.Command {
	var o audit.VerifyOptions
	cmd := &cobra.Command{
		Use:   "verify [LOG...]",
		Short: "Verify that the audit log is unchanged",
		Long: `Records have consecutive numbers and the digest of the record before. If a record was
changed, removed, added, or moved, the command reports the record with exit code 6. A
killed process may leave an incomplete record, which is a gap, not an error.

Nothing in a log proves its end: if the last record was changed, or if the last records are
missing, the rest is still consistent. To detect that, keep the digest of the last record,
which the command prints, on another machine, and pass it with --head the next time. The
log may contain newer records.`,
		Example: `  skillpm log verify
  skillpm log verify --json
  skillpm log verify -q && skillpm log export --format csv > log.csv`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			logs, err := a.logs(args)
			if err != nil {
				return err
			}
			if len(logs) > 1 && (o.Head != "" || o.After != "") {
				return diag.Errorf(diag.Usage, "--head and --after need a single log")
			}
			var all []verifiedLog
			var wrong error
			for _, log := range logs {
				v, err := audit.Verify(cmd.Context(), log, o)
				if err != nil {
					return err
				}
				all = append(all, verifiedLog{log, v})
				if wrong == nil {
					wrong = v.Err()
				}
			}
			if err := a.printVerified(all); err != nil {
				return err
			}
			return a.AfterResult(cmd, wrong)
		},
	}
	cmd.Flags().StringVar(&o.Head, "head", "", "require a record with `DIGEST`, the last record of an earlier check")
	cmd.Flags().StringVar(&o.After, "after", "",
		"accept a log that starts after the record with `DIGEST`, if older files were moved")
	a.CompleteFlag(cmd, "head", cobra.NoFileCompletions)
	a.CompleteFlag(cmd, "after", cobra.NoFileCompletions)
	return cmd
}

func (a *app) printVerified(all []verifiedLog) error {
	if a.JSON {
		return a.PrintJSON(verifiedDocument{all})
	}
	for _, v := range all {
		for _, f := range slices.Concat(v.Findings, v.Notes) {
			if _, err := fmt.Fprintln(a.Stdout, console.Printable(f.String())); err != nil {
				return err
			}
		}
		if v.More > 0 {
			a.Warn("%s not shown", textx.Count(int(v.More), "more finding"))
		}
		if v.Records == 0 {
			a.Note("%s does not contain records.", v.Log)
			continue
		}
		what, head := v.Log+": "+textx.Count(int(v.Records), "record"), "head "+v.Head
		between := ", "
		if width := console.TerminalWidth(a.Stdout); width > 0 && console.Cells([]rune(what+", "+head)) > width {
			between = "\n  " // the full digest, for users who store it elsewhere
		}
		if _, err := fmt.Fprintln(a.Stdout, console.Printable(what)+between+head); err != nil {
			return err
		}
		if v.KeptAt != v.Last {
			a.Note("Nothing proves that record %d is unchanged, or is the last one: keep the head on another machine, "+
				"and pass it with --head the next time.", v.Last)
		}
	}
	return nil
}
