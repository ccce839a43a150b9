package govern

import (
	"bufio"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	records "github.com/skillpm/skillpm/pkg/cli/internal/report"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

func newAuditExport(a *app) *cobra.Command {
	var selected selection
	var format, file string
	cmd := &cobra.Command{
		Use:   "export [LOG...]",
		Short: "Write the record for other programs",
		Long: `Write records, the oldest first:

  json  one array
  csv   a table with a line of names; what a spreadsheet would take for a formula has
        an apostrophe before it
  otlp  spans, as OpenTelemetry's protocol has them in JSON, one document a line: each
        is something that was done with a skill, which its attribute skill_name names.
        Where TRACEPARENT was set, or an MCP client sent a trace, they belong to it.

Nothing is sent anywhere.`,
		Example: `  skillpm audit export --format csv --out record.csv
  skillpm audit export --format otlp --since 7d --out spans.jsonl
  skillpm audit export --skill deploy`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := selected.read(a)
			if err != nil {
				return err
			}
			if !slices.Contains(records.Formats(), format) {
				return diag.Errorf(diag.Usage, "--format %q is not known", format).
					WithHint("formats are %s", strings.Join(records.Formats(), ", "))
			}
			logs, err := a.logs(args)
			if err != nil {
				return err
			}
			write := func(w io.Writer) error {
				out := bufio.NewWriter(w)
				export := records.NewExport(format, out, a.Version)
				s := audit.Stream{Paths: logs, Filter: filter}
				add := func(r audit.Record) (bool, error) { return true, export.Add(r) }
				if err := a.stream(cmd.Context(), &s, add); err != nil {
					return err
				}
				if err := export.Close(); err != nil {
					return err
				}
				return out.Flush()
			}
			if file == "" {
				return write(a.Stdout)
			}
			return atomicfile.Stream(a.Abs(file), atomicfile.Options{}, write)
		},
	}
	selected.addTo(a, cmd)
	cmd.Flags().StringVar(&format, "format", "json", "write `FORMAT`: json, csv or otlp")
	cmd.Flags().StringVarP(&file, "out", "o", "", "write to `FILE`, and not to standard output")
	a.CompleteFlag(cmd, "format", cobra.FixedCompletions(records.Formats(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
