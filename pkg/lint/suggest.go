package lint

import (
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// suggest returns the candidate that was perhaps meant by word, or "". Case and the kind of separator do not count, so
// allowedTools and allowed_tools are allowed-tools.
func suggest(word string, candidates []string) string {
	plain := squash(word)
	squashed := make([]string, len(candidates))
	for i, c := range candidates {
		squashed[i] = squash(c)
		if squashed[i] == plain {
			return c
		}
	}
	near := diag.Nearest(plain, squashed)
	for i, s := range squashed {
		if s == near && near != "" {
			return candidates[i]
		}
	}
	return ""
}

var squasher = strings.NewReplacer("-", "", "_", "", " ", "")

func squash(s string) string { return squasher.Replace(strings.ToLower(s)) }
