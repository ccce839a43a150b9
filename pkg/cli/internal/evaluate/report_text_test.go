package evaluate_test

import (
	"bytes"
	"testing"

	"github.com/skillpm/skillpm/pkg/cli/internal/evaluate"
)

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := evaluate.WriteText(&b, sample(1, 4), sample(2, 4), evaluate.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
}
