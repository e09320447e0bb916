package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
)

// cancelingDoc cancels the call's context when it is read, then calls canceled.
type cancelingDoc struct {
	*bytes.Reader
	cancel   context.CancelFunc
	canceled func()
}

func (d cancelingDoc) ReadAt(p []byte, off int64) (int, error) {
	d.cancel()
	d.canceled()
	return d.Reader.ReadAt(p, off)
}

// If the context of a call is canceled, work with RunToCompletion finishes and keeps its worker.
// Other work is stopped by killing its worker.
func TestRunToCompletion(t *testing.T) {
	var drawn bytes.Buffer
	if err := png.Encode(&drawn, image.NewGray(image.Rect(0, 0, 40, 50))); err != nil {
		t.Fatalf("encode PNG: %v", err)
	}
	for _, c := range []struct {
		name     string
		complete bool
		want     error
		stats    sandbox.Stats
	}{
		{"run to completion", true, nil, sandbox.Stats{Alive: 1, Started: 1, Served: 1}},
		{"stop when canceled", false, context.Canceled, sandbox.Stats{Started: 1, Killed: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, fake(t, "without assets"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			killed := func() {
				if !c.complete {
					await(t, "worker killed", func() bool { return p.Memory().Total == 0 })
				}
			}
			doc := cancelingDoc{bytes.NewReader(drawn.Bytes()), cancel, killed}
			r := sandbox.Request{Doc: doc, Size: doc.Size(), MIME: "image/png", Ext: "png", RunToCompletion: c.complete}
			picture, err := p.PageImage(ctx, r, 1, 20, document.ExtractLimits{})
			if !errors.Is(err, c.want) || c.complete && (picture.Width != 20 || picture.Height != 25) {
				t.Errorf("Picture = %d by %d, %v; want 20 by 25 or error %v", picture.Width, picture.Height, err, c.want)
			}
			if got := p.Stats(); got != c.stats {
				t.Errorf("Stats() = %+v, want %+v", got, c.stats)
			}
		})
	}
	// A call whose context is already canceled doesn't start any work.
	p := open(t, fake(t, "without assets"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	doc := bytes.NewReader(drawn.Bytes())
	if _, err := p.PageImage(ctx, sandbox.Request{Doc: doc, Size: doc.Size(), MIME: "image/png", Ext: "png", RunToCompletion: true},
		1, 20, document.ExtractLimits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}

// A worker that is idle ends. The next document gets a new one.
func TestIdleWorkerEnds(t *testing.T) {
	t.Parallel()
	p := open(t, sandbox.Options{Workers: 1, IdleTime: time.Millisecond})
	for n := 1; n <= 2; n++ {
		doc, size := text("x")
		if _, err := p.Inspect(t.Context(), doc, size, "txt", limits); err != nil {
			t.Fatalf("inspect: %v", err)
		}
		await(t, "no worker", func() bool { return p.Stats().Alive == 0 })
		if got, want := p.Stats(), (sandbox.Stats{Started: n, Served: n}); got != want {
			t.Errorf("Stats() = %+v, want %+v", got, want)
		}
		if m := p.Memory(); m.Count != 0 || m.Total != 0 {
			t.Errorf("Memory() = %+v, want none", m)
		}
	}
}
