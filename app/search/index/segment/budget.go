package segment

import (
	"context"
	"errors"
	"time"
)

// Budget limits the work of a search. Work stops when the context ends, the limit is reached, or
// damage is found. Cursors then stop reading, and the search returns the error of the budget.
type Budget struct {
	ctx             context.Context
	blocks          int
	stepsSinceCheck int // steps counted by Spend since the last Check
	err             error

	limited   bool // Limit was called and has set the next two fields
	stepsLeft int  // number of steps left
	deadline  time.Time
}

// ErrBudgetSpent is the error of a Budget that reached its limit. Such a budget covers only
// optional work.
var ErrBudgetSpent = errors.New("work limit reached")

// NewBudget returns a budget that ends with ctx.
func NewBudget(ctx context.Context) Budget { return Budget{ctx: ctx} }

// Limit limits the budget to a number of steps and, unless deadline is zero, to a point in time.
// When either limit is exceeded, the error of the budget is ErrBudgetSpent.
func (b *Budget) Limit(steps int, deadline time.Time) {
	b.limited, b.stepsLeft, b.deadline = true, steps, deadline
}

// Err returns the error that stopped the budget, or nil.
func (b *Budget) Err() error { return b.err }

// blocksPerCheck is the number of blocks that are read between two checks: about 4,000 documents.
const blocksPerCheck = 32

// spendBlock counts a block that is about to be read. It reports whether work may continue.
func (b *Budget) spendBlock() bool {
	if b.blocks++; b.blocks%blocksPerCheck == 0 {
		b.Check()
	}
	return b.err == nil
}

// stepsPerCheck is the number of steps between two checks: about 0.01 ms of work.
const stepsPerCheck = 1 << 13

// Spend counts steps that do not read a block. It reports whether work may continue.
func (b *Budget) Spend(steps int) bool {
	if b.stepsSinceCheck += steps; b.stepsSinceCheck >= stepsPerCheck {
		b.stepsLeft -= b.stepsSinceCheck
		b.stepsSinceCheck = 0
		b.Check()
	}
	return b.err == nil
}

// Check stops the budget if the context has ended or the limit is reached.
func (b *Budget) Check() {
	if b.err == nil {
		b.err = b.ctx.Err()
	}
	if b.err == nil && b.limited && (b.stepsLeft < 0 || !b.deadline.IsZero() && !time.Now().Before(b.deadline)) {
		b.err = ErrBudgetSpent
	}
}

// Fail stops the budget with err unless it has already stopped.
func (b *Budget) Fail(err error) {
	if b.err == nil {
		b.err = err
	}
}
