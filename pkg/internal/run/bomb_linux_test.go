package run

import (
	"os"
	"strings"
	"testing"
	"time"
)

var bombs = map[string]string{
	"fork":      `bomb() { bomb | bomb & }; bomb; sleep 100`,
	"double":    `"$PROBE" bomb double`,
	"setsid":    `"$PROBE" bomb setsid`,
	"plain": `"$PROBE" bomb plain`,
}

func TestBombMeasure(t *testing.T) {
	h := newHouse(t)
	for name, line := range bombs {
		if only := os.Getenv("BOMB"); only != "" && !strings.Contains(only, name) {
			continue
		}
		for _, confined := range []bool{true, false} {
			if m := os.Getenv("BOMBMODE"); m != "" && (m == "confined") != confined {
				continue
			}
			rules := h.rules
			if !confined {
				rules = nil
			}
			began := time.Now()
			res, err := Run(t.Context(), Command{
				Argv: []string{"sh", "-c", line}, Dir: h.project, Env: []string{"PATH=/usr/bin:/bin", "PROBE=" + os.Getenv("PROBEBIN"), roleName + "=probe"}, Sandbox: rules, Helper: self(h.T),
				Limit: 3 * time.Second,
			})
			t.Logf("%s confined %t: %v err %v", name, confined, time.Since(began), err)
			if res != nil { t.Log(res.TimedOut, res.ExitCode, res.Signal, len(res.Stderr)) }
		}
	}
}
