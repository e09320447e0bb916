package vault_test

import (
	"slices"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// The rotation of pages is stored and logged. The document keeps its version and the rotation of its other pages.
func TestTurn(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v := vaulttest.OpenUnchecked(t, opts)
	record := vaulttest.CreateAbstract(t, v, vaulttest.Doc{Name: "deed.pdf", Body: vaulttest.PDF(4, "a")})
	file := vaulttest.File(t, v, record.Files[0].ID)
	turn := func(set model.PageTurns) (model.File, error) {
		f, _, err := v.Files.Turn(t.Context(), vaulttest.Operator, file.ID, set)
		return f, err
	}
	for _, wrong := range []model.PageTurns{"00001", "4", "-x", "1 "} {
		_, err := turn(wrong)
		vaulttest.WantKind(t, string(wrong), err, errs.Invalid)
	}
	stranger := model.Actor{Kind: model.ActorUser, ID: 9, Session: "00"}
	if _, _, err := v.Files.Turn(t.Context(), stranger, file.ID, "1"); err == nil {
		t.Error("Turn without a session: got no error")
	}
	_, _, err := v.Files.Turn(t.Context(), vaulttest.Operator, 99, "1")
	vaulttest.WantKind(t, "missing document", err, errs.NotFound)

	for _, step := range []struct {
		set, want model.PageTurns
		log       []string
	}{
		{"-11", "-11", []string{"pages 2-3: 0° → 90°"}},
		{"1--3", "1113", []string{"page 1: 0° → 90°", "page 4: 0° → 270°"}},
		{"1", "1113", nil},
		{"0", "0113", []string{"page 1: 90° → 0°"}},
	} {
		before := vaulttest.AuditEntries(t, v, 1)[0].Seq
		got, err := turn(step.set)
		vaulttest.NoError(t, err)
		if got.Turns != step.want || got.Version != file.Version {
			t.Errorf("Turn(%q): got %q and version %d, want %q and %d", step.set, got.Turns, got.Version, step.want, file.Version)
		}
		entry := vaulttest.AuditEntries(t, v, 1)[0]
		if entry.Seq == before {
			entry = model.Event{}
		}
		if texts := entry.Texts(); !slices.Equal(texts, step.log) {
			t.Errorf("Turn(%q): got the audit texts %q, want %q", step.set, texts, step.log)
		}
	}
	vaulttest.NoError(t, v.Close())
	if got := vaulttest.File(t, vaulttest.Open(t, opts), file.ID).Turns; got != "0113" {
		t.Errorf("after a restart: got %q, want 0113", got)
	}
}

// A choice of a person wins over the direction that OCR found, also if the page is then not rotated.
func TestShownTurns(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ ocr, person, want model.PageTurns }{
		{"", "", ""}, {"-1", "", "-1"}, {"-1", "3", "31"}, {"11", "-0", "10"}, {"", "--2", "--2"},
	} {
		f := model.File{OCR: &model.OCR{Turns: row.ocr}, Turns: row.person}
		if got := f.ShownTurns(); got != row.want {
			t.Errorf("OCR %q, person %q: got %q, want %q", row.ocr, row.person, got, row.want)
		}
	}
}
