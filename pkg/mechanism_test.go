package pkg_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// calls lists functions that only one package may call, because security depends on how it calls them.
var calls = map[string]struct{ in, instead string }{
	"filepath.EvalSymlinks": {"pkg/internal/pathx", "pathx.Resolve, or pathx.ResolveExisting"},
	"errgroup.WithContext":  {"pkg/internal/bug", "bug.WithContext, which returns panics as errors"},
}

// TestGoroutines checks that no goroutine ends the process with Go's stacks when it panics.
func TestGoroutines(t *testing.T) {
	for name, file := range parseSources(t) {
		dir := filepath.ToSlash(filepath.Dir(name))
		if !strings.HasPrefix(dir, "pkg/") || strings.HasPrefix(dir, "pkg/internal/testkit") || dir == "pkg/internal/bug" {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: starts a goroutine: use bug.Go", name)
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "sync" && n.Sel.Name == "WaitGroup" {
					t.Errorf("%s: uses sync.WaitGroup: use bug.WaitGroup", name)
				}
			}
			return true
		})
	}
}

// TestOneMechanism checks that no code duplicates an operation that a dedicated package provides.
func TestOneMechanism(t *testing.T) {
	for name, file := range parseSources(t) {
		dir := filepath.ToSlash(filepath.Dir(name))
		for _, decl := range file.Decls {
			var relative, local token.Pos // calls in one function that together are a containment check
			ast.Inspect(decl, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				called := callee(call)
				if strings.HasSuffix(called, ".DisallowUnknownFields") && dir != "pkg/internal/jsonx" {
					t.Errorf("%s: decodes JSON strictly: use jsonx.Decode", name)
				}
				if rule, ok := calls[called]; ok && dir != rule.in && strings.HasPrefix(dir, "pkg/") {
					t.Errorf("%s: calls %s: use %s", name, called, rule.instead)
				}
				switch {
				case called == "strings.HasPrefix" && len(call.Args) == 2 && leadsUp(call.Args[1]) && dir != "pkg/internal/pathx":
					t.Errorf("%s: looks for a leading \"..\": use pathx.Rel, or pathx.Escapes", name)
				case called == "filepath.Rel":
					relative = call.Pos()
				case called == "filepath.IsLocal":
					local = call.Pos()
				}
				return true
			})
			if relative.IsValid() && local.IsValid() {
				t.Errorf("%s: a function calls filepath.Rel and filepath.IsLocal: use pathx.Rel", name)
			}
		}
	}
}

// callee returns the function that a call names with its package, or its method with the variable, or "" for others.
func callee(call *ast.CallExpr) string {
	if f, ok := call.Fun.(*ast.SelectorExpr); ok {
		if pkg, ok := f.X.(*ast.Ident); ok {
			return pkg.Name + "." + f.Sel.Name
		}
	}
	return ""
}

// leadsUp reports whether an expression is a text that begins with "..", such as "../" and ".." + separator.
func leadsUp(e ast.Expr) bool {
	if sum, ok := e.(*ast.BinaryExpr); ok {
		return leadsUp(sum.X)
	}
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return false
	}
	text, err := strconv.Unquote(lit.Value)
	return err == nil && strings.HasPrefix(text, "..")
}

// parseSources parses the module's Go files that are not tests, by their paths from its root.
func parseSources(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	for _, root := range []string{"../pkg", "../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return filepath.SkipDir
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			files[filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))] = file
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}
