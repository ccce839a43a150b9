package outputschema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// module is the path of skillpm's module, whose comments are read.
const module = "github.com/skillpm/skillpm/"

// comments has the comments of types ("Type") and fields ("Type.Field") of packages, by import path.
type comments struct {
	root     string // directory of the module
	packages map[string]map[string]string
}

// of returns the comment of a type, or of a field if it is not "".
func (c *comments) of(t reflect.Type, field string) (string, error) {
	dir, ok := strings.CutPrefix(t.PkgPath(), module)
	if !ok {
		return "", nil
	}
	texts := c.packages[dir]
	if texts == nil {
		var err error
		if texts, err = readComments(filepath.Join(c.root, filepath.FromSlash(dir))); err != nil {
			return "", err
		}
		c.packages[dir] = texts
	}
	if field == "" {
		return texts[t.Name()], nil
	}
	return texts[t.Name()+"."+field], nil
}

func readComments(dir string) (map[string]string, error) {
	texts := map[string]string{}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			if group, ok := decl.(*ast.GenDecl); ok && group.Tok == token.TYPE {
				addTypes(texts, group)
			} else if ok && group.Tok == token.CONST {
				addValues(texts, group)
			}
		}
	}
	return texts, nil
}

func addTypes(texts map[string]string, group *ast.GenDecl) {
	for _, spec := range group.Specs {
		t := spec.(*ast.TypeSpec)
		doc := t.Doc
		if doc == nil {
			doc = group.Doc
		}
		texts[t.Name.Name] = doc.Text()
		fields, ok := t.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range fields.Fields.List {
			text := f.Doc.Text() + f.Comment.Text()
			for _, name := range f.Names {
				texts[t.Name.Name+"."+name.Name] = text
			}
		}
	}
}

// addValues adds the values of constants of string types under "Type=", a value a line.
func addValues(texts map[string]string, group *ast.GenDecl) {
	for _, spec := range group.Specs {
		values := spec.(*ast.ValueSpec)
		of, ok := values.Type.(*ast.Ident)
		if !ok {
			continue
		}
		for _, v := range values.Values {
			if text, ok := v.(*ast.BasicLit); ok && text.Kind == token.STRING {
				texts[of.Name+"="] += text.Value + "\n"
			}
		}
	}
}

// values returns the values of a string type that has constants.
func (c *comments) values(t reflect.Type) (list []string, err error) {
	if _, err := c.of(t, ""); err != nil {
		return nil, err
	}
	dir, _ := strings.CutPrefix(t.PkgPath(), module)
	for line := range strings.Lines(c.packages[dir][t.Name()+"="]) {
		value, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}

var (
	docLink = regexp.MustCompile(`\[\*?([A-Za-z.]+)\]`)
	isVerb  = regexp.MustCompile(`^(is|are|has|describes) `)
)

// sentence returns a comment as a description: without the Go name and the verb that it starts with, and ended by a
// full stop.
func sentence(comment, name string) string {
	text := docLink.ReplaceAllString(strings.Join(strings.Fields(comment), " "), "$1")
	if rest, ok := strings.CutPrefix(text, name+" "); ok && isVerb.MatchString(rest) {
		text = isVerb.ReplaceAllString(rest, "")
	}
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
