package instance_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

const today = "2026-05-29"

// dashboard returns the dashboard for today.
func dashboard(t *testing.T, v *instance.Instance) instance.Dashboard {
	t.Helper()
	d, err := v.Dashboard(t.Context(), today)
	if err != nil {
		t.Fatalf("dashboard: %v", err)
	}
	return d
}

// dueSummary formats the numbers of the orders, their count, and whether there are more.
func dueSummary(w instance.DueOrders) string {
	var list []string
	for _, o := range w.Orders {
		list = append(list, o.Number)
	}
	return fmt.Sprint(list, w.Count, w.More)
}

func TestDashboardOfNewVault(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	d := dashboard(t, v)
	if d.Overdue.Count+d.Due.Count+len(d.Latest)+len(d.Failed) != 0 || !healthy(d.Backup) || d.LowDisk {
		t.Errorf("Dashboard() = %+v, want no orders and documents, a healthy backup, and no low disk", d)
	}
	want := "[{active 0 true} {on_hold 0 true} {completed 0 false} {cancelled 0 false}]"
	if got := fmt.Sprint(d.Orders); got != want {
		t.Errorf("Orders = %s, want %s", got, want)
	}
	if len(d.Abstracts) != 6 || d.Abstracts[3].Status != "Needs Curative" {
		t.Errorf("Abstracts = %v, want 6 with Needs Curative fourth", d.Abstracts)
	}
	_, err := v.Dashboard(t.Context(), "May 29")
	vaulttest.WantKind(t, "invalid date", err, errs.Invalid)
}

func TestDashboardDueOrders(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	noProperty := model.Inputs{}
	for _, o := range []struct{ number, due string }{
		{"today", today}, {"old", "2019-01-01"}, {"yesterday", "2026-05-28"}, {"week", "2026-06-05"},
		{"later", "2026-06-06"}, {"never", ""}, {"held", "2026-05-01"}, {"finished", "2026-05-02"},
	} {
		vaulttest.CreateOrderForProperty(t, v, o.number, o.due, "", noProperty)
	}
	for id, status := range map[uint64]string{7: "on_hold", 8: "completed"} {
		if _, err := v.Orders.Patch(t.Context(), vaulttest.Operator, id,
			model.OrderPatch{Fields: model.Inputs{"status": model.StringInput(status)}},
			vault.Match{}); err != nil {
			t.Fatalf("update order: %v", err)
		}
	}
	d := dashboard(t, v)
	if got, want := dueSummary(d.Overdue), "[old held yesterday] 3 false"; got != want {
		t.Errorf("Overdue = %s, want %s", got, want)
	}
	if got, want := dueSummary(d.Due), "[today week] 2 false"; got != want {
		t.Errorf("Due = %s, want %s", got, want)
	}
	want := "[{active 6 true} {on_hold 1 true} {completed 1 false} {cancelled 0 false}]"
	if got := fmt.Sprint(d.Orders); got != want {
		t.Errorf("Orders = %s, want %s", got, want)
	}
	for range instance.MaxCounted {
		vaulttest.CreateOrderForProperty(t, v, "excess", "2026-05-30", "", noProperty)
	}
	if d := dashboard(t, v).Due; d.Count != instance.MaxCounted || !d.More || len(d.Orders) != 10 || d.Orders[0].Number != "today" {
		t.Errorf("Due = %s, want 10 orders starting with today, %d true", dueSummary(d), instance.MaxCounted)
	}
	if _, err := v.Orders.EditStatuses(t.Context(), vaulttest.Operator, []string{"New", "completed"}, "", false); err == nil {
		t.Error("ImportStatuses removed statuses in use, want an error")
	}
}

func TestDashboardDocuments(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	f.SetHandler(vaulttest.DamagedDocument)
	v, _ := vaulttest.OpenVerified(t, vaulttest.WithFakeReader(f))
	v.Start(time.Hour)
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator,
		model.AbstractDraft{Custom: vaulttest.CustomText("file_number", `"26-1"`)},
		vaulttest.StageDocs(t, v, vaulttest.PDFDoc("2.pdf", "2")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	if _, err := v.Files.Patch(t.Context(), vaulttest.Operator, files[0].ID,
		model.FilePatch{FolderID: model.Some(model.IDInput{Present: true, Valid: true, Value: 1})}, vault.Match{}); err != nil {
		t.Fatalf("update file: %v", err)
	}
	vaulttest.WaitProcessed(t, v)
	d := dashboard(t, v)
	for _, list := range [][]vault.Document{d.Latest, d.Failed} {
		if len(list) != 2 {
			t.Fatalf("documents = %+v, want 2", list)
		}
	}
	if d.Latest[0].ID != created.Files[0].ID || d.Latest[0].Location != "26-1" || d.Latest[1].Location != "Inbox" {
		t.Errorf("Latest = %+v, want file %d in 26-1, then one in Inbox", d.Latest, created.Files[0].ID)
	}
	if d.Status.Failed != 2 || d.Failed[0].Failure == "" {
		t.Errorf("failed documents = %d, %+v; want 2 with the failure", d.Status.Failed, d.Failed)
	}
}

func TestDashboardBackup(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	to := filepath.Join(t.TempDir(), "b")
	for name, row := range map[string]struct {
		interval, age time.Duration
		tooOld        bool
	}{
		"manual":         {0, 6 * 24 * time.Hour, false},
		"manual, old":    {0, 8 * 24 * time.Hour, true},
		"scheduled":      {time.Hour, 119 * time.Minute, false},
		"scheduled, old": {time.Hour, 121 * time.Minute, true},
		"monthly":        {30 * 24 * time.Hour, 40 * 24 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
				o.Now = clock.Now
				o.Settings.Backup = backup.Settings{To: filepath.Join(to, name), Every: row.interval}
			})
			vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))
			if b := dashboard(t, v).Backup; !b.Missing || healthy(b) || (b.Next != nil) != (row.interval > 0) {
				t.Errorf("before the first backup: Backup = %+v, want Missing and Next only if scheduled", b)
			}
			vaulttest.CreateBackup(t, v, "")
			if b := dashboard(t, v).Backup; !healthy(b) || b.LastGood == nil {
				t.Errorf("after a backup: Backup = %+v, want healthy with LastGood", b)
			}
			clock.Advance(row.age)
			if b := dashboard(t, v).Backup; b.TooOld != row.tooOld || healthy(b) == row.tooOld {
				t.Errorf("after %s: Backup = %+v, want TooOld = %v", row.age, b, row.tooOld)
			}
			if _, err := v.Backups.Create(t.Context(), vaulttest.Operator, v.Dir, func(backup.Progress) {}); err == nil {
				t.Error("Create wrote a backup into the data directory, want an error")
			}
		})
	}
}

// BenchmarkDashboard measures the dashboard and the lookups of a firm's daily work, with the records of ten years:
//
//	go test ./app/instance -run '^$' -bench Dashboard
func BenchmarkDashboard(b *testing.B) {
	const count = 100_000
	dir := b.TempDir()
	firm := vaulttest.Firm{Abstracts: count, Orders: count, Files: count, Documents: 10, Until: time.Now()}
	if err := firm.Fill(b.Context(), dir, func(int, int) {}); err != nil {
		b.Fatalf("Fill: %v", err)
	}
	opts := vaulttest.Options(b)
	opts.Dir, opts.Now = dir, time.Now
	v, err := instance.Open(b.Context(), opts)
	if err != nil {
		b.Fatalf("open instance: %v", err)
	}
	b.Cleanup(func() {
		if err := v.Close(); err != nil {
			b.Errorf("close: %v", err)
		}
	})
	b.Run("dashboard", func(b *testing.B) {
		for b.Loop() {
			if _, err := v.Dashboard(b.Context(), time.Now().Format(time.DateOnly)); err != nil {
				b.Fatalf("dashboard: %v", err)
			}
		}
	})
	for _, text := range []string{"1", "2024-0", "2024-000123", "12 oak rd", "12 oak rd city", "nothing"} {
		b.Run("find "+text, func(b *testing.B) {
			n := 0
			for b.Loop() {
				f, err := v.Search.Find(b.Context(), text, 0)
				if err != nil {
					b.Fatalf("find: %v", err)
				}
				n += len(vaulttest.FormatFound(f))
			}
			b.ReportMetric(float64(n)/float64(b.N), "hits")
		})
	}
	order, err := v.Orders.Get(b.Context(), count/2)
	if err != nil {
		b.Fatalf("get order: %v", err)
	}
	b.Run("related", func(b *testing.B) {
		for b.Loop() {
			if _, err := v.Search.RelatedToOrder(b.Context(), order); err != nil {
				b.Fatalf("Search.RelatedToOrder: %v", err)
			}
		}
	})
	b.Run("same number", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := v.Search.SameNumber(b.Context(), order); err != nil {
				b.Fatalf("Search.SameNumber: %v", err)
			}
		}
	})
}

// The statuses of abstracts are those of the active templates, followed by any other statuses in use, spelled as they
// were entered.
func TestAbstractStatuses(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	before, err := v.Abstracts.Statuses(t.Context())
	if err != nil {
		t.Fatalf("Abstracts.Statuses: %v", err)
	}
	statuses := []string{"in SEARCH", "Title Plant", "Never Used"}
	template, err := v.Templates.Create(t.Context(), vaulttest.Operator,
		model.TemplateDraft{Name: "Old", Statuses: &statuses, Fields: &[]model.Field{}})
	if err != nil {
		t.Fatalf("create template: %v", err)
	}
	created := vaulttest.CreateAbstractFromTemplate(t, v, int64(template.ID), nil) // a small number
	if _, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, created.ID,
		model.AbstractPatch{Fields: model.Inputs{"status": model.StringInput("Title Plant")}},
		vault.Match{}); err != nil {
		t.Fatalf("update abstract: %v", err)
	}
	added := func() (text string) { // the statuses after those of a new vault
		list, err := v.Abstracts.Statuses(t.Context())
		if err != nil {
			t.Fatalf("Abstracts.Statuses: %v", err)
		}
		for _, c := range list[len(before):] {
			text += fmt.Sprintf("%s %d, ", c.Status, c.Count)
		}
		return text
	}
	if got, want := added(), "Title Plant 1, Never Used 0, "; got != want {
		t.Errorf("added statuses = %q, want %q", got, want)
	}
	_, err = v.Templates.Retire(t.Context(), vaulttest.Operator, template.ID)
	if err != nil {
		t.Fatalf("retire template: %v", err)
	}
	if got, want := added(), "Title Plant 1, "; got != want {
		t.Errorf("added statuses with a retired template = %q, want %q", got, want)
	}
}

// healthy reports whether the backups need no attention.
func healthy(b instance.BackupHealth) bool { return b.Failed == nil && !b.Missing && !b.TooOld }
