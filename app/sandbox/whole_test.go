package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
)

// leaving is a document over whose first read everybody loses interest.
type leaving struct {
	*bytes.Reader
	leave context.CancelFunc
}

func (l leaving) ReadAt(p []byte, off int64) (int, error) {
	l.leave()
	return l.Reader.ReadAt(p, off)
}

// TestWhole: work that is to be brought to its end costs no child when nobody waits
// for it any more; other work is stopped.
func TestWhole(t *testing.T) {
	var drawn bytes.Buffer
	if err := png.Encode(&drawn, image.NewGray(image.Rect(0, 0, 40, 50))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		whole bool
		want  error
		stats sandbox.Stats
	}{
		{"whole", true, nil, sandbox.Stats{Alive: 1, Started: 1, Served: 1}},
		{"as long as somebody waits", false, context.Canceled, sandbox.Stats{Started: 1, Killed: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, fake(t, "without assets"))
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			doc := leaving{bytes.NewReader(drawn.Bytes()), leave}
			r := sandbox.Request{Doc: doc, Size: doc.Size(), MIME: "image/png", Ext: "png", RunToCompletion: c.whole}
			picture, err := p.Picture(ctx, r, 1, 20, document.ExtractLimits{})
			if !errors.Is(err, c.want) || c.whole && (picture.Width != 20 || picture.Height != 25) {
				t.Errorf("%d by %d, %v", picture.Width, picture.Height, err)
			}
			if got := p.Stats(); got != c.stats {
				t.Errorf("%+v, want %+v", got, c.stats)
			}
		})
	}
	// Who has gone before it begins has nothing begun.
	p := open(t, fake(t, "without assets"))
	ctx, leave := context.WithCancel(t.Context())
	leave()
	doc := bytes.NewReader(drawn.Bytes())
	if _, err := p.Picture(ctx, sandbox.Request{Doc: doc, Size: doc.Size(), MIME: "image/png", Ext: "png", RunToCompletion: true}, 1, 20, document.ExtractLimits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
