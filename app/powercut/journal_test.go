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

// change is a request, from the moment it was sent to the one it was acknowledged at.
type change struct {
	from, to int
	is       string // what its record is from then on; "" for gone
}

// never is the moment of a response that did not come.
const never = math.MaxInt

// book is what was asked of a vault, and what it acknowledged, by record.
type book struct {
	mu      sync.Mutex
	changes map[string][]change // each after the one before
}

func newBook() *book { return &book{changes: map[string][]change{}} }

func (b *book) add(name string, c change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changes[name] = append(b.changes[name], c)
}

// acknowledged is how many requests were.
func (b *book) acknowledged() (n int) {
	for _, changes := range b.changes {
		for _, c := range changes {
			if c.to != never {
				n++
			}
		}
	}
	return n
}

// allowed is what a record may be after a power failure at the moment: what was
// acknowledged last, or what was under way.
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

// check gives a sentence for each record of the vault that is not as it may be at the
// moment, and for all that a verification finds.
func (b *book) check(ctx context.Context, v *instance.Instance, moment int) (wrong []string, err error) {
	is, err := listed(ctx, v)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, changes := range b.changes {
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
	report, err := v.Integrity.Verify(ctx, func(int, int) {})
	for _, f := range report.Findings {
		wrong = append(wrong, fmt.Sprintf("verify: %s %s: %s", f.Kind, f.Subject, f.Problem))
	}
	return wrong, err
}

// document is the digest of a file's bytes, with the trash before it where it is there.
// That the bytes are those of the digest is for the verification.
func document(ctx context.Context, v *instance.Instance, id uint64) (string, error) {
	file, err := v.Files.Get(ctx, id)
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

// listed are the addresses of the live orders, and the documents of the live abstracts.
func listed(ctx context.Context, v *instance.Instance) (map[string]string, error) {
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
	if err != nil {
		return nil, errors.Join(errors.New("list the records"), err)
	}
	return is, nil
}
