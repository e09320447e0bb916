//go:build browser

package cmd_test

import (
	"os"
	"path/filepath"

	"github.com/chromedp/cdproto/emulation"
	pageproto "github.com/chromedp/cdproto/page"
)

// setSize is that of the window, in CSS pixels.
func (b *tab) setSize(width, height int64) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
}

// setTheme is "light" or "dark", as the system would say.
func (b *tab) setTheme(name string) {
	b.t.Helper()
	// Colors that fade would be seen on their way.
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
}

// enableScripts are on at first.
func (b *tab) enableScripts(on bool) {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// screenshot keeps the whole page as NAME.png in the folder that DEEDKEEP_SCREENSHOTS
// names; where it is not set there is none.
func (b *tab) screenshot(name string) {
	b.t.Helper()
	folder := os.Getenv("DEEDKEEP_SCREENSHOTS")
	if folder == "" {
		return
	}
	// To picture what lies beyond the window Chromium makes that tiny for an instant.
	beyond := eval[bool](b, `document.documentElement.scrollHeight > innerHeight || document.documentElement.scrollWidth > innerWidth`)
	picture := call(b, pageproto.CaptureScreenshot, pageproto.CaptureScreenshotParams{Format: pageproto.CaptureScreenshotFormatPng, CaptureBeyondViewport: &beyond})
	if err := os.MkdirAll(folder, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
