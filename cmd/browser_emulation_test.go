//go:build browser

package cmd_test

import (
	"os"
	"path/filepath"

	"github.com/chromedp/cdproto/emulation"
	pageproto "github.com/chromedp/cdproto/page"
)

// setSize sets the window size in CSS pixels.
func (b *tab) setSize(width, height int64) {
	b.t.Helper()
	params := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1}
	call(b, emulation.SetDeviceMetricsOverride, params)
}

// setTheme emulates the system's preferred color scheme: "light" or "dark".
func (b *tab) setTheme(name string) {
	b.t.Helper()
	// Disable transitions. Otherwise, the checks would see intermediate colors.
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
}

// enableScripts enables or disables JavaScript in pages. It is enabled by default.
func (b *tab) enableScripts(on bool) {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// screenshot saves a full-page screenshot as NAME.png in the directory DEEDKEEP_SCREENSHOTS.
// It does nothing if that variable is not set.
func (b *tab) screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("DEEDKEEP_SCREENSHOTS")
	if dir == "" {
		return
	}
	// To capture content outside the window, Chromium briefly resizes the window. Request
	// that only if necessary.
	beyond := eval[bool](b, `document.documentElement.scrollHeight > innerHeight || document.documentElement.scrollWidth > innerWidth`)
	picture := call(b, pageproto.CaptureScreenshot, pageproto.CaptureScreenshotParams{
		Format: pageproto.CaptureScreenshotFormatPng, CaptureBeyondViewport: &beyond,
	})
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatalf("create screenshot directory: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture.Data, 0o644); err != nil {
		b.t.Fatalf("write screenshot: %v", err)
	}
}
