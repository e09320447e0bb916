//go:build browser

package cmd_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	pageproto "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// dropFiles lets files fall onto an element, as out of a file manager.
func (b *tab) dropFiles(selector string, files ...string) {
	b.t.Helper()
	b.waitVisible(selector)
	at := eval[[]float64](b, `(() => { const r = `+findJS(selector)+`.getBoundingClientRect();
		return [r.x + r.width / 2, Math.min(r.y + r.height / 2, innerHeight - 10)] })()`)
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1}
	for _, step := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		call(b, input.DispatchDragEvent, input.DispatchDragEventParams{Type: step, X: at[0], Y: at[1], Data: data})
	}
}

// chooseFiles answers the file chooser that an act opens.
func (b *tab) chooseFiles(act func(), files ...string) {
	b.t.Helper()
	call(b, pageproto.SetInterceptFileChooserDialog, pageproto.SetInterceptFileChooserDialogParams{Enabled: true})
	ctx, cancel := context.WithTimeout(b.ctx, tabTimeout)
	defer cancel()
	opened, err := chromedp.Run(ctx, chromedp.WaitEvent(pageproto.FileChooserOpened, nil, chromedp.Func(func(context.Context, *chromedp.Target) error {
		act()
		return nil
	})))
	if err != nil {
		b.t.Fatalf("no file chooser: %v\n%s", err, b.describe())
	}
	call(b, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: files, BackendNodeID: opened.BackendNodeID})
	call(b, pageproto.SetInterceptFileChooserDialog, pageproto.SetInterceptFileChooserDialogParams{Enabled: false})
}

// attachFiles chooses files in a field without its dialog.
func (b *tab) attachFiles(selector string, files ...string) {
	b.t.Helper()
	b.run(chromedp.SetUploadFiles(chromedp.CSS(selector), files))
}

// limitUpload is how many bytes a second the browser sends at most; 0 is as fast as it can.
func (b *tab) limitUpload(rate float64) {
	b.t.Helper()
	if rate == 0 {
		rate = -1
	}
	call(b, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{DownloadThroughput: -1, UploadThroughput: rate}},
	})
}

// tabTo presses the Tab key until an element has the focus, which must be seen.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	b.waitVisible(selector)
	css, text, _ := strings.Cut(selector, " | ")
	was := fmt.Sprintf(`document.activeElement.matches(%s) && %s`, strconv.Quote(css), hasTextJS("document.activeElement", text))
	for range 80 {
		if eval[bool](b, was) {
			if !eval[bool](b, `(() => { const e = document.activeElement, own = getComputedStyle(e), r = e.getBoundingClientRect();
				return (own.outlineStyle != "none" && parseFloat(own.outlineWidth) > 0 || own.boxShadow != "none") && r.bottom > 0 && r.top < innerHeight })()`) {
				b.t.Errorf("%s has the focus, which cannot be seen", selector)
			}
			return
		}
		b.press(kb.Tab)
	}
	b.t.Fatalf("no Tab leads to %s\n%s", selector, b.describe())
}
