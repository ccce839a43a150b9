package govern

import (
	"bufio"
	"io"
	"strings"

	"github.com/spf13/cobra"

	records "github.com/skillpm/skillpm/pkg/cli/internal/report"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

func newAuditExport(a *app) *cobra.Command {
	var of selection
	var format, file string
	formats := []string{"json", "csv", "otlp"}
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
			filter, err := of.read(a)
			if err != nil {
				return err
			}
			exporter := map[string]func(io.Writer) records.Export{
				"json": func(w io.Writer) records.Export { return records.NewJSON(w) },
				"csv":  func(w io.Writer) records.Export { return records.NewCSV(w) },
				"otlp": func(w io.Writer) records.Export { return records.NewOTLP(w, a.Version) },
			}[format]
			if exporter == nil {
				return diag.Errorf(diag.Usage, "--format %q is not known", format).WithHint("formats are %s", strings.Join(formats, ", "))
			}
			logs, err := a.logs(args)
			if err != nil {
				return err
			}
			write := func(w io.Writer) error {
				out := bufio.NewWriter(w)
				to := exporter(out)
				s := audit.Stream{Paths: logs, Filter: filter}
				if err := a.stream(cmd.Context(), &s, func(r audit.Record) (bool, error) { return true, to.Add(r) }); err != nil {
					return err
				}
				if err := to.Close(); err != nil {
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
	of.addTo(a, cmd)
	cmd.Flags().StringVar(&format, "format", "json", "write `FORMAT`: json, csv or otlp")
	cmd.Flags().StringVarP(&file, "out", "o", "", "write to `FILE`, and not to standard output")
	a.CompleteFlag(cmd, "format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
