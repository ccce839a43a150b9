package install

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// TestSyncLines checks that a repository cannot hide a part of a change behind a long text, nor control the terminal.
func TestSyncLines(t *testing.T) {
	long := strings.Repeat("a", 400)
	lines := syncLines(console.Palette(false), skillpm.SyncDifference{
		Entries: []skillpm.SyncedEntry{{Entry: "registries", Before: "[" + long + "]", After: "[" + long + ", \x1b[2Jevil\n]"}},
		Packs:   []skillpm.SyncedPack{{Pack: "acme/a", After: "1.0.0", Source: "oci://x/" + long + "/evil"}},
	})
	if len(lines) != 2 || !strings.Contains(lines[0], "evil") || !strings.HasSuffix(lines[1], "/evil") {
		t.Errorf("got %q", lines)
	}
	if text := strings.Join(lines, ""); strings.ContainsAny(text, "\x1b\n") {
		t.Errorf("got %q", text)
	}
}
