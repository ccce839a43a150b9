package console

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func TestFlagError(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"--limit=many", `--limit "many" is not a whole number`},
		{"--limit=99999999999999999999", `--limit "99999999999999999999" is out of range`},
		{"--least=high", `--least "high" is not a number such as 0.5`},
		{"--timeout=5", `--timeout "5" is not a duration such as 30s or 5m`},
		{"--compact=perhaps", `--compact "perhaps" is not true or false`},
		{"--limit", "--limit needs a value"},
		{"-n", "--limit needs a value"},
		{"-n=x", `--limit "x" is not a whole number`},
		{"--nosuch", "unknown flag: --nosuch"},
	} {
		cmd := &cobra.Command{}
		flags := cmd.Flags()
		flags.IntP("limit", "n", 0, "")
		flags.Float64("least", 0, "")
		flags.Duration("timeout", 0, "")
		flags.Bool("compact", false, "")
		if err := FlagError(cmd.ParseFlags([]string{c.arg})); err.Error() != c.want || diag.CodeOf(err) != diag.Usage {
			t.Errorf("%s: %v, code %d", c.arg, err, diag.CodeOf(err))
		}
	}
}
