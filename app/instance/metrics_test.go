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

// metrics returns the metrics of an instance.
func metrics(t *testing.T, v *instance.Instance) instance.Metrics {
	t.Helper()
	n, err := v.Metrics(t.Context())
	if err != nil {
		t.Fatalf("metrics: %v", err)
	}
	return n
}

// Uploaded and rejected documents are counted, no matter which limit caused the
// rejection.
func TestMetricsOfDocuments(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.FilesPerAbstract = 2 })
	doc := func(n int) vaulttest.Doc {
		return vaulttest.NewDoc(fmt.Sprintf("%d.txt", n), fmt.Appendf(nil, "text %d", n))
	}
	_, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{},
		vaulttest.StageDocs(t, v, doc(1), vaulttest.NewDoc("a.exe", vaulttest.TextOfSize(3)), doc(2), doc(3)),
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	if n := metrics(t, v); n.Uploaded != 2 || n.UploadedBytes != 12 || n.Rejected != 2 {
		t.Errorf("got %d uploaded of %d bytes, %d rejected; want 2 of 12 bytes, 2", n.Uploaded, n.UploadedBytes, n.Rejected)
	}
	// If a request is rejected, its documents are not counted.
	draft := model.AbstractDraft{TemplateID: model.IDInput{Present: true, Valid: true, Value: 99}}
	_, err = v.Abstracts.Create(t.Context(), vaulttest.Operator, draft, vaulttest.StageDocs(t, v, doc(4)),
		vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "unknown template", err, errs.Invalid)
	before := metrics(t, v)
	if before.Uploaded != 2 || before.Rejected != 2 {
		t.Errorf("after a rejected request: got %d uploaded, %d rejected; want 2, 2", before.Uploaded, before.Rejected)
	}
	if before.OldestTask.IsZero() || before.Status.Queue != 2 || before.Commits.Changes.Count == 0 ||
		before.Commits.Seconds.Count != before.Commits.Changes.Count {
		t.Errorf("before processing: Metrics() = %+v, want an oldest task, a queue of 2, and as many commits in Changes as in Seconds", before)
	}
	v.Start(time.Hour)
	vaulttest.Eventually(t, "an empty queue", func() bool { return vaulttest.Status(t, v).Queue == 0 })
	vaulttest.Eventually(t, "two processed documents", func() bool { return metrics(t, v).Processed["done"] == 2 })
	if n := metrics(t, v); !n.OldestTask.IsZero() || len(n.Processed) != len(jobs.Outcomes) {
		t.Errorf("after processing: Metrics() = %+v, want no oldest task and %d outcomes", n, len(jobs.Outcomes))
	}
}

func TestMetricsOfSignIns(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	for _, password := range []string{"wrong password", "wrong password", vaulttest.GoodPassword, "wrong password", "wrong password",
		"wrong password"} {
		_, _ = p.TrySignIn(t, "owner", password, "", "203.0.113.9") // counted, whatever the outcome
	}
	want := map[string]uint64{"success": 1, "wrong_password": 4, "too_many_attempts": 1, "wrong_code": 0,
		"code_needed": 0, "busy": 0, "expired": 0, "error": 0}
	got := metrics(t, p.Instance).SignIns
	if got["success"]+got["wrong_password"]+got["too_many_attempts"] != 6 || got["success"] != 1 || got["wrong_password"] < 4 || len(got) != len(want) {
		t.Errorf("SignIns = %v, want about %v", maps.Clone(got), want)
	}
}
