package ui_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/ui"
)

// What a program put into a field of one line turns no page around.
func TestPagesShowNothingThatTurnsTheWriting(t *testing.T) {
	t.Parallel()
	h := open(t)
	staff := h.sit(t, "kim", model.RoleStaff)
	const nasty = "1\u202e\u2066\r\n2\x07\u2028\u0085"
	made := h.abstract(t, staff.actor, nasty)
	kept, err := h.vault.Abstracts.Get(t.Context(), made.Abstract.ID)
	if err != nil || !strings.Contains(kept.Abstract.Address, "\u202e") {
		t.Fatalf("%q, %v", kept.Abstract.Address, err)
	}
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(made.Abstract.ID)
	for _, at := range []string{"/", "/abstracts", path, path + "/history", path + "?edit=property", "/orders"} {
		staff.get(t, http.StatusOK, at).lacks(t, "\u202e", "\u2066", "\x07", "\u2028", "\u0085")
	}
}

func TestLegible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                "",
		"Lane 7\r\n\tno. 2":               "Lane 7\r\n\tno. 2",
		"“Ünal” – 道 \u200d\u200f…":        "“Ünal” – 道 \u200d\u200f…",
		"a\u202eb\u202ac\u2069\u2066d":    "abcd",
		"\x00\x07\x1b[1m\x7f\u009f\u2028": "[1m",
		"\xe2\x80":                        "\xe2\x80",
		"\xe2":                            "\xe2",
		"\xc2":                            "\xc2",
	} {
		if got := ui.Legible([]byte(text)); string(got) != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzLegible(f *testing.F) {
	f.Add("1\u202e\r\n2\x07")
	f.Add("\xe2\x07\x80\xae")
	f.Add("\u2067\u2028\u0085")
	f.Fuzz(func(t *testing.T, text string) {
		got := string(ui.Legible([]byte(text)))
		if utf8.ValidString(text) && !utf8.ValidString(got) || strings.ContainsAny(got, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\x00\x07\x1b") {
			t.Errorf("%q of %q", got, text)
		}
		raw, err := json.Marshal(text)
		if err != nil || !json.Valid(ui.Legible(raw)) {
			t.Errorf("%q is no JSON any more", ui.Legible(raw))
		}
	})
}
