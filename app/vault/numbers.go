package vault

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/stats"
	"deedkeep/app/store"
)

// Numbers are what a monitor watches. What counts up does so since Open.
type Numbers struct {
	Health
	DatabaseBytes int64
	Oldest        time.Time         // since when the oldest of Status.Queue is due; zero: nothing waits
	Filed         uint64            // documents
	FiledBytes    uint64            // of them
	Refused       uint64            // documents, by what they are
	Processed     map[string]uint64 // processings that came to their end, by Outcomes
	SignIns       map[string]uint64 // by SignInOutcomes
	Verified      time.Time         // when a verification of backups that BeginVerify began ended; zero: none
	VerifiedGood  bool              // it found nothing
	Commits       store.CommitStats
	Search        SearchState
	Searches      map[string]uint64 // by SearchOutcomes
	SearchSeconds stats.Read        // of those that were answered
}

// Outcomes are what becomes of the processing of a document: it is done, the document
// cannot be processed, it is tried again later, or the document has gone meanwhile.
var Outcomes = []string{outcomeDone, outcomeFailed, outcomeAgain, outcomeGone}

const (
	outcomeDone   = "done"
	outcomeFailed = "failed"
	outcomeAgain  = "postponed"
	outcomeGone   = "gone"
)

// SignInOutcomes are what becomes of a try to sign in: success, a Reason with "_" for
// a space, or trouble of ours.
var SignInOutcomes = []string{
	signInGood, reasonWord(WrongPassword), reasonWord(CodeNeeded), reasonWord(WrongCode), reasonWord(TooManyTries),
	reasonWord(TooBusy), reasonWord(StepEnded), signInTrouble,
}

const (
	signInGood    = "success"
	signInTrouble = "trouble"
)

// SearchOutcomes are what becomes of a search: something is found, or nothing; it is
// refused; it takes too long, or finds too many others under way; there is no whole index; whoever asked left before the
// answer, as a find box does at each letter; or trouble of ours.
var SearchOutcomes = []string{searchFound, searchNothing, searchRefused, searchLate, searchBusy, searchNoIndex, searchLeft, searchTrouble}

const (
	searchFound   = "found"
	searchNothing = "nothing"
	searchRefused = "refused"
	searchLate    = "deadline"
	searchBusy    = "busy"
	searchNoIndex = "no_index"
	searchLeft    = "left"
	searchTrouble = "trouble"
)

var searchBounds = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}

func reasonWord(r Reason) string { return strings.ReplaceAll(string(r), " ", "_") }

// counts are the numbers that nobody else keeps.
type counts struct {
	filed, filedBytes, refused atomic.Uint64
	processed, signIns         kinds
	searches                   kinds
	searchSeconds              *stats.Histogram
}

func newCounts() *counts {
	return &counts{
		processed: newKinds(Outcomes), signIns: newKinds(SignInOutcomes), searches: newKinds(SearchOutcomes),
		searchSeconds: stats.NewHistogram(searchBounds...),
	}
}

// kinds count by a word of a fixed list.
type kinds map[string]*atomic.Uint64

func newKinds(words []string) kinds {
	k := make(kinds, len(words))
	for _, word := range words {
		k[word] = &atomic.Uint64{}
	}
	return k
}

func (k kinds) add(word string) { k[word].Add(1) }

func (k kinds) read() map[string]uint64 {
	read := make(map[string]uint64, len(k))
	for word, n := range k {
		read[word] = n.Load()
	}
	return read
}

func (c *counts) signIn(err error) {
	var refused *SignInError
	switch {
	case err == nil:
		c.signIns.add(signInGood)
	case errors.As(err, &refused):
		c.signIns.add(reasonWord(refused.Reason))
	default:
		c.signIns.add(signInTrouble)
	}
}

func (c *counts) processing(again, gone bool, failure string) {
	switch {
	case again:
		c.processed.add(outcomeAgain)
	case gone:
		c.processed.add(outcomeGone)
	case failure != "":
		c.processed.add(outcomeFailed)
	default:
		c.processed.add(outcomeDone)
	}
}

func (c *counts) search(took time.Duration, found bool, err error) {
	switch kind := errs.KindOf(err); {
	case err == nil:
		c.searchSeconds.Note(took.Seconds())
		if found {
			c.searches.add(searchFound)
			return
		}
		c.searches.add(searchNothing)
	case errors.Is(err, context.Canceled):
		c.searches.add(searchLeft)
	case errors.Is(err, query.ErrDeadline):
		c.searches.add(searchLate)
	case errors.Is(err, search.ErrMany):
		c.searches.add(searchBusy)
	case kind == errs.Unavailable:
		c.searches.add(searchNoIndex)
	case kind == errs.Invalid:
		c.searches.add(searchRefused)
	default:
		c.searches.add(searchTrouble)
	}
}

// Numbers reads them; it walks nothing, and costs the same however much is stored.
func (v *Vault) Numbers(ctx context.Context) (n Numbers, err error) {
	if n.Health, err = v.Health(ctx); err != nil {
		return n, err
	}
	err = v.store.View(ctx, func(t *store.Tx) error {
		var oldest []model.ProcessingTask
		oldest, err = t.Tasks(1)
		for _, task := range oldest {
			n.Oldest = task.DueAt
		}
		return err
	})
	n.DatabaseBytes, n.Commits = v.store.Size(), v.store.CommitStats()
	n.Filed, n.FiledBytes, n.Refused = v.counts.filed.Load(), v.counts.filedBytes.Load(), v.counts.refused.Load()
	n.Processed, n.SignIns = v.counts.processed.read(), v.counts.signIns.read()
	n.Searches, n.SearchSeconds = v.counts.searches.read(), v.counts.searchSeconds.Read()
	if err == nil {
		n.Search, err = v.SearchState(ctx)
	}
	if last := v.Backups.Verified(); !last.Ended.IsZero() && last.Err == nil {
		n.Verified, n.VerifiedGood = last.Ended, len(last.Result.Findings) == 0
	}
	return n, err
}
