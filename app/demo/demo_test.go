package demo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"deedkeep/app/demo"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// reader accepts the PDF documents of the example firm. TestDemo in cmd opens them with the real engine.
type reader struct{ vaulttest.Reader }

func (r reader) Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string, lim document.InspectLimits) (document.Report, error) {
	content, err := io.ReadAll(io.NewSectionReader(doc, 0, size))
	if err != nil || !bytes.HasPrefix(content, []byte("%PDF")) {
		return r.Reader.Inspect(ctx, doc, size, ext, lim)
	}
	return document.Report{MIME: model.MIMEPDF, Pages: new(bytes.Count(content, []byte("/Type /Page ")))}, nil
}

// fill fills a new vault.
func fill(t *testing.T) (*instance.Instance, demo.Result) {
	t.Helper()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Reader = reader{} })
	result, err := demo.Fill(t.Context(), v, vaulttest.Operator, func(int, int) {})
	if err != nil {
		t.Fatalf("Fill: %v", err)
	}
	return v, result
}

// abstracts returns all abstracts, oldest first.
func abstracts(t *testing.T, v *instance.Instance) []vault.AbstractWithFiles {
	t.Helper()
	page, err := v.Abstracts.List(t.Context(), vault.Query{Limit: 100})
	if err != nil {
		t.Fatalf("list abstracts: %v", err)
	}
	return page.Items
}

// records returns the whole content of a vault that doesn't depend on its secret: records, and the sums of documents.
func records(t *testing.T, v *instance.Instance) string {
	t.Helper()
	var b strings.Builder
	add := func(value any, err error) {
		raw, encodeErr := json.Marshal(value)
		vaulttest.NoError(t, errors.Join(err, encodeErr))
		b.Write(raw)
	}
	orders, err := v.Orders.List(t.Context(), vault.Query{Limit: 100})
	add(orders.Items, err)
	files, err := v.Files.List(t.Context(), vault.Query{Limit: 500})
	add(files.Items, err)
	for _, a := range abstracts(t, v) {
		sheet, err := v.Instruments.Runsheet(t.Context(), a.Abstract.ID)
		add(sheet.Instruments, err)
		work, err := v.TitleWork.Get(t.Context(), a.Abstract.ID)
		add([]any{a.Abstract, work}, err)
	}
	return b.String()
}

func TestFill(t *testing.T) {
	t.Parallel()
	v, result := fill(t)
	status := vaulttest.Status(t, v)
	if !v.IsExample() || status.Orders != 40 || status.Abstracts != 25 || status.Files != uint64(result.Documents) ||
		result.Orders != 40 || result.Abstracts != 25 || result.Pages < 60 || result.Pages > 90 || len(result.Users) != 3 {
		t.Errorf("Fill = %+v, status %+v, want 40 orders, 25 abstracts, 60 to 90 pages, and 3 users", result, status)
	}
	for _, user := range result.Users {
		if in, err := v.Users.Invitation(t.Context(), user.Token); err != nil || in.Name != user.Name || user.Password != "" {
			t.Errorf("link of %s: got %+v, %v, want a valid one and no password", user.Name, in, err)
		}
	}
	before := records(t, v)
	_, err := demo.Fill(t.Context(), v, vaulttest.Operator, func(int, int) {})
	if errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), "40 orders, 25 abstracts") {
		t.Errorf("second Fill: got %v, want a conflict that names the records", err)
	}
	if records(t, v) != before {
		t.Error("the second Fill changed records, want none")
	}
	other, _ := fill(t)
	if records(t, other) != before {
		t.Error("two vaults differ, want the same records and documents")
	}
}

// A vault with records stays as it is.
func TestFillOnlyNewVault(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateOrder(t, v, "1")
	last := vaulttest.AuditEntries(t, v, 1)[0].Seq
	_, err := demo.Fill(t.Context(), v, vaulttest.Operator, func(int, int) {})
	vaulttest.WantKind(t, "Fill", err, errs.Conflict)
	users, err := v.Users.List(t.Context())
	vaulttest.NoError(t, err)
	if s := vaulttest.Status(t, v); v.IsExample() || s.Orders != 1 || len(users) != 0 || vaulttest.AuditEntries(t, v, 1)[0].Seq != last {
		t.Errorf("after it: %+v, %d users, want one order and no audit entry", s, len(users))
	}
}

// The checks find the gap and the open mortgage of the first search. Others are certified.
func TestChecksFindGapAndOpenMortgage(t *testing.T) {
	t.Parallel()
	v, _ := fill(t)
	list := abstracts(t, v)
	checks, err := v.TitleWork.Checks(t.Context(), list[0].Abstract.ID, model.Inputs{})
	vaulttest.NoError(t, err)
	found := map[string]int{}
	for _, finding := range checks.Findings {
		found[finding.Check]++
	}
	if found["gap"] == 0 || found["open_lien"] == 0 {
		t.Errorf("findings = %v, want a gap and an open lien", found)
	}
	certified, assigned := 0, 0
	for _, a := range list {
		work, err := v.TitleWork.Get(t.Context(), a.Abstract.ID)
		vaulttest.NoError(t, err)
		if c := work.LastCertificate(); c.ID > 0 {
			certified++
			if c.Examiner.FullName != "Maya Winterbourne" || len(c.Unaccepted) > 0 {
				t.Errorf("certificate of %s: got %+v, want all accepted by the examiner", a.Abstract.Heading(), c)
			}
		}
		if work.Assignment.ExaminerID != 0 {
			assigned++
		}
		for _, run := range work.NamesRun {
			found[run.Result]++
		}
	}
	if certified < 5 || assigned != 25 {
		t.Errorf("got %d certified and %d assigned abstracts, want at least 5 and 25", certified, assigned)
	}
	if found["None found"] == 0 || len(found) < 8 {
		t.Errorf("results of names run = %v, want none found and open mortgages and judgments", found)
	}
	orders, err := v.Orders.List(t.Context(), vault.Query{Limit: 100})
	vaulttest.NoError(t, err)
	people := map[uint64]int{}
	for _, order := range orders.Items {
		people[order.AssigneeID]++
	}
	if people[0] != 16 || len(people) != 3 {
		t.Errorf("orders by assignee = %v, want 16 without one and two assignees", people)
	}
}
