package postings

import "context"

// watch ends a search that takes too long or meets damage: its cursors read on no
// further, and what they found by then is not answered.
type watch struct {
	ctx    context.Context
	blocks int
	steps  int // of work since the last look that it led to
	err    error
}

// watched is how many blocks are read between two looks at ctx: some 4,000 documents.
const watched = 32

// block counts a block that is to be read, and tells whether to go on.
func (w *watch) block() bool {
	if w.blocks++; w.blocks%watched == 0 {
		w.look()
	}
	return w.err == nil
}

// worked is how many steps are done between two looks at ctx: some 0.1 ms.
const worked = 1 << 16

// work counts steps that read no block, and tells whether to go on.
func (w *watch) work(steps int) bool {
	if w.steps += steps; w.steps >= worked {
		w.steps = 0
		w.look()
	}
	return w.err == nil
}

func (w *watch) look() {
	if w.err == nil {
		w.err = w.ctx.Err()
	}
}

func (w *watch) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
