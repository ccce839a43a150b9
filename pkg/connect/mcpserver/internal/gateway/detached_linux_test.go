package gateway_test

import (
	"maps"
	"os"
	"os/exec"
	"testing"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver/internal/gateway"
)

// detachments are ways in which a process leaves its parent, as shell scripts whose $0 is the pipe to hold open.
func detachments() map[string]string {
	const sleep = `exec sleep 1000 >"$0"`
	ways := map[string]string{
		"child":           sleep,
		"background":      `(` + sleep + `) &`,
		"own session":     `setsid sh -c '` + sleep + `' "$0" &`,
		"double fork":     `(setsid sh -c '(` + sleep + `) & exit' "$0") & exit`,
		"no environment":  `setsid env -i PATH="$PATH" sh -c '(` + sleep + `) & exit' "$0" & exit`,
		"forged mark":     `SKILLPM_RUN=another setsid sh -c '(` + sleep + `) & exit' "$0" & exit`,
		"ignored signals": `trap '' TERM HUP INT QUIT; setsid sh -c '(` + sleep + `) & exit' "$0" & exit`,
		"closed files":    `setsid sh -c '(` + sleep + ` <&- 2>&- 3>&-) & exit' "$0" & exit`,
		"restarts":        `setsid sh -c 'exec 9>"$0"; f() { sleep 0.01; (f) & exit; }; trap "" TERM HUP; (f) & exit' "$0" & exit`,
		"many":            `for i in 1 2 3 4 5 6 7 8; do setsid env -i PATH="$PATH" sh -c '(` + sleep + `) & exit' "$0" & done; exit`,
		"stopped":         `setsid sh -c 'exec 9>"$0"; (kill -s STOP $$; sleep 1000) & kill -s STOP $$' "$0" & exit`,
	}
	return ways
}

// TestDetached checks that all processes that a server has started end with the gateway, in whatever way they detach,
// and also if skillpm is killed.
func TestDetached(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range detachments() {
		env := map[string]string{"GATEWAY_TEST_DETACHED": script}
		t.Run(name+"/closed", func(t *testing.T) {
			p := newPipe(t)
			env := maps.Clone(env)
			env["GATEWAY_TEST_LEAVES"] = p.path
			g, err := gateway.Open(gateway.Options{Upstreams: []gateway.Upstream{program(t, env)}, Environ: os.Environ(), Helper: []string{self}})
			if err != nil {
				t.Fatal(err)
			}
			g.Start(t.Context())
			p.wait("the process", p.running)
			g.Close()
			p.wait("its end", p.ended)
		})
		t.Run(name+"/killed", func(t *testing.T) {
			p := newPipe(t)
			holder := exec.Command(self)
			holder.Env = append(os.Environ(), "GATEWAY_TEST_SERVER=1", "GATEWAY_TEST_HOLDER=1", "GATEWAY_TEST_LEAVES="+p.path, "GATEWAY_TEST_DETACHED="+script)
			if err := holder.Start(); err != nil {
				t.Fatal(err)
			}
			p.wait("the process", p.running)
			if err := holder.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = holder.Wait() // that it was killed is why
			p.wait("its end", p.ended)
		})
	}
}
