package diag_test

import (
	"fmt"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
)

// TestO14ModelHint checks that a model gets the hint of a denial only if the error says so: the hint for people often is
// the command that lifts the denial.
func TestO14ModelHint(t *testing.T) {
	denied := diag.Errorf(diag.Denied, "denied").WithHint("run: skillpm deny deploy --undo")
	unknown := diag.Errorf(diag.NotFound, "unknown").WithHint("did you mean deploy?")
	for _, test := range []struct {
		err  error
		want string
	}{
		{denied, "denied (continue without it, or ask the user)"},
		{fmt.Errorf("load: %w", denied), "load: denied (continue without it, or ask the user)"},
		{diag.Errorf(diag.Denied, "%w", unknown), "unknown (continue without it, or ask the user)"},
		{diag.Errorf(diag.Denied, "denied").WithHint("use another path").HintForModels(), "denied (use another path)"},
		{diag.Errorf(diag.Invalid, "damaged").WithHint("run: skillpm session end s").ForModel(""), "damaged"},
		{unknown, "unknown (did you mean deploy?)"},
		{fmt.Errorf("load: %w", unknown), "load: unknown (did you mean deploy?)"},
		{diag.Errorf(diag.Invalid, "bad"), "bad"},
	} {
		if got := diag.ModelTextOf(test.err); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	if diag.TextOf(denied) != "denied (run: skillpm deny deploy --undo)" {
		t.Errorf("got %q", diag.TextOf(denied))
	}
}
