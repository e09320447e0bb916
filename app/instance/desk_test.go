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

func desk(t *testing.T, v *instance.Instance) instance.Dashboard {
	t.Helper()
	d, err := v.Dashboard(t.Context(), today)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func workOf(w instance.DueOrders) string {
	var list []string
	for _, o := range w.Orders {
		list = append(list, o.Number)
	}
	return fmt.Sprint(list, w.Count, w.More)
}

func TestDeskOfANewVault(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	d := desk(t, v)
	if d.Overdue.Count+d.Due.Count+len(d.Latest)+len(d.Failed) != 0 || !well(d.Backup) || d.LowDisk {
		t.Errorf("%+v", d)
	}
	if got := fmt.Sprint(d.Orders); got != "[{active 0 true} {on_hold 0 true} {completed 0 false} {cancelled 0 false}]" {
		t.Errorf("orders %s", got)
	}
	if len(d.Abstracts) != 6 || d.Abstracts[3].Status != "Needs Curative" {
		t.Errorf("abstracts %v", d.Abstracts)
	}
	_, err := v.Dashboard(t.Context(), "May 29")
	vaulttest.WantKind(t, "no day", err, errs.Invalid)
}

func TestDeskWork(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	none := model.PropertyDraft{}
	for _, o := range [][2]string{{"today", today}, {"old", "2019-01-01"}, {"yesterday", "2026-05-28"}, {"week", "2026-06-05"}, {"later", "2026-06-06"}, {"never", ""}, {"held", "2026-05-01"}, {"finished", "2026-05-02"}} {
		vaulttest.CreateOrderForProperty(t, v, o[0], o[1], "", none)
	}
	for id, status := range map[uint64]string{7: "on_hold", 8: "completed"} {
		if _, err := v.Orders.Patch(t.Context(), vaulttest.Operator, id, model.OrderPatch{Status: model.Some(model.StringInput(status))}, vault.Match{}); err != nil {
			t.Fatal(err)
		}
	}
	d := desk(t, v)
	if got := workOf(d.Overdue); got != "[old held yesterday] 3 false" {
		t.Errorf("overdue %s", got)
	}
	if got := workOf(d.Due); got != "[today week] 2 false" {
		t.Errorf("due %s", got)
	}
	if got := fmt.Sprint(d.Orders); got != "[{active 6 true} {on_hold 1 true} {completed 1 false} {cancelled 0 false}]" {
		t.Errorf("orders %s", got)
	}
	for range instance.MaxCounted {
		vaulttest.CreateOrderForProperty(t, v, "many", "2026-05-30", "", none)
	}
	if d := desk(t, v).Due; d.Count != instance.MaxCounted || !d.More || len(d.Orders) != 10 || d.Orders[0].Number != "today" {
		t.Errorf("many: %s", workOf(d))
	}
	// A status that the firm has no more is still counted.
	if _, err := v.Orders.ImportStatuses(t.Context(), vaulttest.Operator, []string{"New", "completed"}, false); err == nil {
		t.Error("statuses in use were lost")
	}
}

func TestDeskDocuments(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	f.SetHandler(vaulttest.DamagedDocument)
	v, _ := vaulttest.OpenVerified(t, vaulttest.WithFakeReader(f))
	v.Start(time.Hour)
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))
	made, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{Custom: vaulttest.CustomText("file_number", `"26-1"`)}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("2.pdf", "2")), vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.NoError(t, err)
	if _, err := v.Files.Patch(t.Context(), vaulttest.Operator, files[0].ID, model.FilePatch{FolderID: model.Some(model.IDInput{Present: true, Valid: true, Value: 1})}, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	vaulttest.WaitProcessed(t, v)
	d := desk(t, v)
	for _, list := range [][]vault.Document{d.Latest, d.Failed} {
		if len(list) != 2 {
			t.Fatalf("%+v", list)
		}
	}
	if d.Latest[0].ID != made.Files[0].ID || d.Latest[0].Location != "26-1" || d.Latest[1].Location != "Inbox" {
		t.Errorf("latest %+v", d.Latest)
	}
	if d.Status.Failed != 2 || d.Failed[0].Failure == "" {
		t.Errorf("failed %d: %+v", d.Status.Failed, d.Failed)
	}
}

func TestDeskBackup(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	to := filepath.Join(t.TempDir(), "b")
	for name, row := range map[string]struct {
		every, old time.Duration
		tooOld     bool
	}{
		"by hand":                {0, 6 * 24 * time.Hour, false},
		"by hand, long ago":      {0, 8 * 24 * time.Hour, true},
		"by the plan":            {time.Hour, 119 * time.Minute, false},
		"by the plan, long ago":  {time.Hour, 121 * time.Minute, true},
		"by a plan of the month": {30 * 24 * time.Hour, 40 * 24 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
				o.Now = clock.Now
				o.Settings.Backup = backup.Settings{To: filepath.Join(to, name), Every: row.every}
			})
			vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))
			if b := desk(t, v).Backup; !b.Missing || well(b) || (b.Next != nil) != (row.every > 0) {
				t.Errorf("before the first: %+v", b)
			}
			vaulttest.CreateBackup(t, v, "")
			if b := desk(t, v).Backup; !well(b) || b.LastGood == nil {
				t.Errorf("after it: %+v", b)
			}
			clock.Advance(row.old)
			if b := desk(t, v).Backup; b.TooOld != row.tooOld || well(b) == row.tooOld {
				t.Errorf("%s later: %+v", row.old, b)
			}
			if _, err := v.Backups.Create(t.Context(), vaulttest.Operator, v.Dir, func(backup.Progress) {}); err == nil {
				t.Error("a backup into the vault")
			}
		})
	}
}

// What people wait for on their desk, with as much as a firm has after ten years:
//
//	go test ./app/vault -run xxx -bench Desk
func BenchmarkDesk(b *testing.B) {
	const many = 100_000
	dir := b.TempDir()
	firm := vaulttest.Firm{Abstracts: many, Orders: many, Files: many, Documents: 10, Until: time.Now()}
	if err := firm.Fill(b.Context(), dir, func(int, int) {}); err != nil {
		b.Fatal(err)
	}
	opts := vaulttest.Options(b)
	opts.Dir, opts.Now = dir, time.Now
	v, err := instance.Open(b.Context(), opts)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := v.Close(); err != nil {
			b.Error(err)
		}
	})
	b.Run("desk", func(b *testing.B) {
		for b.Loop() {
			if _, err := v.Dashboard(b.Context(), time.Now().Format(time.DateOnly)); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, text := range []string{"1", "2024-0", "2024-000123", "12 oak rd", "12 oak rd city", "nothing"} {
		b.Run("find "+text, func(b *testing.B) {
			n := 0
			for b.Loop() {
				f, err := v.Search.Find(b.Context(), text, 0)
				if err != nil {
					b.Fatal(err)
				}
				n += len(vaulttest.FormatFindResult(f))
			}
			b.ReportMetric(float64(n)/float64(b.N), "hits")
		})
	}
	order, err := v.Orders.Get(b.Context(), many/2)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("related", func(b *testing.B) {
		for b.Loop() {
			if _, err := v.Search.RelatedToOrder(b.Context(), order); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("same number", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := v.Search.SameNumber(b.Context(), order); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The statuses of abstracts are those of the templates in use, and what abstracts have
// besides, as it was written.
func TestStatusesOfAbstracts(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	before, err := v.Abstracts.Statuses(t.Context())
	vaulttest.NoError(t, err)
	statuses := []string{"in SEARCH", "Title Plant", "Never Used"}
	old, err := v.Templates.Create(t.Context(), vaulttest.Operator, model.TemplateDraft{Name: "Old", Statuses: &statuses, Fields: &[]model.Field{}})
	vaulttest.NoError(t, err)
	made := vaulttest.CreateAbstractFromTemplate(t, v, int64(old.ID), nil) // #nosec G115 -- a small number
	if _, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, made.ID, model.AbstractPatch{Status: model.Some(model.StringInput("Title Plant"))}, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	names := func() (text string) {
		list, err := v.Abstracts.Statuses(t.Context())
		vaulttest.NoError(t, err)
		for _, c := range list[len(before):] {
			text += fmt.Sprintf("%s %d, ", c.Status, c.Count)
		}
		return text
	}
	if got := names(); got != "Title Plant 1, Never Used 0, " {
		t.Errorf("in use: %s", got)
	}
	_, err = v.Templates.Retire(t.Context(), vaulttest.Operator, old.ID)
	vaulttest.NoError(t, err)
	if got := names(); got != "Title Plant 1, " {
		t.Errorf("retired: %s", got)
	}
}

// well is when nobody need do anything about the backups.
func well(b instance.BackupHealth) bool { return b.Failed == nil && !b.Missing && !b.TooOld }
