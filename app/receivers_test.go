package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// abbreviates reports whether a receiver abbreviates the name of its type: it starts with the first letter of one of the
// words, and its letters follow in the rest of the name. "fq" and "q" abbreviate fairQueue.
func abbreviates(receiver, typeName string) bool {
	for i, r := range typeName {
		if i > 0 && !unicode.IsUpper(r) {
			continue
		}
		rest, found := strings.ToLower(typeName[i:]), 0
		for n := 0; n < len(rest) && found < len(receiver); n++ {
			if rest[n] == receiver[found] {
				found++
			} else if n == 0 {
				break
			}
		}
		if found == len(receiver) {
			return true
		}
	}
	return false
}

// receivers returns the names of the receivers of each type, by folder, package, and type.
func receivers(tree fs.FS, names []string) (map[string][]string, error) {
	found := map[string][]string{}
	for _, name := range names {
		if path.Ext(name) != ".go" {
			continue
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || len(f.Recv.List[0].Names) == 0 {
				continue
			}
			id := f.Recv.List[0].Names[0].Name
			if key := path.Dir(name) + " " + file.Name.Name + "." + receiverType(f); id != "_" && !slices.Contains(found[key], id) {
				found[key] = append(found[key], id)
			}
		}
	}
	return found, nil
}

// A type has the same receiver in all of its methods, which abbreviates its name.
func TestReceivers(t *testing.T) {
	t.Parallel()
	found, err := receivers(os.DirFS(".."), tracked(t))
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	if len(found) < 500 {
		t.Errorf("%d types with receivers, want at least 500", len(found))
	}
	for key, names := range found {
		_, typeName, _ := strings.Cut(key[strings.Index(key, " "):], ".")
		if len(names) > 1 || !abbreviates(names[0], typeName) {
			t.Errorf("%s has the receivers %q, want one that abbreviates the name", key, names)
		}
	}
}

func TestAbbreviates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		receiver, typeName string
		want               bool
	}{
		{"s", "Site", true}, {"q", "fairQueue", true}, {"fq", "fairQueue", true}, {"st", "Store", true},
		{"p", "Site", false}, {"x", "Index", false}, {"u", "fairQueue", false}, {"sz", "Store", false},
	} {
		if got := abbreviates(tt.receiver, tt.typeName); got != tt.want {
			t.Errorf("abbreviates(%q, %q) = %v, want %v", tt.receiver, tt.typeName, got, tt.want)
		}
	}
	source := "package a\nfunc (x *T[K]) A() {}\nfunc (y T[K]) B() {}\nfunc (_ U) C() {}\nfunc (T) D() {}\n"
	got, err := receivers(fstest.MapFS{"a/a.go": {Data: []byte(source)}}, []string{"a/a.go", "a/b.js"})
	if want := map[string][]string{"a a.T": {"x", "y"}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("receivers() = %v, %v; want %v", got, err, want)
	}
}

// receiverType returns the name of the type that a method belongs to.
func receiverType(method *ast.FuncDecl) string {
	t := method.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	switch generic := t.(type) {
	case *ast.IndexExpr:
		t = generic.X
	case *ast.IndexListExpr:
		t = generic.X
	}
	return t.(*ast.Ident).Name
}
