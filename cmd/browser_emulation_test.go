//go:build browser

package cmd_test

import (
	"os"
	"path/filepath"

	"github.com/chromedp/cdproto/emulation"
	pageproto "github.com/chromedp/cdproto/page"
)

// setSize sets the window size in CSS pixels.
func (ta *tab) setSize(width, height int64) {
	ta.t.Helper()
	params := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1}
	call(ta, emulation.SetDeviceMetricsOverride, params)
}

// setTheme emulates the system's preferred color scheme: "light" or "dark".
func (ta *tab) setTheme(name string) {
	ta.t.Helper()
	// Disable transitions. Otherwise, the checks would see intermediate colors.
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}}
	call(ta, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
}

// enableScripts enables or disables JavaScript in pages. It is enabled by default.
func (ta *tab) enableScripts(on bool) {
	ta.t.Helper()
	call(ta, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// screenshot saves a full-page screenshot as NAME.png in the directory DEEDKEEP_SCREENSHOTS.
// It does nothing if that variable is not set.
func (ta *tab) screenshot(name string) {
	ta.t.Helper()
	dir := os.Getenv("DEEDKEEP_SCREENSHOTS")
	if dir == "" {
		return
	}
	// To capture content outside the window, Chromium briefly resizes the window. Request
	// that only if necessary.
	beyond := eval[bool](ta, `document.documentElement.scrollHeight > innerHeight || document.documentElement.scrollWidth > innerWidth`)
	picture := call(ta, pageproto.CaptureScreenshot, pageproto.CaptureScreenshotParams{
		Format: pageproto.CaptureScreenshotFormatPng, CaptureBeyondViewport: &beyond,
	})
	if err := os.MkdirAll(dir, 0o755); err != nil {
		ta.t.Fatalf("create screenshot directory: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture.Data, 0o644); err != nil {
		ta.t.Fatalf("write screenshot: %v", err)
	}
}
