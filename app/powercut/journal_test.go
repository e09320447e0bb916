//go:build root && linux

package powercut

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// change is a request that changes a record, with the positions in the recording at which it was sent and acknowledged.
type change struct {
	from, to int
	is       string // state of the record after the change; "": deleted
}

// never is the acknowledgment position of a request that got no response.
const never = math.MaxInt

// journal contains the requests that changed a vault, grouped by record.
type journal struct {
	mu      sync.Mutex
	changes map[string][]change   // by record, in the sequence in which they were sent
	uploads map[string]*resumable // by ID
}

func newJournal() *journal {
	return &journal{changes: map[string][]change{}, uploads: map[string]*resumable{}}
}

func (j *journal) add(name string, c change) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.changes[name] = append(j.changes[name], c)
}

// acknowledged returns the number of acknowledged requests.
func (j *journal) acknowledged() (n int) {
	for _, changes := range j.changes {
		for _, c := range changes {
			if c.to != never {
				n++
			}
		}
	}
	return n
}

// allowed returns the valid states of a record after a power failure at position moment: the last acknowledged state
// and the states of requests that were pending at that time.
func allowed(changes []change, moment int) []string {
	may := []string{""}
	for _, c := range changes {
		switch {
		case c.to <= moment:
			may = []string{c.is}
		case c.from < moment:
			may = append(may, c.is)
		}
	}
	return may
}

// check returns a sentence for each record whose state is invalid after a power failure at position moment, for each
// upload that lost confirmed bytes, and for each finding of a verification of the vault.
func (j *journal) check(ctx context.Context, v *instance.Instance, moment int) (wrong []string, err error) {
	is, err := listRecords(ctx, v)
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for name, changes := range j.changes {
		may := allowed(changes, moment)
		got := is[name]
		if id := uint64(0); strings.HasPrefix(name, "file ") {
			if _, err := fmt.Sscanf(name, "file %d", &id); err != nil {
				return nil, err
			}
			if got, err = document(ctx, v, id); err != nil {
				return nil, err
			}
		}
		if !slices.Contains(may, got) {
			wrong = append(wrong, fmt.Sprintf("%s: got %q, want one of %q", name, got, may))
		}
	}
	for id, up := range j.uploads {
		problem, err := up.check(ctx, v, id, moment)
		if err != nil {
			return nil, err
		}
		if problem != "" {
			wrong = append(wrong, problem)
		}
	}
	report, err := v.Integrity.Verify(ctx, func(int, int) {})
	for _, f := range report.Findings {
		wrong = append(wrong, fmt.Sprintf("verify: %s %s: %s", f.Kind, f.Subject, f.Problem))
	}
	return wrong, err
}

// document returns the SHA-256 of a file as recorded in the database, with a prefix if the file is in the trash or if the
// text of pages is lost that the record says OCR has read, or "" if the file doesn't exist. The verification compares the
// stored content with this digest, and would have lost pages read again.
func document(ctx context.Context, v *instance.Instance, id uint64) (string, error) {
	file, err := v.Files.Get(ctx, id)
	if err == nil && file.OCR != nil {
		read, err := v.Vault.OCRFiles.Pages(file.Digest)
		if err != nil || len(read) < file.OCR.Read {
			return fmt.Sprintf("text of %d of %d pages ", len(read), file.OCR.Read) + file.Digest, err
		}
	}
	if err == nil {
		return file.Digest, nil
	}
	if errs.KindOf(err) == errs.NotFound {
		if file, err = v.Files.Trashed(ctx, id); err == nil {
			return trashed(file.Digest), nil
		}
	}
	if errs.KindOf(err) == errs.NotFound {
		return "", nil
	}
	return "", err
}

func trashed(digest string) string { return "trash " + digest }

// listRecords returns the state of each order (its address), each abstract (the digests of its documents), and each
// instrument (its grantors).
func listRecords(ctx context.Context, v *instance.Instance) (map[string]string, error) {
	is := map[string]string{}
	var err error
	for at, more := []byte(nil), true; more && err == nil; {
		var page vault.Page[model.Order]
		page, err = v.Orders.List(ctx, vault.Query{Position: at, Limit: 100})
		for _, o := range page.Items {
			is["order "+o.Number] = o.Address
		}
		at, more = page.Next, page.Next != nil
	}
	for at, more := []byte(nil), true; more && err == nil; {
		var page vault.Page[vault.AbstractWithFiles]
		page, err = v.Abstracts.List(ctx, vault.Query{Position: at, Limit: 100})
		for _, a := range page.Items {
			var digests []string
			for _, f := range a.Files {
				digests = append(digests, f.Digest)
			}
			is["abstract "+a.Abstract.Address] = strings.Join(digests, " ")
		}
		at, more = page.Next, page.Next != nil
	}
	for at, more := []byte(nil), true; more && err == nil; {
		var page vault.Page[vault.InstrumentView]
		page, err = v.Instruments.List(ctx, vault.Query{Position: at, Limit: 100})
		for _, i := range page.Items {
			is["instrument "+i.Number] = strings.Join(i.Grantors, "; ")
		}
		at, more = page.Next, page.Next != nil
	}
	if err != nil {
		return nil, errors.Join(errors.New("list the records"), err)
	}
	return is, nil
}
