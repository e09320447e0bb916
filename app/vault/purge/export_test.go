package purge

import "context"

// RunOnce runs the purger once.
func (pu *Purger) RunOnce(ctx context.Context) error { return pu.runOnce(ctx) }
