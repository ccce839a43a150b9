package pkg_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/skillpm/skillpm"

// floors lists every package of the module with its floor: a package imports only from lower floors. A new package is
// added here, with a thought about where it belongs.
var floors = map[string]int{
	"schema":         0,
	"registry-index": 0,
	"pkg/diag":       0,

	"pkg/fault":   1,
	"pkg/regular": 1,

	"pkg/skill":  1,
	"pkg/source": 1,
	"pkg/bundle": 1,
	"pkg/scope":  1,
	"pkg/agent":  1,

	"pkg/markdown":  1,
	"pkg/scan":      1,
	"pkg/syntax":    1,
	"pkg/conform":   1,
	"pkg/overlay":   1,
	"pkg/similar":   1,
	"pkg/textdiff":  1,
	"pkg/lint/rule": 1,
	"pkg/sign":      1,
	"pkg/expand":    1,
	"pkg/tool":      1,
	"pkg/whole":     1,

	"pkg/sign/keyless": 2,

	"pkg/profile":  2,
	"pkg/project":  2,
	"pkg/index":    2,
	"pkg/resolve":  2,
	"pkg/policy":   2,
	"pkg/baseline": 2,
	"pkg/graph":    2,
	"pkg/foreign":  2,

	"pkg/drift":      3,
	"pkg/store":      3,
	"pkg/txn":        3,
	"pkg/watch":      3,
	"pkg/wire":       3,
	"pkg/credential": 3,
	"pkg/search":     3,
	"pkg/site":       3,
	"pkg/prompt":     3,
	"pkg/audit":      3,
	"pkg/capability": 3,
	"pkg/sandbox":    3,

	"pkg/source/git":   4,
	"pkg/source/oci":   4,
	"pkg/source/file":  4,
	"pkg/lint":         4,
	"pkg/catalog":      4,
	"pkg/match":        4,
	"pkg/run":          4,
	"pkg/guard":        4,
	"pkg/attach":       4,
	"pkg/audit/report": 4,

	"pkg/workspace": 5,
	"pkg/registry":  5,
	"pkg/vendored":  5,
	"pkg/trust":     5,
	"pkg/session":   5,
	"pkg/task":      5,

	"pkg/provider": 6,
	"pkg/lsp":      6,
	"pkg/host":     6,
	"pkg/gateway":  6,

	"pkg/skillpm": 7,
	"pkg/author":  7,
	"pkg/curate":  7,

	"pkg/dispatch":  7,
	"pkg/skilltest": 7,
	"pkg/mcpserver": 7,
	"pkg/hook":      7,

	"pkg/enterprise": 8,

	"cmd/skillpm/internal/cli":     9,
	"cmd/skillpm/internal/gendocs": 10,
	"cmd/skillpm":                  10,
	"cmd/skillpm-bench":            10,
}

// testSupport are packages that only tests import.
var testSupport = []string{
	"pkg/source/sourcetest", "pkg/source/git/gittest", "pkg/source/oci/ocitest", "pkg/registry/registrytest",
	"cmd/skillpm/internal/mockmodel",
}

// pure packages take what they work on as parameters: no network, no processes, no environment.
var pureBelow = 3

// forbidden imports of the pure packages, with their sub-packages' transitive imports left out: what a library does
// inside is its own matter, what these packages ask for is not.
var impure = []string{"net", "net/http", "os/exec", "os/signal", "syscall"}

// systemNames are pure packages that import syscall for names alone: those of its errors, and of a file's owner.
var systemNames = []string{"pkg/fault", "pkg/regular"}

type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func TestFloors(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if slices.Contains(testSupport, name) || name == "pkg" { // pkg itself holds this test only
			continue
		}
		floor, ok := floors[name]
		if !ok {
			t.Errorf("package %s is on no floor: add it to the table in pkg/arch_test.go", name)
			continue
		}
		for _, imported := range p.Imports {
			own, internal := strings.CutPrefix(imported, module+"/")
			if internal {
				checkImport(t, name, floor, own)
			} else if imported == "syscall" && slices.Contains(systemNames, name) {
				continue
			} else if (floor < pureBelow || name == "pkg/lint" || name == "pkg/drift") && slices.Contains(impure, imported) {
				t.Errorf("%s (floor %d) imports %s: floors below %d take what they work on as parameters", name, floor, imported, pureBelow)
			}
		}
	}
}

func checkImport(t *testing.T, name string, floor int, imported string) {
	t.Helper()
	if slices.Contains(testSupport, imported) {
		t.Errorf("%s imports %s, which is for tests only", name, imported)
		return
	}
	if to, ok := floors[imported]; ok && to >= floor {
		t.Errorf("%s (floor %d) imports %s (floor %d): imports go down", name, floor, imported, to)
	}
}

// TestClosure checks what must stay out of reach however long the chain of imports.
func TestClosure(t *testing.T) {
	never := map[string][]string{
		"pkg/lint":    {"github.com/go-git/go-git/v5", "oras.land/oras-go/v2", "net/http"},
		"pkg/project": {"github.com/go-git/go-git/v5", "oras.land/oras-go/v2", "net/http"},
		"pkg/resolve": {"github.com/go-git/go-git/v5", "oras.land/oras-go/v2", "net/http"},
		"pkg/store":   {"net/http"},
		"pkg/txn":     {"net/http"},
		// what takes milliseconds at every start, or megabytes, and can be had without
		"cmd/skillpm": {"github.com/yuin/goldmark", "github.com/microcosm-cc/bluemonday", "html/template"},
	}
	// what agents talk to cannot install
	installers := []string{
		"github.com/go-git/go-git/v5", "oras.land/oras-go/v2", "net/http",
		module + "/pkg/registry", module + "/pkg/store", module + "/pkg/provider", module + "/pkg/skillpm",
		module + "/pkg/author", module + "/pkg/vendored", module + "/pkg/source/git", module + "/pkg/source/oci",
	}
	for _, name := range []string{"pkg/catalog", "pkg/session", "pkg/task", "pkg/host", "pkg/dispatch", "pkg/skilltest", "pkg/guard", "pkg/hook"} {
		never[name] = installers
	}
	// these speak MCP, also over HTTP
	for _, name := range []string{"pkg/mcpserver", "pkg/gateway"} {
		never[name] = slices.DeleteFunc(slices.Clone(installers), func(bad string) bool { return bad == "net/http" })
	}
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		for _, bad := range never[name] {
			for _, dep := range p.Deps {
				// jsonschema loads http schemas only when its httploader is imported; net/http itself is the test.
				if dep == bad {
					t.Errorf("%s reaches %s", name, bad)
				}
			}
		}
		if strings.HasPrefix(name, "cmd/") && name != "cmd/skillpm-bench" && slices.ContainsFunc(p.Deps, func(d string) bool { return strings.Contains(d, "olareg") }) {
			t.Errorf("%s reaches the test registry", name)
		}
	}
}

func list(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// TestFixedLibraries checks that skillpm is built on the libraries that it says it is (M5), and that the top level holds
// what it should and nothing else (M6).
func TestFixedLibraries(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	direct, _, _ := strings.Cut(string(mod), "// indirect")
	for _, lib := range []string{
		"github.com/spf13/cobra v1.", "github.com/go-git/go-git/v5 ", "github.com/Masterminds/semver/v3 ",
		"github.com/santhosh-tekuri/jsonschema/v5 ", "go.yaml.in/yaml/v3 ", "oras.land/oras-go/v2 ",
	} {
		if !strings.Contains(direct, lib) {
			t.Errorf("go.mod does not require %s directly", lib)
		}
	}
	out, err := exec.Command("git", "-C", "..", "ls-tree", "--name-only", "HEAD").Output()
	if err != nil {
		t.Skip("not a git checkout:", err)
	}
	allowed := []string{
		"go.mod", "go.sum", "cmd", "pkg", "schema", "registry-index", "testdata", "docs",
		"README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "action.yml",
	}
	for name := range strings.FieldsSeq(string(out)) {
		if !strings.HasPrefix(name, ".") && !slices.Contains(allowed, name) {
			t.Errorf("%s does not belong at the top level", name)
		}
	}
}

// TestFloorsDocument proves that docs/architecture.md has every package, on its floor.
func TestFloorsDocument(t *testing.T) {
	page, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]string{} // the floors of the row that a package is in
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for i, name := range strings.Split(cells[2], "`") {
			if i%2 == 1 {
				said[name] = strings.Split(strings.TrimSpace(cells[1]), ", ")
			}
		}
	}
	for name, floor := range floors {
		if !slices.Contains(said[name], strconv.Itoa(floor)) {
			t.Errorf("%s is on floor %d, and docs/architecture.md has it on %q", name, floor, said[name])
		}
		delete(said, name)
	}
	for name := range said {
		t.Errorf("docs/architecture.md has %s, which is no package", name)
	}
}
