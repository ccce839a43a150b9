package pkg_test

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/skillpm/skillpm"

// rooms lists the directories of pkg/ from top to bottom. Imports between rooms only point down.
var rooms = []string{
	"cli", "publish", "skillpm", "connect", "runtime", "lint", "policy", "source", "store", "sign", "pack", "skill",
	"internal", "diag",
}

// private lists packages of a room that other rooms use and other modules must not import. They lie in pkg/internal.
var private = map[string]string{
	"pkg/internal/capability": "policy",
	"pkg/internal/run":        "runtime",
}

// maxImportable is the maximum number of packages of pkg/ that other modules can import.
const maxImportable = 35

// testkit holds packages that only tests import: servers, fixtures, and contract suites of every room.
const testkit = "pkg/internal/testkit"

// pure packages do no I/O themselves: no network, no processes, no environment. They take an fs.FS, bytes, or a reader.
var pure = []string{
	"pkg/diag", "pkg/skill", "pkg/pack", "pkg/lint", "pkg/sign",
	"pkg/internal/markdown", "pkg/internal/scan", "pkg/internal/syntax", "pkg/internal/yamlx", "pkg/internal/jsonx", "pkg/internal/yamlschema",
}

// impure lists what pure packages must not import. Imports inside libraries do not count.
var impure = []string{"net", "net/http", "os/exec", "os/signal", "syscall"}

// forbidden lists what a package must not reach, directly or through any chain of imports.
func forbidden(name string) []string {
	const git, oras = "github.com/go-git/go-git/v5", "oras.land/oras-go/v2"
	installers := []string{
		git, oras, module + "/pkg/store", module + "/pkg/skillpm", module + "/pkg/publish", module + "/pkg/source",
	}
	switch room := roomOf(name); {
	case room == "runtime" || room == "policy":
		return append(installers, "net/http")
	case room == "connect": // speaks MCP, also over HTTP
		return installers
	case name == "pkg/cli/internal/lsp": // a server; what it checks with is pure
		return []string{git, oras}
	case slices.Contains(pure, topOf(name)), name == "pkg/store", name == "pkg/internal/txn":
		return []string{git, oras, "net/http"}
	case name == "cmd/skillpm": // what takes milliseconds at every start, or megabytes, and can be had without
		return []string{"github.com/yuin/goldmark", "github.com/microcosm-cc/bluemonday"}
	}
	return nil
}

// roomOf returns the room of a package, or "" for packages outside pkg/.
func roomOf(name string) string {
	if room := private[name]; room != "" {
		return room
	}
	rest, ok := strings.CutPrefix(name, "pkg/")
	if !ok {
		return ""
	}
	room, _, _ := strings.Cut(rest, "/")
	return room
}

// topOf returns the package that an entry of the list of pure packages names: the package itself, or its room.
func topOf(name string) string {
	if roomOf(name) == "internal" {
		return name
	}
	return "pkg/" + roomOf(name)
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func (p goPackage) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// ofModule returns the names of the module's packages in a list of import paths.
func ofModule(paths []string) []string {
	var names []string
	for _, path := range paths {
		if name, ok := strings.CutPrefix(path, module+"/"); ok {
			names = append(names, name)
		}
	}
	return names
}

// TestRooms checks that every package lies in a room, and that imports between rooms point down.
func TestRooms(t *testing.T) {
	for _, p := range listPackages(t) {
		name := p.name()
		from := slices.Index(rooms, roomOf(name))
		if strings.HasPrefix(name, "pkg/") && from < 0 {
			t.Errorf("package %s lies in no room: see the list in pkg/arch_test.go", name)
		}
		if strings.HasPrefix(name, testkit) {
			continue
		}
		for _, imported := range ofModule(p.Imports) {
			switch to := slices.Index(rooms, roomOf(imported)); {
			case strings.HasPrefix(imported, testkit):
				t.Errorf("%s imports %s, which is for tests only", name, imported)
			case to >= 0 && to < from:
				t.Errorf("%s imports %s: imports point down", name, imported)
			}
		}
		if slices.Contains(pure, topOf(name)) {
			for _, bad := range impure {
				if slices.Contains(p.Imports, bad) {
					t.Errorf("%s imports %s: formats and linting do no I/O of their own", name, bad)
				}
			}
		}
	}
}

// TestImportable checks that rooms keep their internal packages private.
func TestImportable(t *testing.T) {
	var importable []string
	for _, p := range listPackages(t) {
		if name := p.name(); strings.HasPrefix(name, "pkg/") && !strings.Contains(name+"/", "/internal/") {
			importable = append(importable, name)
		}
	}
	if len(importable) > maxImportable {
		t.Errorf("%d packages can be imported from outside, at most %d should:\n%s", len(importable), maxImportable,
			strings.Join(importable, "\n"))
	}
}

// TestReach checks forbidden imports: packages that agents talk to cannot install, and formats do no I/O.
func TestReach(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, bad := range forbidden(p.name()) {
			for _, dep := range p.Deps {
				if dep == bad || strings.HasPrefix(bad, module) && strings.HasPrefix(dep, bad+"/") {
					t.Errorf("%s reaches %s", p.name(), dep)
				}
			}
		}
		if slices.Contains(p.Imports, "html/template") { // 4 MB: the linker then keeps every method. templ refers to its types only
			t.Errorf("%s imports html/template: pages are written with templ", p.name())
		}
		if p.name() == "cmd/skillpm" && slices.ContainsFunc(p.Deps, func(d string) bool { return strings.Contains(d, "olareg") }) {
			t.Error("cmd/skillpm reaches the test registry")
		}
	}
}

// listPackages returns the module's packages with code that is not for tests.
func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if p.name() != "pkg" { // this test only
			all = append(all, p)
		}
	}
}

// TestFixedLibraries checks that skillpm uses the libraries that it documents (M5), and that the top level has exactly
// the expected entries (M6).
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
		"README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "action.yml", "setup",
	}
	for name := range strings.FieldsSeq(string(out)) {
		if !strings.HasPrefix(name, ".") && !slices.Contains(allowed, name) {
			t.Errorf("%s does not belong at the top level", name)
		}
	}
}

// api lists the packages of the embedding API, which stay compatible. All other importable packages may change.
var api = []string{
	"pkg/cli", "pkg/publish", "pkg/skillpm", "pkg/runtime", "pkg/lint", "pkg/policy", "pkg/sign", "pkg/pack",
	"pkg/pack/bundle", "pkg/pack/index", "pkg/skill", "pkg/diag",
}

// TestPackageComments checks that package comments state the package's guarantees, and that a room's root names its
// packages.
func TestPackageComments(t *testing.T) {
	comments := map[string]string{}
	for _, p := range listPackages(t) {
		if name := p.name(); strings.HasPrefix(name, "pkg/") && name != "pkg/cli/internal/e2e" { // which is tests only
			comments[name] = packageComment(t, strings.TrimPrefix(name, "pkg/"))
		}
	}
	for name, comment := range comments {
		promise := "may change at any time"
		if slices.Contains(api, name) {
			promise = "is part of skillpm's embedding API and keeps compatibility"
		}
		switch private := strings.Contains(name+"/", "/internal/"); {
		case !strings.HasPrefix(comment, "Package ") && !strings.HasPrefix(comment, "Command "):
			t.Errorf("%s has no package comment", name)
		case !private && !strings.Contains(comment, promise):
			t.Errorf("the package comment of %s does not say %q", name, promise)
		}
		room := "pkg/" + roomOf(name)
		short := strings.TrimPrefix(strings.TrimPrefix(name, room+"/"), "internal/")
		below := strings.Contains(short, "internal/") || strings.HasPrefix(name, testkit) // a package of the room names it
		if name != room && !below && !strings.Contains(comments[room], short) {
			t.Errorf("the package comment of %s does not name %s", room, short)
		}
	}
}

// packageComment returns the comments above the package clauses of a directory, on one line.
func packageComment(t *testing.T, dir string) string {
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if file.Doc != nil && !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, "_templ.go") {
			text = append(text, strings.Fields(file.Doc.Text())...)
		}
	}
	return strings.Join(text, " ")
}
