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

// keptNames are the JSON names that differ from the names of their Go fields, by file and field. Those in the database
// can only change by a migration.
var keptNames = map[string]string{
	"app/model/abstract.go RemovedFiles":      "gone",
	"app/model/file.go DueAt":                 "at",
	"app/model/user.go RequestHash":           "request",
	"app/model/event.go Position":             "place",
	"app/model/user.go TwoFactor":             "factor",
	"app/model/user.go PendingTwoFactor":      "begun",
	"app/model/user.go PasswordLink":          "link",
	"app/model/user.go EncryptedSecret":       "sealed",
	"app/model/user.go LastStep":              "step",
	"app/model/user.go RecoveryHashes":        "recovery",
	"app/model/user.go EnabledAt":             "since",
	"app/store/stored_response.go Compressed": "packed",
	"app/upload/outcome.go Rejection":         "refusal",

	// Scripts of pages read or write these.
	"app/ui/documents/upload.go Rejection": "refusal",

	// The words of a page are stored many times, so their names are short.
	"app/ocr/page.go Left": "l", "app/ocr/page.go Top": "t", "app/ocr/page.go Right": "r", "app/ocr/page.go Bottom": "b",
	"app/ocr/page.go Text": "w", "app/ocr/page.go Box": "x", "app/ocr/page.go Confidence": "c",
	"app/ocr/page.go Line": "n", "app/ocr/page.go Paragraph": "p",
}

// snakeCase returns the name of a Go field in snake case. Initialisms are one word: "OCRFiles" is "ocr_files".
func snakeCase(field string) string {
	var out strings.Builder
	letters := []rune(field)
	for i, r := range letters {
		if i > 0 && unicode.IsUpper(r) {
			afterWord := !unicode.IsUpper(letters[i-1])
			lastOfInitialism := i+1 < len(letters) && unicode.IsLower(letters[i+1]) && string(letters[i+1:]) != "s"
			if afterWord || lastOfInitialism {
				out.WriteByte('_')
			}
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// misnamed returns the fields whose tags "json" or "mapstructure" don't follow from their names, by file and field.
func misnamed(tree fs.FS) (map[string]string, error) {
	names := map[string]string{}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"node_modules", "testdata", ".git"}, d.Name()):
			return fs.SkipDir
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`"))
			for _, key := range []string{"json", "mapstructure"} {
				tagged, _, _ := strings.Cut(tag.Get(key), ",")
				for _, id := range field.Names {
					if tagged != "" && tagged != "-" && tagged != snakeCase(id.Name) {
						names[name+" "+id.Name] = tagged
					}
				}
			}
			return true
		})
		return nil
	})
	return names, err
}

// Settings and JSON (of the API, the control socket, --json, pages, workers, and files) call things what the code calls
// them.
func TestNamesFollowFields(t *testing.T) {
	t.Parallel()
	got, err := misnamed(os.DirFS(".."))
	if err != nil {
		t.Fatalf("misnamed: %v", err)
	}
	for field, name := range got {
		if keptNames[field] != name {
			t.Errorf("%s is called %q, want %q", field, name, snakeCase(field[strings.LastIndex(field, " ")+1:]))
		}
	}
}

func TestMisnamed(t *testing.T) {
	t.Parallel()
	source := "package a\ntype T struct {\n\tOCRFiles int `json:\"ocr_files,omitempty\"`\n\tJSONBody, SHA256 int\n\tIDs int `json:\"ids\"`\n" +
		"\tHasPassword bool `json:\"joined\"`\n\tRoleID int `mapstructure:\"role\"`\n\tCommit func() `json:\"-\"`\n}\n"
	got, err := misnamed(fstest.MapFS{"a.go": {Data: []byte(source)}, "a_test.go": {Data: []byte("broken")}})
	if want := map[string]string{"a.go HasPassword": "joined", "a.go RoleID": "role"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("misnamed() = %v, %v; want %v", got, err, want)
	}
	for field, want := range map[string]string{
		"SHA256": "sha256", "JSONBody": "json_body", "UserIDs": "user_ids", "OK": "ok", "PageTo": "page_to",
	} {
		if got := snakeCase(field); got != want {
			t.Errorf("snakeCase(%q) = %q, want %q", field, got, want)
		}
	}
}
