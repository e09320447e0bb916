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

// dropFiles drops files onto an element, as if the user dragged them from a file manager.
func (ta *tab) dropFiles(selector string, files ...string) {
	ta.t.Helper()
	ta.waitVisible(selector)
	at := eval[[]float64](ta, `(() => { const r = `+findJS(selector)+`.getBoundingClientRect();
		return [r.x + r.width / 2, Math.min(r.y + r.height / 2, innerHeight - 10)] })()`)
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1}
	for _, event := range []input.DispatchDragEventType{
		input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop,
	} {
		call(ta, input.DispatchDragEvent, input.DispatchDragEventParams{Type: event, X: at[0], Y: at[1], Data: data})
	}
}

// chooseFiles calls act, which must open a file chooser, and selects files in the file
// chooser.
func (ta *tab) chooseFiles(act func(), files ...string) {
	ta.t.Helper()
	call(ta, pageproto.SetInterceptFileChooserDialog, pageproto.SetInterceptFileChooserDialogParams{Enabled: true})
	ctx, cancel := context.WithTimeout(ta.ctx, tabTimeout)
	defer cancel()
	open := chromedp.Func(func(context.Context, *chromedp.Target) error {
		act()
		return nil
	})
	chooser, err := chromedp.Run(ctx, chromedp.WaitEvent(pageproto.FileChooserOpened, nil, open))
	if err != nil {
		ta.t.Fatalf("open file chooser: %v\n%s", err, ta.describe())
	}
	call(ta, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: files, BackendNodeID: chooser.BackendNodeID})
	call(ta, pageproto.SetInterceptFileChooserDialog, pageproto.SetInterceptFileChooserDialogParams{Enabled: false})
}

// attachFiles sets the files of a file input without opening the file chooser.
func (ta *tab) attachFiles(selector string, files ...string) {
	ta.t.Helper()
	ta.run(chromedp.SetUploadFiles(chromedp.CSS(selector), files))
}

// limitUpload limits the upload speed to rate bytes per second. 0 removes the limit.
func (ta *tab) limitUpload(rate float64) {
	ta.t.Helper()
	if rate == 0 {
		rate = -1
	}
	call(ta, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{DownloadThroughput: -1, UploadThroughput: rate}},
	})
}

// tabTo presses Tab until an element has the focus. The focus indicator must be visible.
func (ta *tab) tabTo(selector string) {
	ta.t.Helper()
	ta.waitVisible(selector)
	css, text, _ := strings.Cut(selector, " | ")
	focused := fmt.Sprintf(`document.activeElement.matches(%s) && %s`, strconv.Quote(css), hasTextJS("document.activeElement", text))
	const visible = `(() => { const e = document.activeElement, style = getComputedStyle(e), r = e.getBoundingClientRect();
		return (style.outlineStyle != "none" && parseFloat(style.outlineWidth) > 0 || style.boxShadow != "none") &&
			r.bottom > 0 && r.top < innerHeight })()`
	for range 80 {
		if eval[bool](ta, focused) {
			if !eval[bool](ta, visible) {
				ta.t.Errorf("focus on %s: got invisible, want visible", selector)
			}
			return
		}
		ta.press(kb.Tab)
	}
	ta.t.Fatalf("got no focus on %s after pressing Tab 80 times\n%s", selector, ta.describe())
}
