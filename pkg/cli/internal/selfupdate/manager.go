package selfupdate

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// Manager is what installed the program, and updates it.
type Manager struct {
	Name string
	Hint string // how to update the program
}

// managers are the known managers, by their names in markers.
func managers() map[string]Manager {
	packages := ", or install the newer package from " + Releases
	return map[string]Manager{
		"apk":       {"apk", `run "sudo apk upgrade skillpm"` + packages},
		"aur":       {"an AUR package", `run "yay -S skillpm-bin", or update the package with your AUR helper`},
		"container": {"a container image", `run "docker pull ghcr.io/skillpm/skillpm"`},
		"deb":       {"apt", `run "sudo apt install --only-upgrade skillpm"` + packages},
		"go":        {"go install", `run "go install ` + modulePath + `/cmd/skillpm@latest"`},
		"homebrew":  {"Homebrew", `run "brew upgrade --cask skillpm"`},
		"nix":       {"Nix", `run "nix profile upgrade skillpm", or update your Nix configuration`},
		"rpm":       {"rpm", `run "sudo dnf upgrade skillpm"` + packages},
		"scoop":     {"Scoop", `run "scoop update skillpm"`},
		"winget":    {"winget", `run "winget upgrade skillpm.skillpm"`},
	}
}

// Markers returns the names that a marker may contain.
func Markers() []string { return slices.Sorted(maps.Keys(managers())) }

const modulePath = "github.com/skillpm/skillpm"

// marker is a file that a package has, which contains the name of the manager. It is relative to the program's
// directory: packages install /usr/bin/skillpm and /usr/share/skillpm/installed-by.
const marker = "installed-by"

// maxMarker is the longest name of a manager, in bytes.
const maxMarker = 32

// DetectManager returns what installed an executable, whose links are resolved. Nothing is asked or run: packages have
// a marker, the other managers have directories of their own, and "go install" leaves the module's checksum in the
// program.
func DetectManager(executable string, info *debug.BuildInfo, released bool) (Manager, bool) {
	known := managers()
	dir := filepath.Dir(executable)
	for _, file := range []string{filepath.Join(dir, "..", "share", "skillpm", marker), filepath.Join(dir, marker)} {
		data, err := safefile.ReadFile(file, maxMarker)
		if m, ok := known[strings.TrimSpace(string(data))]; err == nil && ok {
			return m, true
		}
		if err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return Manager{"a package manager", "update skillpm with the package manager that installed it"}, true
		}
	}
	if name := managerOfPath(executable); name != "" {
		return known[name], true
	}
	if !released && info != nil && info.Main.Sum != "" {
		return known["go"], true
	}
	return Manager{}, false
}

// managerOfPath returns the manager that a directory belongs to.
func managerOfPath(executable string) string {
	elements := strings.Split(strings.ToLower(strings.ReplaceAll(path.Clean(executable), `\`, "/")), "/")
	follows := func(names ...string) bool {
		for i := range elements {
			if i+len(names) < len(elements) && slices.Equal(elements[i:i+len(names)], names) {
				return true
			}
		}
		return false
	}
	switch {
	case follows("caskroom") || follows("cellar"):
		return "homebrew"
	case follows("scoop", "apps"):
		return "scoop"
	case follows("winget", "packages"):
		return "winget"
	case len(elements) > 2 && slices.Equal(elements[:3], []string{"", "nix", "store"}):
		return "nix"
	}
	return ""
}

// refuse returns the error of an installation that a manager updates.
func (m Manager) refuse() error {
	return diag.Errorf(diag.Denied, "cannot update skillpm: this installation is from %s", m.Name).
		WithHint("%s", m.Hint)
}
