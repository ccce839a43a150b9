package govern

import (
	"bufio"
	"io"
	"slices"

	"github.com/spf13/cobra"

	records "github.com/skillpm/skillpm/pkg/cli/internal/report"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

func newLogExport(a *app) *cobra.Command {
	var selected selection
	var format, file string
	cmd := &cobra.Command{
		Use:   "export [LOG...]",
		Short: "Export the audit log",
		Long: `The oldest record comes first, or with otlp, one log after the other. These are the
formats:

  json    one document, as with "skillpm log --json"
  ndjson  one record per line, as in the log, for "skillpm log stats"
  csv     a table with a header line; values that a spreadsheet would read as a
          formula start with an apostrophe
  otlp    OpenTelemetry spans in JSON, one document per line: one span for each
          record, with the skill in the attribute skill_name. If TRACEPARENT was
          set or an MCP client sent a trace, the spans belong to that trace

skillpm sends nothing over the network. docs/examples/otel-collector.yaml shows how to send
the spans to a collector, and has metrics for a dashboard.`,
		Example: `  skillpm log export --format csv --output log.csv
  skillpm log export --format otlp --since 7d --output spans.jsonl
  skillpm log export --skill deploy`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := selected.read(a)
			if err != nil {
				return err
			}
			if a.JSON && cmd.Flags().Changed("format") && format != "json" {
				return diag.Errorf(diag.Usage, "--json cannot be used with --format %s", format)
			}
			if !slices.Contains(records.Formats(), format) {
				return diag.Errorf(diag.Usage, "unknown --format %q", format).
					WithHint("use %s", textx.OneOf(records.Formats()))
			}
			logs, err := a.logs(args)
			if err != nil {
				return err
			}
			write := func(w io.Writer) error {
				out := bufio.NewWriter(w)
				export := records.NewExport(format, out, a.Version)
				s := audit.Stream{Paths: logs, Filter: filter, Unordered: format == "otlp"}
				add := func(r audit.Record) (bool, error) { return true, export.Add(r) }
				if err := a.ReadLogs(cmd.Context(), &s, add); err != nil {
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
	cmd.Flags().StringVar(&format, "format", "json", "write `FORMAT`: json, ndjson, csv, or otlp")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to `FILE` instead of standard output")
	a.CompleteFlag(cmd, "format", cobra.FixedCompletions(records.Formats(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
