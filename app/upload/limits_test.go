package upload_test

import (
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/upload"
	"deedkeep/app/vaulttest"
)

// An upload reserves free disk space for its remaining bytes.
func TestUploadReservesSpace(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.FileSize = 1 << 60 })
	_, err := v.Uploads.Begin(t.Context(), vaulttest.Operator, upload.Plan{Filename: "a.pdf", Size: 1 << 59})
	vaulttest.WantKind(t, "larger than the free space", err, errs.InsufficientStorage)
	status, err := v.Status(t.Context())
	if err != nil {
		t.Fatalf("status: %v", err)
	}
	size := int64(status.DiskFree) * 2 / 3
	up := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: size})
	_, err = v.Uploads.Begin(t.Context(), vaulttest.Operator, upload.Plan{Filename: "b.pdf", Size: size})
	vaulttest.WantKind(t, "larger than the unreserved space", err, errs.InsufficientStorage)
	vaulttest.NoError(t, v.Uploads.Cancel(t.Context(), vaulttest.Operator, up.ID))
	vaulttest.BeginUpload(t, v, upload.Plan{Filename: "b.pdf", Size: size})
}

// An idle upload loses its reservation. One user can't reserve all the free space.
func TestUploadReservationExpires(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) { o.Settings.FileSize = 1 << 60 })
	other := model.Actor{Kind: vaulttest.Operator.Kind, ID: vaulttest.Operator.ID + 1}
	status, err := p.Status(t.Context())
	vaulttest.NoError(t, err)
	fractionOfFree := func(numerator, denominator int64) upload.Plan {
		return upload.Plan{Filename: "a.pdf", Size: int64(status.DiskFree) / denominator * numerator}
	}
	vaulttest.BeginUpload(t, p.Instance, fractionOfFree(1, 3))
	_, err = p.Uploads.Begin(t.Context(), vaulttest.Operator, fractionOfFree(1, 3))
	vaulttest.WantKind(t, "more than half of the free space for one user", err, errs.Conflict)
	_, err = p.Uploads.Begin(t.Context(), other, fractionOfFree(5, 6))
	vaulttest.WantKind(t, "reserved by another user", err, errs.InsufficientStorage)
	p.Clock.Advance(3 * time.Minute)
	_, err = p.Uploads.Begin(t.Context(), other, fractionOfFree(5, 6))
	vaulttest.NoError(t, err)
}
