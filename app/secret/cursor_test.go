package secret

import (
	"bytes"
	"strings"
	"testing"
)

func TestCursorVectors(t *testing.T) {
	cursors := testKeys(t).Cursors()
	for _, row := range []struct{ scope, position, want string }{
		{"orders\n-created_at", "", "PROXlFnaPFfElZmWBA_al6PESvG4gSR6LhEgBQ"},
		{"orders\n-created_at", "c\x00\x01\x02", "McfzFG1Lb5lQECB2-t3Hui-XwmsLfT65YkWMn1wbWUw"},
		{"abstracts\n-created_at", "c\x00\x01\x02", "eKeoqh1JhQvnb2gWUQpdF-d714uVFPBRPWmSmLuWiac"},
	} {
		if got := cursors.Encode(row.scope, []byte(row.position)); got != row.want {
			t.Errorf("Encode(%q, %q) = %s, want %s", row.scope, row.position, got, row.want)
		}
		if position, ok := cursors.Decode(row.scope, row.want); !ok || string(position) != row.position {
			t.Errorf("Decode(%s) = %q, %v", row.want, position, ok)
		}
	}
}

// TestCursorDecodeRejects checks that Decode rejects a cursor with a changed character, a
// cursor for another scope, and a cursor from another installation.
func TestCursorDecodeRejects(t *testing.T) {
	cursors := testKeys(t).Cursors()
	text := cursors.Encode("orders", []byte("a position"))
	other, err := NewKeys(strings.NewReader(strings.Repeat("another secret..", 2)))
	if err != nil {
		t.Fatalf("NewKeys: %v", err)
	}
	if _, ok := other.Cursors().Decode("orders", text); ok {
		t.Error("the keys of another installation decoded the cursor, want it rejected")
	}
	for _, scope := range []string{"", "order", "orders ", "abstracts"} {
		if _, ok := cursors.Decode(scope, text); ok {
			t.Errorf("Decode with scope %q: got ok, want it rejected", scope)
		}
	}
	for i := range text {
		for _, c := range []byte{'A', 'z', '=', '\n', ' ', 0xff, text[i] ^ 1} {
			changed := []byte(text)
			if changed[i] == c {
				continue
			}
			changed[i] = c
			if _, ok := cursors.Decode("orders", string(changed)); ok {
				t.Errorf("Decode(%q): got ok, want it rejected", changed)
			}
		}
	}
	for _, bad := range []string{"", text[:len(text)-1], text + "A", text + "=", text + "\n", "\r" + text, strings.Repeat("A", 16),
		strings.Repeat("A", 1<<20)} {
		if _, ok := cursors.Decode("orders", bad); ok {
			t.Errorf("Decode(%.40q): got ok, want it rejected", bad)
		}
	}
}

func FuzzCursor(f *testing.F) {
	keys, err := NewKeys(bytes.NewReader([]byte("0123456789abcdef0123456789abcdef")))
	if err != nil {
		f.Fatalf("NewKeys: %v", err)
	}
	cursors := keys.Cursors()
	f.Add("orders", cursors.Encode("orders", []byte("x")))
	f.Add("", "")
	f.Add("s", "AAAA\n")
	f.Fuzz(func(t *testing.T, scope, text string) {
		position, ok := cursors.Decode(scope, text)
		if ok && cursors.Encode(scope, position) != text {
			t.Fatalf("Decode accepted %q, want only the canonical encoding of %q", text, position)
		}
		if back, ok := cursors.Decode(scope, cursors.Encode(scope, []byte(text))); len(text) < 1000 && (!ok || string(back) != text) {
			t.Fatalf("Decode(Encode(%q)) = %q, %v", text, back, ok)
		}
	})
}
