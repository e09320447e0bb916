package instance_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func numbers(t *testing.T, v *instance.Instance) instance.Metrics {
	t.Helper()
	n, err := v.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Documents are counted as they were filed and refused, whichever limit refused them.
func TestNumbersOfDocuments(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.FilesPerAbstract = 2 })
	name := func(n int) vaulttest.Doc {
		return vaulttest.NewDoc(fmt.Sprintf("%d.txt", n), fmt.Appendf(nil, "text %d", n))
	}
	_, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v, name(1), vaulttest.NewDoc("a.exe", vaulttest.TextOfSize(3)), name(2), name(3)), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatal(err)
	}
	if n := numbers(t, v); n.Uploaded != 2 || n.UploadedBytes != 12 || n.Rejected != 2 {
		t.Errorf("%d filed of %d bytes, %d refused", n.Uploaded, n.UploadedBytes, n.Rejected)
	}
	// What is refused as a whole files nothing.
	draft := model.AbstractDraft{TemplateID: model.IDInput{Present: true, Valid: true, Value: 99}}
	_, err = v.Abstracts.Create(t.Context(), vaulttest.Operator, draft, vaulttest.StageDocs(t, v, name(4)), vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "another template", err, errs.Invalid)
	before := numbers(t, v)
	if before.Uploaded != 2 || before.Rejected != 2 {
		t.Errorf("%+v", before)
	}
	if before.OldestTask.IsZero() || before.Status.Queue != 2 || before.Commits.Changes.Count == 0 || before.Commits.Seconds.Count != before.Commits.Changes.Count {
		t.Errorf("%+v", before)
	}
	v.Start(time.Hour)
	vaulttest.Eventually(t, "an empty queue", func() bool { return vaulttest.Status(t, v).Queue == 0 })
	vaulttest.Eventually(t, "two that are done", func() bool { return numbers(t, v).Processed["done"] == 2 })
	if n := numbers(t, v); !n.OldestTask.IsZero() || len(n.Processed) != len(jobs.Outcomes) {
		t.Errorf("%+v", n)
	}
}

func TestNumbersOfSignIns(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	for _, password := range []string{"wrong password", "wrong password", vaulttest.GoodPassword, "wrong password", "wrong password", "wrong password"} {
		_, _ = p.TrySignIn(t, "owner", password, "", "203.0.113.9") // counted, whatever came of it
	}
	want := map[string]uint64{"success": 1, "password": 4, "wait": 1, "code": 0, "code_needed": 0, "busy": 0, "step": 0, "trouble": 0}
	got := numbers(t, p.Instance).SignIns
	if got["success"]+got["password"]+got["wait"] != 6 || got["success"] != 1 || got["password"] < 4 || len(got) != len(want) {
		t.Errorf("%v, want about %v", maps.Clone(got), want)
	}
}
