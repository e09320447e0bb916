package audit_test

import (
	"errors"
	"slices"
	"testing"

	"deedkeep/app/audit"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// addEntries adds n entries to the audit log, each in a transaction of its own.
func addEntries(t *testing.T, v *instance.Instance, n int) {
	t.Helper()
	for range n {
		err := v.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
			return tx.AddEvent(model.Event{At: v.Now(), Actor: vaulttest.Operator, Kind: "order.changed", Record: "order:1"})
		})
		if err != nil {
			t.Fatalf("add entry: %v", err)
		}
	}
}

// followed opens a vault that publishes its audit log, and follows it.
func followed(t *testing.T) (*instance.Instance, *audit.Follower) {
	t.Helper()
	v := vaulttest.Open(t, vaulttest.Options(t))
	go v.Events.Publish(t.Context())
	return v, follow(t, v)
}

func follow(t *testing.T, v *instance.Instance) *audit.Follower {
	t.Helper()
	f, err := v.Events.Follow(t.Context())
	if err != nil {
		t.Fatalf("Follow() = %v", err)
	}
	t.Cleanup(f.Stop)
	return f
}

// receive returns the sequence numbers of the next n entries.
func receive(t *testing.T, f *audit.Follower, n int) (seqs []uint64) {
	t.Helper()
	for range n {
		e, open := <-f.C
		if !open {
			t.Fatalf("the follower ended after %d entries, want %d", len(seqs), n)
		}
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

// Each follower gets each entry that was added after it began, once and in sequence. Between has those before.
func TestFollow(t *testing.T) {
	v, first := followed(t)
	addEntries(t, v, 3)
	want := []uint64{first.Since + 1, first.Since + 2, first.Since + 3}
	if got := receive(t, first, 3); !slices.Equal(got, want) {
		t.Errorf("the first follower got %v, want %v", got, want)
	}
	second := follow(t, v)
	if second.Since != first.Since+3 {
		t.Errorf("the second follower begins after %d, want %d", second.Since, first.Since+3)
	}
	addEntries(t, v, 1)
	for _, f := range []*audit.Follower{first, second} {
		if got := receive(t, f, 1); !slices.Equal(got, []uint64{first.Since + 4}) {
			t.Errorf("got %v, want %d", got, first.Since+4)
		}
	}
	var missed []uint64
	err := v.Events.Between(t.Context(), first.Since, second.Since, func(e model.Event) error {
		missed = append(missed, e.Seq)
		return nil
	})
	if err != nil || !slices.Equal(missed, want) {
		t.Errorf("Between() = %v, %v; want %v", missed, err, want)
	}
	stop := errors.New("client is gone")
	if err := v.Events.Between(t.Context(), 0, second.Since, func(model.Event) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Between() = %v, want the error of send", err)
	}
}

// A follower that doesn't read ends, and doesn't hold up others.
func TestFollowerFallsBehind(t *testing.T) {
	v, slow := followed(t)
	fast := follow(t, v)
	const entries = 300
	done := make(chan []uint64)
	go func() {
		var seqs []uint64
		for e := range fast.C {
			if seqs = append(seqs, e.Seq); len(seqs) == entries {
				break
			}
		}
		done <- seqs
	}()
	addEntries(t, v, entries)
	if got := <-done; len(got) != entries {
		t.Errorf("the other follower got %d entries, want %d", len(got), entries)
	}
	count := 0
	for range slow.C {
		count++
	}
	if count >= entries {
		t.Errorf("the slow follower got %d entries, want it to end before", count)
	}
}

// A server that stops ends all followers, and later ones at once.
func TestEndFollowing(t *testing.T) {
	v, f := followed(t)
	v.Events.EndFollowing()
	f.Stop() // has no effect anymore
	for _, f := range []*audit.Follower{f, follow(t, v)} {
		if _, open := <-f.C; open {
			t.Error("got an entry, want the end")
		}
	}
}
