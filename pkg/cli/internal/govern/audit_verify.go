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

// verifiedDocument is the output of "audit verify --json".
type verifiedDocument struct {
	Logs []verifiedLog `json:"logs"`
}

// verifiedLog is the result for one log.
type verifiedLog struct {
	Log string `json:"log"`
	*audit.Verified
}

func newAuditVerify(a *app) *cobra.Command {
	var o audit.VerifyOptions
	cmd := &cobra.Command{
		Use:   "verify [LOG...]",
		Short: "Check that nobody changed the record",
		Long: `Check the chain of the record: each line has the next number, and the digest of the line
before it. A line that was changed, left out, put in or moved is named, and the exit
code is 6. What a killed process left of a line is no finding: it is told as a gap,
and the next record says that it is there.

The end of a log can be cut off without a trace in it. So the digest of the last record
is printed: keep it elsewhere, and say it with --head another time. The log may have
grown since.`,
		Example: `  skillpm audit verify
  skillpm audit verify --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			logs, err := a.logs(args)
			if err != nil {
				return err
			}
			if len(logs) > 1 && (o.Head != "" || o.After != "") {
				return diag.Errorf(diag.Usage, "--head and --after are those of one log")
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
			return wrong
		},
	}
	cmd.Flags().StringVar(&o.Head, "head", "", "there must be a record with the `DIGEST`, which was the last one once")
	cmd.Flags().StringVar(&o.After, "after", "",
		"the first record follows the line with the `DIGEST`: older files were moved away")
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
			a.Warn("%s are not shown", textx.Count(int(v.More), "further finding"))
		}
		if v.Records == 0 {
			a.Note("%s has no records", v.Log)
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
	}
	return nil
}
